"""Gathers a stream's events into batches that nobody has acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

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


async def in_batches(stream: Any, most: Callable[[], int], within_s: float) -> AsyncIterator[list[EventT[bytes]]]:
    """Yields batches of at most `most()` events: the first that comes, and what follows it within so many seconds.

    The caller acknowledges them. Faust's own `noack_take` looks every `within_s` whether something came, in each of the
    stages, which takes a process that has nothing to do a twentieth of a core; this one sleeps until something comes.
    `Any`: Faust's types do not say that `events` can be iterated.
    """
    stream.enable_acks = False
    loop, events = asyncio.get_running_loop(), aiter(stream.events())
    coming: asyncio.Future[EventT[bytes]] | None = None
    try:
        while True:
            batch, ends, wanted = list[EventT[bytes]](), None, most()
            while len(batch) < wanted:
                # The pending event is kept until it comes: a cancelled wait loses no event.
                coming = coming or asyncio.ensure_future(anext(events))
                left: float | None = None if ends is None else max(0.0, ends - loop.time())
                if not coming.done() and not (await asyncio.wait({coming}, timeout=left))[0]:
                    break
                asked, coming = coming, None
                batch.append(asked.result())
                ends = ends or loop.time() + within_s
            yield batch
    except StopAsyncIteration:
        return
    finally:
        if coming is not None:
            coming.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming
