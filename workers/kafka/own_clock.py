"""A process's own clock, to compare a shard's time with if that follows the wall clock (DESIGN 7)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

TOLERANCE_MS = 60_000


def wall_ms() -> int:
    """Milliseconds since the epoch, by this machine."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class OwnClock:
    """Detects a tick that is too far ahead. `tolerance_ms`: the largest difference between two machines' clocks, with a
    margin."""

    tolerance_ms: int = TOLERANCE_MS
    now_ms: Callable[[], int] = wall_ms

    def early_ms(self, as_of: int) -> int:
        """The milliseconds until `as_of` is within the tolerance; 0 if it is."""
        return max(0, as_of - self.tolerance_ms - self.now_ms())
