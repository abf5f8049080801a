"""The mirror: writes the journal's events to a topic of their own, each shard's in the journal's order.

Its place is the last record of the mirror itself, and beside that what its group has committed, for a mirror whose
records have expired. A process that is killed goes on behind what Kafka has: nothing is missing and nothing comes
twice, unless two processes mirror one shard at once, for the moment in which the group moves it. Readers tell an event
by its id.
"""

from __future__ import annotations

import logging
from contextlib import closing
from typing import Any

import msgspec
from confluent_kafka import KafkaException, TopicPartition

from memquorum import cloudevents, topics
from memquorum.core.accounts.mirrored import JournalMirrored, written
from memquorum.core.avro import Codec
from memquorum.core.identity.stamps import Reader
from memquorum.telemetry.bundle import Telemetry
from workers.events.journal_events import JournalEvents, Told
from workers.kafka import loop

_LOG = logging.getLogger("memquorum.events")
GROUP = "memquorum-mirror"
STAGE = "mirror"
SOURCE = "memquorum/events"
_MOST = 500
_WAIT_S = 0.2
_ANSWER_S = 10.0


class Mirror:
    """One process of the group. `run` is all of it."""

    def __init__(
        self, bootstrap: str, codec: Codec, *, stop: loop.Stop, stamps: Reader | None = None,
        telemetry: Telemetry | None = None, instance: str | None = None,
    ) -> None:  # fmt: skip
        """`stamps`: finds strangers' records in the journal's topic, which are not mirrored."""
        self._stop = stop
        self._shown = (telemetry or Telemetry()).stage(STAGE)
        self._failed: KafkaException | None = None
        self._producer = loop.producer(bootstrap)
        self._journal = JournalEvents(
            bootstrap, GROUP, codec, shown=self._shown, stamps=stamps, instance=instance,
            told=lambda shard: last_mirrored(bootstrap, shard),
        )  # fmt: skip

    def run(self) -> None:
        """Mirrors until it is told to stop."""
        try:
            while not self._stop:
                self._shown.health.turn()
                if told := self._journal.read(_MOST):
                    self._write(told)
        finally:
            self._journal.close()
            self._producer.flush(5)
            self._producer.close()

    def _write(self, told: list[Told]) -> None:
        """Writes the events, and commits once Kafka has them; without that after a stop."""
        sent = 0
        for one in told:
            if one.event is not None:
                self._produce(one.event, one.traceparent)
                sent += 1
        while self._producer.flush(_WAIT_S):
            self._shown.health.turn()
            if self._stop and self._producer.flush(5):
                return
        if self._failed is not None:
            raise self._failed
        self._shown.sent(topics.MIRROR, sent)
        self._journal.commit(told)

    def _produce(self, event: JournalMirrored, parent: str | None) -> None:
        headers: loop.Headers = [
            *cloudevents.headers(JournalMirrored.__name__, SOURCE, event.id, parent, content=cloudevents.JSON)
        ]
        key = str(event.shard).encode()
        self._producer.produce(
            topics.MIRROR, written(event), key, partition=event.shard, headers=headers, on_delivery=self._answered
        )

    def _answered(self, error: Any, _: Any) -> None:
        if error is not None:
            self._failed = KafkaException(error)


def last_mirrored(bootstrap: str, shard: int) -> int:
    """Returns the sequence of the last event of a shard in the mirror, or 0. Raises KafkaException."""
    with closing(loop.reader(bootstrap)) as reader:
        low, end = reader.get_watermark_offsets(TopicPartition(topics.MIRROR, shard), timeout=_ANSWER_S)
        if low == end:
            return 0
        # One further back, and so on, if the last is no event of ours: anybody writes where brokers have no ACLs.
        for at in range(end - 1, max(low, end - 1 - _MOST) - 1, -1):
            loop.assign(reader, {(topics.MIRROR, shard): at})
            found = loop.records(reader, 1, _ANSWER_S)
            try:
                event = msgspec.json.decode(found[0].value() or b"" if found else b"", type=JournalMirrored)
            except msgspec.DecodeError:
                continue
            if event.shard == shard:
                return event.seq
    return 0
