"""The kinds of proposals, as data: who may be nominated, how a member judges, what a quorum needs, what then happens.

The consensus asks a kind for everything that differs between forgetting and promoting: to nominate, judge, tally and
check a vote, a further kind (merge, supersede, demote) is a further entry in `KINDS`. What a decision does to the store
is not in it: a kind that does something new has its effect in `core/journal` and `core/commit`, and its words in
`core/retrieval/telling`.

Terms, scores and thresholds are integers in millionths. A score is a weighted sum of the terms divided by 1,000,000 and
rounded down; as thresholds are whole millionths too, rounding never changes on which side of one a score lies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memquorum.core.decay import crossed, decay_ppm, decays_ppm
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import Opinion, Proposal
from memquorum.core.vote.evidence import Evidence, MemberContext, MemoryFacts, relevance
from memquorum.ports import Candidate

Terms = tuple[int, ...]
Columns = NDArray[np.int64]
"""The terms of n opinions of one kind: a row for each term, shape (len(kind.terms), n)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a kind's gate says of a proposal that has its quorum."""

    passed: bool
    reason: str
    """Reason code of the result."""
    confidence_ppm: int | None = None
    """Consolidated confidence, where the kind has one."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of proposal. All functions are pure and total over checked input."""

    name: str
    terms: tuple[str, ...]
    """Names of an opinion's terms, in their order."""
    widths: tuple[int, ...]
    """How many bytes a ballot has for each."""
    eligible: Callable[[Candidate, int, Policy], str | None]
    """(candidate, as_of, policy) → the reason code to nominate it with, or None: the kind's predicate."""
    judge: Callable[[Sequence[MemoryFacts], MemberContext, int, Policy, Evidence], Sequence[Terms | None]]
    """(facts, own context, as_of, policy, evidence) → a member's terms of each, or None where it sees no ground to
    judge."""
    fade: Callable[[NDArray[np.int64], NDArray[np.int64], int, Policy], Columns] | None
    """(last accesses, relevances, as_of, policy) → the terms of many opinions, where a judgement needs nothing else of
    its memory: the same as `judge`, in a fraction of its time. None: it needs more."""
    abstain: Callable[[int], Terms]
    """(as_of) → the terms of a member that cannot judge: they make the strongest possible 'no'."""
    check: Callable[[Terms, int, Policy], str | None]
    """(terms, as_of, policy) → what cannot be true of somebody's terms, or None. Their number is already right."""
    sound: Callable[[Columns, int, Policy], bool]
    """(terms, as_of, policy) → whether `check` finds nothing wrong with any of many opinions' terms."""
    score: Callable[[Any, Policy], Any]
    """(terms, policy) → the score; of columns those of all their opinions. In whole numbers, so both are exact."""
    yes: Callable[[Any, Policy], Any]
    """(score, policy) → whether that is a yes; of many scores for each."""
    needed: Callable[[Policy], Fraction]
    """The share of Σ w·c over all configured members that the yes-ballots must reach."""
    gate: Callable[[Sequence[Opinion], int, Policy], Verdict] | None
    """(yes-opinions, q, policy) → the last word on a proposal with q or more yes-ballots and weight enough; None: that
    is enough.

    Monotone: leaving yes-ballots out can turn a pass into a refusal, never the other way round; confidence only falls.
    """
    effect: str
    """What commit does: seal, promote."""
    outcome: str
    """How the result is called: forgotten, promoted."""
    reads: bool
    """Whether `judge` looks at the memory's text and source: what it does not look at need not be opened."""
    capped: bool = False
    """Whether what it takes of a namespace counts against the namespace's caps."""
    ordered: bool = False
    """Whether it is about an order: then the nomination holds that, and proposes nothing else."""
    votes: Callable[[int, int], int] = lambda quorum, faulty: quorum
    """(q, f) → how many distinct members have to say yes."""


def check_opinion(kind: Kind, opinion: Opinion, proposal: Proposal, as_of: int, policy: Policy) -> str | None:
    """What a replica checks about somebody's opinion before it prepares: None, or what is wrong with it.

    An opinion is free in what its member saw (its context, its last-access times), and in nothing else: the score must
    follow from the terms and the vote from the score. All arithmetic is exact, so honest members never fail this check.
    """
    if proposal.kind != kind.name:
        return f"judged as {kind.name}, proposed as {proposal.kind}"
    if len(opinion.terms) != len(kind.terms):
        return f"{len(opinion.terms)} terms where {kind.name} has {len(kind.terms)} ({', '.join(kind.terms)})"
    wrong = kind.check(opinion.terms, as_of, policy)
    if wrong is not None:
        return wrong
    score = kind.score(opinion.terms, policy)
    if opinion.score_ppm != score:
        return f"score {opinion.score_ppm} does not follow from the terms, which give {score}"
    if opinion.yes is not kind.yes(score, policy):
        return f"vote {'yes' if opinion.yes else 'no'} does not follow from the score {score}"
    return None


def all_sound(kind: Kind, opinions: Sequence[Opinion], as_of: int, policy: Policy) -> bool:
    """Whether `check_opinion` finds nothing wrong with any of these opinions on proposals of the kind.

    All at once, in a tenth of the time. Whoever gets a no asks `check_opinion`, which alone says what is wrong.
    """
    if not opinions or any(len(opinion.terms) != len(kind.terms) for opinion in opinions):
        return not opinions
    columns = np.array([opinion.terms for opinion in opinions], np.int64).T
    if not kind.sound(columns, as_of, policy):
        return False
    scores = kind.score(columns, policy)
    follows = scores == np.array([opinion.score_ppm for opinion in opinions], np.int64)
    votes = kind.yes(scores, policy) == np.array([opinion.yes for opinion in opinions])
    return bool((follows & votes).all())


def nth_highest(values: Sequence[int], n: int) -> int:
    """The n-th highest value, 0 where there are fewer: leaving values out can only lower it."""
    return sorted(values, reverse=True)[n - 1] if len(values) >= n else 0


def _outside(names: Sequence[str], values: Sequence[int]) -> str | None:
    for name, value in zip(names, values, strict=True):
        if not 0 <= value <= PPM:
            return f"{name} {value} lies outside 0..{PPM}"
    return None


def _within(values: Columns) -> bool:
    return bool(((values >= 0) & (values <= PPM)).all())


# forget: SPEC A, Alg. 2 and 3 ---------------------------------------------------------------------------------------


def _forget_eligible(candidate: Candidate, as_of: int, policy: Policy) -> str | None:
    alive = candidate.tier in ("short-term", "long-term")
    return "decayed" if alive and crossed(candidate.last_access, as_of, policy) else None


def _forget_judge(
    facts: Sequence[MemoryFacts], context: MemberContext, as_of: int, policy: Policy, _: Evidence
) -> Sequence[Terms | None]:
    context.compare(facts)
    relevances = np.array([relevance(one, context) for one in facts], np.int64)
    terms = _forget_fade(np.array([one.last_access for one in facts], np.int64), relevances, as_of, policy)
    return list(zip(*terms.tolist(), strict=True))


def _forget_fade(
    last_accesses: NDArray[np.int64], relevances: NDArray[np.int64], as_of: int, policy: Policy
) -> Columns:
    # An access that lies after as_of counts as one at as_of: the decay is 1 either way, and the term stays checkable.
    last_accesses = np.clip(last_accesses, 0, as_of)
    return np.stack([decays_ppm(last_accesses, as_of, policy), relevances, last_accesses])


def _forget_abstain(as_of: int) -> Terms:
    return PPM, PPM, as_of


def _forget_check(terms: Terms, as_of: int, policy: Policy) -> str | None:
    decay, relevant, last_access = terms
    wrong = _outside(("decay", "relevance"), (decay, relevant))
    if wrong is not None:
        return wrong
    if not 0 <= last_access <= as_of:
        return f"last_access {last_access} lies outside 0..{as_of}, the time that the vote speaks of"
    follows = decay_ppm(last_access, as_of, policy)
    return None if decay == follows else f"decay {decay} does not follow from last_access, which gives {follows}"


def _forget_sound(terms: Columns, as_of: int, policy: Policy) -> bool:
    decay, _, last_access = terms
    if not (_within(terms[:2]) and (last_access >= 0).all() and (last_access <= as_of).all()):
        return False
    return bool((decay == decays_ppm(last_access, as_of, policy)).all())


def _forget_score(terms: Any, policy: Policy) -> Any:
    decay, relevant, _ = terms
    return (policy.forget.omega_decay_ppm * decay + policy.forget.omega_relevance_ppm * relevant) // PPM


FORGET = Kind(
    name="forget",
    terms=("decay", "relevance", "last_access"),
    widths=(4, 4, 8),
    eligible=_forget_eligible,
    judge=_forget_judge,
    fade=_forget_fade,
    abstain=_forget_abstain,
    check=_forget_check,
    sound=_forget_sound,
    score=_forget_score,
    yes=lambda score, policy: score < policy.forget.theta_ppm,
    needed=lambda policy: policy.forget.alpha,
    gate=None,
    effect="seal",
    outcome="forgotten",
    reads=False,
    capped=True,
)


# promote: SPEC B, Alg. 12 to 14 (CDCP) ------------------------------------------------------------------------------


def _promote_eligible(candidate: Candidate, as_of: int, policy: Policy) -> str | None:
    if candidate.tier != "short-term" or candidate.salience_ppm < policy.promote.salience_ppm:
        return None
    if as_of - candidate.created < policy.promote.age_ms:
        return None
    return "early" if candidate.early else "salient"


def _promote_judge(
    facts: Sequence[MemoryFacts], context: MemberContext, as_of: int, policy: Policy, evidence: Evidence
) -> Sequence[Terms | None]:
    context.compare(facts)
    return [_promote_terms(one, context, as_of, policy, evidence) for one in facts]


def _promote_terms(
    facts: MemoryFacts, context: MemberContext, as_of: int, policy: Policy, evidence: Evidence
) -> Terms | None:
    if as_of - facts.created < policy.promote.age_ms or facts.salience_ppm < policy.promote.salience_ppm:
        return None  # not eligible, as this member reads the streams
    return (
        evidence.bfs(facts, context),
        evidence.grounded(facts, context),
        evidence.consistency(facts, context),
        evidence.uncertainty(facts, context),
    )


def _promote_abstain(as_of: int) -> Terms:
    return 0, 0, 0, PPM


def _promote_check(terms: Terms, as_of: int, policy: Policy) -> str | None:
    return _outside(PROMOTE.terms, terms)


def _promote_score(terms: Any, policy: Policy) -> Any:
    bfs, grounded, consistency, uncertainty = terms
    weights = policy.promote
    return (
        weights.bfs_ppm * bfs
        + weights.grounded_ppm * grounded
        + weights.consistency_ppm * consistency
        + weights.certainty_ppm * (PPM - uncertainty)
    ) // PPM


def _promote_gate(yes: Sequence[Opinion], quorum: int, policy: Policy) -> Verdict:
    """The validity gate V ≥ 0.60 (SPEC B, Alg. 14; stages 4 and 5), V = min(stage 4, stage 5).

    Stage 4, temporal consistency: the q-th highest consistency term among the yes-ballots, so at least q members found
    no stronger contradiction than 1 - V among what they saw lately. Stage 5, consolidated confidence: the q-th highest
    yes-score (SPEC B, decision). The minimum, not the mean: confidence must not buy off a contradiction.

    Both stages are n-th highest values of a set that only shrinks when ballots are left out, and the minimum of two
    falling numbers falls: a primary that picks among ballots can delay a promotion, never bring one about. The lowest
    consistency among the yes-ballots would not do: leaving that one ballot out would raise it.
    """
    temporal = nth_highest([opinion.terms[2] for opinion in yes], quorum)
    confidence = nth_highest([opinion.score_ppm for opinion in yes], quorum)
    passed = min(temporal, confidence) >= policy.promote.validity_ppm
    return Verdict(passed, "quorum" if passed else "validity", confidence)


PROMOTE = Kind(
    name="promote",
    terms=("bfs", "grounded", "consistency", "uncertainty"),
    widths=(4, 4, 4, 4),
    eligible=_promote_eligible,
    judge=_promote_judge,
    fade=None,
    abstain=_promote_abstain,
    check=_promote_check,
    sound=lambda terms, _, __: _within(terms),
    score=_promote_score,
    yes=lambda score, policy: score >= policy.promote.yes_ppm,
    needed=lambda policy: policy.promote.tau,
    gate=_promote_gate,
    effect="promote",
    outcome="promoted",
    reads=True,
)

# configure, erase: orders --------------------------------------------------------------------------------------------


def _whole_or_nothing(terms: Terms, _: int, __: Policy) -> str | None:
    return None if terms[0] in (0, PPM) else f"holds {terms[0]} is neither 0 nor {PPM}"


def _ordered(name: str, effect: str, outcome: str) -> Kind:
    """What everybody can check of an order is asked of its nomination: one that breaks a rule is voted on by nobody.
    The vote is about what a member has to know itself."""
    return Kind(
        name=name,
        terms=("holds",),
        widths=(4,),
        eligible=lambda candidate, as_of, policy: None,
        judge=lambda facts, context, as_of, policy, evidence: [None] * len(facts),
        fade=None,
        abstain=lambda as_of: (0,),
        check=_whole_or_nothing,
        sound=lambda terms, as_of, policy: bool(((terms == 0) | (terms == PPM)).all()),
        score=lambda terms, policy: terms[0],
        yes=lambda score, policy: score >= PPM,
        needed=lambda policy: policy.forget.alpha,
        gate=None,
        effect=effect,
        outcome=outcome,
        reads=False,
        ordered=True,
    )


CONFIGURE = _ordered("configure", "configure", "configured")
"""The operator's order of another membership (core/orders/members)."""

ERASE = _ordered("erase", "attest", "attested")
"""That an order to erase is genuine, and where it stands (`attestation`). What it names is erased by then."""

# restore: what was forgotten comes back (core/vote/asking) -----------------------------------------------------------


def _restore_judge(
    facts: Sequence[MemoryFacts], context: MemberContext, as_of: int, policy: Policy, evidence: Evidence
) -> Sequence[Terms | None]:
    """Of memories that the member knows; their last access is the request's time."""
    return [(PPM, *terms) for terms in _forget_judge(facts, context, as_of, policy, evidence) if terms is not None]


def _restore_fade(
    last_accesses: NDArray[np.int64], relevances: NDArray[np.int64], as_of: int, policy: Policy
) -> Columns:
    terms = _forget_fade(last_accesses, relevances, as_of, policy)
    return np.vstack([np.full(terms.shape[1], PPM, np.int64), terms])


def _restore_check(terms: Terms, as_of: int, policy: Policy) -> str | None:
    if terms[0] == 0:
        return "it does not hold, and has other terms" if any(terms) else None
    return _whole_or_nothing(terms, as_of, policy) or _forget_check(terms[1:], as_of, policy)


def _restore_sound(terms: Columns, as_of: int, policy: Policy) -> bool:
    holds = terms[0] == PPM
    return not terms[:, ~holds].any() and _forget_sound(terms[1:, holds], as_of, policy)


def _restore_score(terms: Any, policy: Policy) -> Any:
    """What decay has not reached since the request would not even be nominated: that counts whole, the rest by C."""
    holds, decay, relevant, last_access = terms
    kept = _forget_score((decay, relevant, last_access), policy)
    return (kept + (PPM - kept) * (decay >= round(policy.decay.delta * PPM))) * (holds // PPM)


RESTORE = Kind(
    name="restore",
    terms=("holds", "decay", "relevance", "last_access"),
    widths=(4, 4, 4, 8),
    eligible=lambda candidate, as_of, policy: None,
    judge=_restore_judge,
    fade=_restore_fade,
    abstain=lambda as_of: (0, 0, 0, 0),
    check=_restore_check,
    sound=_restore_sound,
    score=_restore_score,
    yes=lambda score, policy: (score > 0) & (score >= policy.forget.theta_ppm),
    needed=lambda policy: Fraction(1, 3),
    gate=None,
    effect="restore",
    outcome="restored",
    reads=False,
    ordered=True,
    # It can be undone by another vote, and a destroyed key by none: as few as may be, and one of them honest.
    votes=lambda quorum, faulty: faulty + 1,
)

KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in (FORGET, PROMOTE, CONFIGURE, ERASE, RESTORE)})
"""Every kind by its name."""
