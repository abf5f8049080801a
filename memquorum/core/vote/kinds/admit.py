"""The vote to admit a memory to experience: whether it helps, by verifiers' trials that members repeated (SPEC E).

The proposal holds the results that verifiers signed. A member votes yes where enough of the verifiers that were drawn
report the very same, where the trials that it repeated gave the same result, and where S reaches η. The memory itself
does not change: it stays in its tier and is served as before; the journal keeps its place in experience
(`core.journal.trials`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import ALIVE
from memquorum.core.vote.grounds import MemoryFacts
from memquorum.core.vote.kinds.families import Raise
from memquorum.core.vote.kinds.held import Held
from memquorum.core.vote.kinds.kind import (
    GONE_ALREADY,
    Case,
    Experience,
    Lookups,
    MemoryState,
    Named_contra,
    Plain,
    Rests,
    Term,
    Terms,
    Together,
    Words,
)

_UNTRIED = "not what was tried"
TRIED = "tried"
"""The reason of a nomination whose verifiers agree that the memory helps."""


def _terms(one: MemoryFacts) -> Terms | None:
    if one.trial is None:
        return None
    return PPM * one.trial.held, min(PPM, max(0, one.trial.score_ppm))


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


class _Admit(Held, Raise):
    name = "admit"
    terms = MappingProxyType({"held": Term.FLAG, "gain": Term.SHARE})
    outcome = "admitted"
    words = Words(
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
    )
    tiers = frozenset(ALIVE)
    share = Fraction(1, 16)
    rests = Rests.NEVER

    def completed(self, facts: Mapping[str, MemoryFacts], lookups: Lookups) -> Mapping[str, MemoryFacts]:
        trials = lookups.trials()
        return {i: replace(one, trial=trials.get(i)) for i, one in facts.items()}

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        return [_terms(one) for (one,) in facts]

    def yes(self, score: Any, policy: Policy) -> Any:
        return score >= policy.experience.eta_ppm

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        return super().absent(found, as_of) or (None if found.tried else _UNTRIED)

    def settle(self, named: Named_contra, passed: bool, experience: Experience[Named_contra]) -> None:
        experience.admit(named, passed)


ADMIT = _Admit()
