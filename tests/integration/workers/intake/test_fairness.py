"""One namespace's flood, on a real broker: others, and erasures, overtake it; nothing is lost, and orders are kept.

A reader in the streams' consumer group plays the scoring stage, as slowly as a test wants.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from db.vault import PostgresVault
from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.fairness import LEAST
from memquorum.core.records import EpisodeAccepted, OrderAccepted, SessionClosed, SessionEnded
from streams.faust_app import APP_ID
from tests.builders import erasures
from tests.support.disturbing import beside
from tests.support.intake import GENESIS, MASTER, SHARDS, Line
from workers.kafka import loop
from workers.kafka.scored_offsets import GROUP

FLOOD = 1_500
SHARD = ids.shard_of("flood", SHARDS)
QUIET = next(name for k in range(99) if ids.shard_of(name := f"quiet{k}", SHARDS) == SHARD)
ELSEWHERE = next(name for k in range(99) if ids.shard_of(name := f"other{k}", SHARDS) != SHARD)


@pytest.fixture
def line(fresh_kafka: str, databases: tuple[str, str], codec: Codec) -> Iterator[Line]:
    found = Line(fresh_kafka, codec, PostgresVault(databases[1], MASTER))
    yield found
    found.close()


def scoring(kafka: str, pause_s: float, each: int) -> AbstractContextManager[None]:
    """Commits so many records of the accepted stream more at a time, of all shards in the order in which they come."""
    reader = loop.consumer(kafka, GROUP)
    places = [TopicPartition(topics.ACCEPTED, shard, 0) for shard in range(SHARDS)]
    reader.commit(offsets=places, asynchronous=False)
    reader.assign(places)

    def work(over: threading.Event) -> None:
        while not over.wait(pause_s):
            found = {loop.place(m): loop.offset(m) + 1 for m in loop.records(reader, each, 0.05)}
            if found:
                reader.commit(offsets=[TopicPartition(*at, end) for at, end in found.items()], asynchronous=False)
        reader.close()

    return beside(work)


def flood_episode(namespace: str, number: int, agent: str = "f") -> dict[str, Any]:
    return {"agent": agent, "content": f"{number}", "namespace": namespace, "event_id": f"{number}", "session": "s"}


def accepted(line: Line) -> list[EpisodeAccepted]:
    return line.of(EpisodeAccepted)


def count(line: Line, namespace: str) -> int:
    return sum(one.namespace == namespace for one in accepted(line))


def test_the_streams_commit_under_the_name_that_intake_asks_for() -> None:
    assert GROUP == APP_ID


def test_a_flood_is_passed_by_others_and_by_erasures_and_comes_in_whole(line: Line, codec: Codec) -> None:
    partition = 1
    with scoring(line.bootstrap, 0.1, 12), line.intake("wall", tick_ms=60_000):
        line.publish(topics.EPISODES, *(flood_episode("flood", k) for k in range(FLOOD)), partition=partition)
        line.until(lambda: count(line, "flood") >= LEAST)
        # Behind the flood in its partition, in its shard and in another one.
        line.publish(topics.EPISODES, flood_episode(QUIET, 1), flood_episode(ELSEWHERE, 1), partition=partition)
        order = erasures.ordered(GENESIS, "agent", "eve", namespace="flood")
        line.publish(topics.ERASURES, erasures.signed(codec, GENESIS, order))
        line.until(lambda: bool(count(line, QUIET) and count(line, ELSEWHERE) and line.of(OrderAccepted)))
        assert count(line, "flood") < FLOOD / 2
        own = erasures.ordered(GENESIS, "agent", "f", namespace="flood", order_id=ids.memory_id("orders", "own"))
        line.publish(topics.ERASURES, erasures.signed(codec, GENESIS, own))
        line.publish(topics.ENDS, codec.encode(SessionEnded("s", "f", "flood", "x1", 1_750_000_000_000)))
        line.until(lambda: count(line, "flood") == FLOOD and len(line.of(SessionClosed)) == 1)
        line.until(lambda: len(line.of(OrderAccepted)) == 2)
    assert [one.event_id for one in accepted(line) if one.namespace == "flood"] == [str(k) for k in range(FLOOD)]
    stream = [
        (m.offset(), line.codec.decode(m.value() or b"")) for m in line.messages
        if m.topic() == topics.ACCEPTED and m.partition() == SHARD
    ]  # fmt: skip
    last = max(at or 0 for at, one in stream if isinstance(one, EpisodeAccepted) and one.namespace == "flood")
    assert max(at or 0 for at, one in stream if isinstance(one, OrderAccepted)) > last
    assert line.of(SessionClosed)[0].accepted_offset > last


def test_who_is_started_again_lets_in_what_waited_and_nothing_of_the_flood_twice(line: Line) -> None:
    with scoring(line.bootstrap, 0.1, 12):
        with line.intake("wall", tick_ms=60_000):
            line.publish(
                topics.EPISODES, *(flood_episode("flood", k) for k in range(600)), flood_episode(QUIET, 1), partition=1
            )
            line.until(lambda: count(line, QUIET) > 0)
        assert count(line, "flood") < 600
        with line.intake("wall", tick_ms=60_000):
            line.until(lambda: count(line, "flood") >= 600)
    told = Counter((one.namespace, one.event_id) for one in accepted(line))
    assert all(told["flood", str(k)] == 1 for k in range(600))
    # Records that overtook the flood come again, under the same id.
    assert {told[key] for key in told if key[0] == QUIET} <= {1, 2}


def test_where_nobody_scores_a_flood_comes_in_at_once(line: Line) -> None:
    with line.intake("wall", tick_ms=60_000):
        line.publish(topics.EPISODES, *(flood_episode("flood", k) for k in range(FLOOD)), partition=1)
        line.until(lambda: count(line, "flood") == FLOOD)
