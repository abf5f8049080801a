"""The vote to let memories of experience that say the same become one there (SEDM 3.3.2; SPEC E). A proposal names the
one that stays first, then the one that it stands for.

A member judges from what it read itself: whether all were admitted and nothing stands for one of them, and whether
every pair says the same: numbers, names, negations and words agree, they are about the same, from the same source, and
bound alike. Its score is the lowest cosine of any pair; 0 where one of these does not hold. Which of them stays the
nominator says, by weights, which no member knows: as they say the same, none is against it for that.

Nothing becomes of the memories themselves: each stays in its tier and is served as ever. Experience gives the one alone
while that is alive (`core.journal.uniting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from memquorum.core.consolidation.alike import lowest_ppm
from memquorum.core.consolidation.twins import same
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import ALIVE
from memquorum.core.vote.grounds import Grounds, MemberContext
from memquorum.core.vote.kinds.forget import GONE_ALREADY
from memquorum.core.vote.kinds.held import held
from memquorum.core.vote.kinds.kind import (
    MemoryState,
    Offered,
    Plain,
    Rests,
    Terms,
    Together,
    Words,
)

TAKES = 2
"""So many memories become one in a vote: more do so pair by pair. One of several may be gone by the decision, which
members cannot tell from what leaves right behind it: the journal would void all, and members let the rest become one.
Of two, whichever is gone, nothing is left that stands for another."""
TWINS = "twins"
"""Why memories of experience are nominated that say the same."""
_OUTSIDE = "not all in experience"


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    return [_terms(one) for one in facts]


def _terms(some: Together) -> Terms | None:
    if len({one.memory_id for one in some}) < max(2, len(some)):
        return None
    if not all(one.admitted and one.sourced and one.text is not None for one in some):
        return None
    return PPM * same(some), lowest_ppm(some)


def _absent(found: MemoryState, _: int) -> str | None:
    if not found.alive:
        return GONE_ALREADY
    return None if found.admitted else _OUTSIDE


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["same"]:
        return "they do not know all of them in experience, or find that they do not say the same"
    return "all of them say the same" if yes else "all of them say the same, but in words that are too different"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["same"]:
        return "does not know all of them in experience, or finds that they do not say the same: all stay in it"
    least = share(policy.experience.merge_ppm)
    told = f"they say the same; the lowest cosine of two is {share(terms['cosine'])}"
    return f"{told}, {'≥' if yes else '<'} {least}: {'unite' if yes else 'all stay in experience'}"


UNITE = held(
    "unite",
    "same",
    "cosine",
    judge=_judge,
    yes=lambda score, policy: (score > 0) & (score >= policy.experience.merge_ppm),
    needed=lambda policy: policy.promote.tau,
    outcome="united",
    words=Words(
        aim="let one memory stand in experience for those that say the same",
        proposed={TWINS: "because they say the same in experience"},
        why={
            _OUTSIDE: "one of them was not in experience",
            GONE_ALREADY: "one of them was gone already",
        },
        opinion=_in_words,
        plain=Plain(
            asked="letting one memory stand in experience for those that say the same",
            agreed="one memory is enough in experience for what they all say",
            proposed={TWINS: "they say the same in experience"},
            because=_found,
        ),
    ),
    offered=Offered.TWINS,
    takes=TAKES,
    spares=1,
    tiers=frozenset(ALIVE),
    share=Fraction(1, 16),
    absent=_absent,
    effect=lambda found, confidence, as_of, policy: [None for _ in found],
    rests=Rests.THROUGH_USE,
    unites=True,
)
