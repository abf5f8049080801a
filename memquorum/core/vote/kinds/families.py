"""Families of kinds: let go, raise, replace, join and order. A family has the rules that its kinds share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from memquorum.core.policy import PPM, Policy
from memquorum.core.tiers import SEALED
from memquorum.core.vote.kinds.kind import (
    PROTECTED,
    TOUCHED,
    Case,
    Fate,
    Fates,
    Kind,
    MemoryState,
    Rests,
    Term,
    Terms,
    Together,
)


class LetGo(Kind):
    """Lets memories go that are no longer worth keeping. A use ends a vote on them, and their rest."""

    rests = Rests.UNTIL_USED
    reads = False
    seals = True
    capped = True

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return policy.forget.alpha

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        """Returns why a memory is kept: it is protected, or was used since the nomination."""
        if found.protected:
            return PROTECTED
        return TOUCHED if found.touched > nominated_at else None

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        return [Fate(SEALED, sealed_until=as_of + policy.forget.grace_ms) for _ in found]


class Raise(Kind):
    """Raises a memory to long-term memory or to experience."""

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return policy.promote.tau


class Replace(Kind):
    """Lets the first memory replace the others, which it contradicts. Members weigh the evidence for both sides."""

    spares = 1
    claims = True
    weighs_scores = True
    seals = True


class Join(Kind):
    """Lets the first memory stand for the others, whose times and uses it takes over."""

    spares = 1
    inherits = True


class Order(Kind):
    """Says whether an order holds. The nomination is checked for everything that every member can check: an order that
    breaks a rule is not voted on. The vote is about the facts that a member has to know itself."""

    terms = MappingProxyType({"holds": Term.FLAG})
    rests = Rests.NEVER
    reads = False
    ordered = True

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        return [None] * len(facts)

    def score(self, terms: Any, policy: Policy) -> Any:
        return terms[0]

    def yes(self, score: Any, policy: Policy) -> Any:
        return score >= PPM

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return policy.forget.alpha

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        return None
