"""Makes of each journal entry an event for other people's tools: ids, names, times and outcomes, and no content.

An event is a JSON object with every field, in this order; later versions only add fields. It is made of the entry
alone, field by field from a list of what may leave: a field that a record gets later stays in the journal. An entry
whose detail cannot be read is an event all the same, with less in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from memquorum.core import moments
from memquorum.core.access import covers
from memquorum.core.accounts.tail import proposals_of
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import (
    Accessed,
    Assessed,
    Decided,
    Destroyed,
    Disclosed,
    Erased,
    JournalAppended,
    JournalEntry,
    Lapsed,
    Protected,
    Reclassified,
    Stored,
    Tried,
    Withheld,
)

TICKED = "ticked"
"""The effect of entries that only say that time went by."""


class MirroredPlace(Struct, frozen=True):
    """The record that an entry applies: its topic, partition and offset."""

    topic: str
    partition: int
    offset: int


class MirroredOutcome(Struct, frozen=True):
    """The end of one proposal of a decision."""

    kind: Annotated[str, Meta(description="What was proposed: forget, promote, restore and so on.")]
    memory_ids: Annotated[tuple[str, ...], Meta(description="The memories that it is about.")]
    namespace: Annotated[str | None, Meta(description="Their namespace.")]
    outcome: Annotated[str, Meta(description="What became of it: forgotten, promoted, kept and so on.")]
    reason: Annotated[str, Meta(description="The rule that decided it, as a code.")]


class JournalMirrored(Struct, frozen=True):
    """One entry of a shard's journal, without content. Entries of one shard come in the order of `seq`."""

    id: Annotated[
        str, Meta(description="SHARD/SEQ: the same entry has the same id wherever and however often it comes.")
    ]
    type: Annotated[str, Meta(description="The effect: stored, decided, erased, destroyed, ticked and so on.")]
    timestamp: Annotated[str, Meta(description="The shard's time when it was applied, RFC 3339 in UTC.")]
    shard: Annotated[int, Meta(description="The shard, from 0.")]
    seq: Annotated[int, Meta(description="The sequence in the shard's journal, from 1.")]
    namespace: Annotated[str | None, Meta(description="The namespace, where the entry has one.")]
    agent: Annotated[str | None, Meta(description="The agent that published what was applied, where one did.")]
    memory_ids: Annotated[tuple[str, ...], Meta(description="The memories that the entry is about.")]
    superseded: Annotated[tuple[str, ...], Meta(description="The memories that a stored one takes the place of.")]
    outcome: Annotated[str | None, Meta(description="Of an episode, a trial or a protection: what came of it.")]
    epoch: Annotated[int | None, Meta(description="Of a decision: its epoch.")]
    outcomes: Annotated[tuple[MirroredOutcome, ...], Meta(description="Of a decision: what became of each proposal.")]
    event_id: Annotated[str, Meta(description="The id of what was applied, as its publisher or its order names it.")]
    source: Annotated[MirroredPlace, Meta(description="The record that was applied.")]
    hash: Annotated[str, Meta(description="The entry's hash in the journal's chain, in hexadecimal.")]


def event(codec: Codec, link: JournalAppended) -> JournalMirrored:
    """Returns the event of an entry. Raises DecodeError if the entry, and not only its detail, cannot be read."""
    entry = codec.decode_as(JournalEntry, link.entry)
    try:
        detail = codec.decode(entry.detail)
    except DecodeError:
        detail = None
    epoch, outcomes = _decision(codec, detail) if isinstance(detail, Decided) else (None, ())
    return JournalMirrored(
        id=f"{entry.shard}/{entry.seq}",
        type=entry.effect,
        timestamp=moments.moment(entry.as_of),
        shard=entry.shard,
        seq=entry.seq,
        namespace=entry.namespace,
        agent=detail.agent if isinstance(detail, Stored | Accessed | Assessed) else None,
        memory_ids=_memories(entry, detail),
        superseded=detail.superseded if isinstance(detail, Stored) else (),
        outcome=_outcome(detail),
        epoch=epoch,
        outcomes=outcomes,
        event_id=entry.event_id,
        source=MirroredPlace(entry.source_topic, entry.source_partition, entry.source_offset),
        hash=link.hash.hex(),
    )


def written(told: JournalMirrored) -> bytes:
    """Returns the event as JSON: the value of its record, and the body of its webhook."""
    return msgspec.json.encode(told)


def seen(told: JournalMirrored, types: Sequence[str], namespaces: Sequence[str]) -> JournalMirrored | None:
    """Returns what a receiver of these types and namespaces gets of an event; None if that is nothing.

    Without types all are meant but `ticked`; without namespaces, all. A namespace may end on `*`. A decision is cut to
    the outcomes in those namespaces. Entries that name no namespace go only to who may see all.
    """
    if told.type not in types if types else told.type == TICKED:
        return None
    if not namespaces:
        return told
    if told.outcomes:
        mine = tuple(one for one in told.outcomes if _within(one.namespace, namespaces))
        ids = tuple(dict.fromkeys(memory_id for one in mine for memory_id in one.memory_ids))
        return replace(told, outcomes=mine, memory_ids=ids) if mine else None
    return told if _within(told.namespace, namespaces) else None


def _within(namespace: str | None, wanted: Sequence[str]) -> bool:
    return namespace is not None and covers(wanted, namespace)


def _memories(entry: JournalEntry, detail: object) -> tuple[str, ...]:
    named: list[str] = [entry.memory_id] if entry.memory_id else []
    if isinstance(detail, Accessed):
        named += [one.memory_id for one in detail.used]
    elif isinstance(detail, Erased):
        named += [one.memory_id for one in detail.episodes]
    elif isinstance(detail, Destroyed | Lapsed | Disclosed):
        named += detail.memory_ids
    elif isinstance(detail, Withheld):
        named += detail.held
    elif isinstance(detail, Reclassified):
        named += detail.memory_ids
    elif isinstance(detail, Stored) and detail.reinforces:
        named.append(detail.reinforces)
    elif isinstance(detail, Assessed):
        named += (*detail.helped, *detail.did_not_help)
    elif isinstance(detail, Decided):
        named += [memory_id for result in detail.results for memory_id in result.memory_ids]
    return tuple(dict.fromkeys(named))


def _outcome(detail: object) -> str | None:
    if isinstance(detail, Stored):
        return detail.outcome
    if isinstance(detail, Tried):
        return detail.status
    if isinstance(detail, Protected | Reclassified):
        return "applied" if detail.applied else "unchanged"
    return None


def _decision(codec: Codec, decided: Decided) -> tuple[int, tuple[MirroredOutcome, ...]]:
    proposed = {one.memory_ids: one.namespace for one in proposals_of(codec, decided)}
    outcomes = tuple(
        MirroredOutcome(one.kind, one.memory_ids, proposed.get(one.memory_ids), one.outcome, one.reason)
        for one in decided.results
    )
    return decided.epoch, outcomes
