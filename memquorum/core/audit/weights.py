"""Computes the weights of memories in experience again, from the tasks and the feedback in the journal.

It shares no code with `core.journal.weighing` and `core.experience.uses`, on purpose: this keeps the counted gain of
each use, and where a gain changes the difference moves the weight.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from memquorum.core.journal.rows import AdmissionRow, Change, DecisionRow, FeedbackRow, TaskRow, WeightRow
from memquorum.core.policy import PPM, ExperiencePolicy


@dataclass(slots=True)
class _Weighed:
    """A memory of experience. `counted`: by task, its gain there as last counted; `seen`: the same, with the gains of
    the memories that it stands for."""

    namespace: str
    since: int
    version: int
    weight_ppm: int
    gains: int
    losses: int
    counted: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    versions: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """The weight of each version, with its gains and losses."""
    formed: bool = False
    """True if it has a general form."""

    @property
    def told(self) -> tuple[int, int, int, int]:
        """The values of its current version."""
        return self.version, self.weight_ppm, self.gains, self.losses


class Weights:
    """The memories in a shard's experience, followed entry by entry."""

    def __init__(self) -> None:
        self._of: dict[str, _Weighed] = {}
        self._tasks: dict[str, TaskRow] = {}
        self._said: dict[str, list[FeedbackRow]] = {}
        self._waiting: list[tuple[int, str]] = []
        self._to = 0

    def absorb(
        self, change: Change, policy: ExperiencePolicy, back: tuple[str, int] | None, formed: Mapping[str, str]
    ) -> str | None:
        """Follows an entry; returns what is wrong with its weights, or None. `back`: the memory whose weight it rolls
        back, and the restored version; `formed`: general forms that it admits, each with its memory."""
        for task in change.of(TaskRow):
            self._tasks[task.memory_id] = task
            self._waiting.append((task.accepted_offset, task.memory_id))
        for said in change.of(FeedbackRow):
            self._said.setdefault(said.task, []).append(said)
            self._waiting.append((said.accepted_offset, said.task))
        decision = change.one(DecisionRow)
        due = {} if decision is None else self._count(decision.accepted_offset, policy)
        used = {row.memory_id: row for row in change.of(WeightRow) if row.cause == "used"}
        found = {i: (row.version, row.weight_ppm, row.gains, row.losses) for i, row in used.items()}
        wrong = next((i for i in sorted(due.keys() | found.keys()) if due.get(i) != found.get(i)), None)
        told = None if wrong is None else f"{_said(found.get(wrong))} of {wrong}, not {_said(due.get(wrong))}"
        # Each step follows its part of the entry, even if another part is wrong.
        steps = self._roll_back(change, back), self._merged(change, policy), self._generalised(change, formed, policy)
        return first(told, *steps, self._stand(change, policy))

    def _roll_back(self, change: Change, back: tuple[str, int] | None) -> str | None:
        """Restores an older version; returns what is wrong with the one in the entry, or None."""
        rows = [row for row in change.of(WeightRow) if row.cause == "rolled back"]
        if [row.memory_id for row in rows] != ([] if back is None else [back[0]]):
            return f"weights rolled back of {', '.join(row.memory_id for row in rows) or 'nothing'}, not as decided"
        for row, (name, to) in zip(rows, () if back is None else (back,), strict=True):
            of = self._of.get(name)
            if of is None or to not in of.versions or to >= of.version:
                return f"{name} rolled back to version {to}, which there is not"
            of.version, of.since, of.counted = of.version + 1, self._to, {}
            of.seen.clear()
            of.weight_ppm, of.gains, of.losses = of.versions[to]
            if (row.version, row.weight_ppm, row.gains, row.losses, row.evidence) != (*of.told, "[]"):
                return f"{name} rolled back to version {row.version}, which weighs {row.weight_ppm}"
        return None

    def _count(self, accepted_offset: int, policy: ExperiencePolicy) -> dict[str, tuple[int, int, int, int]]:
        """Counts tasks and feedback before a decision's offset; returns the weights that move, by memory."""
        self._to = max(self._to, accepted_offset)
        names = dict.fromkeys(task for offset, task in self._waiting if offset < self._to)
        self._waiting = [one for one in self._waiting if one[0] >= self._to]
        moves: dict[str, int] = {}
        for name in names:
            for memory, of, gain in self._gains(name):
                before = of.counted.get(name)
                if gain == before:
                    continue
                of.counted[name] = of.seen[name] = gain
                moves[memory] = moves.get(memory, 0) + _worth(gain, policy)
                moves[memory] -= 0 if before is None else _worth(before, policy)
                of.gains += (gain > 0) - (before is not None and before > 0)
                of.losses += (gain < 0) - (before is not None and before < 0)
        for memory, by in moves.items():
            of = self._of[memory]
            of.version += 1
            of.weight_ppm = sorted((policy.weight_least_ppm, of.weight_ppm + by, policy.weight_most_ppm))[1]
        return {memory: self._of[memory].told for memory in moves}

    def _gains(self, name: str) -> Iterator[tuple[str, _Weighed, int]]:
        """Yields the gains in a task of the memories that it was given and that were in experience by then."""
        task = self._tasks[name]
        given, heard = set(task.retrieved), [f for f in self._said.get(name, ()) if f.accepted_offset < self._to]
        for memory in sorted(given & self._of.keys()):
            of = self._of[memory]
            if of.namespace != task.namespace or task.accepted_offset < of.since or task.accepted_offset >= self._to:
                continue
            votes = {f.agent: f.helped for f in heard if f.memory_id == memory}
            gain: int | None
            if votes:
                yes = sum(votes.values())
                gain = (yes - (len(votes) - yes)) * PPM // len(votes)
            else:
                alone = {"succeeded": PPM // len(given), "failed": 0}.get(task.outcome)
                gain = 0 if heard else alone
            if gain is not None:
                yield memory, of, gain

    def _merged(self, change: Change, policy: ExperiencePolicy) -> str | None:
        """Moves the weight of memories that stand for others by the others' gains; returns what is wrong with a
        version, or None."""
        stubs: dict[str, list[str]] = {}
        decision = change.one(DecisionRow)
        for row in change.of(AdmissionRow):
            if decision is not None and row.merged_into is not None and row.merged_at == decision.epoch:
                stubs.setdefault(row.merged_into, []).append(row.memory_id)
        found = {row.memory_id: row for row in change.of(WeightRow) if row.cause == "merged"}
        if found.keys() != stubs.keys() or not stubs.keys() <= self._of.keys():
            return f"versions of {sorted(found)} by merging, where {sorted(stubs)} stand for others"
        for kept, others in stubs.items():
            of, gains = self._of[kept], dict[str, list[int]]()
            for other in others:
                for task, gain in self._of[other].seen.items():
                    if task not in of.seen:
                        gains.setdefault(task, []).append(gain)
            by = 0
            for task, all_of_them in gains.items():
                mean = sum(all_of_them) // len(all_of_them)
                by += _worth(mean, policy)
                of.gains += mean > 0
                of.losses += mean < 0
                of.seen[task] = mean
            of.version += 1
            of.weight_ppm = sorted((policy.weight_least_ppm, of.weight_ppm + by, policy.weight_most_ppm))[1]
            made = found[kept]
            told = made.version, made.weight_ppm, made.gains, made.losses
            if told != of.told:
                return f"{_said(told)} of {kept}, not {_said(of.told)}"
        return None

    def _generalised(self, change: Change, formed: Mapping[str, str], policy: ExperiencePolicy) -> str | None:
        """Admits general forms, each with its share of its memory's weight; returns what is wrong with one, or None."""
        found = {row.memory_id: row for row in change.of(WeightRow) if row.cause == "general"}
        has = {row.memory_id: row.general for row in change.of(AdmissionRow)}
        if found.keys() != formed.keys():
            return f"general forms {sorted(found)}, where {sorted(formed)} were decided on"
        for name, row in found.items():
            specific = self._of.get(formed[name])
            if specific is None or specific.formed or has.get(formed[name]) != name:
                return f"{name} as the general form of what is not in experience, or has one"
            specific.formed = True
            least, most = policy.weight_least_ppm, policy.weight_most_ppm
            weight = sorted((least, specific.weight_ppm * policy.general_ppm // PPM, most))[1]
            of = self._of[name] = _Weighed(row.namespace, self._to, 1, weight, 0, 0)
            if (row.version, row.weight_ppm, row.gains, row.losses, row.evidence) != (*of.told, "[]"):
                return f"{name}, a general form, weighs {row.weight_ppm}, not {weight}"
        return None

    def _stand(self, change: Change, policy: ExperiencePolicy) -> str | None:
        """Adds admitted memories, and removes those that left; returns what is wrong with a status by weight, or
        None."""
        rows = {row.memory_id: row for row in change.of(AdmissionRow)}
        wrong = list[str]()
        for made in change.of(WeightRow):
            row = rows.get(made.memory_id)
            if made.cause == "admitted":
                seen = [total // count for _, total, count in json.loads(made.evidence)]
                told = made.version, made.weight_ppm, sum(one > 0 for one in seen), sum(one < 0 for one in seen)
                self._of[made.memory_id] = _Weighed(made.namespace, self._to, *told)
            of = self._of.get(made.memory_id)
            if of is not None:
                of.versions[made.version] = made.weight_ppm, made.gains, made.losses
            if of is not None and made.version < of.version:
                continue  # a later version in this entry decides its status
            if of is None or row is None or _stands(row) != (*of.told, of.since, _status(made, policy)):
                weighs = _said(of.told if of else None)
                wrong.append(f"{made.memory_id}, which weighs {weighs}, stands as {row and _stands(row)}")
        for row in rows.values():
            if row.status == "left":
                self._of.pop(row.memory_id, None)
        return first(*wrong)


def first(*told: str | None) -> str | None:
    """Returns the first fault of an entry; None where there is no fault."""
    return next((one for one in told if one is not None), None)


def _worth(gain: int, policy: ExperiencePolicy) -> int:
    return policy.alpha_ppm * gain // PPM - (policy.beta_ppm if gain <= 0 else 0)


def _status(made: WeightRow, policy: ExperiencePolicy) -> str:
    if made.cause == "admitted" or made.weight_ppm >= max(policy.floor_ppm, policy.weight_least_ppm + 1):
        return "admitted"
    return "demoted" if made.weight_ppm > policy.weight_least_ppm else "removed"


def _stands(row: AdmissionRow) -> tuple[object, ...]:
    return row.version, row.weight_ppm, row.gains, row.losses, row.since, row.status


def _said(told: tuple[int, int, int, int] | None) -> str:
    if told is None:
        return "no weight"
    version, weight, gains, losses = told
    return f"version {version}, {weight} with {gains} gains and {losses} losses"
