"""The vote to promote a memory to long-term memory: SPEC B, Alg. 12 to 14 (CDCP)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from memquorum.core.access import covers
from memquorum.core.decay import crossed, of_tier
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote.grounds import MemoryFacts
from memquorum.core.vote.kinds.families import Raise
from memquorum.core.vote.kinds.kind import (
    GONE_ALREADY,
    Case,
    Fate,
    Fates,
    MemoryState,
    Opinion,
    Plain,
    Term,
    Terms,
    Together,
    Verdict,
    Words,
    nth_highest,
)
from memquorum.ports import Candidate

_PROMOTED = "promoted already"
_HALF = PPM // 2
_TERMS = ("bfs", "grounded", "consistency", "uncertainty")
_ABSTAINS = 0, 0, 0, PPM


def _disputed(facts: MemoryFacts, case: Case) -> bool:
    """True if a later text contradicts a memory, by the rules, more strongly than allowed, and the memory is still so
    young that an agent may yet say on purpose which of the two holds."""
    young = case.as_of - facts.created < case.policy.promote.disputed_ms
    return young and case.grounds.consistency(facts, replace(case.context, disputes=True)) < _HALF


def _terms(facts: MemoryFacts, case: Case) -> Terms | None:
    context, as_of, policy, grounds = case.context, case.as_of, case.policy, case.grounds
    if facts.summary is not None:
        return None  # its sources would confirm it
    if as_of - facts.created < policy.promote.age_ms or facts.salience_ppm < policy.promote.salience_ppm:
        return None  # not eligible, as this member reads the streams
    if crossed(facts.last_access, as_of, of_tier(policy, LONG_TERM)):
        return None
    if not policy.supersede.inferred:
        # A contradiction inferred from words only delays a promotion: else any agent could prevent it.
        if _disputed(facts, case):
            return None
        context = replace(context, disputes=False)
    return (
        grounds.bfs(facts, context),
        grounds.grounded(facts, context),
        grounds.consistency(facts, context),
        grounds.uncertainty(facts, context),
    )


def _contradicted(opinion: Opinion) -> bool:
    """True if the member found it contradicted more strongly than allowed (SPEC B, Alg. 11: conflict ≤ 0.5). A member
    that cannot judge has found nothing."""
    return opinion.terms[2] < _HALF and opinion.terms != _ABSTAINS


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if tuple(terms[name] for name in _TERMS) == _ABSTAINS:
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
    if tuple(terms[name] for name in _TERMS) == _ABSTAINS:
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


class _Promote(Raise):
    name = "promote"
    terms = MappingProxyType(dict.fromkeys(_TERMS, Term.SHARE))
    outcome = "promoted"
    words = Words(
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
    )
    tiers = frozenset({SHORT_TERM})
    # A reserved share, or a long queue of decayed memories would starve promotions.
    share = Fraction(1, 4)
    claims = True

    def due(self, candidate: Candidate, as_of: int, policy: Policy) -> str | None:
        if candidate.salience_ppm < policy.promote.salience_ppm or as_of - candidate.created < policy.promote.age_ms:
            return None
        if crossed(candidate.last_access, as_of, of_tier(policy, LONG_TERM)):
            return None  # it would be demoted at once
        return "early" if candidate.early else "salient"

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        case.context.compare(one for (one,) in facts)
        return [_terms(one, case) for (one,) in facts]

    def abstain(self, as_of: int) -> Terms:
        return _ABSTAINS

    def score(self, terms: Any, policy: Policy) -> Any:
        bfs, grounded, consistency, uncertainty = terms
        weights = policy.promote
        return (
            weights.bfs_ppm * bfs
            + weights.grounded_ppm * grounded
            + weights.consistency_ppm * consistency
            + weights.certainty_ppm * (PPM - uncertainty)
        ) // PPM

    def yes(self, score: Any, policy: Policy) -> Any:
        return score >= policy.promote.yes_ppm

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        """Returns τ_c: a higher threshold in the namespaces that the policy names as high stakes (SPEC B, Alg. 14)."""
        given = policy.promote
        return given.high_tau if covers(given.high_stakes.split(), namespace) else given.tau

    def gate(self, yes: Iterable[Opinion], quorum: int, policy: Policy) -> Verdict:
        """The validity gate V ≥ 0.60 (SPEC B, Alg. 14; stages 4 and 5), V = min(stage 4, stage 5).

        Stage 4, temporal consistency: the q-th highest consistency term among the yes-ballots, so at least q members
        found no stronger contradiction than 1 - V among the texts that they read lately. Stage 5, consolidated
        confidence: the q-th highest yes-score (SPEC B, decision). The minimum, not the mean: confidence must not buy
        off a contradiction.

        Both stages are n-th highest values of a set that only shrinks when ballots are left out, and the minimum of two
        falling numbers falls: a primary that selects ballots can delay a promotion, never cause one. The lowest
        consistency among the yes-ballots would not be safe: leaving that ballot out would raise it.
        """
        opinions = tuple(yes)
        temporal = nth_highest([opinion.terms[2] for opinion in opinions], quorum)
        confidence = nth_highest([opinion.score_ppm for opinion in opinions], quorum)
        passed = min(temporal, confidence) >= policy.promote.validity_ppm
        return Verdict(passed, "quorum" if passed else "validity", confidence)

    def against(self, noes: Iterable[tuple[int, Opinion]]) -> int:
        return sum(voice for voice, opinion in noes if _contradicted(opinion))

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        return _PROMOTED if found.tier == LONG_TERM else None

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        return [Fate(LONG_TERM, confidence_ppm) for _ in found]


PROMOTE = _Promote()
