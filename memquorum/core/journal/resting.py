"""How long a memory that was kept is not proposed again: for each kind of proposal by itself, as the kind says."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from memquorum.core.journal.rows import Strength
from memquorum.core.policy import Policy
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Kind, Rests
from memquorum.core.vote.nomination import rest_until

_UNTIL_USED = frozenset(name for name, kind in KINDS.items() if kind.rests is Rests.UNTIL_USED)


def refused(strength: Strength, kind: Kind, epoch: int, policy: Policy) -> Strength:
    """A memory that `epoch` kept where the kind would have had it go: the more often in a row, the longer it rests."""
    kept = strength.kept.get(kind.name, 0) + 1
    return replace(
        strength,
        kept={**strength.kept, kind.name: kept},
        rest={**strength.rest, kind.name: rest_until(epoch, kept, policy)},
    )


def used(strength: Strength) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """What is left of `kept` and `rest` after a use."""
    if _UNTIL_USED.isdisjoint(strength.kept):
        return strength.kept, strength.rest
    return _without(strength.kept), _without(strength.rest)


def _without(by_kind: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in by_kind.items() if name not in _UNTIL_USED}
