"""The vote to demote a long-term memory that has decayed by its own, longer scales (SPEC B): it is short-term again.

A member judges it as it judges what is to be forgotten, by the scales of long-term memory. Nothing is lost by it, and a
memory that is used again may be promoted again. So it takes as few members as may be, and one of them honest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction

from memquorum.core.decay import of_tier
from memquorum.core.policy import Policy
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote.kinds import forget
from memquorum.core.vote.kinds.kind import Fate, MemoryState, Plain

_DEMOTED = "demoted already"


def _slow(policy: Policy) -> Policy:
    return of_tier(policy, LONG_TERM)


def _void(found: MemoryState, nominated_at: int) -> str | None:
    return _DEMOTED if found.tier != LONG_TERM else forget.disturbed(found, nominated_at)


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    return f"{forget.compared(terms, yes, score_ppm, policy)}: {'demote' if yes else 'keep'}"


DEMOTE = dataclasses.replace(
    forget.FORGET,
    name="demote",
    due=lambda candidate, as_of, policy: forget.decayed(candidate, as_of, _slow(policy)),
    judge=lambda facts, context, as_of, policy, grounds: forget.judge(facts, context, as_of, _slow(policy), grounds),
    fade=lambda accessed, ranks, shares, as_of, policy: forget.fade(accessed, ranks, shares, as_of, _slow(policy)),
    check=lambda terms, as_of, policy: forget.check(terms, as_of, _slow(policy)),
    sound=lambda terms, as_of, policy: forget.sound(terms, as_of, _slow(policy)),
    needed=lambda policy: Fraction(1, 3),
    outcome="demoted",
    words=dataclasses.replace(
        forget.FORGET.words,
        aim="demote to short-term memory",
        why={**forget.SPARED, _DEMOTED: "it was in short-term memory already"},
        opinion=_in_words,
        plain=Plain(
            asked="moving it back to short-term memory",
            agreed="it need not stay in long-term memory",
            proposed={
                forget.DECAYED: "nobody had used it for {unused}",
                "asked": "forgetting it was asked for by {somebody}, which begins with that",
            },
            because=forget.found,
        ),
    ),
    decays_in=LONG_TERM,
    tiers=frozenset({LONG_TERM}),
    # Or a long line of what is to be forgotten would starve it.
    share=Fraction(1, 8),
    void=_void,
    effect=lambda found, confidence, as_of, policy: [Fate(SHORT_TERM) for _ in found],
    capped=False,
    seals=False,
    votes=lambda quorum, faulty: faulty + 1,
)
