"""Reading of texts, in threads beside the loop: of each caller a few at a time, and no longer than its request lasts.

A thread cannot be ended from outside. So what reads many texts asks between two of them whether anybody still waits
(`check`): not where the request took too long, nor where its client went away. The rules read in linear time, which
bounds the time for one text. A caller's further reads wait their turn, and take no thread from other callers.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from starlette.requests import ClientDisconnect, Request

from memquorum.core.contained import OutsideError

_P = ParamSpec("_P")
_T = TypeVar("_T")

THREADS = 16
OF_ONE = 2
"""The number of one caller's texts or pages that are read at once; without keys, of all callers together half of the
threads."""
# The interval at which a request that waits for a thread checks if its client is still there.
_LOOK_S = 0.2


class Over(OutsideError):
    """Raised where no client waits for the answer any more."""


@dataclass(slots=True)
class _Asked:
    """A request that is under way: its caller, and if it is over."""

    caller: str | None
    request: Request
    over: threading.Event = field(default_factory=threading.Event)


_ASKED: ContextVar[_Asked | None] = ContextVar("asked", default=None)


def check() -> None:
    """Raises Over where the request is over that this thread reads for."""
    asked = _ASKED.get()
    if asked is not None and asked.over.is_set():
        raise Over


class Desk:
    """The reading threads, and the number that each caller holds."""

    def __init__(self, threads: int = THREADS, of_one: int = OF_ONE) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="read")
        self._threads, self._of_one = threads, of_one
        self._turns: dict[str | None, asyncio.Semaphore] = {}
        self._held: dict[str | None, int] = {}
        self._lock = threading.Lock()
        self._busy = 0

    @property
    def busy(self) -> int:
        """The number of threads that are reading."""
        return self._busy

    @asynccontextmanager
    async def serving(self, caller: str | None, request: Request) -> AsyncIterator[None]:
        """A request is answered within this block; what is read for it ends with it."""
        asked = _Asked(caller, request)
        before = _ASKED.set(asked)
        self._held[caller] = self._held.get(caller, 0) + 1
        try:
            yield
        finally:
            asked.over.set()
            _ASKED.reset(before)
            self._held[caller] -= 1
            if not self._held[caller]:
                del self._held[caller]
                self._turns.pop(caller, None)

    async def read(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Returns the result of a pure function of texts, run in a thread. Raises ClientDisconnect where nobody waits
        for it any more."""
        asked = _ASKED.get()
        caller = asked.caller if asked else None
        turns = self._turns.get(caller)
        if turns is None:
            turns = self._turns[caller] = asyncio.Semaphore(self._of_one if caller else max(1, self._threads // 2))
        await turns.acquire()
        # The turn ends with the thread, not with the request that waited for it.
        loop, context = asyncio.get_running_loop(), copy_context()

        def counted() -> _T:
            with self._lock:
                self._busy += 1
            try:
                check()
                return call(*args, **kwargs)
            finally:
                with self._lock:
                    self._busy -= 1

        work: Future[_T] = self._pool.submit(context.run, counted)
        work.add_done_callback(lambda _: _soon(loop, turns.release))
        return await _awaited(work, asked)


async def _awaited(work: Future[_T], asked: _Asked | None) -> _T:
    waited = asyncio.wrap_future(work)
    while not waited.done():
        await asyncio.wait({waited}, timeout=_LOOK_S)
        if not waited.done() and asked is not None and await asked.request.is_disconnected():
            asked.over.set()
            waited.cancel()
            raise ClientDisconnect
    try:
        return waited.result()
    except Over:
        raise ClientDisconnect from None


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Calls it in the loop, if that still runs."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
