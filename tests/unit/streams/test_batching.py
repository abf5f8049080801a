"""Batches of a stream's events: the first that comes and what follows it, none lost, and no work while none comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from streams.batching import Batches, Pace

SOON_S, SHARED_S, LONG_S = 0.05, 0.4, 5.0


class Stream:
    """Stands for Faust's: gives what is put into it, one after the other."""

    def __init__(self) -> None:
        self.enable_acks, self.closed = True, False
        self.waiting: asyncio.Queue[Any] = asyncio.Queue()

    def put(self, *values: str) -> None:
        for value in values:
            self.waiting.put_nowait(SimpleNamespace(message=SimpleNamespace(value=value.encode())))

    def end(self, error: Exception | None = None) -> None:
        self.waiting.put_nowait(error)

    async def events(self) -> AsyncIterator[Any]:
        try:
            while (event := await self.waiting.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.closed = True


def told(batch: Sequence[Any] | None) -> list[str]:
    return [event.message.value.decode() for event in batch or ()]


async def test_a_batch_has_what_is_there_and_no_more_than_it_may() -> None:
    stream = Stream()
    stream.put(*"abcdefg")
    async with Batches(stream, lambda: 3, SOON_S) as batches:
        assert [told(await batches.next()) for _ in range(3)] == [list("abc"), list("def"), ["g"]]
    assert not stream.enable_acks


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        (["aa", "bb", "c"], [["aa", "bb"], ["c"]]),
        (["aaaaaa", "b", "ccc", "d"], [["aaaaaa"], ["b", "ccc"], ["d"]]),
        (["", "", ""], [["", "", ""]]),
    ],
)
async def test_a_batch_holds_no_more_than_so_many_bytes_or_one_record(
    values: list[str], parts: list[list[str]]
) -> None:
    stream = Stream()
    stream.put(*values)
    stream.end()
    async with Batches(stream, lambda: 10, LONG_S, 4) as batches:
        assert [told(await batches.next()) for _ in parts] == parts
        assert await batches.next() == []


async def test_what_follows_the_first_in_time_shares_its_batch_and_what_comes_later_is_in_the_next() -> None:
    stream = Stream()
    async with Batches(stream, lambda: 10, SHARED_S) as batches:
        coming = asyncio.ensure_future(batches.next())
        await asyncio.sleep(2 * SHARED_S)  # the time is the first one's, and begins with it
        stream.put("a")
        await asyncio.sleep(0)
        stream.put("b")
        assert told(await coming) == ["a", "b"]
        coming = asyncio.ensure_future(batches.next())
        stream.put("c")
        assert told(await coming) == ["c"]


async def test_what_comes_while_a_batch_is_processed_shares_the_next() -> None:
    stream = Stream()
    stream.put("a")
    async with Batches(stream, lambda: 10, SOON_S) as batches:
        assert told(await batches.next()) == ["a"]
        for value in "bc":
            stream.put(value)
            await asyncio.sleep(2 * SOON_S)
        assert told(await batches.next()) == ["b", "c"]


async def test_a_full_batch_waits_for_nothing() -> None:
    stream = Stream()
    stream.put("a", "b")
    async with Batches(stream, lambda: 2, LONG_S) as batches, asyncio.timeout(LONG_S / 2):
        assert told(await batches.next()) == ["a", "b"]


async def test_the_next_batch_is_shown_once_nothing_can_join_it() -> None:
    stream = Stream()
    async with Batches(stream, lambda: 2, LONG_S) as batches, asyncio.timeout(LONG_S / 2):
        stream.put("a", "b", "c")
        assert told(await batches.next()) == ["a", "b"]
        await asyncio.sleep(SOON_S)
        assert batches.whole() is None, "another may share its batch"
        stream.put("d", "e")
        await asyncio.sleep(SOON_S)
        shown = batches.whole()
        assert told(shown) == ["c", "d"]
        assert batches.whole() is shown and await batches.next() is shown


async def test_no_more_is_taken_from_the_stream_than_a_batch_may_hold() -> None:
    stream = Stream()
    stream.put(*"abcdefgh")
    async with Batches(stream, lambda: 2, LONG_S) as batches:
        await batches.next()
        await asyncio.sleep(SOON_S)
        assert stream.waiting.qsize() == 4


async def test_what_is_dropped_is_in_no_batch_and_nothing_more_is_taken() -> None:
    stream = Stream()
    stream.put(*"abcdefgh")
    async with Batches(stream, lambda: 2, LONG_S) as batches, asyncio.timeout(LONG_S / 2):
        assert told(await batches.next()) == ["a", "b"]
        await asyncio.sleep(SOON_S)
        assert told(batches.whole()) == ["c", "d"]
        await asyncio.sleep(SOON_S)
        assert told(batches.drop()) == ["c", "d", "e", "f"]
        await asyncio.sleep(SOON_S)
        assert (batches.drop(), stream.waiting.qsize()) == ([], 2)


async def test_nothing_is_done_while_nothing_comes() -> None:
    stream = Stream()
    async with Batches(stream, lambda: 2, SOON_S) as batches:
        coming = asyncio.ensure_future(batches.next())
        await asyncio.sleep(0)
        loop, timers = asyncio.get_running_loop(), list[object]()
        loop.call_later = loop.call_at = lambda *given, **_: timers.append(given)  # type: ignore[method-assign, assignment, misc]
        for _ in range(20):
            await asyncio.sleep(0)
        assert timers == [], "it looks again and again whether something came"
        del loop.call_later, loop.call_at
        stream.put("a", "b")
        assert told(await coming) == ["a", "b"]


async def test_who_ends_leaves_nothing_running() -> None:
    stream = Stream()

    async def reading() -> None:
        async with Batches(stream, lambda: 2, SOON_S) as batches:
            await batches.next()

    coming = asyncio.ensure_future(reading())
    await asyncio.sleep(0.01)
    coming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await coming
    assert stream.closed and asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_stream_that_ends_ends_the_batches() -> None:
    stream = Stream()
    stream.put("a", "b")
    stream.end()
    async with Batches(stream, lambda: 1, SOON_S) as batches:
        assert [told(await batches.next()) for _ in range(3)] == [["a"], ["b"], []]


async def test_what_a_stream_raises_is_raised_after_what_came_before_it() -> None:
    stream = Stream()
    stream.put("a")
    stream.end(OSError("gone"))
    async with Batches(stream, lambda: 2, LONG_S) as batches, asyncio.timeout(LONG_S / 2):
        assert told(await batches.next()) == ["a"]
        with pytest.raises(OSError, match="gone"):
            await batches.next()


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
