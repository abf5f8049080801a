"""An episode's records: as it is published, accepted, scored, encoded anew, and as the journal tells of it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from memquorum.core.records.consolidation import Summary
from memquorum.core.records.experience import Task


class Carried(Struct, frozen=True, kw_only=True):
    """What an episode says of itself that is carried along as it was said: from `add(...)` to the journal and to a hit.

    Each field is a name that may be absent, or a flag; intake checks it by that. Beside this class a field is named in
    three schemas, the table `memory` and the client's arguments, and nowhere else (infra/decisions/0062).
    """

    session: str | None = None
    role: str | None = None
    source: str | None = None
    explicit: bool = False


CARRIED = Carried.__struct_fields__
SHARES = ("reward", "confidence", "uncertainty", "sensitivity")
"""What an episode says in [0, 1]; behind the wall each is `NAME_ppm`, in millionths."""


OBJECTS = frozenset({"attributes"})
"""Fields of an episode that are an object where the record is JSON, and its text in Avro."""


class Link(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an episode says that its memory is linked with (SPEC D): a memory (`to`), or what has a `name`.

    Behind the wall `to` is a memory's id, and a name is sealed beside the content: a link with neither is to a name.
    """

    kind: str
    to: str | None = None
    name: str | None = None


class EpisodeRecorded(Carried, frozen=True):
    """Outside. What happened to an agent, as the agent publishes it."""

    agent: str
    content: str | None = None
    """What happened; None where it `clears`."""
    namespace: str | None = None
    event_id: str | None = None
    occurred_at: int | None = None
    subject: str | None = None
    reward: float | None = None
    confidence: float | None = None
    uncertainty: float | None = None
    derives_from: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    type: str | None = None
    sensitivity: float | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    key: str | None = None
    path: str | None = None
    attributes: str | None = None
    """A JSON object, as text; where the record itself is JSON, an object within it."""
    summary: Summary | None = None
    clears: bool = False
    """That nothing is to fill its slot any more: a write of nothing."""


class Said(Carried, frozen=True, kw_only=True):
    """What an episode says of itself behind the wall: checked, and never changed from intake to the journal."""

    agent: str
    subject: str
    occurred_at: int
    reward_ppm: int | None = None
    confidence_ppm: int | None = None
    uncertainty_ppm: int | None = None
    derives_from: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    slot: str | None = None
    """What stands for the path and the key of the slot that it fills (`core.labelling`)."""
    label: str | None = None
    """What stands for its path and its attributes."""
    type: str = "episodic"
    sensitivity_ppm: int | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    granted: str | None = None
    """The API key by whose right it takes its slot from other agents too (`core.identity.grants`)."""
    suggested: str | None = None
    """By which rules its sensitivity was suggested, where its publisher said none (`core.privacy`)."""
    summary: Summary | None = None
    """What makes it a summary of the memories that it derives from; None of any other episode."""
    clears: bool = False
    """That it says nothing, and that nothing is to fill its slot any more: it becomes no memory."""
    task: Task | None = None
    """What makes it the record of a finished task; None of any other episode."""
    accepted_at: int | None = None
    """When it came in, by intake's clock; None of what came in before this was recorded."""

    @property
    def said_at(self) -> int:
        """When it was said: when it occurred, and no later than it came in. A time that an agent invents, or a clock
        that runs ahead, would else stand before all that others say until then."""
        return self.occurred_at if self.accepted_at is None else min(self.occurred_at, self.accepted_at)

    @property
    def counts(self) -> bool:
        """Whether it may become one more of the memories that a namespace is said to have: neither a write of nothing
        nor a finished task does."""
        return not self.clears and self.task is None


def taken(kind: type[Struct], record: Struct) -> dict[str, Any]:
    """Takes the fields of a class from a record that has them all, by name."""
    return {name: getattr(record, name) for name in kind.__struct_fields__}


class EpisodeAccepted(Said, frozen=True, kw_only=True):
    """An episode behind the wall: validated, identified, its content sealed."""

    event_id: str
    memory_id: str
    namespace: str
    sealed_content: bytes
    commitment: bytes
    characters: int
    origin_topic: str
    origin_partition: int
    origin_offset: int
    sealed_signed: bytes | None = None
    sealed_labels: bytes | None = None


class Stored(Said, frozen=True, kw_only=True):
    """Detail of 'stored', 'reinforced', 'dropped' and 'cleared': what the episode said, and salience of it."""

    commitment: bytes
    characters: int
    outcome: str
    salience_ppm: int
    early: bool
    accepted_offset: int
    scored_offset: int
    encoder: str
    reinforces: str | None = None
    novelty_ppm: int | None = None
    contradicts: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    retry: bool = False
    worth_ppm: int | None = None
    rank_ppm: int | None = None
    learned_ppm: int | None = None
    learned_by: str | None = None


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
    sealed_embedding: bytes | None = None
    contradicts: tuple[str, ...] = ()
    writer_epoch: int = 0
    worth_ppm: int | None = None
    rank_ppm: int | None = None
    sealed_counts: bytes | None = None
    like: str | None = None
    learned_ppm: int | None = None
    learned_by: str | None = None
    sealed_sentences: bytes | None = None


class MemoryReencoded(Struct, frozen=True):
    """A stored memory's embedding by another encoder."""

    memory_id: str
    namespace: str
    previous: str
    encoder: str
    sealed_embedding: bytes
    memory_seq: int
    sealed_sentences: bytes | None = None


class Reencoded(Struct, frozen=True):
    """Detail of 'reencoded': which encoder's embedding took whose place; the source is where it lies."""

    previous: str
    encoder: str
