"""Uses are published behind the answers: who reads waits for nobody, unless it asks to, and is told of doubt."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from confluent_kafka import KafkaError

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.records import AccessRecorded, QueryRecorded
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.telemetry.tracing import NOTHING
from workers.retrieval.uses import Uses


class Broker:
    """Takes records, and confirms them when it is told to."""

    def __init__(self, codec: Codec) -> None:
        self._codec, self._pending = codec, list[Callable[[KafkaError | None, object], None]]()
        self._awake, self._error = threading.Event(), list[KafkaError]()
        self._awake.set()
        self.taken: list[AccessRecorded | QueryRecorded] = []
        self.came = asyncio.Event()

    def produce(self, topic: str, *, value: bytes, key: bytes, headers: Any, on_delivery: Any) -> None:
        record = self._codec.decode(value)
        assert isinstance(record, AccessRecorded | QueryRecorded)
        assert topic == (topics.ACCESSES if isinstance(record, AccessRecorded) else topics.QUERIES)
        assert key == (record.namespace or "").encode()
        self.taken.append(record)
        self._pending.append(on_delivery)
        self.came.set()

    def flush(self, timeout: float) -> int:
        if not self._awake.wait(timeout):
            return len(self._pending)
        pending, self._pending = self._pending, []
        error = self._error.pop() if self._error else None
        for told in pending:
            told(error, None)
        return 0

    def sleep(self) -> None:
        """Confirms nothing from now on."""
        self._awake.clear()

    def wake(self, error: KafkaError | None = None) -> None:
        """Confirms what it has, or says why not; and what comes, from now on."""
        self._error = [] if error is None else [error]
        self._awake.set()


def accesses(*events: str) -> list[AccessRecorded]:
    return [AccessRecorded("ann", ("5f0c8f0e-0000-5000-8000-000000000001",), "n", event) for event in events]


@asynccontextmanager
async def running(codec: Codec, bounds: Bounds = DEFAULTS) -> AsyncIterator[tuple[Uses, Broker, dict[str, int]]]:
    sent = {topics.ACCESSES: 0, topics.QUERIES: 0}

    def count_sent(topic: str, count: int) -> None:
        sent[topic] += count

    made, broker = Uses(codec, count_sent, bounds), Broker(codec)
    async with made.running(broker):
        yield made, broker, sent


async def count(made: Uses, events: Sequence[str], *, confirm: bool = False) -> tuple[int, str | None]:
    return await made.count(accesses(*events), NOTHING, confirm=confirm)


async def test_an_answer_waits_for_nobody_and_what_was_used_is_published(codec: Codec) -> None:
    async with running(codec) as (made, broker, sent):
        broker.sleep()
        assert await count(made, ["a", "b"]) == (2, None)
        assert broker.taken == []
        await asyncio.wait_for(broker.came.wait(), 5)
        assert sent[topics.ACCESSES] == 0
        broker.wake()
    assert broker.taken == accesses("a", "b")
    assert sent[topics.ACCESSES] == 2


async def test_who_must_know_waits_until_it_is_confirmed(codec: Codec) -> None:
    async with running(codec) as (made, broker, sent):
        broker.sleep()
        asked = asyncio.create_task(count(made, ["a"], confirm=True))
        await asyncio.wait_for(broker.came.wait(), 5)
        assert not asked.done()
        broker.wake()
        assert await asyncio.wait_for(asked, 5) == (1, None)
        assert sent[topics.ACCESSES] == 1


async def test_what_was_used_at_the_end_is_published_all_the_same(codec: Codec) -> None:
    async with running(codec) as (made, broker, _):
        for event in "abc":
            assert await count(made, [event]) == (1, None)
    assert broker.taken == accesses("a", "b", "c")


async def test_doubt_is_told_and_ends(codec: Codec) -> None:
    async with running(codec, Bounds(kafka_ms=50)) as (made, broker, sent):
        broker.sleep()
        used, warning = await count(made, ["a"], confirm=True)
        assert used == 0 and warning is not None and "may not count" in warning
        used, warning = await count(made, ["b"])
        while not made.fails:
            await asyncio.sleep(0)
        used, warning = await count(made, ["c"])
        assert used == 0 and warning is not None and "may not count" in warning
        broker.wake()
        assert await count(made, ["d"], confirm=True) == (1, None)
        assert (made.fails, sent[topics.ACCESSES]) == ("", 4)


async def test_what_kafka_refuses_is_said_to_be_lost_and_the_next_is_published(codec: Codec) -> None:
    async with running(codec) as (made, broker, sent):
        broker.sleep()
        asked = asyncio.create_task(count(made, ["a"], confirm=True))
        await asyncio.wait_for(broker.came.wait(), 5)
        broker.wake(KafkaError(KafkaError._MSG_TIMED_OUT))
        assert (await asked)[0] == 0
        while not made.fails:
            await asyncio.sleep(0)
        assert made.fails.startswith("1 of 1 accesses and queries may not count: ")
        assert await count(made, ["b"], confirm=True) == (1, None)
        assert sent[topics.ACCESSES] == 1


async def test_what_cannot_even_be_handed_to_kafka_takes_nothing_with_it(
    codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(codec) as (made, broker, sent):
        taken, produce = iter([False, True]), broker.produce

        def full(topic: str, **said: Any) -> None:
            if not next(taken, True):
                raise BufferError("no room")
            produce(topic, **said)

        monkeypatch.setattr(broker, "produce", full)
        assert (await count(made, ["a", "b"], confirm=True))[0] == 0
        assert made.fails == "1 of 2 accesses and queries may not count: no room"
        assert await count(made, ["c"], confirm=True) == (1, None)
        assert (made.fails, sent[topics.ACCESSES], broker.taken) == ("", 2, accesses("b", "c"))


async def test_a_query_goes_with_the_uses_and_by_itself_and_nobody_is_told_where_it_is_lost(codec: Codec) -> None:
    asked = QueryRecorded("ann", "Where is the key?", "n", "q")
    async with running(codec) as (made, broker, sent):
        assert await made.count(accesses("a"), NOTHING, confirm=True, asked=asked) == (1, None)
        assert await made.count([], NOTHING, confirm=False, asked=asked) == (0, None)
        assert await count(made, ["b"], confirm=True) == (1, None)
        assert broker.taken == [*accesses("a"), asked, asked, *accesses("b")]
        assert (sent[topics.ACCESSES], sent[topics.QUERIES]) == (2, 2)
        broker.sleep()
        waiting = asyncio.create_task(made.count([], NOTHING, confirm=True, asked=asked))
        assert await asyncio.wait_for(waiting, 5) == (0, None)
        broker.wake(KafkaError(KafkaError._MSG_TIMED_OUT))


async def test_there_is_no_more_room_than_there_is(codec: Codec) -> None:
    async with running(codec) as (made, broker, _):
        broker.sleep()
        assert await count(made, [f"e{n}" for n in range(DEFAULTS.uses_most)]) == (DEFAULTS.uses_most, None)
        used, warning = await count(made, ["more"])
        assert used == 0 and warning is not None and "do not count" in warning
        await asyncio.wait_for(broker.came.wait(), 5)
        while len(broker.taken) < DEFAULTS.uses_most:
            await asyncio.sleep(0)
        broker.wake()
        while (await count(made, ["again"]))[0] != 1:
            await asyncio.sleep(0)
