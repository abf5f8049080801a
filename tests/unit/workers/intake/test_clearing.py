"""The records that intake deletes from the outside topics, and those that it leaves: without Kafka, which
tests/integration has.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.telemetry.health import Health
from tests.builders import genesis
from workers.intake import clearing
from workers.intake import worker as intake
from workers.intake.clearing import Clearing, Place
from workers.kafka import loop, partition

KEEP_S = 100.0
CLUSTER, OTHERS = b"c" * 32, b"d" * 32
EPISODES, ACCESSES = (topics.EPISODES, 0), (topics.ACCESSES, 0)


class Broker:
    """Outside topics as Clearing sees them. `marks`: what each bears. `newest`: how its latest record is dated."""

    def __init__(self) -> None:
        self.low: dict[Place, int] = dict.fromkeys((EPISODES, ACCESSES), 0)
        self.ends: dict[Place, int] = dict.fromkeys((EPISODES, ACCESSES), 1_000)
        self.marks = dict.fromkeys((topics.EPISODES, topics.ACCESSES), clearing.mark(CLUSTER))
        self.newest = dict.fromkeys((EPISODES, ACCESSES), 5_000)
        self.rolled: list[tuple[Place, int]] = []
        self.refuses: KafkaError | None = None

    def offsets(self, _: object, places: Iterable[Place], spec: object) -> dict[Place, int]:
        return {place: (self.low if spec is clearing._EARLIEST else self.ends)[place] for place in places}

    def delete(self, _: str, before: dict[Place, int]) -> None:
        for place, end in before.items():
            assert end <= self.ends[place], "brokers refuse to delete what is not there yet"
            self.low[place] = end

    def list_offsets(self, asked: Iterable[Any], **_: object) -> dict[Any, Any]:
        found = {one: SimpleNamespace(timestamp=self.newest[one.topic, one.partition]) for one in asked}
        return {one: SimpleNamespace(result=lambda told=told: told) for one, told in found.items()}

    def describe_configs(self, asked: Iterable[Any], **_: object) -> dict[Any, Any]:
        def answer(name: str) -> Any:
            said = {clearing.MARK: self.marks[name], "retention.ms": "604800000"}
            return SimpleNamespace(result=lambda: {k: SimpleNamespace(value=v) for k, v in said.items()})

        return {resource: answer(resource.name) for resource in asked}

    # A producer, of markers alone.

    def produce(
        self, topic: str, _: None, __: None, number: int, *, timestamp: int, headers: Any, on_delivery: Any
    ) -> None:
        assert headers == [(clearing.MARKER, b"")]
        self.rolled.append(((topic, number), timestamp))
        on_delivery(self.refuses, None)

    def flush(self, _: float) -> int:
        return 0

    def purge(self) -> None: ...
    def close(self) -> None: ...


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    found = Broker()
    monkeypatch.setattr(clearing, "offsets", found.offsets)
    monkeypatch.setattr(partition, "delete", found.delete)
    monkeypatch.setattr(loop, "producer", lambda _: found)
    monkeypatch.setattr(clearing, "Asker", lambda _: SimpleNamespace(client=found, failed=lambda: None))
    return found


def made(keep_s: float = KEEP_S) -> Clearing:
    return Clearing("nowhere:1", CLUSTER, keep_s, Health())


def alarms(found: Clearing) -> dict[str, str]:
    told: Any = found._health.able()[1].get("alarms", {})
    return dict(told)


def test_what_was_let_in_is_deleted_when_its_time_is_over_and_not_before(broker: Broker) -> None:
    found = made()
    found.took(EPISODES, 10, 0)
    found.took(EPISODES, 20, 50)
    found.turn(KEEP_S - 1, 0)
    assert broker.low[EPISODES] == 0
    found.turn(KEEP_S, 0)
    assert broker.low == {EPISODES: 10, ACCESSES: 0}
    found.turn(KEEP_S + 50, 0)
    found.turn(KEEP_S + 1_000, 0)
    assert broker.low == {EPISODES: 20, ACCESSES: 0}, "what nobody has let in stays"


def test_what_a_process_was_given_counts_from_then(broker: Broker) -> None:
    found = made()
    found.given(EPISODES, 7, 30)
    found.given(ACCESSES, 0, 30)
    found.turn(KEEP_S + 29, 0)
    assert broker.low[EPISODES] == 0
    found.turn(KEEP_S + 30, 0)
    assert broker.low == {EPISODES: 7, ACCESSES: 0}


@pytest.mark.parametrize("mark", ["86400000", clearing.mark(OTHERS)], ids=["nobody's", "another installation's"])
def test_topics_of_others_are_left_alone_and_their_retention_is_told(broker: Broker, mark: str) -> None:
    broker.marks[topics.ACCESSES] = mark
    found = made()
    for place in (EPISODES, ACCESSES):
        found.took(place, 10, 0)
    found.turn(KEEP_S, 0)
    found.turn(KEEP_S + 1, 0)
    assert broker.low == {EPISODES: 10, ACCESSES: 0}
    assert {place for place, _ in broker.rolled} == {EPISODES}
    told = alarms(found)
    assert list(told) == [f"topic {topics.ACCESSES}"] and "for 7 days" in told[f"topic {topics.ACCESSES}"]


def test_who_is_to_keep_everything_deletes_nothing_and_asks_whose_topics_they_are(broker: Broker) -> None:
    broker.marks[topics.ACCESSES] = "86400000"
    found = made(0)
    for place in (EPISODES, ACCESSES):
        found.took(place, 10, 0)
    for now in (1, 1_000, 100_000):
        found.turn(now, 0)
    assert broker.low == {EPISODES: 0, ACCESSES: 0} and broker.rolled == []
    assert list(alarms(found)) == [f"topic {topics.ACCESSES}"]


def test_what_was_taken_away_is_left_to_who_has_it_now(broker: Broker) -> None:
    found = made()
    for place in (EPISODES, ACCESSES):
        found.took(place, 10, 0)
    found.left([ACCESSES])
    found.turn(KEEP_S, 0)
    assert broker.low == {EPISODES: 10, ACCESSES: 0}


def test_a_topic_that_was_made_anew_keeps_what_nobody_has_read(broker: Broker) -> None:
    found = made()
    found.took(EPISODES, 10, 0)
    found.took(ACCESSES, 10, 0)
    broker.ends[EPISODES] = 3
    found.turn(KEEP_S, 0)
    assert broker.low == {EPISODES: 0, ACCESSES: 10}


def test_where_records_come_without_end_what_is_old_goes_all_the_same(broker: Broker) -> None:
    found = made()
    for now in range(1_000):
        found.took(EPISODES, now, now)
        assert len(found._taken[EPISODES]) < 20, "their times are no list of all records"
        if now % 10 == 0:
            found.turn(now, 0)
        assert broker.low[EPISODES] <= max(0, now - KEEP_S)
    assert broker.low[EPISODES] >= 1_000 - 1.5 * KEEP_S


def test_a_file_is_begun_once_where_a_partition_is_silent(broker: Broker) -> None:
    found = made()
    found.took(EPISODES, 10, 0)
    found.turn(KEEP_S, 60_000)
    broker.ends[EPISODES] = 1_001
    found.turn(KEEP_S + 30, 90_000)
    assert broker.rolled == [], "whoever publishes begins a file himself"
    found.turn(KEEP_S + 60, 120_000)
    found.turn(KEEP_S + 90, 150_000)
    # Dated so that it begins a file: an age of more than segment.ms after the latest record.
    assert broker.rolled == [(EPISODES, 120_000)]


@pytest.mark.parametrize(
    ("newest", "dated"),
    [(5_000, 100_000), (90_000, 90_000 + clearing.SEGMENT_MS + 1), (100_000 + 59 * 60_000, None)],
    ids=["of long ago", "of now", "its own word for a far future"],
)
def test_a_marker_is_dated_as_a_broker_takes_it(broker: Broker, newest: int, dated: int | None) -> None:
    broker.newest[EPISODES] = newest
    told = clearing.roll("nowhere:1", broker, [EPISODES], 100_000)  # type: ignore[arg-type]
    assert (told, broker.rolled) == (({EPISODES}, [(EPISODES, dated)]) if dated else (set(), []))


def test_a_marker_that_was_refused_is_tried_again(broker: Broker) -> None:
    found = made()
    found.given(EPISODES, 0, 0)
    found.turn(1, 0)
    broker.refuses = KafkaError(KafkaError.INVALID_TIMESTAMP)
    with pytest.raises(KafkaException):
        found.turn(2, 0)
    broker.refuses = None
    found.turn(3, 0)
    found.turn(4, 0)
    assert len(broker.rolled) == 2


# Calls by intake ------------------------------------------------------------------------------------------------------


class Record:
    """A record of an outside topic, as a consumer hands it out."""

    def __init__(self, value: bytes | None, *headers: str, offset: int = 9) -> None:
        self._value, self._headers, self._offset = value, [(name, b"") for name in headers], offset

    def value(self) -> bytes | None:
        return self._value

    def headers(self) -> list[tuple[str, bytes]] | None:
        return self._headers or None

    def topic(self) -> str:
        return topics.EPISODES

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_000


@pytest.mark.parametrize(
    ("record", "passed_over"),
    [
        (Record(None, clearing.MARKER), True),
        (Record(b"", clearing.MARKER), True),
        (Record(b"{}", clearing.MARKER), False),
        (Record(None), False),
        (Record(None, "traceparent"), False),
    ],
    ids=["a marker", "an empty one", "an episode that bears its header", "no record", "no record with headers"],
)
def test_only_what_says_nothing_is_a_marker(record: Any, passed_over: bool) -> None:
    assert clearing.is_marker(record) is passed_over


class Client:
    """A consumer, as far as intake commits by it."""

    def __init__(self) -> None:
        self.error: KafkaException | None = None

    def commit(self, **_: object) -> None:
        if self.error is not None:
            raise self.error

    def close(self) -> None: ...


@pytest.fixture
def letting_in(codec: Codec, broker: Broker) -> intake.Intake:
    """Intake without brokers, with what clears behind it."""
    vault: Any = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "consumer", lambda *_, **__: Client())
        patch.setattr(loop, "producer", lambda *_, **__: broker)
        found = intake.Intake("nowhere:1", genesis.make(), codec, vault, stop=loop.Stop())
    found._clearing = made()
    return found


def test_what_was_not_committed_is_not_deleted(letting_in: intake.Intake, broker: Broker) -> None:
    client, done = letting_in.reading.member, letting_in._clearing
    assert isinstance(client, Client) and done is not None
    record: Any = Record(b"{}", offset=9)
    client.error = KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION))
    letting_in._offsets.read([record, record])
    letting_in._commit([record])
    assert done._taken == {}
    client.error = None
    letting_in._commit([record])
    assert [end for _, end in done._taken[EPISODES]] == [10]


def test_a_marker_is_read_and_let_in_by_nobody_and_asks_for_no_other(
    letting_in: intake.Intake, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[object] = []
    monkeypatch.setattr(letting_in, "_judge", lambda *said: judged.append(said))
    marker: Any = Record(None, clearing.MARKER)
    letting_in._let_in(letting_in._noted([marker]))
    assert judged == [] and letting_in._clearing is not None and letting_in._clearing._taken == {}
