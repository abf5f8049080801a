"""A flipped byte in a broker's file is found by its readers, in a record's value and in its headers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from infra.embedded.kafka_broker import Kafka
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable
from workers.kafka.partition import Partition

VALUES = [b"the first value", b"the second value"]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    with Kafka(tmp_path_factory.mktemp("broker")) as kafka:
        yield kafka


@pytest.mark.parametrize("where", [b"the second value", b"a-header"])
def test_a_flipped_bit_is_told_with_its_place_and_nothing_behind_it_is_read(broker: Kafka, where: bytes) -> None:
    topic = f"records-{where[:3].decode().strip()}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    producer = loop.producer(broker.bootstrap)
    for value in VALUES:
        producer.produce(topic, value, headers=[("a-header", value)])
        assert producer.flush(30) == 0
    producer.close()
    (segment,) = Path(broker.folder, "data", f"{topic}-0").glob("*.log")
    whole = segment.read_bytes()
    at = whole.rindex(where)
    with segment.open("r+b") as file:
        file.seek(at)
        file.write(bytes([whole[at] ^ 1]))
    told = f"{topic}, partition 0: the broker's file is damaged .*offset 1"
    with closing(Partition(broker.bootstrap, topic, 0)) as partition, pytest.raises(TopicUnreadable, match=told):
        list(partition.records(1.0))
    with closing(loop.consumer(broker.bootstrap)) as reader:
        assert _values(reader, topic) in ([], VALUES[:1])


def _values(reader: Consumer, topic: str) -> list[bytes | None]:
    """Returns what a worker's loop reads until it is told that the file is damaged."""
    loop.assign(reader, {(topic, 0): None})
    found: list[bytes | None] = []
    with pytest.raises(TopicUnreadable):
        for _ in range(300):
            found += [message.value() for message in loop.records(reader, 1, 0.1)]
    return found
