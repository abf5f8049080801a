"""The records of what comes in beside episodes and orders: uses, the driven clock, and what was refused."""

from __future__ import annotations

from msgspec import Struct

USES_MOST = 100
"""So many memories one record of a use may name: as many as one answer gives by default."""


class AccessRecorded(Struct, frozen=True):
    """Outside. An agent used memories: what one answer gave it, say."""

    agent: str
    memory_ids: tuple[str, ...]
    namespace: str | None = None
    event_id: str | None = None
    accessed_at: int | None = None


class ClockRequested(Struct, frozen=True):
    """Outside, read only where the clock is driven: asks for a tick on every shard."""

    as_of: int
    event_id: str | None = None


class AccessAccepted(Struct, frozen=True):
    """An access behind the wall: each memory once."""

    event_id: str
    memory_ids: tuple[str, ...]
    namespace: str
    agent: str
    accessed_at: int


class ClockTicked(Struct, frozen=True):
    """Time as a record: from here on it is as_of in this shard."""

    event_id: str
    as_of: int


class IntakeRefused(Struct, frozen=True):
    """A record that intake did not let in: where it came from and why; the payload sealed."""

    origin_topic: str
    origin_partition: int
    origin_offset: int
    reason: str
    detail: str
    refused_at: int
    key_id: str
    sealed_payload: bytes
    field: str | None = None
    signature: bytes | None = None
    event: bytes | None = None
    """`ids.event_digest` of its namespace and event id, where the record could be read so far."""
    publisher: bytes | None = None
    """The same with its agent."""


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
