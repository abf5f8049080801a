"""The records of the journal: an entry, its place in the chain, the signed head, and the details of most effects.

The other details stand beside what they tell of: episodes, erasures, protections, restores.
"""

from __future__ import annotations

from dataclasses import dataclass

from memquorum.core.records.nomination import Standing
from memquorum.core.records.restoring import Restored


@dataclass(frozen=True, slots=True)
class JournalEntry:
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


@dataclass(frozen=True, slots=True)
class JournalAppended:
    """A journal entry with its place in the chain: hash = SHA-256(domain, previous_hash, entry)."""

    entry: bytes
    previous_hash: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class JournalHead:
    """How far a shard's journal reaches; signed by the journal service."""

    cluster: bytes
    config: int
    shard: int
    seq: int
    hash: bytes
    as_of: int


@dataclass(frozen=True, slots=True)
class Accessed:
    """Detail of 'accessed', and of 'asked': it came after its memory was forgotten, and asks for it back."""

    agent: str
    accessed_at: int
    applied: bool


@dataclass(frozen=True, slots=True)
class Result:
    """One proposal's end."""

    memory_id: str
    kind: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decided:
    """Detail of 'decided': the decision and the proof that it was taken."""

    epoch: int
    view: int
    seq: int
    pre_prepare: bytes
    commits: tuple[bytes, ...]
    results: tuple[Result, ...]
    restored: tuple[Restored, ...] = ()


@dataclass(frozen=True, slots=True)
class Ticked:
    """Detail of 'ticked': the time that was accepted, and where the shard stood then."""

    as_of: int
    standing: Standing


@dataclass(frozen=True, slots=True)
class Destroyed:
    """Detail of 'destroyed': the keys of sealed memories and dropped episodes whose grace time ended."""

    memory_ids: tuple[str, ...]
