"""The part of the accepted stream that the stages recall, on a genuine Kafka: so much, of this shard, and only the
fleet's own records.
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core.identity.stamps import HEADER, Writer
from workers.kafka import loop
from workers.kafka.accepted_past import KafkaPast

WRITER = Writer(b"s" * 32, members=4)
SHARD = 1


def write(bootstrap: str, values: list[bytes], *, strangers: frozenset[int] = frozenset()) -> None:
    client = loop.producer(bootstrap)
    for shard in (SHARD, SHARD + 1):
        for at, value in enumerate(values):
            said = value + bytes([shard])
            stamp = bytes(80) if at in strangers else WRITER.stamp(topics.ACCEPTED, shard, said)
            client.produce(topics.ACCEPTED, said, partition=shard, headers=[(HEADER, stamp)])
    assert client.flush(10) == 0


def test_the_last_records_before_an_offset_come_oldest_first(fresh_kafka: str) -> None:
    past = KafkaPast(fresh_kafka, WRITER.reader())
    assert past.before(SHARD, 0, 10) == []
    write(fresh_kafka, [b"%d" % n for n in range(30)], strangers=frozenset({17}))
    said = [b"%d" % n + bytes([SHARD]) for n in range(30)]
    assert past.before(SHARD, 20, 5) == [said[15], said[16], said[18], said[19]]
    assert past.before(SHARD, 3, 256) == said[:3]
    assert past.before(SHARD, 30, 2) == said[28:]


def test_an_offset_beyond_the_end_is_not_waited_for(fresh_kafka: str) -> None:
    # As after a broker that lost its tail: what is there is recalled.
    write(fresh_kafka, [b"a", b"b"])
    assert len(KafkaPast(fresh_kafka, WRITER.reader()).before(SHARD, 100, 99)) == 1
