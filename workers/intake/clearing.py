"""Deletes records from the outside topics, which hold content in the clear, once intake has let them in.

It deletes records that intake has written on and committed, `keep` after that; never unread ones. Kafka deletes a file
only when all its records are deleted and a newer file exists, which only a new record creates. So a marker without
content (`is_marker`) is appended to an idle partition, dated so that it begins a file. A new process continues the work
of an ended one: it begins with everything before the group's offset.

Only topics that this installation provisioned are cleared, as others may have further readers. Their retention raises
an alarm, since content stays in them that long.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType

from memquorum.telemetry.health import Health
from workers.kafka import loop, partition
from workers.kafka.reach import Asker

_LOG = logging.getLogger("memquorum.intake")

MARK = "delete.retention.ms"
"""The topic setting that bears `mark`: it has an effect only where records are compacted."""
MARKER = "memquorum-roll"
"""Header of a record without a value whose only purpose is to begin a file."""
SEGMENT_MS = 60_000
"""segment.ms of the outside topics: a marker dated this much later than their latest record begins a file."""
# Brokers accept timestamps up to an hour ahead by default.
_AHEAD_MS = 59 * 60_000
_EVERY_S = 30.0
_ABOUT = "outside topics"
_ASK_AGAIN_S = 600.0
_PATIENCE_S = 20.0

Place = tuple[str, int]
_EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
_NEWEST: OffsetSpec = OffsetSpec.max_timestamp()  # type: ignore[no-untyped-call]


def mark(cluster: bytes) -> str:
    """The value of the setting that marks an installation's topics; `cluster`: SHA-256 of its genesis file."""
    return str(int.from_bytes(hashlib.sha256(b"memquorum/provisioned/1\0" + cluster).digest()[:6], "big"))


def is_marker(message: Message) -> bool:
    """True if a record of an outside topic is a marker, which is skipped."""
    return not message.value() and any(name == MARKER for name, _ in loop.header_items(message))


class Clearing:
    """Deletes records that one process of intake has let in. The loop calls `took` and `left`; `run` works in a thread
    beside it."""

    def __init__(self, bootstrap: str, cluster: bytes, keep_s: float, health: Health) -> None:
        """`keep_s`: seconds that records stay after they were let in; 0: until the topics' retention is over."""
        self._bootstrap, self._mark, self._keep_s, self._health = bootstrap, mark(cluster), keep_s, health
        self._asker = Asker(bootstrap)
        self._lock = threading.Lock()
        self._taken: dict[Place, deque[tuple[float, int]]] = {}
        # Idle partitions whose last file may hold deleted records; and their ends at the last look.
        self._unrolled: set[Place] = set()
        self._ends: dict[Place, int] = {}
        self._ours: dict[str, bool] = {}
        self._ask_at = 0.0

    def took(self, place: Place, end: int, now_s: float) -> None:
        """Notes that all records before `end` were let in or refused, and committed."""
        with self._lock:
            since = self._taken.setdefault(place, deque())
            if len(since) > 1 and now_s - since[-2][0] < self._keep_s / 4:
                since.pop()
            since.append((now_s, end))

    def given(self, place: Place, end: int, now_s: float) -> None:
        """Notes that the group assigned a partition, which was read until `end` before."""
        with self._lock:
            self._unrolled.add(place)
        if end > 0:
            self.took(place, end, now_s)

    def left(self, places: Iterable[Place]) -> None:
        """Forgets partitions that the group revoked."""
        with self._lock:
            for place in places:
                self._taken.pop(place, None)
                self._unrolled.discard(place)

    def run(self, stop: Callable[[float], bool]) -> None:
        """Calls `turn` until `stop`, which waits the given seconds; an outage of Kafka only delays."""
        every_s = min(_EVERY_S, max(0.5, self._keep_s / 4)) if self._keep_s else _EVERY_S
        while not stop(every_s):
            try:
                self.turn(time.monotonic(), time.time_ns() // 1_000_000)
            except KafkaException as error:
                _LOG.warning("accepted records stay in the outside topics for now: %s", error)
                self._asker.failed()
                self._health.alarm(_ABOUT, f"what was let in stays there for now: {error.args[0].str()}")
            else:
                self._health.alarm(_ABOUT, None)

    def turn(self, now_s: float, wall_ms: int) -> None:
        """Deletes the records that are due. `now_s`: the clock of `took`. Raises KafkaException."""
        with self._lock:
            known, unrolled = set(self._taken) | self._unrolled, set(self._unrolled)
        self._ask({topic for topic, _ in known}, now_s)
        mine = {place for place in known if self._ours.get(place[0])}
        if not self._keep_s or not mine:
            return
        admin = self._asker.client
        low, ends = offsets(admin, mine, _EARLIEST), offsets(admin, mine, _LATEST)
        old = self._old(mine, now_s)
        due = {place: end for place, end in old.items() if low[place] < end <= ends[place]}
        if due:
            partition.delete(self._bootstrap, due)
        with self._lock:
            self._unrolled |= due.keys()
            for place, end in old.items():
                self._taken[place] = deque(one for one in self._taken.get(place, ()) if one[1] > end)
        unrolled |= due.keys()
        silent = {p for p in unrolled & mine if 0 < ends[p] == self._ends.get(p)}
        self._ends = ends
        if silent:
            rolled = roll(self._bootstrap, admin, silent, wall_ms)
            with self._lock:
                self._unrolled -= rolled

    def _old(self, places: Iterable[Place], now_s: float) -> dict[Place, int]:
        """The offset before which each partition may be deleted."""
        with self._lock:
            taken = {place: self._taken.get(place, ()) for place in places}
            old = {place: [end for at, end in ends if at + self._keep_s <= now_s] for place, ends in taken.items()}
        return {place: max(ends) for place, ends in old.items() if ends}

    def _ask(self, names: set[str], now_s: float) -> None:
        """Looks up which topics this installation provisioned, and raises an alarm with the retention of the others."""
        if not names or (now_s < self._ask_at and names <= self._ours.keys()):
            return
        asked = self._asker.client.describe_configs(
            [ConfigResource(ResourceType.TOPIC, name) for name in names], request_timeout=_PATIENCE_S
        )
        for resource, answer in asked.items():
            config: Mapping[str, Any] = answer.result()
            self._ours[resource.name] = ours = config[MARK].value == self._mark
            kept = config["retention.ms"].value
            told = "this installation did not provision it: what was let in lies there in the clear for "
            told += _days(kept)
            self._health.alarm(f"topic {resource.name}", None if ours else told)
        self._ask_at = now_s + _ASK_AGAIN_S


def offsets(admin: AdminClient, places: Iterable[Place], spec: OffsetSpec) -> dict[Place, int]:
    """One offset of each partition. Raises KafkaException."""
    asked = admin.list_offsets({TopicPartition(*place): spec for place in places}, request_timeout=_PATIENCE_S)
    return {(place.topic, place.partition): answer.result().offset for place, answer in asked.items()}


def roll(bootstrap: str, admin: AdminClient, places: Iterable[Place], wall_ms: int) -> set[Place]:
    """Begins a file in partitions of the outside topics, so that the previous one can be deleted; returns the
    partitions in which it did.

    A file's age is counted in its records' own times. A partition whose records are dated so far ahead that no broker
    would accept the marker has to wait. Raises KafkaException.
    """
    asked = admin.list_offsets({TopicPartition(*place): _NEWEST for place in places}, request_timeout=_PATIENCE_S)
    newest = {(place.topic, place.partition): answer.result().timestamp for place, answer in asked.items()}
    dated = {place: max(wall_ms, at + SEGMENT_MS + 1) for place, at in newest.items()}
    rolled = {place: at for place, at in dated.items() if at <= wall_ms + _AHEAD_MS}
    failed: list[Exception] = []
    producer = loop.producer(bootstrap)
    try:
        for (topic, number), at in rolled.items():
            producer.produce(
                topic, None, None, number, timestamp=at, headers=[(MARKER, b"")],
                on_delivery=lambda error, _: failed.append(KafkaException(error)) if error is not None else None,
            )  # fmt: skip
        unsent = producer.flush(_PATIENCE_S)
    finally:
        producer.purge()
        producer.close()
    if failed:
        raise failed[0]
    return set() if unsent else set(rolled)


def _days(retention_ms: str) -> str:
    return "ever" if int(retention_ms) < 0 else f"{int(retention_ms) / 86_400_000:.3g} days (retention.ms)"
