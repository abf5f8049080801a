"""How many requests are worked on at once, and for how long: of all callers together, and of each key."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memquorum.core.access import Caller

# What works shares a few connections and two threads that encode; what waits costs a little memory.
WORKING_MAX, WAITING_MAX = 64, 1_024
# One key's part of each: a tenant alone cannot keep the others out.
WORKING_MAX_OF_ONE, WAITING_MAX_OF_ONE = 32, 256


class Busy(Exception):
    """There are enough requests under way. `own`: of this key alone, which is 429; else 503."""

    def __init__(self, own: bool, detail: str) -> None:
        super().__init__(detail)
        self.own, self.detail = own, detail


class Late(Exception):
    """The answer took too long."""


class Limits:
    """Counts what is under way."""

    def __init__(self) -> None:
        self._all: Counter[bool] = Counter()
        self._of: Counter[tuple[bool, str]] = Counter()

    @asynccontextmanager
    async def turn(self, caller: Caller, seconds: float, waits: bool) -> AsyncIterator[None]:
        """For as long as a request is worked on. Raises Busy at once, Late when its time is over."""
        one = (waits, caller.id or "")
        most, most_of_one = (WAITING_MAX, WAITING_MAX_OF_ONE) if waits else (WORKING_MAX, WORKING_MAX_OF_ONE)
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
