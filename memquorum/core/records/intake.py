"""The records of what comes in beside episodes and orders: uses, the driven clock, and what was refused."""

from __future__ import annotations

from msgspec import Struct


class AccessRecorded(Struct, frozen=True):
    """Outside. An agent used a memory."""

    agent: str
    memory_id: str
    namespace: str | None = None
    event_id: str | None = None
    accessed_at: int | None = None


class ClockRequested(Struct, frozen=True):
    """Outside, read only where the clock is driven: asks for a tick on every shard."""

    as_of: int
    event_id: str | None = None


class AccessAccepted(Struct, frozen=True):
    """An access behind the wall."""

    event_id: str
    memory_id: str
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
