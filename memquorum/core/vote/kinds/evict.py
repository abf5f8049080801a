"""The vote to let go what there is no room for (SPEC D): not whether a memory has decayed, but whether it is among the
least worth that its namespace holds, where that is over its budget, or that its shard has, where that is over its
capacity; or whether it is older than its type may become.

A member asks its own order of what goes, of what it has read itself; what the nominator says of it counts for nothing
(`core.budgets.least`). A yes is for what lies there as far as the excess reaches, and a margin on. What is protected or
promoted, and what something alive was made of, is in no such place. What is let go rests sealed for its grace time, as
what is forgotten.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from memquorum.core.budgets.claims import AGE, BUDGET, PRESSURE
from memquorum.core.budgets.least import NOWHERE, reach_ppm
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.grounds import Grounds, MemberContext
from memquorum.core.vote.kinds import forget
from memquorum.core.vote.kinds.kind import MemoryState, Offered, Plain, Terms, Together, checks

RESTED = "rested"
_TERMS = ("before", "beyond")
_check, _sound = checks(_TERMS)


def _void(found: MemoryState, nominated_at: int) -> str | None:
    """What members brought back does not go yet, whoever nominates it: each of them knows that."""
    return RESTED if found.rests else forget.FORGET.void(found, nominated_at)


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, _: Grounds
) -> Sequence[Terms | None]:
    return [None if one.place is None else (one.place.before_ppm, one.place.beyond_ppm) for (one,) in facts]


def _abstain(_: int) -> Terms:
    """It is not among the least of anything."""
    return NOWHERE.before_ppm, NOWHERE.beyond_ppm


def _score(terms: Any, policy: Policy) -> Any:
    """What goes before it, where the excess and the margin reach so far; else all."""
    before, beyond = terms
    fits = (beyond > 0) & (before < PPM) & (before <= reach_ppm(beyond, policy.budget))
    score = np.where(fits, before, PPM)
    return int(score) if score.ndim == 0 else score


def _found(terms: Mapping[str, int], yes: bool, _: Policy) -> str:
    if not terms["beyond"]:
        return "they do not know it, or find nothing too much"
    if terms["beyond"] == PPM:
        return "by what they have read it is older than memories of its kind may become"
    return f"it is {'' if yes else 'not '}among what is worth least there, by what they have read"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["beyond"]:
        return "does not know it, or finds nothing too much: keep"
    if terms["beyond"] == PPM:
        return "by its own reading it is older than its type may become: forget"
    told = f"by its own reading {share(terms['beyond'])} of what is held is too much, and "
    if terms["before"] == PPM:
        return f"{told}this is not of what is to go for it: keep"
    reach = reach_ppm(terms["beyond"], policy.budget)
    verdict = "forget" if yes else "keep"
    return f"{told}{share(terms['before'])} goes before this, {'≤' if yes else '>'} {share(reach)}: {verdict}"


EVICT = dataclasses.replace(
    forget.FORGET,
    name="evict",
    terms=_TERMS,
    widths=(4, 4),
    due=lambda candidate, as_of, policy: None,
    judge=_judge,
    fade=None,
    abstain=_abstain,
    check=_check,
    sound=_sound,
    score=_score,
    yes=lambda score, policy: score < PPM,
    words=dataclasses.replace(
        forget.FORGET.words,
        aim="forget, for want of room or for its age",
        proposed={
            BUDGET: "because its namespace held more tokens than its budget",
            PRESSURE: "because its shard held more than its capacity",
            AGE: "because it was older than its type may become",
        },
        why={**forget.FORGET.words.why, RESTED: "it rested: members had brought it back"},
        opinion=_in_words,
        plain=Plain(
            asked="forgetting it, to make room or for its age",
            agreed="it had to go, to make room or for its age",
            proposed={
                BUDGET: "its namespace held more text than its budget allows",
                PRESSURE: "there were more memories than there is room for",
                AGE: "it was older than memories of its kind may become",
            },
            because=_found,
        ),
    ),
    stands=True,
    void=_void,
    offered=Offered.BEYOND,
    tiers=frozenset({SHORT_TERM}),
    # It comes first, so that what there is no room for waits for nothing: what has decayed members may keep.
    share=Fraction(0),
)
