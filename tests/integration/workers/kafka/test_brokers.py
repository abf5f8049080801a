"""Three embedded brokers: one that stands still is passed by, and nothing is lost or said twice."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from infra.embedded.brokers import Brokers, standing
from workers.kafka import loop

TOPIC = "said"
# A broker counts as gone after 3 s, clients wait 4 s for an answer; by default they would wait for a minute.
PATIENCE_S = 15.0


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Brokers]:
    with Brokers(tmp_path / "kafka", 3) as started:
        admin = AdminClient({"bootstrap.servers": started.bootstrap, "log_level": 0})
        wanted = NewTopic(TOPIC, 1, 3, config={"min.insync.replicas": "2"})
        admin.create_topics([wanted], operation_timeout=10)[TOPIC].result()
        yield started
        for broker in started.nodes:  # nothing is to be kept: quicker than to ask them
            if broker.process is not None:
                broker.process.kill()


@pytest.mark.slow
def test_a_broker_that_stands_still_delays_what_is_written_and_read_by_seconds(
    brokers: Brokers, tmp_path: Path
) -> None:
    producer, consumer = (make(brokers.bootstrap, log_level=0) for make in (loop.producer, loop.consumer))
    loop.assign(consumer, {(TOPIC, 0): 0})
    read: list[bytes | None] = []

    def say(value: bytes) -> float:
        since = time.monotonic()
        producer.produce(TOPIC, value, partition=0)
        while value not in read:
            assert time.monotonic() - since < PATIENCE_S, f"{value!r} was not read within {PATIENCE_S:g} s"
            producer.poll(0)
            read.extend(message.value() for message in loop.records(consumer, 10, 0.1))
        return time.monotonic() - since

    say(b"before")
    known = AdminClient({"bootstrap.servers": brokers.bootstrap, "log_level": 0}).list_topics(TOPIC, timeout=5)
    leader = brokers.nodes[known.topics[TOPIC].partitions[0].leader - 1]
    assert leader.process is not None
    leader.process.send_signal(signal.SIGSTOP)
    try:
        assert say(b"meanwhile") > 1, "the leader stood still, and nothing waited for it"
    finally:
        leader.process.send_signal(signal.SIGCONT)
    say(b"after")
    consumer.close()
    assert read == [b"before", b"meanwhile", b"after"]
    assert standing(tmp_path / "kafka") == 3
    assert standing(tmp_path) == 0
