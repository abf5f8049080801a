"""The vote to unite memories of experience that say the same (SEDM 3.3.2; SPEC E). A proposal names the memory that
stays first, then the one that it stands for.

A member judges by what it read itself: whether both were admitted and no other memory stands for one of them, and
whether they say the same. For that, numbers, names, negations and words have to agree, and subject, source and limits
of use have to be equal. Its score is the lowest cosine of any pair; 0 where one of these conditions fails. The
nominator chooses which one stays, by weights, which members do not know: as both say the same, a member accepts either
choice.

The first may also be a general form, which stands for a family. These are at least three lessons whose general form
it is, its own among them, each with no place of its own in a file (SEDM 3.3.2, abstractions that replace families;
decision 235). A member makes the general form of each again, byte for byte; as these are equal, their cosine is 1.

The memories themselves do not change: each stays in its tier and is served as before. Experience gives only the first
while that is alive (`core.journal.uniting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from memquorum.core.consolidation.alike import lowest_ppm
from memquorum.core.consolidation.twins import family, same
from memquorum.core.experience.abstract import RULES, abstracted, made
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import ALIVE
from memquorum.core.vote.grounds import MemoryFacts
from memquorum.core.vote.kinds.families import Join
from memquorum.core.vote.kinds.generalise import committed
from memquorum.core.vote.kinds.held import Held
from memquorum.core.vote.kinds.kind import (
    GONE_ALREADY,
    Case,
    Experience,
    Lookups,
    MemoryState,
    Named_contra,
    Plain,
    Term,
    Terms,
    Together,
    Words,
)

PAIR = 2
"""The number of memories in one vote that say the same; more are united pair by pair. With several, one may be gone at
the decision, and members cannot tell that from one that leaves right after it: the journal would void the decision,
while members would unite the rest. With two, if one is gone, no memory stands for another. Members note nothing of a
family, so it may be larger."""
TAKES = 8
"""A general form with the lessons that it stands for."""
TWINS = "twins"
"""The reason of a nomination: memories of experience say the same."""
FAMILY = "family"
"""The reason of a nomination: a general form stands for its family of lessons."""
_OUTSIDE = "not all in experience"


def _terms(some: Together) -> Terms | None:
    if len({one.memory_id for one in some}) < max(PAIR, len(some)):
        return None
    if made(some[0].summary):
        holds = _family(some[0], some[1:])
        return PPM * holds, PPM * holds
    if len(some) > PAIR or not all(one.admitted and one.sourced and one.text is not None for one in some):
        return None
    return PPM * same(some), lowest_ppm(some)


def _family(form: MemoryFacts, lessons: Sequence[MemoryFacts]) -> bool:
    """Whether a memory is the general form of each of the lessons, as far as the member knows them in experience."""
    said = form.summary
    if said is None or form.agent != CONSOLIDATOR or said.by != RULES or said.quotes or form.text is None:
        return False
    if not all(one.admitted and one.sourced and one.text is not None for one in lessons):
        return False
    own = said.commitment in {committed(one.commitment) for one in lessons}
    return own and family(lessons) and all(form.text == abstracted(one.text or "") for one in lessons)


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["same"]:
        return "they do not know all of them in experience, or find that one does not say what the others do"
    return "all of them say the same" if yes else "all of them say the same, but in words that are too different"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["same"]:
        return "does not know all of them in experience, or finds that they do not say the same: all stay in it"
    least = share(policy.experience.merge_ppm)
    told = f"they say the same; the lowest cosine of two is {share(terms['cosine'])}"
    return f"{told}, {'≥' if yes else '<'} {least}: {'unite' if yes else 'all stay in experience'}"


class _Unite(Held, Join):
    name = "unite"
    terms = MappingProxyType({"same": Term.FLAG, "cosine": Term.SHARE})
    outcome = "united"
    words = Words(
        aim="let one memory stand in experience for those that say the same",
        proposed={
            TWINS: "because they say the same in experience",
            FAMILY: "because it is the general form of all of them",
        },
        why={
            _OUTSIDE: "one of them was not in experience",
            GONE_ALREADY: "one of them was gone already",
        },
        opinion=_in_words,
        plain=Plain(
            asked="letting one memory stand in experience for those that say the same",
            agreed="one memory is enough in experience for what they all say",
            proposed={TWINS: "they say the same in experience", FAMILY: "it is the general form of all of them"},
            because=_found,
        ),
        question="The one that would stay is {first}; the vote was whether {others} says the same",
    )
    tiers = frozenset(ALIVE)
    share = Fraction(1, 16)
    takes = TAKES

    def most(self, reason: str) -> int:
        return TAKES if reason == FAMILY else PAIR

    def completed(self, facts: Mapping[str, MemoryFacts], lookups: Lookups) -> Mapping[str, MemoryFacts]:
        held = lookups.held(facts)
        return {i: replace(one, admitted=i in held) for i, one in facts.items()}

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        return [_terms(one) for one in facts]

    def yes(self, score: Any, policy: Policy) -> Any:
        return (score > 0) & (score >= policy.experience.merge_ppm)

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return policy.promote.tau

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        return super().absent(found, as_of) or (None if found.admitted else _OUTSIDE)

    def settle(self, named: Named_contra, passed: bool, experience: Experience[Named_contra]) -> None:
        if passed:
            experience.unite(named)


UNITE = _Unite()
