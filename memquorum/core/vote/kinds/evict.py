"""The vote to forget memories for lack of room (SPEC D), whether they have decayed or not. It takes the memories of
least worth in a namespace over its budget or in a shard over its capacity, and memories that have outlived their use
(`core.budgets.outlived`).

A member asks its own order of eviction, by what it has read itself, and ignores what the nominator says of the memory
(`core.budgets.least`). It votes yes for a memory whose place lies within the excess and a margin beyond it. Protected
and promoted memories, and sources of living memories, have no place in that order. An evicted memory rests sealed for
its grace time, like a forgotten one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from memquorum.core.budgets.claims import AGE, BUDGET, FINISHED, PRESSURE, UNUSED
from memquorum.core.budgets.least import NOWHERE, reach_ppm
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.grounds import MemoryFacts
from memquorum.core.vote.kinds.families import LetGo
from memquorum.core.vote.kinds.forget import FORGET
from memquorum.core.vote.kinds.kind import Case, Lookups, MemoryState, Plain, Term, Terms, Together

RESTED = "rested"


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["beyond"]:
        return "they do not know it, or find nothing too much"
    if terms["beyond"] == PPM:
        return "by what they have read its time is over, by its age, for want of use, or with its task"
    return f"it is {'' if yes else 'not '}among what is worth least there, by what they have read"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["beyond"]:
        return "does not know it, or finds nothing too much: keep"
    if terms["beyond"] == PPM:
        return "by its own reading its time is over, by its age, for want of use, or with its task: forget"
    told = f"by its own reading {share(terms['beyond'])} of what is held is too much, and "
    if terms["before"] == PPM:
        return f"{told}this is not of what is to go for it: keep"
    reach = reach_ppm(terms["beyond"], policy.budget)
    verdict = "forget" if yes else "keep"
    return f"{told}{share(terms['before'])} goes before this, {'≤' if yes else '>'} {share(reach)}: {verdict}"


class _Evict(LetGo):
    name = "evict"
    terms = MappingProxyType({"before": Term.SHARE, "beyond": Term.SHARE})
    outcome = FORGET.outcome
    words = dataclasses.replace(
        FORGET.words,
        aim="forget, for want of room or as its time is over",
        proposed={
            BUDGET: "because its namespace held more tokens than its budget",
            PRESSURE: "because its shard held more than its capacity",
            AGE: "because it was older than its type may become",
            UNUSED: "because nobody had used it for as long as its namespace allows for its type",
            FINISHED: "because it was a step of a task that is over",
        },
        why={**FORGET.words.why, RESTED: "it rested: members had brought it back"},
        opinion=_in_words,
        plain=Plain(
            asked="forgetting it, to make room or as its time is over",
            agreed="it had to go, to make room or as its time is over",
            proposed={
                BUDGET: "its namespace held more text than its budget allows",
                PRESSURE: "there were more memories than there is room for",
                AGE: "it was older than memories of its kind may become",
                UNUSED: "nobody had used it for {unused}, and memories of its kind may not go unused for so long",
                FINISHED: "it was a step of a task that is over",
            },
            because=_found,
        ),
    )
    # Evictions come first, so that lack of room waits for nothing: members may vote to keep decayed memories. So no
    # share is reserved.
    tiers = frozenset({SHORT_TERM})

    def completed(self, facts: Mapping[str, MemoryFacts], lookups: Lookups) -> Mapping[str, MemoryFacts]:
        places = lookups.places()
        return {i: replace(one, place=places.get(i)) for i, one in facts.items()}

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        return [None if one.place is None else (one.place.before_ppm, one.place.beyond_ppm) for (one,) in facts]

    def abstain(self, as_of: int) -> Terms:
        """Returns the terms of a member to which the memory is not among the least of anything."""
        return NOWHERE.before_ppm, NOWHERE.beyond_ppm

    def score(self, terms: Any, policy: Policy) -> Any:
        """Returns the share of the memories that go before it, where that is within the excess and the margin; else 1
        (PPM)."""
        before, beyond = terms
        fits = (beyond > 0) & (before < PPM) & (before <= reach_ppm(beyond, policy.budget))
        score = np.where(fits, before, PPM)
        return int(score) if score.ndim == 0 else score

    def yes(self, score: Any, policy: Policy) -> Any:
        return score < PPM

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        """A memory that members restored is not evicted during its rest, even if it is nominated: each member knows of
        the rest."""
        return RESTED if found.rests else FORGET.void(found, nominated_at)


EVICT = _Evict()
