"""The journal compared with the accepted stream: every accepted record is accounted for, and none was made up.

Each record below the last one that the journal applied has an entry of its own, or cannot be applied: it cannot be
decoded, it is of a kind that does not belong there, or the store cannot hold it. The caller leaves out the records of
strangers. Entries and records come in rising offsets, so one pass compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memquorum import topics
from memquorum.core.audit.chain import Link, Record, Source
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.commit.applying import Accepted, unfit
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.table import answered_by
from memquorum.core.records import (
    AccessAccepted,
    Accessed,
    Assessed,
    ClockTicked,
    EpisodeAccepted,
    FeedbackAccepted,
    JournalEntry,
    OrderAccepted,
    Stored,
    Ticked,
)
from memquorum.core.records.episodes import Said, fields_of


class Coverage:
    """The accepted stream of one shard, read as its journal is walked."""

    def __init__(self, codec: Codec, genesis: Genesis, source: Source, findings: Findings) -> None:
        self._codec, self._genesis, self._findings = codec, genesis, findings
        self._records: Iterator[Record] = source.records
        self._settled = source.settled
        self._held: Record | None = None
        self._next = 0
        self._ended = False
        # The first entry whose record lies beyond the stream's end, and how many there are.
        self._cut: tuple[int, int] | None = None
        self._lacking = 0

    def entry(self, link: Link) -> None:
        """Compares the next entry of the chain: its record has to stand at the stated offset, and none before it may be
        skipped."""
        entry = link.entry
        if entry.source_topic != topics.ACCEPTED or entry.source_offset < self._next:
            return  # `History` notes an offset that does not rise
        offset = entry.source_offset
        self._pass_over(offset)
        record, self._next = self._at(offset), offset + 1
        if record is not None:
            self._findings.counts.records += 1
            self._hold(entry, link.detail, record)
        elif self._ended:
            self._lacking += 1
            self._cut = self._cut or (entry.seq, offset)
        else:
            self._note(Kind.RECORD_MISSING, entry.seq, offset, "the record that the entry applies", "none")

    def waits(self) -> int | None:
        """Returns the offset of the first settled record that could be applied and was not; None if all were."""
        while self._next < self._settled:
            record = self._peek()
            if record is None or record.offset >= self._settled:
                return None
            if self._accepted(record) is not None:
                return record.offset
            self._held, self._next = None, record.offset + 1
        return None

    def finish(self) -> None:
        """Ends the audit after the last entry."""
        if self._cut is not None:
            seq, offset = self._cut
            self._note(
                Kind.RECORD_MISSING, seq, offset, f"{self._lacking} records from here on", "the end of the topic"
            )

    def nothing_journalled(self, offset: int) -> None:
        """Notes an empty journal although a record that could be applied waits at `offset`."""
        self._note(Kind.JOURNAL_EMPTY, None, offset, "a journal entry for it", "an empty journal")

    def _pass_over(self, offset: int) -> None:
        """Notes the records before `offset` that the journal skipped."""
        while (record := self._peek()) is not None and record.offset < offset:
            self._held = None
            accepted = self._accepted(record)
            if accepted is not None:
                found = f"none for {type(accepted).__name__} {accepted.event_id}"
                self._note(Kind.RECORD_SKIPPED, None, record.offset, "a journal entry", found)

    def _at(self, offset: int) -> Record | None:
        record = self._peek()
        if record is None or record.offset != offset:
            return None
        self._held = None
        return record

    def _peek(self) -> Record | None:
        if self._held is None and not self._ended:
            self._held = next(self._records, None)
            self._ended = self._held is None
        return self._held

    def _accepted(self, record: Record) -> Accepted | None:
        """Returns the accepted record, if the commit worker could have applied it."""
        try:
            found = self._codec.decode(record.data)
        except DecodeError:
            return None
        if not isinstance(found, Accepted) or unfit(self._codec, self._genesis, found) is not None:
            return None
        return found

    def _hold(self, entry: JournalEntry, detail: object, record: Record) -> None:
        accepted = self._accepted(record)
        told = _told(detail, entry)
        stands = None if accepted is None else _stands(accepted)
        if told is not None and stands != told:
            self._note(Kind.RECORD_CONTRADICTED, entry.seq, record.offset, stands or "no record to apply", told)

    def _note(self, kind: Kind, seq: int | None, offset: int, expected: object, found: object) -> None:
        self._findings.add(kind, seq, f"accepted offset {offset}", expected, found)


def _stands(record: Accepted) -> tuple[object, ...]:
    """Returns the values of a record that its entry has to repeat."""
    if isinstance(record, EpisodeAccepted):
        said = fields_of(Said, record).values()
        return "episode", record.event_id, record.namespace, record.commitment.hex(), *said
    if isinstance(record, AccessAccepted):
        return "access", record.event_id, record.namespace, record.memory_ids, record.agent, record.accessed_at
    if isinstance(record, FeedbackAccepted):
        named = record.helped, record.did_not_help, record.given_at
        return "feedback", record.event_id, record.namespace, record.memory_id, record.agent, *named
    if isinstance(record, OrderAccepted):
        return "order", record.kind, record.event_id, record.namespace, record.order.hex(), record.accepted_at
    return "tick", record.event_id, record.as_of


def _told(detail: Any, entry: JournalEntry) -> tuple[object, ...] | None:
    """Returns the same values from an entry; None for details that `History` judges."""
    if isinstance(detail, Stored):
        said = fields_of(Said, detail).values()
        return "episode", entry.event_id, entry.namespace, detail.commitment.hex(), *said
    if isinstance(detail, Accessed):
        used = tuple(one.memory_id for one in detail.used)
        return "access", entry.event_id, entry.namespace, used, detail.agent, detail.accessed_at
    if isinstance(detail, Assessed):
        named = detail.helped, detail.did_not_help, detail.given_at
        return "feedback", entry.event_id, entry.namespace, entry.memory_id, detail.agent, *named
    if (kind := answered_by(detail)) is not None:
        return "order", kind.name, entry.event_id, entry.namespace, detail.order.hex(), detail.accepted_at
    if isinstance(detail, (Ticked, ClockTicked)):
        return "tick", entry.event_id, detail.as_of
    return None
