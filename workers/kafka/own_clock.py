"""A process's own clock, to hold a shard's time against where that follows the wall clock (DESIGN 7)."""

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
    """Tells a tick that has run away. `tolerance_ms`: how far two machines' clocks may be apart, and a bit."""

    tolerance_ms: int = TOLERANCE_MS
    now_ms: Callable[[], int] = wall_ms

    def early_ms(self, as_of: int) -> int:
        """How long until `as_of` is no more than the tolerance ahead; 0 where it is not."""
        return max(0, as_of - self.tolerance_ms - self.now_ms())
