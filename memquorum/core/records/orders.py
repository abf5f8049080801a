"""The records of every order on its way: behind the wall, and as members vote on it."""

from __future__ import annotations

from msgspec import Struct


class OrderAccepted(Struct, frozen=True):
    """An order behind the wall: the Signed as received, its kind, the memories that it names, and when it came."""

    event_id: str
    kind: str
    namespace: str
    memory_ids: tuple[str, ...]
    order: bytes
    accepted_at: int
    origin_topic: str
    origin_partition: int
    origin_offset: int


class OrderFound(Struct, frozen=True):
    """An order and where in the accepted stream it stands: what members vote on. `order`: the Signed, or the
    AccessAccepted of a use that asks, whose time `accepted_at` is then."""

    order: bytes
    accepted_at: int
    offset: int
