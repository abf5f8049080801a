"""Who wrote a record of the internal topics that nobody signs: this line, or a stranger (core/crypto/stamps.py)."""

from __future__ import annotations

import logging

from confluent_kafka import Message

from memquorum import topics
from memquorum.core.crypto.stamps import HEADER, Reader, Writer
from memquorum.telemetry.leftout import NO_STAMP, LeftOut
from workers import loop


class Strangers(LeftOut):
    """Tells strangers' records, and keeps the books of everything that a worker leaves out.

    Without a reader whoever can write to a topic is believed; that is for tests that feed one stage by hand.
    """

    def __init__(self, log: logging.Logger, reader: Reader | None) -> None:
        super().__init__(log)
        self._reader = reader

    def wrote(self, message: Message) -> bool:
        """Whether a stranger wrote the record, which is noted then; those of signed topics are for others to judge."""
        topic, partition = loop.place(message)
        if self._reader is None or topic not in topics.STAMPED:
            return False
        if self._reader.genuine(topic, partition, message.value() or b"", loop.stamp(message)):
            return False
        self.note(topic, partition, loop.offset(message), NO_STAMP)
        return True


def stamped(headers: loop.Headers, writer: Writer | None, topic: str, partition: int, value: bytes) -> loop.Headers:
    """The headers, with the stamp that a record of this topic needs."""
    if writer is None or topic not in topics.STAMPED:
        return headers
    return [*headers, (HEADER, writer.stamp(topic, partition, value))]
