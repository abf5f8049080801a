"""Uses are published behind the answers: who reads waits for nobody, unless it asks to, and is told of doubt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka.errors import KafkaError, KafkaTimeoutError

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.records import AccessRecorded
from memquorum.telemetry.tracing import NOTHING
from workers.retrieval import uses
from workers.retrieval.uses import ROOM, Uses


class Broker:
    """Takes records, and confirms them when it is told to."""

    def __init__(self, codec: Codec) -> None:
        self._codec, self._pending = codec, list[asyncio.Future[Any]]()
        self.taken: list[AccessRecorded] = []
        self.came = asyncio.Event()
        self.awake, self.error = True, KafkaTimeoutError()

    async def send(self, topic: str, value: bytes, *, key: bytes, headers: Any) -> asyncio.Future[Any]:
        """Confirms at once while it is awake."""
        access = self._codec.decode_as(AccessRecorded, value)
        assert (topic, key) == (topics.ACCESSES, (access.namespace or "").encode())
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.taken.append(access)
        self.came.set()
        if self.awake:
            future.set_result(None)
        else:
            self._pending.append(future)
        return future

    def wake(self, error: KafkaError | None = None) -> None:
        """Confirms what it has, or says why not; and what comes, from now on."""
        self.awake = True
        for future in self._pending:
            future.set_result(None) if error is None else future.set_exception(error)
        self._pending.clear()


def accesses(*events: str) -> list[AccessRecorded]:
    return [AccessRecorded("ann", "5f0c8f0e-0000-5000-8000-000000000001", "n", event) for event in events]


@asynccontextmanager
async def running(codec: Codec) -> AsyncIterator[tuple[Uses, Broker, dict[str, int]]]:
    sent = {topics.ACCESSES: 0}

    def told(topic: str, count: int) -> None:
        sent[topic] += count

    made, broker = Uses(codec, told), Broker(codec)
    async with made.running(broker):
        yield made, broker, sent


async def count(made: Uses, events: Sequence[str], *, confirm: bool = False) -> tuple[int, str | None]:
    return await made.count(accesses(*events), NOTHING, confirm=confirm)


async def test_an_answer_waits_for_nobody_and_what_was_used_is_published(codec: Codec) -> None:
    async with running(codec) as (made, broker, sent):
        broker.awake = False
        assert await count(made, ["a", "b"]) == (2, None)
        assert broker.taken == []
        await asyncio.wait_for(broker.came.wait(), 5)
        assert sent[topics.ACCESSES] == 0
        broker.wake()
    assert broker.taken == accesses("a", "b")
    assert sent[topics.ACCESSES] == 2


async def test_who_must_know_waits_until_it_is_confirmed(codec: Codec) -> None:
    async with running(codec) as (made, broker, sent):
        broker.awake = False
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


async def test_doubt_is_told_and_ends(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uses, "_CONFIRM_S", 0.05)
    async with running(codec) as (made, broker, sent):
        broker.awake = False
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
        broker.awake = False
        asked = asyncio.create_task(count(made, ["a"], confirm=True))
        await asyncio.wait_for(broker.came.wait(), 5)
        broker.wake(KafkaTimeoutError())
        assert (await asked)[0] == 0
        while not made.fails:
            await asyncio.sleep(0)
        assert "1 reads do not count as used: KafkaTimeoutError" in made.fails
        assert await count(made, ["b"], confirm=True) == (1, None)
        assert sent[topics.ACCESSES] == 1


async def test_there_is_no_more_room_than_there_is(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uses, "_CONFIRM_S", 0.05)
    async with running(codec) as (made, broker, _):
        broker.awake = False
        assert await count(made, [f"e{n}" for n in range(ROOM)]) == (ROOM, None)
        used, warning = await count(made, ["more"])
        assert used == 0 and warning is not None and "do not count" in warning
        await asyncio.wait_for(broker.came.wait(), 5)
        while len(broker.taken) < ROOM:
            await asyncio.sleep(0)
        broker.wake()
        while (await count(made, ["again"]))[0] != 1:
            await asyncio.sleep(0)
