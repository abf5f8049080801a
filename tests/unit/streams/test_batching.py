"""Batches of a stream's events: the first that comes and what follows it, none lost, and no work while none comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from streams.batching import Pace, in_batches

SOON_S, SHARED_S, LONG_S = 0.05, 0.4, 5.0


class Stream:
    """Stands for Faust's: gives what is put into it, one after the other."""

    def __init__(self) -> None:
        self.enable_acks, self.closed = True, False
        self.waiting: asyncio.Queue[Any] = asyncio.Queue()

    def put(self, *events: int) -> None:
        for event in events:
            self.waiting.put_nowait(event)

    async def events(self) -> AsyncIterator[Any]:
        try:
            while (event := await self.waiting.get()) is not None:
                yield event
        finally:
            self.closed = True


async def test_a_batch_has_what_is_there_and_no_more_than_it_may() -> None:
    stream = Stream()
    stream.put(*range(7))
    async with aclosing(in_batches(stream, lambda: 3, SOON_S)) as batches:
        assert [await anext(batches) for _ in range(3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert not stream.enable_acks


async def test_what_follows_the_first_in_time_shares_its_batch_and_what_comes_later_is_in_the_next() -> None:
    stream = Stream()
    async with aclosing(in_batches(stream, lambda: 10, SHARED_S)) as batches:
        coming = asyncio.ensure_future(anext(batches))
        await asyncio.sleep(2 * SHARED_S)  # the time is the first one's, and begins with it
        stream.put(1)
        await asyncio.sleep(0)
        stream.put(2)
        assert await coming == [1, 2]
        coming = asyncio.ensure_future(anext(batches))
        stream.put(3)
        assert await coming == [3]


async def test_a_full_batch_waits_for_nothing() -> None:
    stream = Stream()
    stream.put(1, 2)
    async with aclosing(in_batches(stream, lambda: 2, LONG_S)) as batches, asyncio.timeout(LONG_S / 2):
        assert await anext(batches) == [1, 2]


async def test_nothing_is_done_while_nothing_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, wait = list[float | None](), asyncio.wait

    async def counted(some: Any, *, timeout: float | None = None) -> Any:
        looks.append(timeout)
        return await wait(some, timeout=timeout)

    monkeypatch.setattr(asyncio, "wait", counted)
    stream = Stream()
    async with aclosing(in_batches(stream, lambda: 2, SOON_S)) as batches:
        coming = asyncio.ensure_future(anext(batches))
        await asyncio.sleep(4 * SOON_S)
        assert looks == [None], "it looks again and again whether something came"
        stream.put(1, 2)
        assert await coming == [1, 2]


async def test_who_ends_leaves_nothing_running() -> None:
    stream = Stream()
    batches = in_batches(stream, lambda: 2, SOON_S)
    coming = asyncio.ensure_future(anext(batches))
    await asyncio.sleep(0.01)
    coming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await coming
    assert stream.closed and asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_stream_that_ends_ends_the_batches() -> None:
    stream = Stream()
    stream.put(1, 2)
    stream.waiting.put_nowait(None)
    assert [batch async for batch in in_batches(stream, lambda: 1, SOON_S)] == [[1], [2]]


def test_a_batch_takes_no_longer_than_it_may_as_those_before_it_took() -> None:
    pace = Pace(128, 0.5)
    assert pace() == 128
    for _ in range(20):
        pace.took(pace(), pace() / 25)
    assert pace() == 12
    for _ in range(20):
        pace.took(pace(), pace() / 4)
    assert pace() == Pace.LEAST
    pace.took(0, 9.0)
    for _ in range(20):
        pace.took(pace(), pace() / 1_000)
    assert pace() == 128
