"""An episode's records: as it is published, accepted, scored, encoded anew, and as the journal tells of it."""

from __future__ import annotations

from msgspec import Struct


class EpisodeRecorded(Struct, frozen=True):
    """Outside. What happened to an agent, as the agent publishes it. The fields from `explicit` on are reserved."""

    agent: str
    content: str
    namespace: str | None = None
    event_id: str | None = None
    occurred_at: int | None = None
    session: str | None = None
    role: str | None = None
    subject: str | None = None
    reward: float | None = None
    confidence: float | None = None
    uncertainty: float | None = None
    derives_from: tuple[str, ...] = ()
    source: str | None = None
    type: str | None = None
    sensitivity: float | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    explicit: bool | None = None
    key: str | None = None
    path: str | None = None
    attributes: str | None = None


class EpisodeAccepted(Struct, frozen=True):
    """An episode behind the wall: validated, identified, its content sealed."""

    event_id: str
    memory_id: str
    namespace: str
    agent: str
    subject: str
    occurred_at: int
    sealed_content: bytes
    commitment: bytes
    characters: int
    origin_topic: str
    origin_partition: int
    origin_offset: int
    session: str | None = None
    role: str | None = None
    reward_ppm: int | None = None
    confidence_ppm: int | None = None
    uncertainty_ppm: int | None = None
    derives_from: tuple[str, ...] = ()
    source: str | None = None
    type: str = "episodic"
    sensitivity_ppm: int | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    sealed_signed: bytes | None = None


class Stored(Struct, frozen=True):
    """Detail of 'stored', 'reinforced' and 'dropped': what salience said of the episode."""

    agent: str
    subject: str
    occurred_at: int
    commitment: bytes
    characters: int
    outcome: str
    salience_ppm: int
    early: bool
    accepted_offset: int
    scored_offset: int
    encoder: str
    reinforces: str | None = None
    session: str | None = None
    role: str | None = None
    novelty_ppm: int | None = None
    reward_ppm: int | None = None
    confidence_ppm: int | None = None
    uncertainty_ppm: int | None = None
    derives_from: tuple[str, ...] = ()
    source: str | None = None
    type: str = "episodic"
    sensitivity_ppm: int | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    retry: bool = False


class EpisodeScored(Struct, frozen=True):
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


class MemoryReencoded(Struct, frozen=True):
    """A stored memory's embedding by another encoder."""

    memory_id: str
    namespace: str
    previous: str
    encoder: str
    sealed_embedding: bytes
    memory_seq: int


class Reencoded(Struct, frozen=True):
    """Detail of 'reencoded': which encoder's embedding took whose place; the source is where it lies."""

    previous: str
    encoder: str
