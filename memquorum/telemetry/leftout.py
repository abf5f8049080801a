"""Records that nothing can be made of: counted, and said now and then. A flood of them must not flood the logs too."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

_EVERY_S = 10.0
_MOST = 10

NO_STAMP = "somebody else wrote it: it bears no stamp of this installation's processes"
"""Why a record is left out that bears no stamp."""
MARK = "left_out"
"""The attribute of a line of the log that tells of a record that is left out."""
ALTERED = "its stamp does not fit its value: altered after it was written, or forged"
"""Why a record is left out whose stamp does not hold."""


def reason(stamp: bytes | None) -> str:
    """Says why a record is left out that no process of the installation wrote as it stands. `stamp`: the one that it
    bears."""
    return NO_STAMP if stamp is None else ALTERED


class LeftOut:
    """The books of one stage. `counts`: how many records were left out, by topic."""

    def __init__(self, log: logging.Logger, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds that never run backwards."""
        self.counts: Counter[str] = Counter()
        self._log, self._clock = log, clock
        # Topic → since when, how many were said since, and how many not.
        self._said: dict[str, tuple[float, int, int]] = {}

    def note(self, topic: str, partition: int, offset: int, why: str) -> None:
        """Counts a record. Of each topic ten are said in ten seconds, and how many were not by the next."""
        self.counts[topic] += 1
        now = self._clock()
        since, said, silent = self._said.get(topic, (now, 0, 0))
        if now - since >= _EVERY_S:
            since, said = now, 0
        if said >= _MOST:
            self._said[topic] = (since, said, silent + 1)
            return
        self._said[topic] = (since, said + 1, 0)
        more = f" ({silent} others since the last that was said)" if silent else ""
        self._log.error(
            "%s, partition %d, offset %d left out: %s%s", topic, partition, offset, why, more, extra={MARK: True}
        )
