"""The records of the journal: an entry, its place in the chain, the signed head, and the details of most effects.

The other details stand beside what they tell of: episodes, erasures, protections, restores.
"""

from __future__ import annotations

from msgspec import Struct

from memquorum.core.records.nomination import Standing
from memquorum.core.records.orders import Restored


class JournalEntry(Struct, frozen=True):
    """One change of a shard. Its encoded bytes are what the chain hashes."""

    shard: int
    seq: int
    as_of: int
    effect: str
    event_id: str
    source_topic: str
    source_partition: int
    source_offset: int
    detail: bytes
    namespace: str | None = None
    memory_id: str | None = None


class JournalAppended(Struct, frozen=True):
    """A journal entry with its place in the chain: hash = SHA-256(domain, previous_hash, entry)."""

    entry: bytes
    previous_hash: bytes
    hash: bytes


class JournalHead(Struct, frozen=True):
    """The last sequence of a shard's journal; signed by the journal service."""

    cluster: bytes
    config: int
    shard: int
    seq: int
    hash: bytes
    as_of: int


APPLIED, MISSED, ASKS = "applied", "missed", "asks"
"""The effects of a use on one of its memories: it keeps the memory alive; it changes nothing; it requests its
restoration."""


class MemoryUsed(Struct, frozen=True):
    """The effect of a use on one memory: `APPLIED`, `MISSED` or `ASKS`."""

    memory_id: str
    outcome: str


class Accessed(Struct, frozen=True):
    """Detail of 'accessed', and of 'asked': a use that came after one of its memories was forgotten, and asks for that
    back. `used`: the memories, each once, in the order of the record."""

    agent: str
    accessed_at: int
    used: tuple[MemoryUsed, ...]

    def those(self, outcome: str) -> tuple[str, ...]:
        """The memories to which the use is this."""
        return tuple(one.memory_id for one in self.used if one.outcome == outcome)


class Result(Struct, frozen=True):
    """One proposal's end."""

    memory_ids: tuple[str, ...]
    kind: str
    outcome: str
    reason: str


class Decided(Struct, frozen=True):
    """Detail of 'decided': the decision and the proof that it was taken."""

    epoch: int
    view: int
    seq: int
    pre_prepare: bytes
    commits: tuple[bytes, ...]
    results: tuple[Result, ...]
    restored: tuple[Restored, ...] = ()


class Ticked(Struct, frozen=True):
    """Detail of 'ticked': the time that was accepted, and where the shard stood then."""

    as_of: int
    standing: Standing


class Destroyed(Struct, frozen=True):
    """Detail of 'destroyed': the keys of sealed memories and dropped episodes whose grace time ended."""

    memory_ids: tuple[str, ...]
