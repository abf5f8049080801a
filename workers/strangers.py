"""Records that nothing can be made of: counted, and said now and then. A flood of them must not flood the logs too."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

from confluent_kafka import Message

from memquorum import topics
from memquorum.core import stamps
from memquorum.core.stamps import Reader
from workers import loop

_EVERY_S = 10.0


class Strangers:
    """Tells strangers' records on the topics that nobody signs, and keeps the books of everything that was left out.

    Without a reader whoever can write to a topic is believed; that is for tests that feed one stage by hand.
    """

    def __init__(
        self, log: logging.Logger, reader: Reader | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.counts: Counter[str] = Counter()
        """What was left out, by topic."""
        self._log, self._reader, self._clock = log, reader, clock
        self._said: dict[str, tuple[float, int]] = {}

    def genuine(self, message: Message) -> bool:
        """Whether the line itself wrote the record; a record of a topic that is signed is for others to judge."""
        topic, partition = loop.place(message)
        if self._reader is None or topic not in topics.STAMPED:
            return True
        return self._reader.genuine(topic, partition, message.value() or b"", loop.stamp(message))

    def left_out(self, message: Message, why: str) -> None:
        """Counts a record; says of each topic the first, and then at most every ten seconds the last."""
        topic, partition = loop.place(message)
        self.counts[topic] += 1
        now = self._clock()
        when, told = self._said.get(topic, (now - _EVERY_S, 0))
        if now - when < _EVERY_S:
            return
        more = self.counts[topic] - told - 1
        self._said[topic] = (now, self.counts[topic])
        self._log.error(
            "%s, partition %d, offset %d left out: %s%s",
            topic, partition, loop.offset(message), why, f"; and {more} others before" if more else "",
        )  # fmt: skip


NO_STAMP = "not written by this line: no stamp of its own"
"""Why a record is left out whose stamp does not hold."""


def stamped(
    headers: loop.Headers, writer: stamps.Writer | None, topic: str, partition: int, value: bytes
) -> loop.Headers:
    """The headers, with the stamp that they need on this topic."""
    if writer is None or topic not in topics.STAMPED:
        return headers
    return [*headers, (stamps.HEADER, writer.stamp(topic, partition, value))]
