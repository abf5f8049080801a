"""One turn of a verifier: the trials that are due, the oldest candidates first, within a budget of time.

It stores nothing. The journal holds the published results, and the next sweep finds again what a crash loses; a result
published twice counts once.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.contained import Failed, Failures
from memquorum.core.experience import rounds, trial
from memquorum.core.experience.bench import Near
from memquorum.core.experience.ports import TrialLook, Trials, Untried, VerifierStatistics
from memquorum.core.experience.reward import Reach, Reward
from memquorum.core.experience.rounds import Round, least_of
from memquorum.core.experience.trial import BadStatistics, Statistics
from memquorum.core.experience.view import Held
from memquorum.core.identity.membership import Genesis
from memquorum.ports import StoreUnavailable
from workers.verifier.candidate_schedule import Key, ShardProgress, Sweep, Sweeps
from workers.verifier.visiting import Benches, Visit, since

FEW: Final = "few"
"""Too few tasks are near enough to judge the candidate yet."""
WAITS: Final = "waits"
"""No decision has read far enough yet."""
OTHERS: Final = "others"
"""Other verifiers were drawn, or have precedence, or the result was published."""
TRIED: Final = "tried"

_PATIENCE_MS = 10_000
_PAGE = 200
_TOGETHER = 8
_AGAIN = 500
_SENT = 20_000


class Made(Struct, frozen=True):
    """A verifier's result for a candidate."""

    shard: int
    namespace: str
    verifier: str
    statistics: Statistics
    genesis: Genesis
    """The configuration under which it was drawn."""


class Turned(Struct, frozen=True):
    """A turn. `looked`: the number of candidates by status; `more`: whether further ones wait; `spent_s`: the processor
    time, in seconds."""

    made: tuple[Made, ...]
    looked: Mapping[str, int]
    more: bool
    took_s: float
    spent_s: float
    failures: Mapping[Failed, int] = MappingProxyType({})
    """Rules that failed on a text: that candidate waits for the next sweep."""


class Trying:
    """The trials of one process."""

    def __init__(
        self, codec: Codec, genesis: Genesis, mine: Collection[str], *, budget_ms: int, reward: Reward | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`mine`: the verifiers whose keys are here; `budget_ms`: the length of a turn, which one trial may exceed."""
        self._codec, self._genesis, self._mine = codec, genesis, frozenset(mine)
        self._budget_s, self._reward, self._clock = budget_ms / 1_000, reward or Reach(), clock
        self._lines = {shard: ShardProgress() for shard in range(genesis.shards)}
        self._configured = dict.fromkeys(range(genesis.shards), genesis)
        self._sweeps, self._benches = Sweeps(), Benches()
        self._sent, self._failures = OrderedDict[tuple[str, str, int], int](), Failures()
        self._again: list[tuple[int, str]] = []

    def turn(self, memory: Trials) -> Turned:
        """Runs the trials that are due. Raises StoreUnavailable if none was made; nothing is lost by it."""
        began, spent = self._clock(), time.process_time()
        until = began + self._budget_s
        with memory.look(_PATIENCE_MS) as look:
            now = _Moment(look)
            self._notice(look)
            self._look_again(now)
            while self._clock() < until and (found := self._sweeps.next()) is not None:
                key, sweep = found
                try:
                    after = self._page(now, key, sweep, until)
                except StoreUnavailable:
                    self._sweeps.back(key)
                    if not now.made:
                        raise
                    break  # the results so far are published
                self._sweeps.went(key, sweep, after, self._lines[key[0]].epoch)
        if not self._sweeps:
            self._benches.clear()
        took_s, spent_s = self._clock() - began, time.process_time() - spent
        return Turned(tuple(now.made), now.looked, bool(self._sweeps), took_s, spent_s, self._failures.told())

    def _notice(self, look: TrialLook) -> None:
        """Reads the decisions and results since the last turn: without any, this is one short query."""
        shards = look.shards()
        decided = [one for one in shards if one.epoch > self._lines[one.shard].epoch]
        if decided:
            found = look.configured(self._genesis.shards)
            self._configured = {shard: follow(self._codec, self._genesis, of) for shard, of in found.items()}
        for one in decided:
            line, least = self._lines[one.shard], self._configured[one.shard].policy.experience.contexts_least
            line.ledger.add(look.rounds(one.shard, line.ledger.epoch))
            line.epoch = one.epoch
            self._sweeps.decided(one.shard, one.epoch, look.namespaces(one.shard, max(1, least)))
        for one in shards:
            line = self._lines[one.shard]
            line.seq = one.seq
            if one.told > line.told:
                self._again += [(one.shard, memory) for memory in look.differing(one.shard, line.told, _AGAIN)]
                line.told = one.told

    def _look_again(self, now: _Moment) -> None:
        """Asks further verifiers at once, without waiting for a decision, where results differ."""
        shards = {memory: shard for shard, memory in self._again}
        self._again = []
        named = now.look.named(list(shards)) if shards else []
        told = _by_memory(now.look.told([one.memory_id for _, one in named])) if named else {}
        for namespace, one in named:
            key = shards[one.memory_id], namespace
            (near,) = self._visit(now, key).near([_held(one)])
            self._one(now, key, one, near, told.get(one.memory_id, ()))

    def _page(self, now: _Moment, key: Key, sweep: Sweep, stop: float) -> tuple[int, str] | None:
        """Covers a page of a namespace's candidates; returns the last one covered if more remain, else None."""
        if sweep.after is None:
            line = self._lines[key[0]]
            sweep.begin(line.epoch, line.seq, now.look.standing(key[1]))
        # With unchanged tasks, a rejected candidate has no more of them either.
        until = None if sweep.news is not None else self._again_until(now, key)
        page = now.look.untried(key[1], sweep.after, _PAGE, sweep.news, until)
        told = _by_memory(now.look.told([one.memory_id for one in page])) if page else {}
        for start in range(0, len(page), _TOGETHER):
            some = page[start : start + _TOGETHER]
            near = self._visit(now, key).near([_held(one) for one in some])
            for at, (one, tasks) in enumerate(zip(some, near, strict=True), start + 1):
                if self._one(now, key, one, tasks, told.get(one.memory_id, ())):
                    sweep.opens(one.memory_id)
                if self._clock() >= stop and at < len(page):
                    return one.created, one.memory_id
        return (page[-1].created, page[-1].memory_id) if len(page) == _PAGE else None

    def _again_until(self, now: _Moment, key: Key) -> list[int]:
        """Returns, by number of rejections, the epoch up to which candidates were last rejected and the namespace has
        had enough tasks since to try them again."""
        bench, ledger = self._benches.of(now.look, key[1]), self._lines[key[0]].ledger
        found, least = list[int](), max(1, self._configured[key[0]].policy.experience.contexts_least)
        while (many := least_of(least, len(found) + 1)) <= len(bench):
            found.append(ledger.until(bench.latest(many)))
        return found

    def _visit(self, now: _Moment, key: Key) -> Visit:
        if key not in now.visits:
            policy, bench = self._configured[key[0]].policy.experience, self._benches.of(now.look, key[1])
            now.visits[key] = Visit(now.look, key[1], bench, policy, self._reward, failures=self._failures)
        return now.visits[key]

    def _one(self, now: _Moment, key: Key, one: Untried, near: Near, told: Sequence[VerifierStatistics]) -> bool:
        """Examines a candidate, and tries it if that is due and one of this process's verifiers is asked; True if it
        has enough tasks."""
        line, visit = self._lines[key[0]], self._visit(now, key)
        near = [task for task in near if task[0] not in one.own]
        # Tasks before the last rejection, or before a correction was made, are no new evidence.
        near = since(near, max(line.ledger.read(one.rejected), one.accepted_offset if one.corrects else 0))
        offset = visit.waits_for(one.accepted_offset, near, one.rejections)
        at = None if offset is None else line.ledger.first(offset, one.after)
        if at is None:
            now.looked[FEW if offset is None else WAITS] += 1
            return offset is not None
        speak = self._asked(key[0], one.memory_id, at, told)
        found = self._tried(now.look, visit, _held(one), near, at) if speak else None
        now.looked[OTHERS if found is None else TRIED] += 1
        if found is None:
            return True
        now.made += [Made(key[0], key[1], verifier, found, self._configured[key[0]]) for verifier in speak]
        self._sent.update(((one.memory_id, verifier, at.epoch), line.epoch) for verifier in speak)
        while len(self._sent) > _SENT:
            self._sent.popitem(last=False)
        return True

    def _asked(self, shard: int, memory_id: str, at: Round, told: Sequence[VerifierStatistics]) -> list[str]:
        """Returns those of this process's verifiers that have to publish a result now."""
        genesis, epoch = self._configured[shard], self._lines[shard].epoch
        asked = rounds.verifiers_to_try(
            memory_id, at, _heard(told, at), genesis.verifiers, genesis.policy.experience, faults=genesis.f,
            epoch=epoch, reproducible=self._reward.reproducible,
        )  # fmt: skip

        def silent(verifier: str) -> bool:
            """True if it has not published a result lately: one that the journal has not taken by then is published
            again."""
            sent = self._sent.get((memory_id, verifier, at.epoch))
            return sent is None or epoch >= sent + rounds.PATIENCE

        return [one for one in asked if one in self._mine and silent(one)]

    def _tried(self, look: TrialLook, visit: Visit, candidate: Held, near: Near, at: Round) -> Statistics | None:
        said = look.texts([candidate.id]).get(candidate.id)
        if said is None:
            return None
        case = visit.case(replace(candidate, text=said), near, at)
        names = candidate.id, *(one.id for one in case.contexts)
        return self._failures.answer("trial", names, None, trial.tried, case, self._reward, visit.policy)


@dataclass(slots=True)
class _Moment:
    """The store at the moment of a turn, the data read from it, and the results."""

    look: TrialLook
    looked: Counter[str] = field(default_factory=Counter)
    made: list[Made] = field(default_factory=list)
    visits: dict[Key, Visit] = field(default_factory=dict)


def _held(one: Untried) -> Held:
    """A candidate whose text is not read yet."""
    return Held(one.memory_id, "", one.encoder, one.vector, sources=one.sources)


def _by_memory(told: Sequence[VerifierStatistics]) -> dict[str, list[VerifierStatistics]]:
    found: dict[str, list[VerifierStatistics]] = {}
    for one in told:
        found.setdefault(one.memory_id, []).append(one)
    return found


def _heard(told: Sequence[VerifierStatistics], at: Round) -> dict[str, Statistics]:
    """The verifiers' results as of a round."""
    found = dict[str, Statistics]()
    for one in told:
        if one.position == at.epoch:
            try:
                found[one.verifier] = trial.read(one.statistics)
            except BadStatistics:
                continue
    return found
