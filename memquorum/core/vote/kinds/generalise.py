"""The vote to admit the general form of a memory to experience (SEDM 3.4; SPEC E; decision 131). A proposal names the
general form first, then the memory that it was made from.

A member judges by what it read itself: whether the rules make the general form from the memory, byte for byte, whether
it commits to that memory, and whether the memory is in experience. It cannot reproduce a general form made by other
rules than its own, so it votes no.

If the vote passes, the general form is in short-term memory, where only experience finds it, at a share of the memory's
weight (`core.journal.generals`). The memory itself does not change. If the vote fails, nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.experience.abstract import RULES, abstracted
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import PPM, Policy
from memquorum.core.tiers import DRAFT, SHORT_TERM
from memquorum.core.vote.grounds import MemoryFacts
from memquorum.core.vote.kinds.families import Raise
from memquorum.core.vote.kinds.held import Held
from memquorum.core.vote.kinds.kind import (
    GONE_ALREADY,
    UNREADABLE,
    Case,
    Experience,
    Fate,
    Fates,
    Lookups,
    MemoryState,
    Named_contra,
    Plain,
    Term,
    Terms,
    Together,
    Words,
)

TAKES = 2
"""A general form, and its memory."""
GENERAL = "general"
"""The reason of a general form's nomination."""
OTHERS = "not its general form"
_OUTSIDE = "its memory not in experience"


def _terms(general: MemoryFacts, specific: MemoryFacts) -> Terms | None:
    said = general.summary
    if said is None or general.agent != CONSOLIDATOR:
        return None
    if general.text is None or specific.text is None or not specific.sourced:
        return None  # an unreadable memory cannot be generalised again
    # The commitment is checked first: the general form of any other memory need not be computed.
    of_it = said.by == RULES and not said.quotes and said.commitment == committed(specific.commitment)
    return PPM * (of_it and general.text == abstracted(specific.text)), PPM * specific.admitted


def committed(commitment: bytes) -> bytes:
    """Returns the commitment to a general form's memory. `commitment`: that memory's own, which is keyed."""
    return ids.sha256(commitment)


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


class _Generalise(Held, Raise):
    name = "generalise"
    terms = MappingProxyType({"made": Term.FLAG, "admitted": Term.SHARE})
    outcome = "generalised"
    words = Words(
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
        question="The vote was whether {first} comes into experience as the general form of {others}",
    )
    tiers = frozenset({DRAFT})
    share = Fraction(1, 16)
    takes = TAKES
    spares = 1
    revives = True

    def completed(self, facts: Mapping[str, MemoryFacts], lookups: Lookups) -> Mapping[str, MemoryFacts]:
        held = lookups.held(facts)
        return {i: replace(one, admitted=i in held) for i, one in facts.items()}

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        return [_terms(*one) if len(one) == TAKES else None for one in facts]

    def yes(self, score: Any, policy: Policy) -> Any:
        return score >= PPM

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        if not found.general:
            return OTHERS
        if found.tier == DRAFT:
            return None if (found.sealed_until or 0) > as_of else GONE_ALREADY
        return super().absent(found, as_of) or (None if found.admitted else _OUTSIDE)

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        general, _specific = found
        return [Fate(SHORT_TERM) if general.tier == DRAFT else None, None]

    def ended(self, outcome: str, memory_ids: Sequence[str], memory_id: str) -> str:
        return outcome

    def settle(self, named: Named_contra, passed: bool, experience: Experience[Named_contra]) -> None:
        if passed:
            experience.generalise(named)


GENERALISE = _Generalise()
