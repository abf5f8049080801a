"""Records that nothing can be made of: counted, and said now and then. A flood of them must not flood the logs too."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

_EVERY_S = 10.0

NO_STAMP = "not written by this line: no stamp of its own"
"""Why a record is left out whose stamp does not hold."""


class LeftOut:
    """The books of one stage. `counts`: how many records were left out, by topic."""

    def __init__(self, log: logging.Logger, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds that never run backwards."""
        self.counts: Counter[str] = Counter()
        self._log, self._clock = log, clock
        self._said: dict[tuple[str, str], float] = {}
        self._silent: Counter[str] = Counter()

    def note(self, topic: str, partition: int, offset: int, why: str, kind: str | None = None) -> None:
        """Counts a record. Of each topic and kind of reason (by default the reason itself) one is said in ten seconds,
        with how many were not."""
        self.counts[topic] += 1
        now, of = self._clock(), (topic, kind or why)
        if now - self._said.get(of, -_EVERY_S) < _EVERY_S:
            self._silent[topic] += 1
            return
        self._said[of] = now
        silent = self._silent.pop(topic, 0)
        more = f" ({silent} others since the last that was said)" if silent else ""
        self._log.error("%s, partition %d, offset %d left out: %s%s", topic, partition, offset, why, more)
