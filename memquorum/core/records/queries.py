"""The records of what agents asked the memory: as it comes in, and sealed."""

from __future__ import annotations

from msgspec import Struct


class QueryRecorded(Struct, frozen=True):
    """Outside. An agent asked the memory something."""

    agent: str
    query: str
    namespace: str | None = None
    event_id: str | None = None
    asked_at: int | None = None
    memory_ids: tuple[str, ...] = ()
    encoder: str | None = None
    vector: tuple[float, ...] = ()


class QueryAsked(Struct, frozen=True):
    """A query behind the wall, sealed under a key of the asker's."""

    event_id: str
    namespace: str
    agent: str
    asked_at: int
    key_id: str
    sealed_query: bytes
    memory_ids: tuple[str, ...] = ()
    encoder: str | None = None
    sealed_vector: bytes | None = None
