"""Drives a running fleet in lockstep: publishes a step, waits until all of its records are processed, publishes the
next.

A step is processed when every record of it is in the journal or in the dead letters; every shard has journalled the
tick; the decay stage has answered it; and the epoch that it opened, if it opened one, is decided in the journal. The
nomination stage's own code decides here whether the tick opened an epoch, over the same tick and the same store, which
must be at the same epoch before and after. If it is not, the epoch is decided already and only its journal entry is
awaited. Everything is awaited by reading topics; nothing sleeps.
"""

from __future__ import annotations

import itertools
import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, Message
from msgspec.structs import asdict, replace

from db.schedule import PostgresSchedule
from db.stored_orders import PostgresStoredOrders
from infra.demo.entry_counts import Ledger
from infra.demo.inputs import Record
from infra.demo.steps import Publish, Step
from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import (
    AccessRecorded,
    ClockRequested,
    DecayCrossed,
    Decided,
    EpisodeRecorded,
    IntakeRefused,
    JournalAppended,
    JournalEntry,
    NominationProposed,
    Signed,
)
from memquorum.core.tiers import SEALED
from streams.nomination_stage import Nomination
from streams.stage import Arrival
from workers.kafka import loop

QUIET_S = 90.0
_BEAT_S = 0.2
_CLIENT: dict[str, Any] = {"fetch.wait.max.ms": 20}
_SOURCE = "memquorum/demo"
_WATCHED = (topics.JOURNAL, topics.CROSSED, topics.NOMINATIONS, topics.REFUSED)
_APPLIED = frozenset({"stored", "reinforced", "dropped", "repeated", "accessed", "asked"})


class Stalled(RuntimeError):
    """The fleet has made no progress for a while: the message says what was awaited."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A published record that intake refused."""

    kind: str
    event_id: str
    reason: str
    field: str | None
    detail: str


class Driver:
    """Publishes, watches and counts. One thread; close it after use."""

    def __init__(self, bootstrap: str, genesis: Genesis, codec: Codec, dsn: str, *, active: Iterable[int] = ()) -> None:
        """`active`: shards to which others publish; it adds those to which it publishes itself."""
        self.ledger = Ledger(codec)
        self.published: Counter[str] = Counter()
        self.refused: list[Refused] = []
        self.as_of = 0
        self._genesis, self._codec = genesis, codec
        self._schedule, self._stored = PostgresSchedule(dsn), PostgresStoredOrders(dsn)
        self._beat: Callable[[], None] = lambda: None
        # Only computes the nominations and signs nothing: the key is the stage's.
        self._oracle = Nomination(codec, genesis, bytes(32), self._schedule, self._stored)
        self._producer = loop.producer(bootstrap, linger_ms=5)
        self._consumer = loop.consumer(bootstrap, **_CLIENT)
        loop.assign(self._consumer, {(topic, k): None for topic in _WATCHED for k in range(genesis.shards)})
        self._awaited: Counter[tuple[str, str]] = Counter()
        self._sent: dict[tuple[str, int, int], tuple[str, str]] = {}
        self._active = set(active)
        # The ids of this driver's ticks, unlike those of earlier drivers in the same topics, which it reads from the
        # beginning.
        self._ticks = f"demo/tick/{uuid.uuid4()}"
        self._count = itertools.count(1)
        self._ticked: dict[int, tuple[str, int]] = {}
        self._crossed: dict[int, tuple[int, Arrival]] = {}
        self._decided: Counter[int] = Counter()  # the last epoch by shard

    def close(self) -> None:
        """Closes the clients of Kafka and Postgres; a producer closes with its last reference."""
        self._schedule.close()
        self._stored.close()
        self._consumer.close()
        self._producer.flush(1)
        del self._producer

    def run(self, steps: Iterable[Step], beat: Callable[[], None]) -> None:
        """Publishes all steps, each after the previous one was processed. Raises Stalled, or what `beat` raises.

        `beat` is called several times a second: to draw, and to check the fleet.
        """
        self._beat = beat
        for step in steps:
            if isinstance(step, Publish):
                self._publish(step)
            else:
                self._tick(step.as_of)
        if self._genesis.policy.forget.grace_ms == 0:
            self._await(lambda: self.ledger.tiers()[SEALED] == 0, "the keys of forgotten memories to be destroyed")
        self.ledger.settle()

    # Publishing

    def _publish(self, step: Publish) -> None:
        for record in step.records:
            self._send(record)
        self._flush()
        self._await(lambda: not self._awaited, "what was published to stand in the journal or the dead letters")
        self._sent.clear()

    def _send(self, record: Record) -> None:
        namespace = record.namespace or ids.DEFAULT_NAMESPACE
        if isinstance(record, AccessRecorded):
            # The use of a repetition is a use of the memory that it reinforced.
            record = replace(record, memory_ids=tuple(map(self.ledger.memory, record.memory_ids)))
        topic = topics.EPISODES if isinstance(record, EpisodeRecorded) else topics.ACCESSES
        shard = ids.shard_of(namespace, self._genesis.shards)
        place = (namespace, record.event_id or "")
        self._active.add(shard)
        self._awaited[place] += 1
        self.published["episodes" if topic == topics.EPISODES else "accesses"] += 1

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                self._sent[str(message.topic()), message.partition() or 0, message.offset() or 0] = place

        self._produce(topic, shard, namespace.encode(), record, delivered)

    def _produce(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        record: Record | ClockRequested,
        delivered: Callable[[KafkaError | None, Message], None] | None = None,
    ) -> None:
        """Publishes plain JSON without null fields, as any client may."""
        value = json.dumps({name: v for name, v in asdict(record).items() if v is not None}).encode()
        headers = loop.headers(type(record).__name__, _SOURCE, record.event_id or "")
        headers = [(n, "application/json" if n == "content-type" else v) for n, v in headers]
        while True:
            try:
                self._producer.produce(topic, value, key, partition, delivered, headers=headers)
                return
            except BufferError:
                self._producer.poll(0.05)

    def _flush(self) -> None:
        quiet_since = time.monotonic()
        while self._producer.flush(_BEAT_S):
            self._beat()
            if time.monotonic() - quiet_since > QUIET_S:
                raise Stalled(f"Kafka has not taken what was published within {QUIET_S:.0f} s")

    # Time

    def _tick(self, as_of: int) -> None:
        self.as_of = max(self.as_of, as_of)
        name = f"{self._ticks}/{next(self._count)}"
        self._produce(topics.CLOCK, 0, None, ClockRequested(self.as_of, name))
        self._flush()
        self._await(
            lambda: all(self._ticked.get(k, ("", 0))[0] == name for k in range(self._genesis.shards)),
            "every shard to journal the tick",
        )
        for shard in sorted(self._active):
            seq = self._ticked[shard][1]
            self._await(
                lambda shard=shard, seq=seq: self._crossed.get(shard, (0, None))[0] >= seq,  # type: ignore[misc]
                f"the decay stage to answer the tick of shard {shard}",
            )
        for shard in sorted(self._active):
            epoch = self._opened(shard)
            self._await(
                lambda shard=shard, epoch=epoch: self._decided[shard] >= epoch,  # type: ignore[misc]
                f"epoch {epoch} of shard {shard} to be decided",
            )

    def _opened(self, shard: int) -> int:
        """The epoch that the shard has to reach: the one that the tick opened, or the last."""
        known = self._decided[shard]
        before = self._schedule.status(shard).last_epoch
        if before > known:
            return before
        made = self._oracle.would(self._crossed[shard][1])
        after = self._schedule.status(shard).last_epoch
        # While another shard was awaited, the epoch may have been decided and read: then it is the last one known.
        return max(after, known, made.epoch if made else 0)

    # Watching

    def _await(self, reached: Callable[[], bool], what: str) -> None:
        quiet_since = time.monotonic()
        while not reached():
            found = loop.records(self._consumer, 500, _BEAT_S)
            for message in found:
                self._note(message)
            self._beat()
            if found:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > QUIET_S:
                raise Stalled(f"no progress for {QUIET_S:.0f} s while waiting for {what}")

    def _note(self, message: Message) -> None:
        topic, shard, at = message.topic(), message.partition() or 0, message.timestamp()[1]
        value = message.value() or b""
        if topic == topics.JOURNAL:
            appended = self._codec.decode_as(JournalAppended, value)
            self._note_entry(self._codec.decode_as(JournalEntry, appended.entry), at)
        elif topic == topics.NOMINATIONS:
            signed = self._codec.decode_as(Signed, value)
            self.ledger.nominated(self._codec.decode_as(NominationProposed, signed.body), at)
        elif topic == topics.CROSSED:
            crossed = self._codec.decode_as(DecayCrossed, value)
            self._crossed[shard] = (crossed.journal_seq, Arrival(shard, message.offset() or 0, value))
        else:
            self._note_refusal(self._codec.decode_as(IntakeRefused, value))

    def _note_entry(self, entry: JournalEntry, at: int) -> None:
        if not self.ledger.entry(entry, at):
            return
        if entry.effect in _APPLIED:
            self._done((entry.namespace or "", entry.event_id))
        elif entry.effect == "ticked":
            self._ticked[entry.shard] = (entry.event_id, entry.seq)
        elif entry.effect == "decided":
            self._decided[entry.shard] = self._codec.decode_as(Decided, entry.detail).epoch

    def _note_refusal(self, letter: IntakeRefused) -> None:
        place = self._sent.get((letter.origin_topic, letter.origin_partition, letter.origin_offset))
        if place is None:
            return
        kind = "episode" if letter.origin_topic == topics.EPISODES else "access"
        self.refused.append(Refused(kind, place[1], letter.reason, letter.field, letter.detail))
        self._done(place)

    def _done(self, place: tuple[str, str]) -> None:
        self._awaited[place] -= 1
        if self._awaited[place] <= 0:
            del self._awaited[place]
