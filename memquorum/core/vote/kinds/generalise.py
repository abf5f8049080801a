"""The vote to take the general form of a memory into experience (SEDM 3.4; SPEC E; decision 131). A proposal names the
general form first, then the memory that it was made of.

A member judges from what it read itself: whether the one is what the rules make of the other, byte for byte, whether it
commits to that, and whether the other is in experience. A general form by other rules than its own it cannot make
again, so it is against it.

Voted for, the general form is in short-term memory, where experience alone finds it, at a share of the other's weight
(`core.journal.generals`). Nothing becomes of the other. Voted down, nothing has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from memquorum.core import ids
from memquorum.core.experience.abstract import RULES, abstracted
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import PPM, Policy
from memquorum.core.tiers import DRAFT, SHORT_TERM
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
from memquorum.core.vote.kinds.forget import GONE_ALREADY
from memquorum.core.vote.kinds.held import held
from memquorum.core.vote.kinds.kind import (
    UNREADABLE,
    Fate,
    MemoryState,
    Offered,
    Plain,
    Rests,
    Terms,
    Together,
    Words,
)

TAKES = 2
"""A general form, and what it was made of."""
GENERAL = "general"
"""Why a general form is nominated."""
OTHERS = "not its general form"
_OUTSIDE = "its memory not in experience"


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    return [_terms(*one) if len(one) == TAKES else None for one in facts]


def _terms(general: MemoryFacts, specific: MemoryFacts) -> Terms | None:
    said = general.summary
    if said is None or general.agent != CONSOLIDATOR:
        return None
    if general.text is None or specific.text is None or not specific.sourced:
        return None  # what it cannot read it cannot make again
    # What it commits to comes first: of any other memory nothing is made again.
    of_it = said.by == RULES and not said.quotes and said.commitment == committed(specific.commitment)
    return PPM * (of_it and general.text == abstracted(specific.text)), PPM * specific.admitted


def committed(commitment: bytes) -> bytes:
    """The commitment to what a general form was made of. `commitment`: that memory's own, which is keyed."""
    return ids.sha256(commitment)


def _absent(found: MemoryState, as_of: int) -> str | None:
    if found.tier == DRAFT:
        return None if (found.sealed_until or 0) > as_of else GONE_ALREADY
    if not found.alive:
        return GONE_ALREADY
    return None if found.admitted else _OUTSIDE


def _effect(found: Sequence[MemoryState], _: int | None, as_of: int, policy: Policy) -> Sequence[Fate | None]:
    general, _specific = found
    return [Fate(SHORT_TERM) if general.tier == DRAFT else None, None]


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["made"]:
        return "they do not know both, or make another general form of it"
    if not terms["admitted"]:
        return "they do not know that what it was made of is in experience"
    return "they make the same general form of it, and what it was made of is in experience"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["made"]:
        return "does not know both, or makes another general form of it: it stays out of experience"
    if not terms["admitted"]:
        return "does not know what it was made of in experience: it stays out"
    return "the rules make the same of it, and what it was made of is in experience: take it in"


GENERALISE = held(
    "generalise",
    "made",
    "admitted",
    judge=_judge,
    yes=lambda score, policy: score >= PPM,
    needed=lambda policy: policy.promote.tau,
    outcome="generalised",
    words=Words(
        aim="take the general form of a memory into experience",
        proposed={GENERAL: "because it is the general form of what helps again and again"},
        why={
            OTHERS: "it was no general form of that memory that waits for its vote",
            UNREADABLE: "it could not be opened then",
            _OUTSIDE: "what it was made of was not in experience",
            GONE_ALREADY: "it, or what it was made of, was gone already",
        },
        opinion=_in_words,
        plain=Plain(
            asked="taking the general form of a memory into experience",
            agreed="experience may give it",
            proposed={GENERAL: "the memory that it is the general form of helps again and again"},
            because=_found,
        ),
    ),
    offered=Offered.GENERAL,
    takes=TAKES,
    spares=1,
    tiers=frozenset({DRAFT}),
    share=Fraction(1, 16),
    absent=_absent,
    effect=_effect,
    rests=Rests.THROUGH_USE,
    revives=True,
    generalises=True,
)
