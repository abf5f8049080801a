"""A stranger's transactions stall nobody: not open ones on internal topics, nor the marks that ended ones leave."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from memquorum import topics
from memquorum.client import tail
from memquorum.client.audit import _Topic
from memquorum.core.avro import Codec
from memquorum.core.records import ClockTicked
from workers.kafka import loop, partition, published
from workers.kafka.journals import Journals
from workers.kafka.partition import Partition
from workers.kafka.strangers import Strangers
from workers.kafka.ticks import last_tick
from workers.upkeep.operator_topic import KafkaOrders

SHARD = 3


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_STALLED_S", 5.0)
    monkeypatch.setattr("memquorum.client.audit._STALLED_S", 5.0)


@contextmanager
def opened(kafka: str, topic: str, name: str, partition: int = SHARD) -> Iterator[Producer]:
    """A stranger's transaction with one record in the topic; it is aborted at the end."""
    stranger = Producer({"bootstrap.servers": kafka, "transactional.id": name, "log_level": 0})
    stranger.init_transactions(30)
    stranger.begin_transaction()
    stranger.produce(topic, b"a stranger's", partition=partition)
    assert stranger.flush(10) == 0
    try:
        yield stranger
    finally:
        stranger.abort_transaction(30)
        stranger.close()


def write(kafka: str, topic: str, value: bytes) -> None:
    producer = loop.producer(kafka)
    producer.produce(topic, value, partition=SHARD)
    assert producer.flush(10) == 0
    producer.close()


def polled(reader: Consumer, topic: str, wanted: bytes, seconds: float = 5) -> bool:
    """Whether the value comes, to a reader from the beginning on."""
    loop.assign(reader, {(topic, SHARD): None})
    for _ in range(int(seconds / 0.1)):
        if any(message.value() == wanted for message in loop.records(reader, 100, 0.1)):
            return True
    return False


@pytest.mark.parametrize("topic", [topics.ACCEPTED, topics.JOURNAL])
def test_an_open_transaction_does_not_stall_who_reads_an_internal_topic(fresh_kafka: str, topic: str) -> None:
    with opened(fresh_kafka, topic, f"hangs-{topic}"):
        write(fresh_kafka, topic, b"ours")
        with closing(loop.consumer(fresh_kafka)) as reader:
            assert polled(reader, topic, b"ours"), "a stranger's open transaction stalls the partition"
        with closing(Partition(fresh_kafka, topic, SHARD)) as found:
            assert [record.data for record in found.records(0.2)] == [b"a stranger's", b"ours"]


def _partition(kafka: str) -> list[bytes]:
    with closing(Partition(kafka, topics.ORDERS, SHARD)) as found:
        return [record.data for record in found.records(0.2)]


def _client(kafka: str) -> list[bytes]:
    with asyncio.Runner() as runner, _Topic(runner, kafka, topics.ORDERS, 4) as found:
        return [record.data for record in found.source(SHARD).records]


def _told(kafka: str) -> list[bytes]:
    return list(tail.follow(kafka, tail.START, forever=False))


READERS: dict[str, Callable[[str], list[bytes]]] = {
    "partition": _partition,
    "standing": lambda kafka: [m.value() or b"" for m in partition.standing(kafka, topics.ORDERS, 4)],
    "orders": lambda kafka: list(KafkaOrders(kafka, 0).of(SHARD)),
    "client": _client,
}


@pytest.mark.parametrize("reader", READERS)
def test_the_mark_of_an_ended_transaction_is_no_record_to_wait_for(fresh_kafka: str, reader: str) -> None:
    write(fresh_kafka, topics.ORDERS, b"ours")
    with opened(fresh_kafka, topics.ORDERS, f"ends-{reader}"):
        pass
    with closing(loop.consumer(fresh_kafka)) as asked:
        assert asked.get_watermark_offsets(TopicPartition(topics.ORDERS, SHARD), timeout=10) == (0, 3)
    assert READERS[reader](fresh_kafka)[0] == b"ours"


ENDS: dict[str, Callable[[str, Codec], object]] = {
    "tail": lambda kafka, _: _told(kafka),
    "last entries": lambda kafka, codec: published.last_entries(
        kafka, codec, Strangers(logging.getLogger(), None), range(4), _soon()
    ),
    "destroyed keys": lambda kafka, codec: list(Journals(kafka, 4, codec).destroyed({})),
}


def _soon() -> Callable[[str | None], None]:
    deadline = time.monotonic() + 10

    def still(waits: str | None) -> None:
        assert time.monotonic() < deadline, waits

    return still


@pytest.mark.parametrize("reader", ENDS)
@pytest.mark.parametrize("open_still", [False, True])
def test_who_reads_the_journal_to_its_end_waits_for_no_transaction(
    fresh_kafka: str, codec: Codec, reader: str, open_still: bool
) -> None:
    write(fresh_kafka, topics.JOURNAL, b"no entry")
    with ExitStack() as stack:
        stack.enter_context(opened(fresh_kafka, topics.JOURNAL, f"journal-{reader}-{open_still}"))
        if not open_still:
            stack.close()
        began = time.monotonic()
        ENDS[reader](fresh_kafka, codec)
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("open_still", [False, True])
def test_the_last_tick_is_found_before_a_transaction(fresh_kafka: str, codec: Codec, open_still: bool) -> None:
    producer = loop.producer(fresh_kafka)
    producer.produce(topics.ACCEPTED, codec.encode(ClockTicked("tick/7", 7)), partition=0)
    assert producer.flush(10) == 0
    with ExitStack() as stack:
        stack.enter_context(opened(fresh_kafka, topics.ACCEPTED, f"ticks-{open_still}", partition=0))
        if not open_still:
            stack.close()
        began = time.monotonic()
        assert last_tick(fresh_kafka, codec) == 7
        assert time.monotonic() - began < 8


def test_what_an_agent_aborts_is_not_taken_in(fresh_kafka: str) -> None:
    with opened(fresh_kafka, topics.EPISODES, "an agent"):
        pass
    write(fresh_kafka, topics.EPISODES, b"published")
    with closing(loop.consumer(fresh_kafka, "intake-like", **loop.COMMITTED)) as reader:
        assert polled(reader, topics.EPISODES, b"published")
        loop.assign(reader, {(topics.EPISODES, SHARD): None})
        first = reader.poll(10)
        assert first is not None and first.value() == b"published"
