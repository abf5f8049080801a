"""Writes to internal topics with the installation's headers and stamp, counts, and flushes batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError, KafkaException, Message

from memquorum.core.avro import Codec
from memquorum.core.identity.stamps import Writer
from memquorum.telemetry.bundle import Stage
from memquorum.telemetry.tracing import Hop
from workers.intake.ticking import SOURCE
from workers.kafka import loop
from workers.kafka.strangers import stamped

Told = Callable[[KafkaError | None, Message], None]


class Writing:
    """A producer, and the records produced since the last flush."""

    def __init__(self, bootstrap: str, codec: Codec, stamps: Writer | None, shown: Stage, stop: loop.Stop) -> None:
        self._codec, self._stamps, self._shown, self._stop = codec, stamps, shown, stop
        # A batch is sent in few requests: at the flush, or after this time.
        self._producer = loop.producer(bootstrap, linger_ms=5)
        self._failed: KafkaError | None = None
        self.hops: list[Hop] = []
        """The spans of the records since the last flush, which ends them."""
        self._sent: Counter[str] = Counter()

    def produce(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        record: object,
        *,
        event_id: str,
        parent: str | None,
        told: Told | None = None,
        more: Sequence[tuple[str, str | bytes | None]] = (),
    ) -> None:
        """Produces a record. `told` is called once the broker has accepted or refused it."""
        self._sent[topic] += 1
        value = self._codec.encode(record)
        headers = [*loop.headers(type(record).__name__, SOURCE, event_id, parent), *more]
        headers = stamped(headers, self._stamps, topic, partition, value)

        def delivered(error: KafkaError | None, message: Message) -> None:
            self._failed = error or self._failed
            if told is not None:
                told(error, message)

        while True:
            try:
                self._producer.produce(topic, value, key, partition, delivered, headers=headers)
                return
            except BufferError:
                if self._stop:  # the missing records are not flushed either, so nothing is committed
                    return
                self._producer.poll(0.05)

    def flushed(self) -> bool:
        """Flushes; True if everything was delivered, False if told to stop meanwhile. Raises KafkaException if the
        broker refused a record."""
        while self._producer.flush(0.5):
            if self._stop:
                return False
        if self._failed is not None:
            raise KafkaException(self._failed)
        for hop in self.hops:
            hop.end()
        for topic, count in self._sent.items():
            self._shown.sent(topic, count)
        self.hops.clear()
        self._sent.clear()
        return True

    def close(self) -> None:
        """Waits briefly for pending records."""
        self._producer.flush(1)
