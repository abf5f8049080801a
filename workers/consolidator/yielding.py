"""Lets ingest go first: a session that is over waits while episodes wait for their scores.

A summary is published like an episode, and scored by the same process. Beside a flood of episodes it would slow them
down, though nobody waits for it (SPEC C: never on the hot path).
"""

from __future__ import annotations

import time
from collections.abc import Callable

FEW = 32
"""So many episodes may wait for their scores: a batch or two, as steady traffic has it."""
MOST_S = 300.0
"""So long sessions wait during one flood, then they go on beside it."""
_LOOKS_S = 1.0


class Yielding:
    """Tells whether a session has to wait. A flood that lasts longer than `MOST_S` holds back nothing any more until
    it is over, so sessions never wait for ever."""

    def __init__(self, waiting: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        """`waiting`: counts the episodes that have no score yet; it is asked once a second."""
        self._waiting, self._clock = waiting, clock
        self._since: float | None = None
        self._looked = -_LOOKS_S
        self._found = 0

    def __call__(self) -> str | None:
        """Returns why a session has to wait; None if it may go on."""
        now = self._clock()
        if now - self._looked >= _LOOKS_S:
            self._looked, self._found = now, self._waiting()
        if self._found <= FEW:
            self._since = None
            return None
        if self._since is None:
            self._since = now
        return f"{self._found} episodes wait for their scores" if now - self._since < MOST_S else None
