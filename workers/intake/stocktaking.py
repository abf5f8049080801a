"""Counts all memories of limited namespaces for intake: those in the store, and those not applied yet.

A thread of its own asks the store, so that an unavailable or slow store stops no record. Meanwhile a counted namespace
is held to its limit by the last count and everything let in since, and one that was not counted may bring in a part of
its limit. The first episode of a namespace waits for its count, all episodes of a batch together no longer than the
patience.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Writer
from memquorum.core.quota import Plan
from memquorum.core.reasons import Reason
from memquorum.core.records import EpisodeAccepted
from memquorum.core.stock import MEMORIES_IN_ALL, Full, Stock, full_namespaces
from memquorum.ports import Counted, Living
from memquorum.telemetry.bundle import Stage
from workers.kafka.partition import Partition
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.intake")
_UNCOUNTED = "count of memories"
# The interval between counts, and how long a namespace's first episode waits for one.
_EACH_S = 2.0
_PATIENCE_S = 3.0
_CLOSE_S = 2.0
_NAMED_MOST = 10

Place: TypeAlias = tuple[str, int, int]
"""The place of an episode in the accepted stream: namespace, shard and offset."""


class Stocktaking:
    """Keeps the counts of memories for one process of intake. Only the loop calls its methods, except the thread's."""

    def __init__(
        self,
        plan: Plan,
        living: Living,
        shown: Stage,
        backlog: Callable[[Mapping[int, int]], Iterator[Place]],
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """Starts counting. `backlog`: yields the episodes in the accepted stream from the shards' offsets on; called
        once, for episodes let in before this process began."""
        self.stock = Stock(plan)
        self._living, self._shown, self._backlog, self._patience_s = living, shown, backlog, patience_s
        self._changed = threading.Condition()
        # Shared by the thread and the loop, under the lock.
        self._names = set(self.stock.names)
        self._counted: Counted | None = None
        self._found: list[Place] = []
        self._fault: str | None = None
        self._asked = self._closed = False
        # The time that this batch may still wait for counts.
        self._left_s = patience_s
        self._told: set[str] = set()
        self._gauge = shown.meters.full.labels(shown.name)
        self._gauge.set(0)
        self._thread = threading.Thread(target=self._run, name="stocktaking", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread once the store has answered."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(_CLOSE_S)

    def full(self, namespace: str) -> Full | None:
        """Returns the namespace's count and limit if it has no room for another memory."""
        if not self.stock.limited(namespace):
            return None
        self._take_up()
        if not self.stock.counted(namespace):
            self._wait_for(namespace)
            self._take_up()
        full = self.stock.full(namespace)
        if full is not None and full.stored is not None and namespace not in self._told:
            self._tell()
        return full

    def turn(self) -> None:
        """Takes up the latest count of the store, and reports it."""
        self._left_s = self._patience_s
        if self._take_up() or self._told:
            self._tell()
        with self._changed:
            fault = self._fault
        why = (
            f"{fault}. Namespaces that were counted before are held to their limit by that and by what came since; any "
            "other may bring in a tenth of its limit"
        )
        self._shown.health.alarm(_UNCOUNTED, why if fault else None)

    def _wait_for(self, namespace: str) -> None:
        with self._changed:
            self._names.add(namespace)
            if self._fault is not None or self._left_s <= 0:
                return
            self._asked = True
            self._changed.notify_all()
            began = time.monotonic()
            if not self._changed.wait_for(
                lambda: self._fault or (self._counted and namespace in self._counted.stored), self._left_s
            ):
                self._fault = f"the store has not counted memories within {self._patience_s:g} s"
            self._left_s -= time.monotonic() - began

    def _take_up(self) -> bool:
        with self._changed:
            counted, found = self._counted, self._found
            self._counted, self._found = None, []
            if counted is not None:
                # Stops asking for namespaces that were dropped.
                self._names = set(self.stock.names)
        for place in found:
            self.stock.found(*place)
        if counted is not None:
            self.stock.took_stock(counted.stored, counted.applied)
        return counted is not None

    def _tell(self) -> None:
        full = self.stock.at_limit()
        for namespace in sorted(full.keys() - self._told):
            _LOG.warning("namespace %s has reached its limit of %d memories", namespace, full[namespace].most)
        for namespace in sorted(self._told - full.keys()):
            _LOG.info("namespace %s has room for memories again", namespace)
        self._told = set(full)
        self._gauge.set(len(full))
        if not full:
            self._shown.health.alarm(MEMORIES_IN_ALL, None)
            return
        self._shown.health.alarm(
            MEMORIES_IN_ALL,
            f"{full_namespaces(full, _NAMED_MOST)}: the limit of memories (ingest_…) is reached; what is published "
            f"lies in the dead letters (`dlq list --reason {Reason.OVER_QUOTA}`) until some are forgotten or erased",
        )

    # The thread

    def _run(self) -> None:
        caught_up = False
        while True:
            with self._changed:
                names = sorted(self._names)
                self._asked = False
            fault, counted, found = None, None, list[Place]()
            try:
                counted = self._living.counted(names)
                if not caught_up:
                    found = list(self._backlog(counted.applied))
                    caught_up = True
            except Exception as error:  # whatever it is, a thread that ended would leave old counts standing
                fault, counted = f"memories cannot be counted: {error}", None
                _LOG.warning("%s", fault)
            with self._changed:
                self._fault, self._counted = fault, counted or self._counted
                self._found += found
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed or (self._asked and self._fault is None), _EACH_S)
                if self._closed:
                    return


class Backlog:
    """Reads the episodes in the accepted stream that are not applied yet: let in by earlier processes."""

    def __init__(self, bootstrap: str, shards: int, codec: Codec, stamps: Writer | None) -> None:
        self._bootstrap, self._shards, self._codec = bootstrap, shards, codec
        self._stamps = stamps

    def __call__(self, applied: Mapping[int, int]) -> Iterator[Place]:
        """Yields the episodes from the shards' offsets on, up to the present end of each partition.

        Raises KafkaException or TopicUnreadable.
        """
        strangers = Strangers(_LOG, self._stamps.reader() if self._stamps else None)
        for shard in range(self._shards):
            partition = Partition(self._bootstrap, topics.ACCEPTED, shard, strangers)
            try:
                if applied.get(shard, 0) < partition.end:
                    yield from self._episodes(partition, shard, applied.get(shard, 0))
            finally:
                partition.close()

    def _episodes(self, partition: Partition, shard: int, start: int) -> Iterator[Place]:
        for record in partition.records(0, start):
            if record.offset >= partition.end:
                return
            try:
                episode = self._codec.decode(record.data)
            except DecodeError:
                continue
            if isinstance(episode, EpisodeAccepted) and episode.counts:
                yield episode.namespace, shard, record.offset
