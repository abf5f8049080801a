"""The journal's topic is read in order, each entry once, although the topic holds some twice and others' records."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.records import JournalAppended
from memquorum.telemetry.bundle import Telemetry
from tests.builders import genesis as cluster
from tests.builders.shard import Shard
from tests.support.waiting import until
from workers.events.journal_events import JournalEvents, Told
from workers.kafka import loop


def links(codec: Codec, count: int) -> list[JournalAppended]:
    shard = Shard(codec, cluster.make())
    for number in range(count):
        shard.episode(f"e{number}")
    return [change.appended for change in shard.changes]


def publish(bootstrap: str, codec: Codec, entries: Sequence[JournalAppended | bytes]) -> None:
    producer = loop.producer(bootstrap)
    for one in entries:
        producer.produce(topics.JOURNAL, one if isinstance(one, bytes) else codec.encode(one), partition=0)
    assert producer.flush(30) == 0
    producer.close()


class Reading:
    """A member of a group, for a block; `seqs` are the sequences of the events that it told."""

    def __init__(self, bootstrap: str, codec: Codec, group: str, *, from_now: bool = False) -> None:
        self._events = JournalEvents(bootstrap, group, codec, shown=Telemetry().stage("test"), from_now=from_now)
        self.told: list[Told] = []

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self._events.close()

    @property
    def seqs(self) -> list[int]:
        return [one.event.seq for one in self.told if one.event is not None]

    def read(self, offsets: int, *, commit: bool = True) -> list[int]:
        """Reads so many records, one at a time, and returns all sequences until now."""

        def more() -> bool:
            found = self._events.read(1)
            self.told += found
            if commit and found:
                self._events.commit(found)
            return len(self.told) >= offsets

        until(more, lambda: self.told, lambda _: None)
        return self.seqs


def test_an_entry_that_the_topic_holds_twice_is_told_once_also_after_a_restart(fresh_kafka: str, codec: Codec) -> None:
    one, two, three, four = links(codec, 4)
    publish(fresh_kafka, codec, [one, two, b"no entry", one, two, three])
    with Reading(fresh_kafka, codec, "twice") as first:
        assert first.read(3) == [1, 2]
    with Reading(fresh_kafka, codec, "twice") as second:
        # The group committed offset 3, before the repetitions.
        assert second.read(3) == [3]
    publish(fresh_kafka, codec, [three, four])
    with Reading(fresh_kafka, codec, "twice") as third:
        assert third.read(2) == [4]


def test_what_is_not_committed_is_told_again(fresh_kafka: str, codec: Codec) -> None:
    publish(fresh_kafka, codec, links(codec, 2))
    with Reading(fresh_kafka, codec, "again") as first:
        assert first.read(2, commit=False) == [1, 2]
    with Reading(fresh_kafka, codec, "again") as second:
        assert second.read(2) == [1, 2]


def test_a_new_group_may_begin_now_and_misses_nothing_from_then_on(fresh_kafka: str, codec: Codec) -> None:
    one, two, three = links(codec, 3)
    publish(fresh_kafka, codec, [one])
    with Reading(fresh_kafka, codec, "now", from_now=True) as first:
        # It commits its first place and ends before it has told anything.
        consumer = first._events._consumer
        until(lambda: first._events.read(1) == [] and consumer.assignment() and not first._events._begins)
    publish(fresh_kafka, codec, [two, three])
    with Reading(fresh_kafka, codec, "now", from_now=True) as second:
        assert second.read(2) == [2, 3]
