"""Writes the wall clock's ticks from a timer of its own, so that the loop's work and waits delay none of them.

A tick goes to every shard, shard 0 first. Only one process of the group ticks, as told by its loop, and only while the
loop turns: one that has been blocked for longer than the group's session may have lost its place without knowing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Message

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.stamps import Writer
from memquorum.core.records import ClockTicked
from memquorum.telemetry.bundle import Stage
from workers.kafka import loop
from workers.kafka.strangers import stamped

SOURCE = "memquorum/intake"
# Less than the five minutes after which the group shares out the partitions of a client that does not poll.
_STILL_S = 240.0
_LOOK_S = 0.5
_CLOSE_S = 5.0
# While it is flushed, `leave` waits.
_FLUSH_S = 1.0


class Ticking:
    """A thread that ticks. `lead`, `leave`, `turn` and `close` are called by the loop."""

    def __init__(
        self,
        bootstrap: str,
        codec: Codec,
        shards: int,
        tick_s: float,
        *,
        stamps: Writer | None,
        shown: Stage,
        wall_ms: Callable[[], int],
    ) -> None:
        """Starts the thread; it ticks once `lead` is called."""
        self._codec, self._shards, self._tick_s = codec, shards, tick_s
        self._stamps, self._shown, self._wall_ms = stamps, shown, wall_ms
        self._producer = loop.producer(bootstrap)
        self._changed = threading.Condition()
        # Under the lock, which is held while a tick is written: after `leave` none comes.
        self._as_of, self._leads, self._closed = 0, False, False
        self._next, self._turned = 0.0, time.monotonic()
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="ticking", daemon=True)
        self._thread.start()

    def lead(self, as_of: int) -> None:
        """Ticks from now on, after `as_of`."""
        with self._changed:
            self._as_of, self._leads = max(self._as_of, as_of), True
            self._changed.notify()

    def leave(self) -> None:
        """Ticks no longer."""
        with self._changed:
            self._leads = False

    def turn(self) -> None:
        """Notes that the loop turned. Raises the thread's error: KafkaException if a tick was refused, or
        BrokersLost."""
        self._turned = time.monotonic()
        if self._failed is not None:
            raise self._failed

    def close(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._leads, self._closed = False, True
            self._changed.notify()
        self._thread.join(_CLOSE_S)
        self._producer.flush(1)

    def _run(self) -> None:
        try:
            with self._changed:
                while not self._closed:
                    self._wait_or_tick()
        except Exception as error:  # the loop raises it: without a clock the process is of no use
            self._failed = error

    def _wait_or_tick(self) -> None:
        left = self._next - time.monotonic()
        if not self._leads or time.monotonic() - self._turned > _STILL_S:
            self._changed.wait(_LOOK_S)
        elif left > 0:
            self._changed.wait(left)
        else:
            self._next = time.monotonic() + self._tick_s
            # A wall clock may be set back; the shards' time may not.
            self._as_of = max(self._wall_ms(), self._as_of)
            self._write(ClockTicked(f"tick/{self._as_of}", self._as_of))

    def _write(self, tick: ClockTicked) -> None:
        value = self._codec.encode(tick)
        for shard in range(self._shards):
            plain = loop.headers(ClockTicked.__name__, SOURCE, tick.event_id)
            told = stamped(plain, self._stamps, topics.ACCEPTED, shard, value)
            self._producer.produce(topics.ACCEPTED, value, None, shard, self._delivered, headers=told)
        left = self._producer.flush(_FLUSH_S)
        while left and not self._closed:
            # Kafka is away. There is one tick when it is back, and not one for each that was missed.
            self._changed.wait(_LOOK_S)
            left = self._producer.flush(0)
        self._shown.sent(topics.ACCEPTED, self._shards)

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            self._failed = KafkaException(error)
