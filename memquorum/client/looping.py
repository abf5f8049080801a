"""An event loop in a thread of its own, for programs that have none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class OwnLoop:
    """Runs from the start until it is ended. Safe to share between threads and other event loops."""

    def __init__(self, thread: str, closed: str) -> None:
        """`thread`: what its thread is called; `closed`: what is said to who comes when it has ended."""
        self._closed = closed
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=thread, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether nothing can be run any more."""
        return self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result, which the calling thread waits for. Raises RuntimeError once it has ended."""
        return asyncio.run_coroutine_threadsafe(self._open(work), self._loop).result()

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The same, for a caller on another event loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._open(work), self._loop))

    def end(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs what is to be done last, and ends, whatever becomes of that. A second call does nothing."""
        if self.ended:
            return
        try:
            self.run(last())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _open(self, work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        if self.ended:
            work.close()
            raise RuntimeError(self._closed)
        return work
