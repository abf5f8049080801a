"""The parts that every worker's loop shares: Kafka clients with safe settings, headers, and a clean stop.

Workers on plain Kafka assign partitions by hand and keep their offsets with their state; only intake is a group.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from memquorum import cloudevents, kafka
from memquorum.core.identity import stamps
from workers.kafka.reach import QUIET, ReachingConsumer, ReachingProducer

Headers = list[tuple[str, str | bytes | None]]

# The longest pause before a reconnect; the default is 10 s.
_RECONNECT = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500}
# A frozen broker keeps its connections, and a client waits on them for an answer, by default for a minute, while
# another broker has been leader since 3 s. A needless retry repeats a request, and never a record.
_SILENCE = {"socket.timeout.ms": 4_000}
# Larger than any batch that a topic allows (schemas/topics: 8 MiB).
_MESSAGE_BYTES_MAX = 10 * 1024 * 1024
_RETRY_S = 0.5
COMMITTED = {"isolation.level": "read_committed"}
"""For a consumer of agents' records, which may be in transactions."""


class TopicUnreadable(RuntimeError):
    """Kafka does not deliver a record that should exist, or delivers it damaged; the message names the offset."""


class LaterRecord(TopicUnreadable):
    """A later release of this installation wrote a record, which must not be passed over; the message names it."""


class Stop:
    """A flag to stop: set by SIGTERM or SIGINT, or by its owner. Workers check it between batches."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def on_signals(self) -> Stop:
        """Sets itself on SIGTERM and SIGINT; call from the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._event.set())
        return self

    def set(self) -> None:
        """Requests the stop."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Waits for the stop, `seconds` at most; true if it came. Back-offs wait on it."""
        return self._event.wait(seconds)

    def __bool__(self) -> bool:
        return self._event.is_set()


def producer(bootstrap: str, linger_ms: float = 0, **settings: Any) -> Producer:
    """An idempotent producer, acks=all, that delivers in order and retries until it has delivered."""
    return ReachingProducer(
        {
            **kafka.librdkafka(bootstrap),
            "acks": "all",
            "enable.idempotence": True,
            "linger.ms": linger_ms,
            "message.max.bytes": _MESSAGE_BYTES_MAX,
            # Without an end: an outage delays, it does not drop.
            "delivery.timeout.ms": 0,
            **QUIET,
            **_RECONNECT,
            **_SILENCE,
            **settings,
        }
    )


def consumer(bootstrap: str, group: str | None = None, **settings: Any) -> Consumer:
    """A consumer that never commits by itself; without a group it only takes `assign`. It also reads the records of
    uncommitted transactions in outside topics: intake uses `COMMITTED`."""
    return ReachingConsumer(
        {
            **kafka.librdkafka(bootstrap),
            # librdkafka wants a group id even if none is used.
            "group.id": group or "memquorum-unassigned",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest" if group else "error",
            # The fleet uses no transactions. A stranger's open one would stall a reader of committed records.
            "isolation.level": "read_uncommitted",
            # The poll interval of an idle client: records written meanwhile are delivered at once. A seek waits for the
            # pending fetch.
            "fetch.wait.max.ms": 500,
            "fetch.message.max.bytes": _MESSAGE_BYTES_MAX,
            # A broker does not check the records it reads from its disk; by default neither does the client.
            "check.crcs": True,
            "allow.auto.create.topics": False,
            **QUIET,
            **_RECONNECT,
            **_SILENCE,
            **settings,
        }
    )


def reader(bootstrap: str, **settings: Any) -> Consumer:
    """A consumer without a group that reads partitions to their ends and asks for these.

    The last offset before an end may be the marker of a stranger's transaction, which no consumer gets: then the end
    event shows the offset. This event, and the answer to a request, comes once a fetch has waited for records in vain.
    """
    return consumer(bootstrap, None, **{"enable.partition.eof": True, "fetch.wait.max.ms": 50, **settings})


def assign(client: Consumer, offsets: Mapping[tuple[str, int], int | None]) -> None:
    """Assigns each (topic, partition) at its offset, or at the beginning for None."""
    client.assign(
        [
            TopicPartition(topic, partition, OFFSET_BEGINNING if offset is None else offset)
            for (topic, partition), offset in offsets.items()
        ]
    )


def records(
    client: Consumer,
    most: int,
    wait_s: float,
    ended: set[tuple[str, int]] | None = None,
    *,
    reached: dict[tuple[str, int], int] | None = None,
) -> list[Message]:
    """Returns the available records, `most` at most; waits only for the first.

    `consume(n, timeout)` waits for a full batch, which costs latency; `poll` then `consume(n, 0)` does not. Adds the
    partitions whose end was reached to `ended`, if the consumer has `enable.partition.eof`; and to `reached` the offset
    of their next record. Offsets before it without a record are transaction markers or deleted records. Raises
    TopicUnreadable if records are damaged, KafkaException for other permanent errors.
    """
    first = client.poll(wait_s)
    if first is None:
        return []
    found = (first, *client.consume(most - 1, 0))
    if ended is not None or reached is not None:
        marks = [m for m in found if (e := m.error()) is not None and e.code() == KafkaError._PARTITION_EOF]
        if ended is not None:
            ended.update(place(m) for m in marks)
        if reached is not None:
            reached.update((place(m), offset(m)) for m in marks)
    return [m for m in found if _sound(m)]


def _sound(message: Message) -> bool:
    error = message.error()
    if error is None:
        return True
    # Brokers come and go; the client reconnects by itself.
    if error.code() == KafkaError._PARTITION_EOF or passing(error):
        return False
    if error.code() == KafkaError._BAD_MSG:
        raise TopicUnreadable(
            f"{message.topic()}, partition {message.partition()}: the broker's file is damaged ({error.str()}). Let "
            "the broker take this partition from another one, or put its file back"
        )
    raise KafkaException(error)


_TRANSIENT = (
    *(KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT, KafkaError._RESOLVE, KafkaError._TIMED_OUT),
    KafkaError._DESTROY_BROKER,  # the answer when the broker was killed
    # Errors of a broker that has just restarted and reloads its partitions.
    *(KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.OFFSET_NOT_AVAILABLE),
    *(KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH),
)
_UNLISTED = (KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART)
_LISTED_S = 10.0


def passing(error: KafkaError) -> bool:
    """True if an error passes once the brokers answer again."""
    return not error.fatal() and (error.retriable() or error.code() in _TRANSIENT)


class Outage:
    """Says which errors of repeated attempts pass. A broker that has just started knows no partition for a moment, so
    an unknown one passes for 10 s, counted from the last error that says that the broker is away."""

    def __init__(self) -> None:
        self._until: float | None = None

    def passes(self, error: KafkaError) -> bool:
        """True if another attempt may succeed."""
        now = time.monotonic()
        if passing(error) or self._until is None:
            self._until = now + _LISTED_S
        return passing(error) or (error.code() in _UNLISTED and now <= self._until)


def headers(kind: str, source: str, event_id: str, parent: str | None = None) -> Headers:
    """The fleet's headers, as a list to which more can be added; see `memquorum.cloudevents`."""
    return [*cloudevents.headers(kind, source, event_id, parent)]


def place(message: Message) -> tuple[str, int]:
    """The topic and partition of a record that was read."""
    topic, partition = message.topic(), message.partition()
    assert topic is not None and partition is not None
    return topic, partition


def offset(message: Message) -> int:
    """The offset of a record that was read."""
    found = message.offset()
    assert found is not None
    return found


def traceparent(message: Message) -> str | None:
    """The W3C traceparent of a record, if it carries one."""
    for name, value in header_items(message):
        if name == "traceparent" and isinstance(value, bytes):
            return value.decode("ascii", "replace")
    return None


def stamp(message: Message) -> bytes | None:
    """The fleet's stamp on a record, if it carries one."""
    for name, value in header_items(message):
        if name == stamps.HEADER and isinstance(value, bytes):
            return value
    return None


@contextmanager
def about(*what: object) -> Iterator[None]:
    """Notes on an error that leaves the block the work in progress: a record that was read, or words without content.
    The log and the supervisor's alarm show it."""
    try:
        yield
    except Exception as error:
        for one in what:
            if isinstance(one, Message):
                error.add_note(f"record {one.topic()}/{one.partition()}/{one.offset()}")
            else:
                error.add_note(str(one))
        raise


def header_items(message: Message) -> Iterable[tuple[str, object]]:
    """The headers in their order."""
    found = message.headers() or ()
    return found.items() if isinstance(found, dict) else found


def ends(client: Consumer, partitions: Iterator[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """The present end offsets, which a reader of all records up to this moment must reach."""
    return {
        (topic, partition): client.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)[1]
        for topic, partition in partitions
    }


def ends_at_last(
    client: Consumer, partitions: Sequence[tuple[str, int]], stop: Stop, turn: Callable[[], None]
) -> dict[tuple[str, int], int]:
    """Repeats `ends` until the broker answers, calling `turn` between attempts; empty if told to stop."""
    outage = Outage()
    while not stop:
        try:
            return ends(client, iter(partitions))
        except KafkaException as error:
            if not outage.passes(error.args[0]):
                raise
            turn()
            # A client that is not read from hears of its brokers, or of their loss, only so.
            client.poll(0)
            stop.wait(_RETRY_S)
    return {}
