"""Waiting for what another process does where nothing tells of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")
# Long enough for a fleet that is started again beside two others.
_PATIENCE_S = 90.0
_LOOK_S = 0.05


def until(condition: Callable[[], _T], what: str = "it did not happen") -> _T:
    """The condition's value as soon as it is true. AssertionError says `what` where it never is."""
    deadline = time.monotonic() + _PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(_LOOK_S)
    return found
