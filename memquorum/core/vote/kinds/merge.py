"""The vote to merge summaries that say the same into one (SPEC C, daily merge). A proposal names the one that stays
first, then those that go.

A member judges by what it read itself: whether all are summaries, none has a higher score than the one that stays, and
every pair says the same. For that, numbers, names, negations and words have to agree, and subject, source and limits of
use have to be equal. Its score is the lowest cosine of any pair; 0 where one of these conditions fails. As every pair
has to agree, two summaries are never merged only because both are like a third; episodes are never merged.

If the vote passes, the one that stays takes over the latest use and the sum of uses, and the others rest sealed for the
grace time, in which another vote can restore them; a restored summary is not merged again. In a namespace of strict
determinism nothing is sealed, so nothing is merged either: a merge would be a summary over summaries, which do not
exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from memquorum.core.access import covers
from memquorum.core.consolidation.alike import lowest_ppm, rank, same
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import SEALED, SHORT_TERM
from memquorum.core.vote.grounds import MemoryFacts
from memquorum.core.vote.kinds.families import Join
from memquorum.core.vote.kinds.held import Held
from memquorum.core.vote.kinds.kind import (
    GONE_ALREADY,
    PROTECTED,
    Case,
    Fate,
    Fates,
    MemoryState,
    Plain,
    Term,
    Terms,
    Together,
    Words,
)

TAKES = 8
"""The maximum number of summaries in one merge."""
_APART, _MOVED = "brought back", "moved since"
_OFF = "switched off"


def _terms(summaries: Together, as_of: int) -> Terms | None:
    if len(summaries) < 2 or not all(one.summary is not None and one.agent == CONSOLIDATOR for one in summaries):
        return None  # an agent's own memories are not merged, however often it repeated one
    if not all(one.sourced and one.text is not None for one in summaries):
        return None
    places = [_rank(one, as_of) for one in summaries]
    if places[0] != min(places) or len({one.memory_id for one in summaries}) < len(summaries):
        return None
    return PPM * same(summaries), lowest_ppm(summaries)


def _rank(one: MemoryFacts, as_of: int) -> tuple[int, int, str]:
    return rank(one.salience_ppm, one.created, one.memory_id, as_of)


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["same"]:
        return "they do not know all of them, or find that they do not say the same"
    return "all of them say the same" if yes else "all of them say the same, but in words that are too different"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["same"]:
        return "does not know all of them, or finds that they do not say the same: all stay"
    least = share(policy.consolidate.merge_alike_ppm)
    told = f"they say the same; the lowest cosine of two is {share(terms['cosine'])}"
    return f"{told}, {'≥' if yes else '<'} {least}: {'merge' if yes else 'all stay'}"


class _Merge(Held, Join):
    name = "merge"
    terms = MappingProxyType({"same": Term.FLAG, "cosine": Term.SHARE})
    outcome = "merged"
    words = Words(
        aim="let one summary stand for those that say the same",
        proposed={"alike": "because they say the same"},
        why={
            PROTECTED: "one that was to go was protected",
            _APART: "members had brought one of them back, which was merged before",
            _MOVED: "one of them was not in short-term memory any more",
            GONE_ALREADY: "one of them was gone already",
            _OFF: "consolidation is switched off in its namespace",
        },
        opinion=_in_words,
        plain=Plain(
            asked="letting one summary stand for those that say the same",
            agreed="one summary is enough for what they all say",
            proposed={"alike": "they say the same"},
            because=_found,
        ),
        question="The one that would stay is {first}; the vote was whether {others} says the same",
    )
    tiers = frozenset({SHORT_TERM})
    share = Fraction(1, 16)
    takes = TAKES
    seals = True

    def barred(self, namespace: str, policy: Policy) -> str | None:
        """Returns why nothing is merged: the namespace keeps what it has, or consolidation is switched off there."""
        off = covers(policy.consolidate.off.split(), namespace)
        return super().barred(namespace, policy) or (_OFF if off else None)

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        if covers(case.policy.consolidate.strict.split(), case.context.namespace):
            return [None] * len(facts)
        return [_terms(together, case.as_of) for together in facts]

    def yes(self, score: Any, policy: Policy) -> Any:
        return (score > 0) & (score >= policy.consolidate.merge_alike_ppm)

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return policy.consolidate.alpha

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        if not found.alive:
            return GONE_ALREADY
        if found.apart:
            return _APART
        return None if found.tier == SHORT_TERM else _MOVED

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        return PROTECTED if found.protected else None

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        if covers(policy.consolidate.strict.split(), found[0].namespace):
            return [None for _ in found]
        until, kept = as_of + policy.forget.grace_ms, found[0].memory_id
        going = Fate(SEALED, sealed_until=until, asks=False, told_by=kept)
        return [Fate(SHORT_TERM), *(going for _ in found[1:])]


MERGE = _Merge()
