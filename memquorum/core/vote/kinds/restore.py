"""The vote to restore what was forgotten, when somebody asks for it back (core/vote/asking)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memquorum.core.orders.restore import REASON
from memquorum.core.policy import PPM, Policy
from memquorum.core.tiers import GONE, SEALED, SHORT_TERM, SUPERSEDED
from memquorum.core.vote.grounds import Grounds, MemberContext
from memquorum.core.vote.kinds import forget
from memquorum.core.vote.kinds.kind import UNREADABLE, Columns, Fate, Kind, MemoryState, Plain, Terms, Together, Words
from memquorum.core.vote.kinds.ordered import whole_or_nothing

_NOT_SEALED, _KEY_GONE, _GRACE_OVER = "not forgotten", "key gone", "grace over"


def _judge(
    facts: Sequence[Together], context: MemberContext, as_of: int, policy: Policy, grounds: Grounds
) -> Sequence[Terms | None]:
    """Judges memories that the member knows; their last access is the request's time."""
    found = forget.judge(facts, context, as_of, policy, grounds)
    return [None if terms is None else (PPM, *terms) for terms in found]


def _fade(
    last_accesses: NDArray[np.int64], ranks: NDArray[np.int64], shares: NDArray[np.int64], as_of: int, policy: Policy
) -> Columns:
    terms = forget.fade(last_accesses, ranks, shares, as_of, policy)
    return np.vstack([np.full(terms.shape[1], PPM, np.int64), terms])


def _check(terms: Terms, as_of: int, policy: Policy) -> str | None:
    if terms[0] == 0:
        return "it does not hold, and has other terms" if any(terms) else None
    return whole_or_nothing(terms, as_of, policy) or forget.check(terms[1:], as_of, policy)


def _sound(terms: Columns, as_of: int, policy: Policy) -> bool:
    holds = terms[0] == PPM
    return not terms[:, ~holds].any() and forget.sound(terms[1:, holds], as_of, policy)


def _score(terms: Any, policy: Policy) -> Any:
    """What decay has not reached since the request would not even be nominated: that counts whole, the rest by C."""
    holds, decay, *_ = terms
    kept = forget.score(terms[1:], policy)
    return (kept + (PPM - kept) * (decay >= round(policy.decay.delta * PPM))) * (holds // PPM)


def _absent(found: MemoryState, as_of: int) -> str | None:
    if found.tier == GONE:
        return _KEY_GONE
    if found.tier == SUPERSEDED:
        return None
    if found.tier != SEALED or found.sealed_until is None:
        return _NOT_SEALED
    # From here on the key may go at any moment, or went before a crash.
    return _GRACE_OVER if found.sealed_until <= as_of else None


def _effect(found: Sequence[MemoryState], _: int | None, __: int, ___: Policy) -> Sequence[Fate]:
    """It comes back into the tier that everything is forgotten from."""
    return [Fate(SHORT_TERM) for _ in found]


def _found(terms: Mapping[str, int], yes: bool, policy: Policy) -> str:
    if not terms["holds"]:
        return "they do not know it, or the request, or cannot open it"
    if yes and terms["decay"] >= round(policy.decay.delta * PPM):
        return "it was asked for only just before"
    return forget.found(terms, not yes, policy)


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["holds"]:
        return "does not know it, or the request, or cannot open it: leave it as it is"
    if yes and score_ppm == PPM:
        return "it was asked for so lately that nobody would propose to forget it: restore"
    return f"{forget.compared(terms, not yes, score_ppm, policy)}: {'restore' if yes else 'leave it as it is'}"


RESTORE = Kind(
    name="restore",
    terms=("holds", "decay", "rank", "share", "last_access"),
    widths=(4, 4, 4, 4, 8),
    due=lambda candidate, as_of, policy: None,
    judge=_judge,
    fade=_fade,
    abstain=lambda as_of: (0, 0, 0, 0, 0),
    check=_check,
    sound=_sound,
    score=_score,
    yes=lambda score, policy: (score > 0) & (score >= policy.forget.theta_ppm),
    needed=lambda policy: Fraction(1, 3),
    gate=None,
    outcome="restored",
    words=Words(
        aim="restore",
        proposed={REASON: "because somebody asked for it back"},
        why={
            _NOT_SEALED: "it is not forgotten",
            _KEY_GONE: "its key is destroyed: there is no way back",
            _GRACE_OVER: "its grace time was over before it was decided",
            UNREADABLE: "its sealed copy could not be opened then: ask again",
        },
        opinion=_in_words,
        plain=Plain(
            asked="bringing it back",
            agreed="it comes back",
            proposed={REASON: "it was asked back by {somebody}"},
            because=_found,
        ),
    ),
    reads=False,
    absent=_absent,
    effect=_effect,
    revives=True,
    ordered=True,
    # It can be undone by another vote, and a destroyed key by none: as few as may be, and one of them honest.
    votes=lambda quorum, faulty: faulty + 1,
)
