"""Bounds the number of requests worked on at once, and their time: of all callers together, and of each key."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memquorum.core.access import Caller
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds


class Busy(Exception):
    """There are enough requests under way. `own`: of this key alone, which is 429; else 503."""

    def __init__(self, own: bool, detail: str) -> None:
        super().__init__(detail)
        self.own, self.detail = own, detail


class Late(Exception):
    """The answer took too long."""


class Limits:
    """Counts what is under way. Requests at work share a few connections and threads; what waits costs a little memory.
    One key has a part of each: a tenant alone cannot keep the others out."""

    def __init__(self, bounds: Bounds = DEFAULTS) -> None:
        self._bounds = bounds
        self._all: Counter[bool] = Counter()
        self._of: Counter[tuple[bool, str]] = Counter()

    @asynccontextmanager
    async def turn(self, caller: Caller, seconds: float, waits: bool) -> AsyncIterator[None]:
        """Holds a place for as long as a request is worked on. Raises Busy at once, Late when its time is over."""
        one = (waits, caller.id or "")
        of = self._bounds
        most, most_of_one = (of.waiting, of.waiting_of_one) if waits else (of.working, of.working_of_one)
        if caller.id is not None and self._of[one] >= most_of_one:
            raise Busy(True, f"this key has {most_of_one} requests under way; wait for one of them, then try again")
        if self._all[waits] >= most:
            raise Busy(False, f"{most} requests are under way; try again")
        self._all[waits] += 1
        self._of[one] += 1
        try:
            async with asyncio.timeout(seconds) as time:
                yield
        except TimeoutError:
            if not time.expired():
                raise
            raise Late(f"no answer in {seconds:g} s; try again") from None
        finally:
            self._all[waits] -= 1
            self._of[one] -= 1
            if not self._of[one]:
                del self._of[one]
