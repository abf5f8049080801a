"""Keeps the roll-ups of namespaces up to date: what was stored is gone through at a tick, and becomes patches. And it
makes the general forms of what experience has promoted, once a decision may have done so.

It reads the journal, so by the stream's clock: a namespace is due a while after the first thing that was stored there
since it was gone through last. Order: read what can be read and the log, make the patches, publish them signed, flush,
and only then commit the place of the first thing that is not gone through. A crash in between makes the same patches
again, and each applies once.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from confluent_kafka import KafkaException, Message, TopicPartition
from msgspec import Struct

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consolidation.rollups import LEAST, Reading, patches
from memquorum.core.contained import Failed, Failures, attempt
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.orders.patch import PATCH, PATCHES_MOST, SIGNER, ordered
from memquorum.core.records import JournalAppended, JournalEntry, Patch, Signed
from memquorum.ports import Rollups, StoreUnavailable
from memquorum.telemetry.bundle import Telemetry
from workers.consolidator.generalising import Generalising
from workers.consolidator.publishing import SOURCE, Voice
from workers.kafka import loop
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.rollups")
GROUP = "memquorum-rollups"
EVERY_MS = 5 * 60_000
"""So long after something was stored, by the stream's clock, its namespace is gone through."""
BUDGET_S = 30.0
"""A namespace is gone through for so long at most before the others have their turn."""
_WAIT_S = 0.2
_READ_MOST = 500
_BACK_OFF_S = 1.0
# Between ticks the offset is committed once it has moved this far; after a restart the rest is read again.
_COMMIT_EVERY = 5_000


class _Over(Exception):
    """The namespace has had its time."""


def _taken(found: Iterator[Patch]) -> list[Patch] | None:
    """The next patches; None where the time is over."""
    try:
        return list(islice(found, PATCHES_MOST))
    except _Over:
        return None


class _Due(Struct):
    """The part of a namespace that is not gone through: where it begins in the journal's topic, and since when."""

    offset: int
    since: int


class RollupLoop:
    """One process of the group. `run` is all of it."""

    def __init__(
        self, bootstrap: str, genesis: Genesis, codec: Codec, *, seed: bytes, rollups: Rollups, stop: loop.Stop,
        least: int = LEAST, every_ms: int = EVERY_MS, stamps: Reader | None = None, telemetry: Telemetry | None = None,
        instance: str | None = None, generalising: Generalising | None = None, failures: Failures | None = None,
        budget_s: float = BUDGET_S, inferred: Callable[[int], bool] | None = None,
    ) -> None:  # fmt: skip
        """`seed`: of the consolidator; `least`: of a thing of which fewer sentences speak there is no roll-up;
        `every_ms`: how long what was stored waits, by the stream's clock; `generalising`: makes general forms.
        `failures`: what rules fail on, `rollups` and `generalising` included; `budget_s`: a namespace takes no longer
        at a time. `inferred`: whether in a shard what contradicts a sentence takes its place, by the policy in force;
        by default the first policy says so."""
        self._genesis, self._codec, self._seed, self._stop = genesis, codec, seed, stop
        self._rollups, self._least, self._every_ms = rollups, least, every_ms
        self._generalising = generalising
        self._inferred = inferred or (lambda shard: genesis.policy.supersede.inferred)
        self._shown = (telemetry or Telemetry()).stage("rollups")
        self._strangers = Strangers(_LOG, stamps)
        # The sentences read so far: the next time most of them are the same.
        self._failures, self._budget_s, self._until = failures or Failures(), budget_s, math.inf
        self._reading = Reading(self._failures, self._turned)
        self._due: dict[int, dict[str, _Due]] = {}
        self._read_to: dict[int, int] = {}
        self._committed: dict[int, int] = {}
        settings = {"group.instance.id": f"rollups-{instance}"} if instance else {}
        self._consumer = loop.consumer(bootstrap, GROUP, **settings)
        self._producer = loop.producer(bootstrap)

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Works until it is told to stop. `ready` is called once it reads."""

        def assigned(_: object, partitions: Sequence[TopicPartition]) -> None:
            for one in partitions:
                self._forget(one.partition)
            ready()

        def revoked(_: object, partitions: Sequence[TopicPartition]) -> None:
            for one in partitions:
                self._forget(one.partition)

        self._consumer.subscribe([topics.JOURNAL], on_assign=assigned, on_revoke=revoked)
        try:
            while not self._stop:
                self._shown.health.turn()
                for message in loop.records(self._consumer, _READ_MOST, _WAIT_S):
                    with loop.about(message):
                        if self._stop or not self._take(message):
                            return
        finally:
            self._consumer.close()
            self._producer.flush(5)
            self._rollups.close()
            if self._generalising is not None:
                self._generalising.close()

    def _forget(self, shard: int) -> None:
        """Drops the state of a shard; its next owner begins at the last committed offset."""
        self._due.pop(shard, None)
        self._read_to.pop(shard, None)
        self._committed.pop(shard, None)
        if self._generalising is not None:
            self._generalising.forget(shard)

    def _take(self, message: Message) -> bool:
        """Takes an entry of the journal; False where it was told to stop before it was done."""
        (_, shard), offset = loop.place(message), loop.offset(message)
        entry = self._entry(message)
        done = True
        if entry is not None and entry.effect == "stored" and entry.namespace is not None:
            self._due.setdefault(shard, {}).setdefault(entry.namespace, _Due(offset, entry.as_of))
        elif entry is not None and entry.effect == "ticked":
            done = self._tick(shard, entry.as_of, loop.traceparent(message))
        elif entry is not None and entry.effect == "decided":
            done = self._generalise(shard, loop.traceparent(message))
        self._read_to[shard] = offset + 1
        # The position read is shown at each entry, since a shard without ticks may commit nothing for long.
        self._shown.at(topics.JOURNAL, shard, offset + 1)
        self._commit(shard, always=entry is not None and entry.effect == "ticked")
        return done

    def _entry(self, message: Message) -> JournalEntry | None:
        """The entry; None, with a log line, where a stranger wrote the record or it cannot be decoded."""
        if self._strangers.wrote(message):
            return None
        try:
            link = self._codec.decode_as(JournalAppended, message.value() or b"")
            entry = self._codec.decode_as(JournalEntry, link.entry)
        except DecodeError as error:
            _LOG.error("%s/%d/%d left out: %s", *loop.place(message), loop.offset(message), error)
            return None
        return entry if entry.shard == message.partition() else None

    def _tick(self, shard: int, as_of: int, parent: str | None) -> bool:
        """Goes through the namespaces that are due; False where it was told to stop."""
        due = self._due.get(shard, {})
        for namespace in sorted(name for name, one in due.items() if one.since + self._every_ms <= as_of):
            through = self._roll_up(namespace, parent)
            self._shown.contained(self._failures.told())
            if through is None:
                return False
            if through:
                due.pop(namespace, None)  # the journal was read no further, so nothing came in between
            else:
                due[namespace].since = as_of  # the others first
        return True

    def _turned(self) -> None:
        """A sentence is about to be read. Raises _Over where the namespace has had its time."""
        self._shown.health.turn()
        if time.monotonic() > self._until:
            raise _Over

    def _generalise(self, shard: int, parent: str | None) -> bool:
        """Publishes the general forms of what was promoted in a shard; False where it was told to stop before."""
        voice, count = Voice(self._genesis, self._codec, self._seed), 0
        while self._generalising is not None and not self._stop:
            try:
                for form in self._generalising.found(shard):
                    voice.publish(self._producer, form, form.namespace or "", parent)
                    self._shown.sent(topics.EPISODES)
                    count += 1
            except StoreUnavailable as error:
                self._wait(f"general forms of shard {shard}", error)
                continue
            self._shown.contained(self._failures.told())
            self._shown.health.go("store")
            if count:
                _LOG.info("shard %d: %d general forms to be voted on", shard, count)
            return not count or self._flushed()
        return not self._stop

    def _wait(self, what: str, error: StoreUnavailable) -> None:
        _LOG.warning("%s: tried again in %g s: %s", what, _BACK_OFF_S, error)
        self._shown.health.wait("store", str(error))
        self._idle(_BACK_OFF_S)

    def _roll_up(self, namespace: str, parent: str | None) -> bool | None:
        """Publishes what is to change in a namespace. False where its time was over before, and what is left is done
        another time; None where it was told to stop."""
        while not self._stop:
            try:
                said, log = self._rollups.said(namespace), self._rollups.log(namespace)
            except StoreUnavailable as error:
                self._wait(f"roll-ups of {namespace}", error)
                continue
            self._shown.health.go("store")
            self._until = time.monotonic() + self._budget_s
            inferred = self._inferred(ids.shard_of(namespace, self._genesis.shards))
            found = patches(namespace, said, log, self._least, self._reading, inferred=inferred)
            count, through = 0, True
            try:
                while not self._stop and (some := self._next(namespace, found)):
                    self._publish(namespace, some, parent)
                    self._shown.health.turn()
                    count += len(some)
            except _Over:
                _LOG.warning("roll-ups of %s took %g s: the rest is done later", namespace, self._budget_s)
                through = False
            if count:
                _LOG.info("roll-ups of %s: %d patches", namespace, count)
            return (None if self._stop else through) if self._flushed() else None
        return None

    def _next(self, namespace: str, found: Iterator[Patch]) -> list[Patch]:
        """The next patches; none of a namespace on which a rule fails as a whole, and the log says so."""
        some = attempt("roll-ups", (), _taken, found)
        if not isinstance(some, Failed):
            if some is None:
                raise _Over
            return some
        self._failures.note(some)
        _LOG.error("roll-ups of %s are left out: %s", namespace, some.error)
        return []

    def _publish(self, namespace: str, found: Sequence[Patch], parent: str | None) -> None:
        order = ordered(self._genesis.cluster, namespace, found)
        data = PATCH.make(self._codec, self._genesis, SIGNER, self._seed, order)
        self._producer.produce(
            topics.PATCHES, data, key=namespace.encode(), partition=ids.shard_of(namespace, self._genesis.shards),
            headers=loop.headers(Signed.__name__, SOURCE, order.order_id, parent),
        )  # fmt: skip
        self._shown.sent(topics.PATCHES)

    def _idle(self, seconds: float) -> None:
        """Waits, and keeps its place in the group meanwhile."""
        assigned = self._consumer.assignment()
        self._consumer.pause(assigned)
        for _ in range(max(1, round(seconds / _WAIT_S))):
            if self._stop:
                break
            self._shown.health.turn()
            loop.records(self._consumer, 1, _WAIT_S)
        self._consumer.resume(assigned)

    def _flushed(self) -> bool:
        while not self._stop:
            self._shown.health.turn()
            if self._producer.flush(_WAIT_S) == 0:
                return True
        return self._producer.flush(5) == 0

    def _commit(self, shard: int, *, always: bool) -> None:
        """Commits the offset of the first entry that is not gone through: at a tick, or after `_COMMIT_EVERY`."""
        read_to = self._read_to[shard]
        offset = min((one.offset for one in self._due.get(shard, {}).values()), default=read_to)
        before = self._committed.get(shard, -1)
        if offset <= before or not (always or offset - before >= _COMMIT_EVERY):
            return
        try:
            self._consumer.commit(offsets=[TopicPartition(topics.JOURNAL, shard, offset)], asynchronous=True)
        except KafkaException as error:
            # The group has given the partition to another, who makes the same patches: each applies once.
            _LOG.warning("%s/%d: not committed: %s", topics.JOURNAL, shard, error.args[0].str())
            return
        self._committed[shard] = offset
