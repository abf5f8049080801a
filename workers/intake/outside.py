"""Finds and deletes records of the outside topics that intake has already let in.

Intake deletes from topics that this installation provisioned (`workers.intake.clearing`); from others an operator may.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from memquorum import kafka, topics
from workers.intake import clearing
from workers.kafka import loop, partition
from workers.kafka.reach import QUIET

GROUP = "intake"
_PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class TopicState:
    """The records of one topic before the offset that intake has read to. `reach`: by partition, its first offset and
    that offset; only partitions with such records. `oldest`: the time of the oldest such record, in milliseconds."""

    topic: str
    reach: dict[int, tuple[int, int]]
    oldest: int | None

    @property
    def records(self) -> int:
        """The number of offsets between them."""
        return sum(to - low for low, to in self.reach.values())


def topic_states(bootstrap: str, shards: int) -> list[TopicState]:
    """Returns the state of each outside topic now. Raises KafkaException."""
    reader = loop.consumer(bootstrap, GROUP, **{"enable.auto.commit": False})
    try:
        return [_taken(reader, topic, shards) for topic in topics.OUTSIDE]
    finally:
        reader.close()


def delete(bootstrap: str, found: Sequence[TopicState]) -> None:
    """Deletes these records, and begins new files, so that the old ones can be deleted. Raises KafkaException."""
    before = {(each.topic, k): to for each in found for k, (_, to) in each.reach.items()}
    if before:
        admin = AdminClient({**kafka.librdkafka(bootstrap), **QUIET})
        partition.delete(bootstrap, before)
        clearing.roll(bootstrap, admin, before, time.time_ns() // 1_000_000)


def _taken(reader: Consumer, topic: str, shards: int) -> TopicState:
    known = reader.list_topics(topic, timeout=_PATIENCE_S).topics[topic].partitions
    places = [TopicPartition(topic, k) for k in range(shards) if k in known]
    reach: dict[int, tuple[int, int]] = {}
    for place in reader.committed(places, timeout=_PATIENCE_S):
        low, end = reader.get_watermark_offsets(place, timeout=_PATIENCE_S)
        if low < min(place.offset, end):
            reach[place.partition] = (low, min(place.offset, end))
    times = [_time(reader, TopicPartition(topic, k, low)) for k, (low, _) in reach.items()]
    return TopicState(topic, reach, min((at for at in times if at is not None), default=None))


def _time(reader: Consumer, place: TopicPartition) -> int | None:
    """The time of one record; None if it cannot be read in time."""
    reader.assign([place])
    try:
        message = reader.poll(_PATIENCE_S)
        return None if message is None or message.error() is not None else int(message.timestamp()[1])
    finally:
        reader.unassign()
