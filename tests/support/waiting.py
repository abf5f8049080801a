"""Waiting for what another process does, while time stands still or while a test's clock goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
# Long enough for a fleet that is started again beside two others. Whoever waits for something and does not measure how
# long it takes waits so long: how loaded a machine is then fails no test.
PATIENCE_S = 90.0
_LOOK_S = 0.05
_FIRST_LOOKS_S = 0.25

Pause = Callable[[float], None]
"""Waits so many seconds, or a little longer for something to happen."""


def until(condition: Callable[[], _T], what: str = "it did not happen", pause: Pause = time.sleep) -> _T:
    """The condition's value as soon as it is true. AssertionError says `what` where it never is."""
    deadline = time.monotonic() + PATIENCE_S
    found = _looks(condition, deadline, pause)
    assert found, what
    return found


def later(
    turn: Callable[[], object],
    condition: Callable[[], _T],
    what: str = "it did not happen",
    pause: Pause = time.sleep,
) -> _T:
    """The condition's value as soon as it is true while a driven clock goes on. AssertionError says `what` where it
    never is.

    Each `turn` of the clock is followed by looks, for twice as long as after the turn before. Where a turn at every
    look would leave a loaded machine behind by days of the clock, votes let go meanwhile what a test waits for.
    """
    deadline, looks_s = time.monotonic() + PATIENCE_S, _FIRST_LOOKS_S
    while True:
        turn()
        if found := _looks(condition, min(deadline, time.monotonic() + looks_s), pause):
            return found
        assert time.monotonic() < deadline, what
        looks_s *= 2


def _looks(condition: Callable[[], _T], until_s: float, pause: Pause) -> _T:
    """The condition's value as soon as it is true, or what it was at that time.

    A look that took long is followed by as long a pause: who looks needs the processors of those who are waited for.
    """
    while True:
        began = time.monotonic()
        found = condition()
        now = time.monotonic()
        if found or now >= until_s:
            return found
        pause(max(_LOOK_S, now - began))
