"""Reads topics from their beginning, for audit, rebuild, dead letters and evidence."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from memquorum import kafka
from memquorum.core.audit.chain import Record, Source
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable
from workers.kafka.reach import QUIET
from workers.kafka.strangers import Strangers

_READ_MOST = 2_000
_POLL_S = 0.1
# Records below the end offset arrive sooner than this, or something is wrong.
_STALLED_S = 60.0
_DELETED_S = 30
_QUEUED = {"queued.max.messages.kbytes": 32_768}


def standing(bootstrap: str, topic: str, partitions: int) -> Iterator[Message]:
    """Yields every message of a topic up to its present end, strangers' too; each partition's in its order.

    Raises KafkaException if the broker cannot be reached, or has no such topic; TopicUnreadable.
    """
    reader = loop.reader(bootstrap)
    try:
        left: dict[tuple[str, int], int] = {}
        for partition in range(partitions):
            low, end = reader.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
            if end > low:
                left[topic, partition] = end
        loop.assign(reader, dict.fromkeys(left))
        heard = time.monotonic()
        while left:
            reached: dict[tuple[str, int], int] = {}
            for message in loop.records(reader, _READ_MOST, _POLL_S, reached=reached):
                heard, place = time.monotonic(), loop.place(message)
                if loop.offset(message) < left.get(place, 0):
                    yield message
                if loop.offset(message) + 1 >= left.get(place, 2**63):
                    del left[place]
            for place, offset in reached.items():
                if offset >= left.get(place, 2**63):
                    del left[place]
            if time.monotonic() - heard > _STALLED_S:
                raise TopicUnreadable(f"{topic}: nothing has come for {_STALLED_S:.0f} s. Are all brokers up?")
    finally:
        reader.close()


def delete(bootstrap: str, before: Mapping[tuple[str, int], int]) -> None:
    """Deletes the records before an offset of each (topic, partition). Raises KafkaException."""
    if not before:
        return
    admin = AdminClient({**kafka.librdkafka(bootstrap), **QUIET})
    wanted = [TopicPartition(topic, partition, offset) for (topic, partition), offset in before.items()]
    for answer in admin.delete_records(wanted, request_timeout=_DELETED_S).values():
        answer.result()


class Partition:
    """A partition of a topic. `low`, `end`: its first offset, and the one after its last record, at construction."""

    def __init__(self, bootstrap: str, topic: str, partition: int, strangers: Strangers | None = None) -> None:
        """Connects. `strangers`: identifies records to skip, by their stamps; None: all records are yielded.

        Raises KafkaException if the broker cannot be reached, or has no such partition.
        """
        self._place, self._strangers = (topic, partition), strangers
        self._consumer: Consumer = loop.reader(bootstrap, **_QUEUED)
        try:
            self.low, self.end = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)
        except BaseException:
            self._consumer.close()
            raise

    def __str__(self) -> str:
        topic, partition = self._place
        return f"{topic}, partition {partition}"

    def close(self) -> None:
        """Closes the connection."""
        self._consumer.close()

    def records(self, patience_s: float, start: int | None = None) -> Iterator[Record]:
        """Yields the records from the offset on, or from the beginning, without strangers'; see `messages`."""
        for message in self.messages(patience_s, start):
            if self._strangers is None or not self._strangers.wrote(message):
                yield Record(loop.offset(message), message.value() or b"")

    def messages(self, patience_s: float, start: int | None = None) -> Iterator[Message]:
        """Yields all records as they were received, from the offset on, or from the beginning.

        All up to `end` are yielded, or TopicUnreadable is raised; beyond it, records until none has come for
        `patience_s`.
        """
        loop.assign(self._consumer, {self._place: start})
        position, heard = max(start or 0, self.low), time.monotonic()
        while True:
            reached: dict[tuple[str, int], int] = {}
            found = loop.records(self._consumer, _READ_MOST, _POLL_S, reached=reached)
            for message in found:
                position = loop.offset(message) + 1
                yield message
            position = max(position, reached.get(self._place, 0))
            now = time.monotonic()
            if found:
                heard = now
            elif position >= self.end and now - heard >= patience_s:
                return
            elif position < self.end and now - heard >= _STALLED_S:
                raise TopicUnreadable(
                    f"{self}: it ends at offset {self.end}, and nothing from {position} on has "
                    f"come for {_STALLED_S:.0f} s. Are all brokers up?"
                )

    def source(self, patience_s: float) -> Source:
        """The whole partition, in the form that an audit reads."""
        return Source(self.records(patience_s), self.end)


class Shelf:
    """Records of a partition by offset, for a reader that asks in rising order, or nearly so."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._records: Iterator[Record] | None = None
        self._next = 0

    def at(self, offset: int) -> bytes:
        """Returns the value of the record there. Raises TopicUnreadable if there is no such record."""
        if self._records is None or offset < self._next:
            self._records = self._partition.records(_STALLED_S, offset)
        for record in self._records:
            self._next = record.offset + 1
            if record.offset == offset:
                return record.data
            if record.offset > offset:
                break
        raise TopicUnreadable(f"{self._partition}: no record at offset {offset}, which the journal names")
