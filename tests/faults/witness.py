"""Watches a load from outside while it runs: every journal entry once, in order, chained; every epoch.

One thread follows the journal in Postgres, one the nominations in Kafka. Both outlive their server's outages. Waits use
`changed`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import psycopg
from confluent_kafka import Consumer

from infra import genesis
from infra.settings import Settings
from memquorum import topics
from memquorum.core.avro import DecodeError
from memquorum.core.records import NominationProposed, Signed
from memquorum.schema_files import load_codec
from workers.kafka import loop
from workers.kafka.reach import BrokersLost

Event = tuple[str, str]
"""Namespace, event id."""
Epochs = dict[int, int]
"""Shard → epoch."""

_ROWS = 5_000
_FIRST = {"stored", "reinforced", "dropped", "accessed", "asked", "finished", "assessed", "unfounded"}


@dataclass(slots=True)
class Seen:
    """The journal so far. `problems`: violations, a line each."""

    effects: Counter[str] = field(default_factory=Counter)
    events: dict[Event, str] = field(default_factory=dict)
    seq: Counter[int] = field(default_factory=Counter)
    decided: Counter[int] = field(default_factory=Counter)
    as_of: Counter[int] = field(default_factory=Counter)
    nominated: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class Witness:
    """Follows an installation in threads of its own. Use as a context manager."""

    def __init__(self, running: Settings) -> None:
        self._running, self._shards = running, genesis.read(running).shards
        self.seen = Seen()
        self.changed = threading.Condition()
        self._over = threading.Event()
        self._hashes: dict[int, bytes] = {}
        self._spine: dict[int, int] = {}
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._follow_journal, self._follow_votes)]

    def __enter__(self) -> Witness:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(10)

    def missing(self, events: Iterable[Event]) -> set[Event]:
        """Those that are not in the journal yet."""
        with self.changed:
            return set(events) - self.seen.events.keys()

    def open(self) -> Epochs:
        """Epochs that were nominated and are not decided: the newest of each shard."""
        with self.changed:
            return {s: e for s, e in self.seen.nominated.items() if e > self.seen.decided[s]}

    def time(self) -> int:
        """Up to which time every shard has come."""
        with self.changed:
            return min(self.seen.as_of[shard] for shard in range(self._shards))

    def undecided(self, wanted: Epochs) -> Epochs:
        """Those of the epochs that are not decided yet."""
        with self.changed:
            return {shard: epoch for shard, epoch in wanted.items() if self.seen.decided[shard] < epoch}

    # Threads -------------------------------------------------------------------------------------------------------

    def _follow_journal(self) -> None:
        while not self._over.is_set():
            try:
                with psycopg.connect(self._running.memory_dsn, autocommit=True, connect_timeout=2) as connection:
                    connection.execute("LISTEN journal")
                    while not self._over.is_set():
                        while self._read(connection):
                            pass
                        for _ in connection.notifies(timeout=0.2, stop_after=1):
                            pass
            except psycopg.OperationalError:
                self._over.wait(0.1)  # it is down; nothing tells when it is back

    def _read(self, connection: psycopg.Connection) -> bool:
        """Takes what is new; whether there was anything."""
        new = 0
        for shard in range(self._shards):
            rows = connection.execute(
                "SELECT seq, effect, namespace, event_id, source_topic, source_offset, previous_hash, hash, as_of"
                " FROM journal WHERE shard = %s AND seq > %s ORDER BY seq LIMIT %s",
                (shard, self.seen.seq[shard], _ROWS),
            ).fetchall()
            decided = connection.execute("SELECT max(epoch) FROM decision WHERE shard = %s", (shard,)).fetchone()
            with self.changed:
                for row in rows:
                    self._take(shard, row)
                self.seen.decided[shard] = (decided[0] if decided else 0) or 0
            new += len(rows)
        if new:
            with self.changed:
                self.changed.notify_all()
        return new > 0

    def _take(self, shard: int, row: tuple[Any, ...]) -> None:
        seq, effect, namespace, event_id, topic, offset, previous, entry_hash, as_of = row
        seen = self.seen
        where = f"journal of shard {shard}, entry {seq}"
        if seq != seen.seq[shard] + 1:
            seen.problems.append(f"{where} follows entry {seen.seq[shard]}")
        if self._hashes.get(shard, previous) != previous:
            seen.problems.append(f"{where} is not chained to the entry before")
        if topic == topics.ACCEPTED:
            if offset <= self._spine.get(shard, -1):
                seen.problems.append(f"{where}: accepted offset {offset} comes after {self._spine[shard]}")
            self._spine[shard] = max(offset, self._spine.get(shard, -1))
        if effect in _FIRST:
            event = (namespace or "", event_id)
            if event in seen.events:
                seen.problems.append(f"{where}: {event} is {effect} and was {seen.events[event]} already")
            seen.events[event] = effect
        seen.seq[shard], self._hashes[shard] = seq, entry_hash
        seen.effects[effect] += 1
        seen.as_of[shard] = max(as_of, seen.as_of[shard])

    def _follow_votes(self) -> None:
        while not self._over.is_set():
            reader = loop.consumer(self._running.bootstrap)
            try:
                self._follow(reader)
            except BrokersLost:
                continue  # a frozen broker does that to a client; another one reads all again, and nothing changes
            finally:
                reader.close()

    def _follow(self, reader: Consumer) -> None:
        codec = load_codec()
        loop.assign(reader, dict.fromkeys((topics.NOMINATIONS, shard) for shard in range(self._shards)))
        while not self._over.is_set():
            for message in loop.records(reader, 1_000, 0.2):
                try:
                    signed = codec.decode(message.value() or b"")
                    record = codec.decode(signed.body) if isinstance(signed, Signed) else None
                except DecodeError:
                    continue
                if isinstance(record, NominationProposed):
                    with self.changed:
                        self.seen.nominated[record.shard] = max(self.seen.nominated[record.shard], record.epoch)
                        self.changed.notify_all()
