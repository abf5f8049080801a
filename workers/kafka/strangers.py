"""Identifies the writer of an unsigned record of the internal topics: this installation, or a stranger
(core/identity/stamps.py)."""

from __future__ import annotations

import logging
from typing import Protocol

from confluent_kafka import Message

from memquorum import topics
from memquorum.core.avro import later_record
from memquorum.core.identity.stamps import HEADER, Reader, Writer
from memquorum.schema_files import shared_codec
from memquorum.telemetry.leftout import LeftOut, reason
from workers.kafka import loop

_ALTERED_MOST = 10
_NOWHERE = 2**63  # beyond every offset


class Firsts(Protocol):
    """Keeps, for each partition, the first known offset of a record with the tag of a member that was added."""

    def first_stamped(self, topic: str, shard: int) -> int | None:
        """Returns the offset, or None if none is known."""
        ...

    def stamped_from(self, topic: str, shard: int, offset: int) -> None:
        """Sets the offset."""
        ...


class Strangers(LeftOut):
    """Identifies strangers' records, and counts all records that a worker leaves out.

    Without a reader every record is accepted, which is for tests that feed one stage by hand. Raises LaterRecord for a
    record of this installation whose schema is unknown here.

    A member that was added cannot check earlier stamps. Records are only appended, so it accepts records without its
    tag before the first one with it in a partition, and none after it.
    """

    def __init__(self, log: logging.Logger, reader: Reader | None, firsts: Firsts | None = None) -> None:
        """`firsts`: keeps the offsets across restarts, for a member that was added."""
        super().__init__(log)
        self._reader, self._kept = reader, firsts
        self._firsts: dict[tuple[str, int], int] = {}
        # The places of records whose stamp does not fit their value; each once.
        self.altered: list[str] = []

    def wrote(self, message: Message) -> bool:
        """True if a stranger wrote the record, which is then counted; records of signed topics are judged elsewhere."""
        topic, partition = loop.place(message)
        if self._reader is None or topic not in topics.STAMPED:
            return False
        stamp, offset = loop.stamp(message), loop.offset(message)
        if self._reader.genuine(topic, partition, message.value() or b"", stamp):
            if shared_codec().later(message.value() or b""):
                raise loop.LaterRecord(later_record(f"{topic}, partition {partition}, offset {offset}"))
            if self._reader.added and offset < self._first(topic, partition):
                self._firsts[topic, partition] = offset
                if self._kept is not None:
                    self._kept.stamped_from(topic, partition, offset)
            return False
        if self._reader.may_precede(stamp) and offset < self._first(topic, partition):
            return False
        at = f"{topic}, partition {partition}, offset {offset}"
        if stamp is not None and len(self.altered) < _ALTERED_MOST and at not in self.altered:
            self.altered.append(at)
        self.note(topic, partition, offset, reason(stamp))
        return True

    def _first(self, topic: str, partition: int) -> int:
        """The first known offset of a record with the reader's tag."""
        known = self._firsts.get((topic, partition))
        if known is None:
            kept = self._kept.first_stamped(topic, partition) if self._kept is not None else None
            known = self._firsts[topic, partition] = _NOWHERE if kept is None else kept
        return known


def stamped(headers: loop.Headers, writer: Writer | None, topic: str, partition: int, value: bytes) -> loop.Headers:
    """The headers, with the stamp that a record of this topic needs."""
    if writer is None or topic not in topics.STAMPED:
        return headers
    return [*headers, (HEADER, writer.stamp(topic, partition, value))]
