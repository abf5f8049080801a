"""Reads a shard's time from the accepted stream."""

from __future__ import annotations

import logging
import time

from confluent_kafka import Consumer, TopicPartition

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Reader
from memquorum.core.records import ClockTicked
from workers.kafka import loop
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.intake")


def last_tick(bootstrap: str, codec: Codec, stamps: Reader | None = None) -> int:
    """The last tick in shard 0, 0 before the first. A tick goes to every shard, shard 0 first.

    `stamps` identifies a stranger's tick, which could set any time.
    """
    strangers = Strangers(_LOG, stamps)
    reader = loop.reader(bootstrap)
    try:
        low, end = reader.get_watermark_offsets(TopicPartition(topics.ACCEPTED, 0), timeout=10)
        start, width = end, 64
        while start > low:
            stop, start, width = start, max(low, start - width), width * 4
            last = _last_tick_within(reader, codec, strangers, start, stop)
            if last is not None:
                return last
        return 0
    finally:
        reader.close()


def _last_tick_within(reader: Consumer, codec: Codec, strangers: Strangers, start: int, stop: int) -> int | None:
    loop.assign(reader, {(topics.ACCEPTED, 0): start})
    last, position, quiet_since = None, start, time.monotonic()
    while position < stop and time.monotonic() - quiet_since < 10:
        reached: dict[tuple[str, int], int] = {}
        found = loop.records(reader, 1000, 0.5, reached=reached)
        position = max(position, reached.get((topics.ACCEPTED, 0), 0))
        for message in found:
            offset = message.offset()
            assert offset is not None
            position, quiet_since = offset + 1, time.monotonic()
            if position > stop:
                break
            if strangers.wrote(message):
                continue
            try:
                record = codec.decode(message.value() or b"")
            except DecodeError:
                continue
            if isinstance(record, ClockTicked):
                last = record.as_of
    return last
