"""What intake writes to internal topics: with the line's headers and stamp, counted, and flushed batch by batch."""

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
    """A producer, and what it was given since the last flush."""

    def __init__(self, bootstrap: str, codec: Codec, stamps: Writer | None, shown: Stage, stop: loop.Stop) -> None:
        self._codec, self._stamps, self._shown, self._stop = codec, stamps, shown, stop
        # A batch goes out in few requests: it is sent when it is flushed, or gathers for so long.
        self._producer = loop.producer(bootstrap, linger_ms=5)
        self._failed: KafkaError | None = None
        self.hops: list[Hop] = []
        """Of the records since the last flush; they end with it."""
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
        """Hands a record over. `told` is called, too, once the broker has it, or has refused it."""
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
                if self._stop:  # what is missing then is not flushed either, so nothing is committed
                    return
                self._producer.poll(0.05)

    def flushed(self) -> bool:
        """Whether everything was delivered; False if told to stop meanwhile. Raises KafkaException for a refusal."""
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
        """Waits a moment for what is on its way."""
        self._producer.flush(1)
