"""What entered experience, judged by the journal's own history: who was drawn and signed it, and what follows from it.

Who agrees with whom, and S, are computed again here, on purpose: a fault in `core.journal.trials` or in
`core.experience` shows.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from memquorum.core.audit.findings import Impossible, Kind
from memquorum.core.audit.weights import Weights, first
from memquorum.core.experience import trial
from memquorum.core.experience.admission import PROVISIONAL
from memquorum.core.experience.trial import Statistics
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage
from memquorum.core.journal import generals, rollbacks, trials
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import (
    AdmissionRow,
    Change,
    DecisionRow,
    FeedbackRow,
    Keys,
    Rows,
    TaskRow,
    TrialRow,
    WeightRow,
)
from memquorum.core.journal.weighing import Uses
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import Decided, JournalEntry, Tried


class Admissions:
    """Where a shard's memories stand on their way into experience; of those that are not settled, what was told."""

    def __init__(self) -> None:
        self.standing: dict[str, AdmissionRow] = {}
        self._refused: dict[str, int] = {}
        self._told: dict[str, dict[int, tuple[TrialRow, ...]]] = {}
        self._nominated: dict[int, bytes] = {}
        self._uses, self._weights = Uses(), Weights()
        self._versions: dict[str, tuple[WeightRow, ...]] = {}

    def rows(self, wanted: Keys, counted: int | None = None) -> dict[str, Any]:
        """The fields of `Rows` that hold what is asked for. `counted`: with what stands there in the accepted stream or
        behind, of finished tasks and what is said of them."""
        tasks, feedback = ({}, {}) if counted is None else self._uses.uncounted(counted)
        return {
            "tasks": tasks,
            "feedback": feedback,
            "admissions": self.standing,
            "trials": trials.known(self._told, wanted.trials),
            "nominated": self._nominated,
            "weights": self._versions,
        }

    def absorb(self, rules: Rules, change: Change, detail: Any) -> str | None:
        """Follows an entry; answers what is wrong with a weight that it gives."""
        policy = rules.genesis.policy.experience
        back = rollbacks.decided(rules.codec, detail) if isinstance(detail, Decided) else None
        wrong = next((told for row in change.of(WeightRow) if (told := _misweighed(change, row, policy))), None)
        # All of it is followed, whatever is wrong with a part: or what comes later would be judged by what never was.
        formed = generals.decided(detail) if isinstance(detail, Decided) else {}
        wrong = first(wrong, self._rests(change), self._weights.absorb(change, policy, back, formed))
        self._uses.note((*change.of(TaskRow), *change.of(FeedbackRow)))
        trials.note(self._told, (*change.of(TrialRow), *change.of(AdmissionRow)))
        self.standing |= {one.memory_id: one for one in change.of(AdmissionRow)}
        rollbacks.note(self._versions, change.of(WeightRow))
        self._nominated |= {one.epoch: one.nomination for one in change.of(DecisionRow)}
        return wrong

    def _rests(self, change: Change) -> str | None:
        """Counts how often members did not admit a memory; answers what is wrong with how long it rests."""
        decision = change.one(DecisionRow)
        told = list[str]()
        for row in change.of(AdmissionRow):
            if decision is not None and row.status == PROVISIONAL and row.epoch == decision.epoch:
                self._refused[row.memory_id] = self._refused.get(row.memory_id, 0) + 1
                often = self._refused[row.memory_id]
                due = row.epoch - 1 + 2 ** min(often, 10)
                if (row.after, row.refusals) != (due, often):
                    told.append(f"{row.memory_id} rests through epoch {row.after}, not {due}")
        return first(*told)


def _misweighed(change: Change, row: WeightRow, policy: ExperiencePolicy) -> str | None:
    """Why a first weight is not the policy's, or S where that names none, within its bounds; None where it is."""
    score = next((one.score_ppm for one in change.of(AdmissionRow) if one.memory_id == row.memory_id), None)
    if row.cause == "general":
        return None  # what it was made of weighs, not S
    if row.version != 1 or score is None:
        return None if row.version != 1 else f"a weight of {row.memory_id} without S"
    due = sorted((policy.weight_least_ppm, policy.first_ppm or score, policy.weight_most_ppm))[1]
    return None if row.weight_ppm == due else f"{row.weight_ppm} for S = {score}, not {due}"


def judge(rules: Rules, rows: Rows, entry: JournalEntry, detail: Tried) -> None:
    """A verifier signed it that was drawn, of a candidate that is not settled, and what is said to follow does. Raises
    Impossible."""
    genesis = rules.genesis
    try:
        made = trials.opened(rules.codec, genesis, detail.made)
        told = (made.shard, made.memory_id, made.namespace)
        if told != (entry.shard, entry.memory_id, entry.namespace):
            raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"a trial of {entry.memory_id}", f"one of {made.memory_id}")
        found = trials.check(rows, genesis, made)
    except BadMessage as error:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, "a trial that its verifier signed", error) from None
    except trials.NotTried as error:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, "a trial that changes something", error) from None
    before = rows.trials.get((made.memory_id, found.position), ())
    stands = rows.admissions.get(made.memory_id)
    judged = (0, 0) if stands is None else (stands.judges, stands.gained_ppm)
    expected = _follows(genesis, [*(trial.read(one.statistics) for one in before), found], *judged)
    if (detail.status, detail.score_ppm) != expected:
        raise Impossible(Kind.EFFECT_IMPOSSIBLE, f"a trial: {expected}", (detail.status, detail.score_ppm))


def _follows(genesis: Genesis, told: list[Statistics], judges: int, gained: int) -> tuple[str, int | None]:
    """What follows of all that drawn verifiers told, the latest last, and S where enough tell the same. `judges`,
    `gained`: how many judged it when it was rejected, and the sum of what they found."""
    least, most = max(2, genesis.f + 1), min(max(3, 2 * genesis.f + 1), len(genesis.verifiers))
    same, count = Counter(one.data for one in told).most_common(1)[0]
    if count < min(least, most):
        return ("apart" if len(told) == most else "heard"), None
    found, policy = trial.read(same), genesis.policy.experience
    score, count = score_ppm(found, policy), len(found.judged)
    helps = (gained + score * count) // (judges + count) >= policy.eta_ppm
    return ("agreed" if helps else "rejected"), score


def score_ppm(told: Statistics, policy: ExperiencePolicy) -> int:
    """S in millionths: the mean gain less what it costs, rounded down."""
    gained = spent = given = 0
    for one in told.judged:
        gained += one.reward_with - one.reward_without
        spent += one.tokens_with - one.tokens_without
        given += one.given_with - one.given_without
    tokens, memories = policy.budget_tokens, policy.memories_most
    cost = (policy.lambda_t_ppm * spent * memories + policy.lambda_l_ppm * given * tokens) // (tokens * memories)
    return (gained - cost) // max(1, told.runs * len(told.judged))
