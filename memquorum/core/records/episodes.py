"""An episode's records: as it is published, accepted, scored, encoded anew, and as the journal tells of it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from memquorum.core.records.consolidation import Comparison, Summary
from memquorum.core.records.described import (
    AGENT,
    EVENT_ID,
    JURISDICTION,
    KEY,
    NAMESPACE,
    OCCURRED_AT,
    PATH,
    PURPOSES,
    SENSITIVITY,
    SESSION,
    SUBJECT,
)
from memquorum.core.records.experience import Task


class Carried(Struct, frozen=True, kw_only=True):
    """The fields of an episode that are passed on unchanged: from `add(...)` to the journal and to a hit.

    Each field is a name that may be absent, or a flag; intake checks it accordingly. Beside this class a field is named
    in three schemas, the table `memory` and the client's arguments, and nowhere else (infra/decisions/0062).
    """

    session: Annotated[str | None, SESSION] = None
    role: Annotated[
        str | None, Meta(description="The role of the agent in the conversation, as in user, assistant, tool.")
    ] = None
    source: Annotated[
        str | None, Meta(description="The origin of the content: a document, a tool, a feed; an erasure can name it.")
    ] = None
    explicit: Annotated[
        bool, Meta(description="True: it is remembered even if its salience is low (default: false).")
    ] = False


CARRIED = Carried.__struct_fields__
SHARES = ("reward", "confidence", "uncertainty", "sensitivity")
"""The fields of an episode with values in [0, 1]; behind the wall each is `NAME_ppm`, in millionths."""


OBJECTS = frozenset({"attributes"})
"""Fields of an episode that are an object where the record is JSON, and its text in Avro."""


class Link(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A link of an episode's memory (SPEC D): to a memory (`to`), or to something with a `name`.

    Behind the wall `to` is a memory's id, and a name is sealed beside the content: a link with neither is to a name.
    """

    kind: str
    to: str | None = None
    name: str | None = None


class EpisodeRecorded(Carried, frozen=True):
    """Outside. An experience of an agent, as the agent publishes it."""

    agent: Annotated[str, AGENT]
    content: Annotated[
        str | None, Meta(description="The text to remember, at most 64 KiB. One fact in a sentence of its own.")
    ] = None
    """The text; None if it `clears`."""
    namespace: Annotated[str | None, NAMESPACE] = None
    event_id: Annotated[str | None, EVENT_ID] = None
    occurred_at: Annotated[int | None, OCCURRED_AT] = None
    subject: Annotated[str | None, SUBJECT] = None
    reward: Annotated[float | None, Meta(description="The success of what happened, in [0, 1].")] = None
    confidence: Annotated[
        float | None,
        Meta(description="The confidence of the agent, in [0, 1]; below 0.5 it becomes no memory, unless `explicit`."),
    ] = None
    uncertainty: Annotated[
        float | None,
        Meta(description="The uncertainty of the agent, in [0, 1]; above 0.5 it becomes no memory, unless `explicit`."),
    ] = None
    derives_from: Annotated[
        tuple[str, ...], Meta(description="Ids of memories that it was made from; it is erased with any of them.")
    ] = ()
    supersedes: Annotated[
        tuple[str, ...], Meta(description="With `explicit`: ids of memories that it replaces; members vote on that.")
    ] = ()
    links: Annotated[
        tuple[Link, ...], Meta(description="Its links, each as {kind: requires, to: ID} or {kind: isA, name: pump}.")
    ] = ()
    type: Annotated[str | None, Meta(description="episodic, semantic, social or task (default: episodic).")] = None
    sensitivity: Annotated[float | None, SENSITIVITY] = None
    purposes: Annotated[tuple[str, ...], PURPOSES] = ()
    jurisdiction: Annotated[str | None, JURISDICTION] = None
    key: Annotated[str | None, KEY] = None
    path: Annotated[str | None, PATH] = None
    attributes: Annotated[
        str | None, Meta(description='A small object that searches and lists can filter by, as {"colour": "red"}.')
    ] = None
    """A JSON object, as text; where the record itself is JSON, an object within it."""
    summary: Annotated[Summary | None, Meta(description="The details of a summary; only for the consolidator.")] = None
    clears: Annotated[
        bool,
        Meta(
            description="True, with `explicit` and `key`, and without content: empties the slot; with "
            "`supersedes` in place of `key`: retracts these memories of yours (default: false)."
        ),
    ] = False
    """True for a write that empties its slot."""


class Said(Carried, frozen=True, kw_only=True):
    """The fields of an episode behind the wall: checked, and never changed from intake to the journal."""

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
    """The keyed digest of the path and the key of the slot that it fills (`core.labelling`)."""
    label: str | None = None
    """The keyed digest of its path and its attributes."""
    type: str = "episodic"
    sensitivity_ppm: int | None = None
    purposes: tuple[str, ...] = ()
    jurisdiction: str | None = None
    granted: str | None = None
    """The API key by whose right it takes its slot from other agents too (`core.identity.grants`)."""
    suggested: str | None = None
    """By which rules its sensitivity was suggested, where its publisher said none (`core.privacy`)."""
    summary: Summary | None = None
    """The summary fields, if it is a summary of the memories that it derives from; otherwise None."""
    clears: bool = False
    """True for a write that empties its slot: it has no content and becomes no memory."""
    task: Task | None = None
    """The task fields, if it is the record of a finished task; otherwise None."""
    deadline: int | None = None
    """Until when its task is to be done, in milliseconds; None of a task that is over, and of anything else
    (`core.payloads`)."""
    over: bool = False
    """True if its task is over."""
    accepted_at: int | None = None
    """When it came in, by intake's clock; None of what came in before this was recorded."""

    @property
    def said_at(self) -> int:
        """When it was said: when it occurred, and no later than it came in. A time that an agent invents, or a clock
        that runs ahead, would else stand before all that others say until then."""
        return self.occurred_at if self.accepted_at is None else min(self.occurred_at, self.accepted_at)

    @property
    def counts(self) -> bool:
        """True if the episode may count as one more memory of its namespace: neither a write of nothing nor a finished
        task does."""
        return not self.clears and self.task is None


def fields_of(kind: type[Struct], record: Struct) -> dict[str, Any]:
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
    """Detail of 'stored', 'reinforced', 'dropped' and 'cleared': what the episode said, and salience of it. `denies`:
    which statements of what it contradicts, where that can be told; `again`: memories whose value it says once more,
    after what it contradicts had denied that."""

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
    denies: tuple[Comparison, ...] = ()
    again: tuple[str, ...] = ()


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
    denies: tuple[Comparison, ...] = ()
    again: tuple[str, ...] = ()


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
    """Detail of 'reencoded': the previous and the new encoder of an embedding; the new one is at the entry's source
    offset."""

    previous: str
    encoder: str
