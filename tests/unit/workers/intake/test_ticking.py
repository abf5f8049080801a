"""The timer of the wall clock's ticks, on a producer that keeps what it is given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.records import ClockTicked
from memquorum.telemetry.bundle import Telemetry
from tests.support.waiting import PATIENCE_S, until
from workers.intake import ticking
from workers.intake.ticking import Ticking
from workers.kafka import loop

SHARDS = 3


class Broker:
    def __init__(self) -> None:
        self.records: list[tuple[int, bytes]] = []
        self.error: KafkaError | None = None
        self.came = threading.Condition()

    def produce(self, topic: str, value: bytes, _key: None, shard: int, told: Callable[..., None], **_: Any) -> None:
        assert topic == topics.ACCEPTED
        with self.came:
            self.records.append((shard, value))
            self.came.notify_all()
        told(self.error, None)

    def flush(self, _: float) -> int:
        return 0

    def more(self, count: int) -> bool:
        """Whether so many records more come in time."""
        with self.came:
            wanted = len(self.records) + count
            return self.came.wait_for(lambda: len(self.records) >= wanted, PATIENCE_S)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    found = Broker()
    monkeypatch.setattr(loop, "producer", lambda *_: found)
    return found


class Wall:
    now = 1_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def timer(broker: Broker, codec: Codec, wall: Wall) -> Iterator[Ticking]:
    found = Ticking("nowhere", codec, SHARDS, 0.01, stamps=None, shown=Telemetry().stage("intake"), wall_ms=wall)
    yield found
    found.close()


def times(broker: Broker, codec: Codec) -> list[int]:
    return [codec.decode_as(ClockTicked, value).as_of for _, value in broker.records]


def test_it_ticks_in_every_shard_while_the_loop_does_something_else(timer: Ticking, broker: Broker) -> None:
    timer.lead(0)
    assert broker.more(3 * SHARDS)
    assert [shard for shard, _ in broker.records][: 3 * SHARDS] == [*range(SHARDS)] * 3


def test_it_ticks_only_while_it_leads(timer: Ticking, broker: Broker) -> None:
    assert broker.records == []
    timer.lead(0)
    assert broker.more(SHARDS)
    timer.leave()
    there = len(broker.records)
    assert there % SHARDS == 0
    timer.turn()
    assert len(broker.records) == there
    timer.lead(0)
    assert broker.more(SHARDS)


def test_time_does_not_fall_where_the_wall_clock_is_set_back(
    timer: Ticking, broker: Broker, codec: Codec, wall: Wall
) -> None:
    timer.lead(5_000)
    assert broker.more(SHARDS)
    wall.now = 7_000
    until(lambda: 7_000 in times(broker, codec))
    wall.now = 6_000
    assert broker.more(2 * SHARDS)
    found = times(broker, codec)
    assert found[0] == 5_000 and found == sorted(found) and found[-1] == 7_000


def test_it_ticks_no_longer_where_the_loop_stands_still(
    timer: Ticking, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticking, "_STILL_S", -1.0)
    monkeypatch.setattr(ticking, "_LOOK_S", 0.01)
    looked, wait = threading.Event(), timer._changed.wait

    def looking(seconds: float) -> bool:
        looked.set()
        return wait(seconds)

    monkeypatch.setattr(timer._changed, "wait", looking)
    timer.lead(0)
    looked.clear()
    assert looked.wait(PATIENCE_S) and broker.records == []
    monkeypatch.setattr(ticking, "_STILL_S", 100.0)
    assert broker.more(SHARDS)


def test_the_loop_is_told_of_a_tick_that_was_refused(timer: Ticking, broker: Broker) -> None:
    broker.error = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    timer.turn()
    timer.lead(0)

    def refused() -> bool:
        try:
            timer.turn()
        except KafkaException as error:
            return bool(error.args[0] == broker.error)
        return False

    until(refused)
