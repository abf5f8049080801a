"""Agents' transactions hardly delay ticks and erasures, whether they end or stay open.

Other agents publish all the while, since a stuck partition must be told from topics without a flow.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack

import pytest

from db.vault import PostgresVault
from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.records import ClockTicked, EpisodeAccepted, OrderAccepted, SessionClosed, SessionEnded
from tests.builders import erasures
from tests.builders.protections import NAMESPACE
from tests.support.disturbing import beside, transactions
from tests.support.intake import GENESIS, MASTER, SHARDS, Line
from workers.kafka import loop

TICK_MS = 500
# Generous for a busy machine: undisturbed it is some tenths of a second, and before there was a bound it was for ever.
ENDED_S, OPEN_S = 8.0, 15.0


@pytest.fixture
def line(fresh_kafka: str, databases: tuple[str, str], codec: Codec) -> Iterator[Line]:
    found = Line(fresh_kafka, codec, PostgresVault(databases[1], MASTER))
    yield found
    found.close()


def noise(kafka: str) -> AbstractContextManager[None]:
    """An agent that publishes ten episodes a second, to all partitions by turns."""

    def publish(over: threading.Event) -> None:
        producer, count = loop.producer(kafka), 0
        while not over.wait(0.1):
            said = json.dumps({"agent": "noise", "content": f"noise {count}", "namespace": "noise"}).encode()
            producer.produce(topics.EPISODES, said, partition=count % SHARDS)
            producer.poll(0)
            count += 1
        producer.flush(10)
        producer.close()

    return beside(publish)


def erased(line: Line, codec: Codec) -> float:
    """Orders an erasure; the seconds until it stands in the accepted stream."""
    before = [order.event_id for order in line.of(OrderAccepted)]
    began = time.monotonic()
    order = erasures.ordered(GENESIS, namespace=NAMESPACE, order_id=ids.memory_id("orders", str(time.time_ns())))
    line.publish(topics.ERASURES, erasures.signed(codec, GENESIS, order))
    line.until(lambda: any(one.kind == "erase" and one.event_id not in before for one in line.of(OrderAccepted)))
    return time.monotonic() - began


def ticks(line: Line) -> int:
    return len(line.of(ClockTicked))


def ticked(line: Line, more: int = 4) -> float:
    """The seconds until every shard has got so many more ticks."""
    began, before = time.monotonic(), ticks(line)
    line.until(lambda: ticks(line) >= before + more * SHARDS)
    return time.monotonic() - began


@pytest.mark.parametrize(
    ("topic", "how"),
    [
        *((topics.PROTECTIONS, how) for how in ("calm", "committed", "aborted", "open")),
        *((topic, how) for topic in (topics.QUERIES, topics.ERASURES) for how in ("committed", "open")),
    ],
)
def test_a_transaction_delays_neither_a_tick_nor_an_erasure(line: Line, codec: Codec, topic: str, how: str) -> None:
    bound = OPEN_S if how == "open" else ENDED_S
    with line.intake("wall", tick_ms=TICK_MS), noise(line.bootstrap), ExitStack() as disturbed:
        line.until(lambda: ticks(line) >= SHARDS)
        for _ in range(1 if how == "calm" else 2):
            if how != "calm":
                disturbed.enter_context(transactions(line.bootstrap, topic, SHARDS, how))
            assert erased(line, codec) < bound
            assert ticked(line) < ENDED_S


def test_a_session_ends_behind_its_episodes_while_a_stranger_has_a_transaction_open_in_the_accepted_stream(
    line: Line, codec: Codec
) -> None:
    said = [{"agent": "planner", "content": f"valve {k}", "namespace": "garden", "session": "s1"} for k in range(5)]
    with line.intake("wall", tick_ms=TICK_MS):
        line.until(lambda: ticks(line) >= SHARDS)
        value = codec.encode(ClockTicked("x", 1))
        with transactions(line.bootstrap, topics.ACCEPTED, SHARDS, "open", value):
            line.publish(topics.EPISODES, *said, partition=1)
            line.publish(topics.ENDS, codec.encode(SessionEnded("s1", "planner", "garden", "x1", 1_750_000_000_000)))
            line.until(lambda: len(line.of(SessionClosed)) == 1 and len(line.of(EpisodeAccepted)) == 5)
    offsets = [
        message.offset()
        for message in line.messages
        if message.topic() == topics.ACCEPTED and isinstance(line.codec.decode(message.value() or b""), EpisodeAccepted)
    ]
    assert line.of(SessionClosed)[0].accepted_offset > max(offsets)
