"""The records that cross a topic, as frozen values.

Each class mirrors `schemas/avro/<name>.avsc` field for field; `tests/schema` holds the two equal. Times are
milliseconds since the epoch, scores are integers in millionths (`_ppm`), identifiers are strings. What the fields mean
stands in the schema's `doc`.
"""

from __future__ import annotations

from dataclasses import dataclass

from memquorum.core.episodes import (
    EpisodeAccepted as EpisodeAccepted,
)
from memquorum.core.episodes import (
    EpisodeRecorded as EpisodeRecorded,
)
from memquorum.core.episodes import (
    Stored as Stored,
)
from memquorum.core.erasure.records import (
    Erased as Erased,
)
from memquorum.core.erasure.records import (
    ErasedEpisode as ErasedEpisode,
)
from memquorum.core.erasure.records import (
    ErasureAccepted as ErasureAccepted,
)
from memquorum.core.erasure.records import (
    ErasureFound as ErasureFound,
)
from memquorum.core.erasure.records import (
    ErasureOrdered as ErasureOrdered,
)
from memquorum.core.protection.records import Lapsed as Lapsed
from memquorum.core.protection.records import Protected as Protected
from memquorum.core.protection.records import ProtectionAccepted as ProtectionAccepted
from memquorum.core.protection.records import ProtectionOrdered as ProtectionOrdered
from memquorum.core.protection.records import Withheld as Withheld
from memquorum.core.restoring.records import (
    RestoreAccepted as RestoreAccepted,
)
from memquorum.core.restoring.records import (
    Restored as Restored,
)
from memquorum.core.restoring.records import (
    RestoreFound as RestoreFound,
)
from memquorum.core.restoring.records import (
    RestoreOrdered as RestoreOrdered,
)
from memquorum.core.restoring.records import (
    RestoreRequested as RestoreRequested,
)
from memquorum.core.signed import (
    BallotCast as BallotCast,
)
from memquorum.core.signed import (
    Checkpoint as Checkpoint,
)
from memquorum.core.signed import (
    Commit as Commit,
)
from memquorum.core.signed import (
    MembersOrdered as MembersOrdered,
)
from memquorum.core.signed import (
    Misbehaved as Misbehaved,
)
from memquorum.core.signed import (
    NewView as NewView,
)
from memquorum.core.signed import (
    Opinion as Opinion,
)
from memquorum.core.signed import (
    Prepare as Prepare,
)
from memquorum.core.signed import (
    Prepared as Prepared,
)
from memquorum.core.signed import (
    PrePrepare as PrePrepare,
)
from memquorum.core.signed import (
    Signed as Signed,
)
from memquorum.core.signed import (
    ViewChange as ViewChange,
)


@dataclass(frozen=True, slots=True)
class AccessRecorded:
    """Outside. An agent used a memory."""

    agent: str
    memory_id: str
    namespace: str | None = None
    event_id: str | None = None
    accessed_at: int | None = None


@dataclass(frozen=True, slots=True)
class ClockRequested:
    """Outside, read only where the clock is driven: asks for a tick on every shard."""

    as_of: int
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class AccessAccepted:
    """An access behind the wall."""

    event_id: str
    memory_id: str
    namespace: str
    agent: str
    accessed_at: int


@dataclass(frozen=True, slots=True)
class ClockTicked:
    """Time as a record: from here on it is as_of in this shard."""

    event_id: str
    as_of: int


@dataclass(frozen=True, slots=True)
class IntakeRefused:
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


@dataclass(frozen=True, slots=True)
class EpisodeScored:
    """One outcome for every accepted episode; of several, `core.commit.answers` says which one counts."""

    event_id: str
    memory_id: str
    namespace: str
    agent: str
    accepted_offset: int
    occurred_at: int
    outcome: str
    salience_ppm: int
    early: bool
    encoder: str
    reinforces: str | None = None
    novelty_ppm: int | None = None
    reward_ppm: int | None = None
    confidence_ppm: int | None = None
    uncertainty_ppm: int | None = None
    sealed_embedding: bytes | None = None
    writer_epoch: int = 0


@dataclass(frozen=True, slots=True)
class MemoryReencoded:
    """A stored memory's embedding by another encoder."""

    memory_id: str
    namespace: str
    previous: str
    encoder: str
    sealed_embedding: bytes
    memory_seq: int = 0


@dataclass(frozen=True, slots=True)
class Crossing:
    """One memory under the threshold."""

    memory_id: str
    last_access: int
    decay_ppm: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a shard stood at a tick: what decides whether the tick opens an epoch."""

    last_epoch: int
    last_epoch_at: int
    interactions: int
    alive: int
    unattested: int = 0
    asked_at: int = 0


@dataclass(frozen=True, slots=True)
class DecayCrossed:
    """The memories of a shard whose decay has crossed the threshold at a tick."""

    shard: int
    as_of: int
    accepted_offset: int
    journal_seq: int
    crossed: tuple[Crossing, ...]
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """One memory, one kind."""

    memory_id: str
    namespace: str
    kind: str
    reason: str
    last_access: int
    created: int
    salience_ppm: int


@dataclass(frozen=True, slots=True)
class NominationProposed:
    """What one epoch of one shard votes on."""

    cluster: bytes
    config: int
    shard: int
    epoch: int
    as_of: int
    accepted_offset: int
    trigger: str
    proposals: tuple[Proposal, ...]
    order: bytes | None = None


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


@dataclass(frozen=True, slots=True)
class Reencoded:
    """Detail of 'reencoded': which encoder's embedding took whose place; the source is where it lies."""

    previous: str
    encoder: str
