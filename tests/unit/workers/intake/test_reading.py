"""Intake's read positions, on clients that give what a test says."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import TopicPartition

from memquorum import topics
from workers.intake.outside_topics import Reading
from workers.kafka import loop

EPISODES, ERASURES = (topics.EPISODES, 0), (topics.ERASURES, 0)


class Client:
    """A consumer that keeps what it was told to pause."""

    def __init__(self, settings: dict[str, object]) -> None:
        self.settings = settings
        self.paused: set[tuple[str, int]] = set()
        self.assigned: list[tuple[str, int, int]] = []

    def committed(self, partitions: list[TopicPartition], **_: object) -> list[TopicPartition]:
        return [TopicPartition(p.topic, p.partition, 5) for p in partitions]

    def get_watermark_offsets(self, _: TopicPartition, **__: object) -> tuple[int, int]:
        return 3, 9

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.assigned, self.paused = [(p.topic, p.partition, p.offset) for p in partitions], set()

    def pause(self, partitions: list[TopicPartition]) -> None:
        self.paused |= {(p.topic, p.partition) for p in partitions}

    def resume(self, partitions: list[TopicPartition]) -> None:
        self.paused -= {(p.topic, p.partition) for p in partitions}

    def poll(self, _: float) -> None: ...


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[Client]:
    made: list[Client] = []

    def consumer(*_: object, **settings: object) -> Client:
        made.append(Client(settings))
        return made[-1]

    monkeypatch.setattr(loop, "consumer", consumer)
    return made


@pytest.fixture
def reading(clients: list[Client]) -> Reading:
    found = Reading("nowhere")
    found.given([TopicPartition(*EPISODES), TopicPartition(*ERASURES)])
    return found


def test_a_position_passes_what_no_reader_gets(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, reached: dict[tuple[str, int], int], **__: object) -> list[Any]:
        reached |= {EPISODES: 8, (topics.TASKS, 3): 4}
        return []

    monkeypatch.setattr(loop, "records", nothing)
    assert reading.next == {EPISODES: 5, ERASURES: 5}
    assert reading.records(10, 0) == []
    # Partitions that another process was given meanwhile are not its own.
    assert reading.next == {EPISODES: 8, ERASURES: 5}


def test_orders_are_read_whatever_is_open_and_agents_topics_as_far_as_transactions_are_over(
    reading: Reading, clients: list[Client]
) -> None:
    assert [client.settings.get("isolation.level") for client in clients[:2]] == ["read_committed", None]


def test_the_ends_of_agents_topics_are_asked_as_far_as_transactions_are_over_and_no_others(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[object, set[tuple[str, int]]] = {}

    def ends(client: Client, places: list[tuple[str, int]], *_: object) -> dict[tuple[str, int], int]:
        asked[client.settings.get("isolation.level")] = set(places)
        return dict.fromkeys(places, 1)

    monkeypatch.setattr(loop, "ends_at_last", ends)
    accepted = (topics.ACCEPTED, 0)
    assert reading.ends([EPISODES, ERASURES, accepted], loop.Stop(), lambda: None).keys() == {
        EPISODES,
        ERASURES,
        accepted,
    }
    assert asked == {"read_committed": {EPISODES}, None: {ERASURES, accepted}}


def test_the_member_of_the_group_never_reads_orders(reading: Reading, clients: list[Client]) -> None:
    member, orders = clients[:2]
    assert member.assigned == [(*EPISODES, 5), (*ERASURES, 5)] and orders.assigned == [(*ERASURES, 5)]

    def paused() -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
        return member.paused, orders.paused

    assert paused() == ({ERASURES}, set())
    reading.only([EPISODES])
    assert paused() == ({ERASURES}, {ERASURES})
    reading.only([ERASURES])
    assert paused() == ({EPISODES, ERASURES}, set())
    reading.stay()
    assert paused() == ({EPISODES, ERASURES}, {ERASURES})
    reading.go_on()
    assert paused() == ({EPISODES, ERASURES}, set())
    reading.only(None)
    assert paused() == ({ERASURES}, set())
    reading.lost([TopicPartition(*ERASURES)])
    assert orders.assigned == [] and reading.next == {EPISODES: 5}
