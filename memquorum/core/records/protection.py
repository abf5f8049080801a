"""The records of a protection: the order, in force, lapsed; and what it withholds from an erasure."""

from __future__ import annotations

from msgspec import Struct


class ProtectionOrdered(Struct, frozen=True):
    """Outside, within a Signed. A memory is to be protected from being forgotten, or no longer."""

    cluster: bytes
    order_id: str
    namespace: str
    memory_id: str
    action: str
    ordered_by: str
    ordered_at: int
    reference: str | None = None
    ends: str | None = None


class Protected(Struct, frozen=True):
    """Detail of 'protected'."""

    order: bytes
    accepted_at: int
    applied: bool


class Lapsed(Struct, frozen=True):
    """Detail of 'lapsed': a goal that nobody ended, `kind` as a protection's, last spoken of at `used_at`, and memories
    that it needs no more; a goal of many takes several entries."""

    kind: str
    used_at: int
    memory_ids: tuple[str, ...]


class Withheld(Struct, frozen=True):
    """Detail of 'withheld': an order to erase that was not carried out."""

    order: bytes
    accepted_at: int
    held: tuple[str, ...]
