"""Lists the present and former members of a shard, from its chain of configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from memquorum.core.api.answers import Member, Since
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.membership import Member as Seat

_MILLI = 1_000


def seats(now: Genesis, decided: Mapping[int, tuple[int, int]]) -> tuple[Member, ...]:
    """All members that a shard ever had, by their ids. `now`: its configuration; `decided`: configuration → the epoch
    that decided on it, and as of which time."""
    found: dict[int, Member] = {}
    for one in _chain(now):
        since = Since(one.config, *decided.get(one.config, ()))
        for seat in one.members:
            found[seat.id] = _told(seat, since, found.get(seat.id))
        there = {seat.id for seat in one.members}
        for gone in (member for member in found.values() if member.seated and member.id not in there):
            found[gone.id] = replace(gone, seated=False, left=since)
    return tuple(found[id] for id in sorted(found))


def _told(seat: Seat, since: Since, before: Member | None) -> Member:
    key = seat.public_key.hex()
    same = before is not None and before.public_key == key
    return Member(
        id=seat.id, name=seat.name, role=seat.role, seated=True,
        weight=seat.weight_milli / _MILLI, reliability=seat.reliability_milli / _MILLI, public_key=key,
        since=since if before is None else before.since,
        key_since=before.key_since if before is not None and same else since,
        left=None,
    )  # fmt: skip


def _chain(now: Genesis) -> Sequence[Genesis]:
    """The configurations of a shard, the first one first."""
    found: list[Genesis] = []
    one: Genesis | None = now
    while one is not None:
        found.append(one)
        one = one.previous
    return found[::-1]
