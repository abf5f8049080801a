"""Bounds how much of a namespace may be forgotten: in one epoch, and within a day of the shard's time.

A quorum or a policy may be wrong, and a nominating member may lie. So whatever was voted, no decision takes more of a
namespace than `room` says. It is asked by the nomination stage, which proposes no more than that; by members, who let
no more go for want of room; and where a decision is applied (`journal.decisions`), where nobody can get round it. An
audit asks it again.

A forgotten memory counts for a day after its decision was applied. A share is of what lived in that day: of what is
alive now and of what was forgotten since. An erasure is no forgetting: it counts for nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from msgspec import Struct

from memquorum.core.policy import DAY_MS_MOST, CapsPolicy


class Losses(Struct, frozen=True):
    """What a namespace has and what it lost of late: the caps are checked against it.

    `living`: its memories that are alive; `gone`: (time of the shard, how many were forgotten then), oldest first; what
    is too old to count may be left out.
    """

    living: int = 0
    gone: tuple[tuple[int, int], ...] = ()


NOTHING = Losses()
"""The losses of an unknown namespace."""


def since(as_of: int, caps: CapsPolicy) -> int:
    """Returns the time from which forgotten memories count; those forgotten at it or before do not."""
    return as_of - caps.day_ms


def lately(losses: Losses, as_of: int, caps: CapsPolicy) -> int:
    """Returns how many memories were forgotten within a day."""
    return sum(count for at, count in losses.gone if at > since(as_of, caps))


def room(losses: Losses, as_of: int, caps: CapsPolicy) -> int:
    """Returns how many memories of the namespace one decision may take now."""
    return max(0, min(_most(losses.living, caps.epoch_share, caps), day_left(losses, as_of, caps)))


def stopped_until(losses: Losses, as_of: int, caps: CapsPolicy) -> int | None:
    """Returns when memories may be forgotten again if nothing else changes. None if some may be forgotten now."""
    if day_left(losses, as_of, caps) > 0:
        return None
    for at, _ in losses.gone:
        again = at + caps.day_ms
        if again > as_of and day_left(losses, again, caps) > 0:
            return again
    return as_of + caps.day_ms


def day_left(losses: Losses, as_of: int, caps: CapsPolicy) -> int:
    """Returns how many more memories may be forgotten within the day; below 0 if more were than the cap allows."""
    forgotten = lately(losses, as_of, caps)
    return _most(losses.living + forgotten, caps.day_share, caps) - forgotten


def rooms(losses: Mapping[str, Losses], namespaces: Iterable[str], as_of: int, caps: CapsPolicy) -> dict[str, int]:
    """The room of each of the namespaces."""
    return {namespace: room(losses.get(namespace, NOTHING), as_of, caps) for namespace in namespaces}


def changed_by(losses: Losses, count: int) -> Losses:
    """Adds the memories that came alive; takes away, below 0, those that ended without being forgotten."""
    return Losses(losses.living + count, losses.gone)


def gone(losses: Losses, as_of: int, count: int) -> Losses:
    """Adds the memories forgotten at a time of the shard, and drops those that are too old to count under any
    policy."""
    kept = tuple(one for one in losses.gone if one[0] > as_of - DAY_MS_MOST)
    return Losses(losses.living, (*kept, (as_of, count)))


def _most(living: int, share: Fraction, caps: CapsPolicy) -> int:
    # A tenth of nine is nothing: without the floor a small namespace would keep everything for ever.
    return max(caps.floor, living * share.numerator // share.denominator)
