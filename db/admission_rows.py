"""Builds the account of a memory's admission to experience that a client sees from rows of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from memquorum.core.accounts.pages import RESTING
from memquorum.core.api.answers import Admission, AdmissionVote, Experienced, Gain, Judge, Trial, WeightVersion
from memquorum.core.experience import trial
from memquorum.core.experience.admission import PROVISIONAL, REJECTED
from memquorum.core.experience.rounds import least_of
from memquorum.core.experience.trial import Statistics
from memquorum.core.experience.weights import (
    BY_USE,
    DEMOTED,
    LEFT,
    REMOVED,
    Evidence,
    Weight,
    faded_ppm,
    read_evidence,
    standing,
)
from memquorum.core.policy import PPM, ExperiencePolicy
from memquorum.core.tiers import ALIVE, GONE

UNTRIED: Final = "untried"
"""The status of a memory that nobody has tried, though enough tasks may judge it."""
DIFFUSED: Final = "diffused"
"""The status of a general form of another namespace that is given in this one."""
Row = tuple[Any, ...]
_TASKS_MOST = 50


def open_to_trial(row: Row) -> bool:
    """Whether a row of `admission_shown` is of a memory that is alive and may be tried."""
    return row[8] in ALIVE and row[1] in (None, PROVISIONAL, REJECTED)


def whole(  # noqa: PLR0917
    memory_id: str, row: Row, policy: ExperiencePolicy, judges: int | None, trials: Iterable[Row],
    votes: Iterable[Row], weights: Iterable[Row], *, alike: int = 2,
) -> Admission:  # fmt: skip
    """Returns the admission of a memory from a row of `admission_shown` and the rows of its trials, votes and weights.
    `judges`: how many tasks may judge it, where it may be tried; `alike`: so many verifiers have to tell the same."""
    namespace, status, position, digest, score_ppm, version, weight_ppm, after, tier, rejections, *others = row
    merged_into, general_of, general, idle_ms = others
    tried = tuple(trials)
    found = _agreed(tried, alike) | ({} if digest is None else {position: digest})
    needed = None if judges is None else least_of(max(1, policy.contexts_least), rejections)
    return Admission(
        memory_id, namespace, _status(tier, status, judges, needed), policy.eta_ppm / PPM, position, _share(score_ppm),
        _share(weight_ppm), version or 0, after or 0,
        tuple(_trial(one, found.get(one[1])) for one in tried),
        tuple(_vote(one) for one in votes),
        tuple(_weight(one) for one in weights),
        tier, status, judges, needed, merged_into, general_of, general,
        counts=_share(None if weight_ppm is None or idle_ms is None else faded_ppm(weight_ppm, idle_ms, policy)),
    )  # fmt: skip


def _status(tier: str, status: str | None, judges: int | None, needed: int | None) -> str:
    """Returns the memory's present status: one that is not alive is no experience, whatever was decided."""
    if tier not in ALIVE:
        return LEFT if tier == GONE else RESTING
    if judges is not None and needed is not None and judges < needed and status is None:
        return PROVISIONAL
    return status or UNTRIED


def _vote(row: Row) -> AdmissionVote:
    epoch, outcome, reason, yes, weight_ppm, needed_ppm, kind = row
    return AdmissionVote(epoch, outcome, reason, yes, weight_ppm / PPM, needed_ppm / PPM, kind)


def _share(ppm: int | None) -> float | None:
    return None if ppm is None else ppm / PPM


def _agreed(tried: Iterable[Row], alike: int) -> dict[int, str]:
    """Returns the digests that at least `alike` verifiers agree in, by position. A memory that is tried again is
    compared with the others that were nominated with it, since other tasks judged later."""
    told = Counter((position, digest) for _, position, digest, *_ in tried)
    return {position: digest for (position, digest), count in told.items() if count >= alike}


def _trial(row: Row, agreed: str | None) -> Trial:
    verifier, position, digest, score_ppm, statistics, seq = row
    agrees = None if agreed is None else digest == agreed
    return Trial(verifier, position, score_ppm / PPM, agrees, _judges(trial.read(statistics)), seq)


def _judges(told: Statistics) -> tuple[Judge, ...]:
    runs = max(1, told.runs)
    return tuple(
        Judge(
            one.context, one.reward_without / PPM / runs, one.reward_with / PPM / runs, one.tokens_without / runs,
            one.tokens_with / runs, one.given_without / runs, one.given_with / runs,
        )
        for one in told.judged
    )  # fmt: skip


def _weight(row: Row) -> WeightVersion:
    version, weight_ppm, epoch, cause, gains, losses, evidence, seq = row
    seen = read_evidence(evidence)
    return WeightVersion(version, weight_ppm / PPM, epoch, gains, losses, seq, cause, len(seen), _gains(seen))


def _gains(evidence: tuple[Evidence, ...]) -> tuple[Gain, ...]:
    return tuple(Gain(one.context, one.mean_ppm / PPM) for one in evidence[:_TASKS_MOST])


def diffused(namespace: str, tier: str, here: Weight, policy: ExperiencePolicy) -> Admission:
    """Returns the admission of another namespace's general form in this one: its status and weight after the uses
    here."""
    some, weight, told = _gains(here.evidence), here.weight_ppm / PPM, standing(here, policy)
    status = told if told in {DEMOTED, REMOVED} else DIFFUSED
    moved = WeightVersion(here.version, weight, 0, here.gains, here.losses, 0, BY_USE, len(here.evidence), some)
    return Admission(
        here.memory_id, namespace, status, policy.eta_ppm / PPM, weight=weight, version=here.version,
        weights=(moved,) if some else (), tier=tier,
    )  # fmt: skip


def listed(row: Row) -> Experienced:
    """A memory on its way into experience, of a row of `experiences_listed`, with all of its text."""
    memory_id, status, text, score_ppm, weight_ppm, version, gains, losses, epoch, seq, merged_into = row
    score, weight = _share(score_ppm), _share(weight_ppm)
    return Experienced(memory_id, status, text, score, weight, version, gains, losses, epoch, seq, merged_into)
