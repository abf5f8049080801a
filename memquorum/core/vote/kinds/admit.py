"""The vote to admit a memory to experience: whether it helps, as verifiers found and members tried again (SPEC E).

The proposal holds what verifiers signed. A member is for it where enough of those who were drawn tell the very same,
where what it tried again of that came out the same, and where S reaches η. Nothing becomes of the memory itself: it
stays in its tier and is served as ever; what experience holds of it is the journal's (`core.journal.trials`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import ALIVE
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
from memquorum.core.vote.kinds.forget import GONE_ALREADY
from memquorum.core.vote.kinds.held import held
from memquorum.core.vote.kinds.kind import (
    MemoryState,
    Offered,
    Plain,
    Terms,
    Together,
    Words,
)

_UNTRIED = "not what was tried"
TRIED = "tried"
"""Why a memory is nominated of which verifiers agree that it helps."""


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    return [_terms(one) for (one,) in facts]


def _terms(one: MemoryFacts) -> Terms | None:
    if one.trial is None:
        return None
    return PPM * one.trial.held, min(PPM, max(0, one.trial.score_ppm))


def _absent(found: MemoryState, _: int) -> str | None:
    if not found.alive:
        return GONE_ALREADY
    return None if found.tried else _UNTRIED


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["held"]:
        return "they could not try it again, or it came out otherwise"
    return "they tried it again, and it " + ("helps in tasks" if yes else "helps too little in tasks")


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    least = share(policy.experience.eta_ppm)
    if not terms["held"]:
        return "cannot try it again, or comes to something else: it is not admitted"
    told = f"what it tried again came out the same; S = {share(terms['gain'])} {'≥' if yes else '<'} {least}"
    return f"{told}: {'admit' if yes else 'it is not admitted'}"


ADMIT = held(
    "admit",
    "held",
    "gain",
    judge=_judge,
    yes=lambda score, policy: score >= policy.experience.eta_ppm,
    needed=lambda policy: policy.promote.tau,
    outcome="admitted",
    words=Words(
        aim="admit it to experience",
        proposed={TRIED: "because verifiers agree that it helps in tasks"},
        why={
            _UNTRIED: "verifiers do not agree in what was to be voted on, or it was settled already",
            GONE_ALREADY: "it was gone already",
        },
        opinion=_in_words,
        plain=Plain(
            asked="admitting it to experience",
            agreed="it helps in tasks, so experience may give it",
            proposed={TRIED: "verifiers found that it helps in tasks"},
            because=_found,
        ),
    ),
    offered=Offered.TRIED,
    tiers=frozenset(ALIVE),
    share=Fraction(1, 16),
    absent=_absent,
    effect=lambda found, confidence, as_of, policy: [None for _ in found],
    admits=True,
)
