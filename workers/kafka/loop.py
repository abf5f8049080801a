"""What every worker's loop shares: Kafka clients with safe settings, headers, and a clean stop.

Workers on plain Kafka assign partitions by hand and keep their offsets with their state; only intake is a group.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from memquorum import cloudevents, kafka
from memquorum.core.identity import stamps
from workers.kafka.reach import ReachingConsumer, ReachingProducer

Headers = list[tuple[str, str | bytes | None]]

# After an outage the client is back this soon; by default it may take 10 s.
_RECONNECT = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500}
# A broker that stands still keeps its connections, and a client waits on them for an answer, by default for a minute,
# while another broker leads in its place since 3 s. What is asked again for no reason is a request, not a record.
_SILENCE = {"socket.timeout.ms": 4_000}
# Larger than any batch that a topic allows (schemas/topics: 8 MiB).
_MESSAGE_BYTES_MAX = 10 * 1024 * 1024
_RETRY_S = 0.5
COMMITTED = {"isolation.level": "read_committed"}
"""For a consumer of what agents publish, who may use transactions."""


class TopicUnreadable(RuntimeError):
    """Kafka does not deliver what it says that it has, or delivers it damaged; the message names the place."""


class Stop:
    """Whether to stop: set by SIGTERM or SIGINT, or by whoever holds it. Workers ask it between batches."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def on_signals(self) -> Stop:
        """Sets itself on SIGTERM and SIGINT; call from the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._event.set())
        return self

    def set(self) -> None:
        """Asks to stop."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Waits for the stop, at most so long; whether it came. What a back-off waits on."""
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
            "log_level": 3,
            **_RECONNECT,
            **_SILENCE,
            **settings,
        }
    )


def consumer(bootstrap: str, group: str | None = None, **settings: Any) -> Consumer:
    """A consumer that never commits by itself; without a group it only takes `assign`. What an outside topic holds of a
    transaction that was not committed comes to it as well: who lets records in takes `COMMITTED`."""
    return ReachingConsumer(
        {
            **kafka.librdkafka(bootstrap),
            # librdkafka wants a group id even where none is used.
            "group.id": group or "memquorum-unassigned",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest" if group else "error",
            # The line uses no transactions. A stranger's open one would stall a partition for who waits for its end.
            "isolation.level": "read_uncommitted",
            # How often an idle client asks: what is written meanwhile is answered at once. A seek waits behind it.
            "fetch.wait.max.ms": 500,
            "fetch.message.max.bytes": _MESSAGE_BYTES_MAX,
            # A broker does not check what it reads from its disk; by default neither does the client.
            "check.crcs": True,
            "allow.auto.create.topics": False,
            "log_level": 3,
            **_RECONNECT,
            **_SILENCE,
            **settings,
        }
    )


def reader(bootstrap: str, **settings: Any) -> Consumer:
    """A consumer without a group that reads partitions to their ends and asks how far they go.

    The last offset before an end may be the mark of a stranger's transaction, which nobody gets: then the end says so.
    That, and the answer to a question, comes once a fetch has waited for records in vain.
    """
    return consumer(bootstrap, None, **{"enable.partition.eof": True, "fetch.wait.max.ms": 50, **settings})


def assign(client: Consumer, offsets: Mapping[tuple[str, int], int | None]) -> None:
    """Reads (topic, partition) from the offset, or from the beginning where it is None."""
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
    """The records at hand, at most so many; waits only for the first.

    `consume(n, timeout)` waits for a full batch, which costs latency; `poll` then `consume(n, 0)` does not.
    `ended` gathers the partitions whose end was reached, where the consumer has `enable.partition.eof`; `reached` also
    the offset that the next record will have. What lies before it and did not come is no record: it marks the end of a
    transaction, or was deleted.
    Raises TopicUnreadable where records are damaged, KafkaException for other errors that do not mend themselves.
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
    KafkaError._DESTROY_BROKER,  # what a question gets whose broker was killed
    # What a question gets of a broker that has just come back, and takes its partitions up again.
    *(KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.OFFSET_NOT_AVAILABLE),
    *(KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_LEADER_EPOCH),
)


def passing(error: KafkaError) -> bool:
    """Whether an error mends itself once the brokers answer again."""
    return not error.fatal() and (error.retriable() or error.code() in _TRANSIENT)


def headers(kind: str, source: str, event_id: str, parent: str | None = None) -> Headers:
    """The line's headers, for whoever adds its own to them; see `memquorum.cloudevents`."""
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
    """The line's stamp on a record, if it carries one."""
    for name, value in header_items(message):
        if name == stamps.HEADER and isinstance(value, bytes):
            return value
    return None


@contextmanager
def about(*what: object) -> Iterator[None]:
    """Notes on an error that leaves the block what was worked on: a record that was read, or words without content. The
    log and the supervisor's alarm tell it."""
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
    """The headers as they came, in order."""
    found = message.headers() or ()
    return found.items() if isinstance(found, dict) else found


def ends(client: Consumer, partitions: Iterator[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """The end offsets now: what a reader of everything up to this moment must reach."""
    return {
        (topic, partition): client.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)[1]
        for topic, partition in partitions
    }


def ends_at_last(
    client: Consumer, partitions: Sequence[tuple[str, int]], stop: Stop, turn: Callable[[], None]
) -> dict[tuple[str, int], int]:
    """Asks for `ends` as long as the broker does not answer, with a `turn` each time; nothing if told to stop."""
    while not stop:
        try:
            return ends(client, iter(partitions))
        except KafkaException as error:
            if not passing(error.args[0]):
                raise
            turn()
            # A client that is not read from hears of its brokers, or of their loss, only so.
            client.poll(0)
            stop.wait(_RETRY_S)
    return {}
