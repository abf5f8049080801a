"""The vote to promote a memory to long-term memory: SPEC B, Alg. 12 to 14 (CDCP)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from msgspec.structs import replace

from memquorum.core.access import covers
from memquorum.core.decay import crossed, of_tier
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
from memquorum.core.vote.kinds.forget import GONE_ALREADY, absent
from memquorum.core.vote.kinds.kind import (
    Fate,
    Kind,
    Offered,
    Opinion,
    Plain,
    Rests,
    Terms,
    Together,
    Verdict,
    Words,
    checks,
    nth_highest,
)
from memquorum.ports import Candidate

_PROMOTED = "promoted already"
_HALF = PPM // 2
_TERMS = ("bfs", "grounded", "consistency", "uncertainty")
_check, _sound = checks(_TERMS)


def _due(candidate: Candidate, as_of: int, policy: Policy) -> str | None:
    if candidate.salience_ppm < policy.promote.salience_ppm or as_of - candidate.created < policy.promote.age_ms:
        return None
    if crossed(candidate.last_access, as_of, of_tier(policy, LONG_TERM)):
        return None  # it would be demoted at once
    return "early" if candidate.early else "salient"


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    context.compare(one for (one,) in facts)
    return [_terms(one, context, as_of, policy, grounds) for (one,) in facts]


def _disputed(facts: MemoryFacts, context: MemberContext, as_of: int, policy: Policy, grounds: Grounds) -> bool:
    """Whether a later text contradicts a memory more strongly than it may be, by the rules, and the memory is so young
    that somebody may yet say on purpose which of the two holds."""
    young = as_of - facts.created < policy.promote.disputed_ms
    return young and grounds.consistency(facts, replace(context, disputes=True)) < _HALF


def _terms(facts: MemoryFacts, context: MemberContext, as_of: int, policy: Policy, grounds: Grounds) -> Terms | None:
    if facts.summary is not None:
        return None  # what it was made of would bear it out
    if as_of - facts.created < policy.promote.age_ms or facts.salience_ppm < policy.promote.salience_ppm:
        return None  # not eligible, as this member reads the streams
    if crossed(facts.last_access, as_of, of_tier(policy, LONG_TERM)):
        return None
    if not policy.supersede.inferred:
        # What was inferred from words delays a promotion, and speaks against none: else any stranger could prevent it.
        if _disputed(facts, context, as_of, policy, grounds):
            return None
        context = replace(context, disputes=False)
    return (
        grounds.bfs(facts, context),
        grounds.grounded(facts, context),
        grounds.consistency(facts, context),
        grounds.uncertainty(facts, context),
    )


def _abstain(as_of: int) -> Terms:
    return 0, 0, 0, PPM


def _score(terms: Any, policy: Policy) -> Any:
    bfs, grounded, consistency, uncertainty = terms
    weights = policy.promote
    return (
        weights.bfs_ppm * bfs
        + weights.grounded_ppm * grounded
        + weights.consistency_ppm * consistency
        + weights.certainty_ppm * (PPM - uncertainty)
    ) // PPM


def _contradicted(opinion: Opinion, as_of: int) -> bool:
    """Whether a member found it contradicted more strongly than it may be (SPEC B, Alg. 11: conflict ≤ 0.5). Who cannot
    judge has found nothing."""
    return opinion.terms[2] < _HALF and opinion.terms != _abstain(as_of)


def _gate(yes: Sequence[Opinion], quorum: int, policy: Policy) -> Verdict:
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


def _needed(policy: Policy, namespace: str) -> Fraction:
    """τ_c: more of the weight where the policy says that much depends on it (SPEC B, Alg. 14)."""
    given = policy.promote
    return given.high_tau if covers(given.high_stakes.split(), namespace) else given.tau


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if tuple(terms[name] for name in _TERMS) == _abstain(0):
        return "they cannot read it, or find it too young, too faint or disputed to judge it yet"
    held = (
        ("similar memories support it", "few similar memories support it", terms["bfs"] >= _HALF),
        ("other sources confirm it", "no other source confirms it", terms["grounded"] >= _HALF),
        ("nothing contradicts it", "something contradicts it", terms["consistency"] >= _HALF),
        ("its author is sure of it", "it is uncertain", terms["uncertainty"] <= _HALF),
    )
    said = [good if so else bad for good, bad, so in held if so is yes]
    return _listed(said) or ("all in all enough speaks for it" if yes else "all in all too little speaks for it yet")


def _listed(said: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    against, verb = ("≥", "promote") if yes else ("<", "not yet")
    given = policy.promote
    if tuple(terms[name] for name in _TERMS) == _abstain(0):
        wait = (
            ""
            if policy.supersede.inferred
            else (f", or that another text says otherwise while it is younger than {given.disputed_ms // 3_600_000} h")
        )
        return f"does not judge it yet: it cannot read it, finds it too young, too faint or a summary{wait}"
    said = (
        (given.bfs_ppm, "supported by what is near it", terms["bfs"]),
        (given.grounded_ppm, "borne out by others", terms["grounded"]),
        (given.consistency_ppm, "free of contradiction", terms["consistency"]),
        (given.certainty_ppm, "certain", PPM - terms["uncertainty"]),
    )
    found = ", ".join(f"{what} {share(value)}" for _, what, value in said)
    parts = " + ".join(f"{share(weight)}·{share(value)}" for weight, _, value in said)
    return f"{found}: {parts} = {share(score_ppm)} {against} {share(given.yes_ppm)}: {verb}"


PROMOTE = Kind(
    name="promote",
    terms=_TERMS,
    widths=(4, 4, 4, 4),
    due=_due,
    judge=_judge,
    fade=None,
    abstain=_abstain,
    check=_check,
    sound=_sound,
    score=_score,
    yes=lambda score, policy: score >= policy.promote.yes_ppm,
    needed=lambda policy: policy.promote.tau,
    needed_in=_needed,
    gate=_gate,
    outcome="promoted",
    words=Words(
        aim="promote to long-term memory",
        proposed={"early": "early, because it was salient from the start", "salient": "because it is salient"},
        why={
            "validity": "enough members were for it, but too few of them found it free enough of "
            "contradiction, or were sure enough",
            _PROMOTED: "it was promoted already",
            GONE_ALREADY: "it was gone already",
        },
        opinion=_in_words,
        plain=Plain(
            asked="promoting it to long-term memory",
            agreed="it is worth keeping for long",
            proposed={"early": "it stood out from the start", "salient": "it stands out"},
            because=_found,
        ),
    ),
    reads=True,
    offered=Offered.SALIENT,
    tiers=frozenset({SHORT_TERM}),
    # Or a long line of the decayed would starve them.
    share=Fraction(1, 4),
    absent=absent,
    void=lambda found, _: _PROMOTED if found.tier == LONG_TERM else None,
    effect=lambda found, confidence, as_of, policy: [Fate(LONG_TERM, confidence) for _ in found],
    rests=Rests.THROUGH_USE,
    contradicted=_contradicted,
    retries=lambda policy: policy.promote.retries_max,
    claims=True,
)
