"""Audits the admissions to experience by the journal's own history: the verifiers that were drawn and signed, and the
results that follow.

The agreement of verifiers and S are computed again here, without the code of `core.journal.trials` and
`core.experience`, so that a fault there shows.
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
    RowKeys,
    Rows,
    TaskRow,
    TrialRow,
    WeightRow,
)
from memquorum.core.journal.weighing import Uses
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import Decided, JournalEntry, Tried


class Admissions:
    """The state of a shard's memories on their way into experience, with the verifiers' results for those not
    settled."""

    def __init__(self) -> None:
        self.standing: dict[str, AdmissionRow] = {}
        self._refused: dict[str, int] = {}
        self._told: dict[str, dict[int, tuple[TrialRow, ...]]] = {}
        self._nominated: dict[int, bytes] = {}
        self._uses, self._weights = Uses(), Weights()
        self._versions: dict[str, tuple[WeightRow, ...]] = {}

    def rows(self, wanted: RowKeys, counted: int | None = None) -> dict[str, Any]:
        """Returns the fields of `Rows` that hold the wanted rows. `counted`: also the tasks and feedback from this
        offset of the accepted stream on."""
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
        """Follows an entry; returns what is wrong with a weight in it, or None."""
        policy = rules.genesis.policy.experience
        back = rollbacks.decided(rules.codec, detail) if isinstance(detail, Decided) else None
        wrong = next((told for row in change.of(WeightRow) if (told := _misweighed(change, row, policy))), None)
        # All parts are followed even if one is wrong: otherwise later entries would be judged by a wrong state.
        formed = generals.decided(detail) if isinstance(detail, Decided) else {}
        wrong = first(wrong, self._rests(change), self._weights.absorb(change, policy, back, formed))
        self._uses.note((*change.of(TaskRow), *change.of(FeedbackRow)))
        trials.note(self._told, (*change.of(TrialRow), *change.of(AdmissionRow)))
        self.standing |= {one.memory_id: one for one in change.of(AdmissionRow)}
        rollbacks.note(self._versions, change.of(WeightRow))
        self._nominated |= {one.epoch: one.nomination for one in change.of(DecisionRow)}
        return wrong

    def _rests(self, change: Change) -> str | None:
        """Counts how often members did not admit a memory; returns what is wrong with the time that it rests, or
        None."""
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
    """Returns why a first weight is not the policy's, or S where that names none, within its bounds; None where it is
    right."""
    score = next((one.score_ppm for one in change.of(AdmissionRow) if one.memory_id == row.memory_id), None)
    if row.cause == "general":
        return None  # it follows from the weight of its memory, not from S
    if row.version != 1 or score is None:
        return None if row.version != 1 else f"a weight of {row.memory_id} without S"
    due = sorted((policy.weight_least_ppm, policy.first_ppm or score, policy.weight_most_ppm))[1]
    return None if row.weight_ppm == due else f"{row.weight_ppm} for S = {score}, not {due}"


def judge(rules: Rules, rows: Rows, entry: JournalEntry, detail: Tried) -> None:
    """Checks that a drawn verifier signed the trial, that its memory is not settled, and that the stated result
    follows. Raises Impossible."""
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
    """Returns the status that follows from all drawn verifiers' results, the latest last, and S where enough are the
    same. `judges`, `gained`: the number of tasks that judged it when it was rejected, and the sum of their gains."""
    least, most = max(2, genesis.f + 1), min(max(3, 2 * genesis.f + 1), len(genesis.verifiers))
    same, count = Counter(one.data for one in told).most_common(1)[0]
    if count < min(least, most):
        return ("apart" if len(told) == most else "heard"), None
    found, policy = trial.read(same), genesis.policy.experience
    score, count = score_ppm(found, policy), len(found.judged)
    helps = (gained + score * count) // (judges + count) >= policy.eta_ppm
    return ("agreed" if helps else "rejected"), score


def score_ppm(told: Statistics, policy: ExperiencePolicy) -> int:
    """Returns S in millionths: the mean gain less its cost, rounded down."""
    gained = spent = given = 0
    for one in told.judged:
        gained += one.reward_with - one.reward_without
        spent += one.tokens_with - one.tokens_without
        given += one.given_with - one.given_without
    tokens, memories = policy.budget_tokens, policy.memories_most
    cost = (policy.lambda_t_ppm * spent * memories + policy.lambda_l_ppm * given * tokens) // (tokens * memories)
    return (gained - cost) // max(1, told.runs * len(told.judged))
