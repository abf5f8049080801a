"""Counts unusable records, and logs some of them. A flood of them must not flood the logs too."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

_EVERY_S = 10.0
_MOST = 10

NO_STAMP = "somebody else wrote it: it bears no stamp of this installation's processes"
"""The reason for leaving out a record without a stamp."""
MARK = "left_out"
"""The attribute of log lines about records that are left out."""
ALTERED = "its stamp does not fit its value: altered after it was written, or forged"
"""The reason for leaving out a record with an invalid stamp."""


def reason(stamp: bytes | None) -> str:
    """Returns the reason for leaving out a record that no process of the installation wrote in this form. `stamp`: the
    record's."""
    return NO_STAMP if stamp is None else ALTERED


class LeftOut:
    """The records that one stage left out. `counts`: their numbers, by topic."""

    def __init__(self, log: logging.Logger, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds that never run backwards."""
        self.counts: Counter[str] = Counter()
        self._log, self._clock = log, clock
        # Topic → start of the interval, records logged in it, and records not logged.
        self._said: dict[str, tuple[float, int, int]] = {}

    def note(self, topic: str, partition: int, offset: int, why: str) -> None:
        """Counts a record. Logs ten of each topic in ten seconds; the next log line names the number of those not
        logged."""
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
