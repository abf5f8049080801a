"""Waits for other processes, while time stands still or while a test's clock goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
# Long enough for a fleet that restarts beside two others. Every wait that does not measure a time uses it, so that the
# load of a machine fails no test.
PATIENCE_S = 90.0
_LOOK_S = 0.05
_FIRST_LOOKS_S = 0.25

Pause = Callable[[float], None]
"""Waits so many seconds, or a little longer for something to happen."""


def until(
    condition: Callable[[], _T],
    what: str | Callable[[], object] = "it did not happen",
    pause: Pause = time.sleep,
) -> _T:
    """Returns the condition's value as soon as it is true. AssertionError tells `what`, if it never is."""
    deadline = time.monotonic() + PATIENCE_S
    found = _looks(condition, deadline, pause)
    assert found, what() if callable(what) else what
    return found


def later(
    turn: Callable[[], object],
    condition: Callable[[], _T],
    what: str = "it did not happen",
    pause: Pause = time.sleep,
) -> _T:
    """Returns the condition's value as soon as it is true while a driven clock goes on. AssertionError says `what`
    where it never is.

    Each `turn` of the clock is followed by looks, for twice as long as after the turn before. With a turn at every look
    the clock would run days ahead of a loaded machine, and votes would forget meanwhile what a test waits for.
    """
    deadline, looks_s = time.monotonic() + PATIENCE_S, _FIRST_LOOKS_S
    while True:
        turn()
        if found := _looks(condition, min(deadline, time.monotonic() + looks_s), pause):
            return found
        assert time.monotonic() < deadline, what
        looks_s *= 2


def _looks(condition: Callable[[], _T], until_s: float, pause: Pause) -> _T:
    """Returns the condition's value as soon as it is true, or its last value at that time.

    A look that took long is followed by a pause of the same length: the looks must not take the processors from the
    processes that are waited for.
    """
    while True:
        began = time.monotonic()
        found = condition()
        now = time.monotonic()
        if found or now >= until_s:
            return found
        pause(max(_LOOK_S, now - began))
