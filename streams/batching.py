"""Gathers a stream's events into batches that nobody has acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from faust.types import EventT


class Pace:
    """Bounds the records of a batch, so that it takes no longer than some time, judged by the batches before it."""

    LEAST = 8

    def __init__(self, most: int, batch_s: float) -> None:
        """`most`: whatever they take. `batch_s`: how long a batch should take at most."""
        self._most, self._batch_s = most, batch_s
        self._each_s = 0.0

    def took(self, records: int, seconds: float) -> None:
        """So many records took so long."""
        if records:
            self._each_s += (seconds / records - self._each_s) / 2

    def __call__(self) -> int:
        """Returns the largest size of the next batch."""
        wanted = self._most if self._each_s <= 0 else int(self._batch_s / self._each_s)
        return max(min(self.LEAST, self._most), min(self._most, wanted))


class Batches:
    """Batches of at most `most()` events and `most_bytes`: the first that comes, and what follows it in time.

    Use it as an asynchronous context manager: events are taken from the stream meanwhile, as many as a batch may hold,
    also while the batch before is processed. The caller acknowledges them. Faust's own `noack_take` looks every
    `within_s` whether something came, in each of the stages, which takes a process that has nothing to do a twentieth
    of a core; this one sleeps until something comes.
    """

    def __init__(self, stream: Any, most: Callable[[], int], within_s: float, most_bytes: int = 1 << 20) -> None:
        """`within_s`: how long the first event of a batch waits for others. A batch holds `most_bytes` of values, or
        one event. `Any`: Faust's types do not say that `events` can be iterated."""
        stream.enable_acks = False
        self._events = stream.events()
        self._most, self._within_s, self._most_bytes = most, within_s, most_bytes
        self._waiting = deque[EventT[bytes]]()
        self._bytes = 0
        self._cut: list[EventT[bytes]] | None = None
        self._came, self._room, self._ended = asyncio.Event(), asyncio.Event(), False

    async def __aenter__(self) -> Self:
        self._pump = asyncio.ensure_future(self._taking())
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._pump.cancel()
        await asyncio.gather(self._pump, return_exceptions=True)

    async def next(self) -> list[EventT[bytes]]:
        """Returns the next batch, once there is one; an empty one where the stream has ended. Raises what it raised."""
        if self._cut is not None:
            batch, self._cut = self._cut, None
            return batch
        while not self._waiting:
            if self._ended:
                await self._pump
                return []
            await self._more()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._within_s):
                while not self._full and not self._ended:
                    await self._more()
        return self._taken()

    def whole(self) -> list[EventT[bytes]] | None:
        """Returns what `next` will return, if nothing can join it any more; None while something may."""
        if self._cut is None and self._full:
            self._cut = self._taken()
        return self._cut

    def drop(self) -> list[EventT[bytes]]:
        """Returns what was taken from the stream and is in no batch that was handed out; takes no more."""
        self._pump.cancel()
        left, self._cut = [*(self._cut or ()), *self._waiting], None
        self._waiting.clear()
        self._bytes = 0
        return left

    @property
    def _full(self) -> bool:
        return len(self._waiting) >= self._most() or self._bytes >= self._most_bytes

    async def _more(self) -> None:
        self._came.clear()
        await self._came.wait()

    async def _taking(self) -> None:
        try:
            async with contextlib.aclosing(self._events) as events:
                async for event in events:
                    self._waiting.append(event)
                    self._bytes += _size(event)
                    self._came.set()
                    while self._full:
                        self._room.clear()
                        await self._room.wait()
        finally:
            self._ended = True
            self._came.set()

    def _taken(self) -> list[EventT[bytes]]:
        batch, size, most = list[EventT[bytes]](), 0, self._most()
        while self._waiting and len(batch) < most:
            length = _size(self._waiting[0])
            if batch and size + length > self._most_bytes:
                break
            batch.append(self._waiting.popleft())
            size += length
        self._bytes -= size
        self._room.set()
        return batch


def _size(event: EventT[bytes]) -> int:
    return len(event.message.value or b"")
