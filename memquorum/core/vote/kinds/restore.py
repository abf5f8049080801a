"""The vote to restore a forgotten memory on request (core/vote/asking)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from memquorum.core.late_numpy import np
from memquorum.core.orders.restore import REASON
from memquorum.core.policy import PPM, Policy
from memquorum.core.tiers import GONE, SEALED, SHORT_TERM, SUPERSEDED
from memquorum.core.vote.kinds.families import Order
from memquorum.core.vote.kinds.forget import FORGET, compared, reason_in_words
from memquorum.core.vote.kinds.kind import (
    UNREADABLE,
    Case,
    Columns,
    Fate,
    Fates,
    InColumns,
    MemoryState,
    Plain,
    Term,
    Terms,
    Together,
    Words,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOT_SEALED, _KEY_GONE, _GRACE_OVER = "not forgotten", "key gone", "grace over"


def _found(terms: Mapping[str, int], yes: bool, policy: Policy) -> str:
    if not terms["holds"]:
        return "they do not know it, or the request, or cannot open it"
    if yes and terms["decay"] >= round(policy.decay.delta * PPM):
        return "it was asked for only just before"
    return reason_in_words(terms, not yes, policy)


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    if not terms["holds"]:
        return "does not know it, or the request, or cannot open it: leave it as it is"
    if yes and score_ppm == PPM:
        return "it was asked for so lately that nobody would propose to forget it: restore"
    return f"{compared(terms, not yes, score_ppm, policy)}: {'restore' if yes else 'leave it as it is'}"


class _Restore(Order, InColumns):
    name = "restore"
    terms = MappingProxyType({"holds": Term.FLAG, **FORGET.terms})
    outcome = "restored"
    words = Words(
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
    )
    revives = True

    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        """Judges memories that the member knows; their last access is the request's time."""
        found = FORGET.judge(facts, case)
        return [None if terms is None else (PPM, *terms) for terms in found]

    def fade(
        self,
        last_accesses: NDArray[np.int64],
        ranks: NDArray[np.int64],
        shares: NDArray[np.int64],
        as_of: int,
        policy: Policy,
    ) -> Columns:
        terms = FORGET.fade(last_accesses, ranks, shares, as_of, policy)
        return np.vstack([np.full(terms.shape[1], PPM, np.int64), terms])

    def check(self, terms: Terms, as_of: int, policy: Policy) -> str | None:
        if terms[0] == 0:
            return "it does not hold, and has other terms" if any(terms) else None
        return super().check(terms, as_of, policy) or FORGET.check(terms[1:], as_of, policy)

    def sound(self, terms: Columns, as_of: int, policy: Policy) -> bool:
        holds = terms[0] == PPM
        return not terms[:, ~holds].any() and FORGET.sound(terms[1:, holds], as_of, policy)

    def score(self, terms: Any, policy: Policy) -> Any:
        """Returns 1 (PPM) where the memory has not decayed below δ since the request: it would not be nominated to be
        forgotten; else C."""
        holds, decay, *_ = terms
        kept = FORGET.score(terms[1:], policy)
        return (kept + (PPM - kept) * (decay >= round(policy.decay.delta * PPM))) * (holds // PPM)

    def yes(self, score: Any, policy: Policy) -> Any:
        return (score > 0) & (score >= policy.forget.theta_ppm)

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return Fraction(1, 3)

    def votes(self, quorum: int, faulty: int) -> int:
        """A restored memory can be forgotten again, a destroyed key is lost: so the fewest members that include an
        honest one."""
        return faulty + 1

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        if found.tier == GONE:
            return _KEY_GONE
        if found.tier == SUPERSEDED:
            return None
        if found.tier != SEALED or found.sealed_until is None:
            return _NOT_SEALED
        # From this time on the key may be destroyed, or was destroyed before a crash.
        return _GRACE_OVER if found.sealed_until <= as_of else None

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        """A restored memory is in short-term memory, from which memories are forgotten."""
        return [Fate(SHORT_TERM) for _ in found]


RESTORE = _Restore()
