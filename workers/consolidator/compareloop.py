"""Follows the journal: of each memory that was stored a model is asked which statements of older ones it overtakes, and
what it answers is published as the consolidator's word.

Order of each memory: read what it is compared with, say whose text is sent, ask about each pair, publish what was
answered, flush, and only then commit. A crash in between asks again, and the journal keeps the first answer about a
pair. The model may be away for as long as it likes: then the journal is read no further here, and nobody else waits.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence

from confluent_kafka import KafkaException, Message, TopicPartition

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.orders.compare import COMPARE, SIGNER, ordered
from memquorum.core.records import Comparison, JournalAppended, JournalEntry, Signed
from memquorum.core.showing.comparing import Verdict
from memquorum.ports import ComparableMemory, StoreUnavailable, SummariserUnavailable
from memquorum.telemetry.bundle import Telemetry
from workers.consolidator.beside import beside
from workers.consolidator.budget import BudgetSpent
from workers.consolidator.chat import Unanswerable
from workers.consolidator.comparison_turn import Around, Comparer
from workers.consolidator.disclosing import Disclosing, settled
from workers.consolidator.publishing import SOURCE
from workers.kafka import loop
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.comparisons")
GROUP = "memquorum-comparisons"
STAGE = "comparisons"
_WAIT_S = 0.2
_BACK_OFF_S = 1.0
# Seconds until an empty budget is asked again.
_BUDGET_S = 30.0
# So often a pair is asked about on which the endpoint fails, while it answers others.
_TRIES = 3
# Offsets of records that need nothing are committed after so many.
_COMMIT_EVERY = 500


class _Stopped(Exception):
    """Raised on a stop: the memory is left uncommitted."""


class CompareLoop:
    """One process of the group. `run` is all of it."""

    def __init__(
        self, bootstrap: str, genesis: Genesis, codec: Codec, *, seed: bytes, comparer: Comparer, stop: loop.Stop,
        stamps: Reader | None = None, telemetry: Telemetry | None = None, instance: str | None = None,
    ) -> None:  # fmt: skip
        """`seed`: of the consolidator, in whose name the answers are published."""
        self._genesis, self._codec, self._seed, self._stop = genesis, codec, seed, stop
        self._comparer = comparer
        self._shown = (telemetry or Telemetry()).stage(STAGE)
        self._strangers = Strangers(_LOG, stamps)
        self._ahead = deque[Message]()
        self._committed: dict[int, int] = {}
        settings = {"group.instance.id": f"comparisons-{instance}"} if instance else {}
        self._consumer = loop.consumer(bootstrap, GROUP, **settings)
        self._producer = loop.producer(bootstrap)

    def run(self) -> None:
        """Works until it is told to stop."""
        self._consumer.subscribe([topics.JOURNAL], on_revoke=self._revoked)
        try:
            while not self._stop:
                self._shown.health.turn()
                if not self._ahead:
                    self._ahead.extend(loop.records(self._consumer, 100, _WAIT_S))
                if self._ahead:
                    message = self._ahead.popleft()
                    with loop.about(message):
                        self._take(message)
        except _Stopped:
            pass
        finally:
            self._comparer.close()
            self._consumer.close()
            self._producer.flush(5)

    def _revoked(self, _: object, partitions: Sequence[TopicPartition]) -> None:
        lost = {one.partition for one in partitions}
        self._ahead = deque(message for message in self._ahead if message.partition() not in lost)
        for shard in lost:
            self._committed.pop(shard, None)

    def _take(self, message: Message) -> None:
        """Compares what an entry of the journal stored. Raises _Stopped."""
        (_, shard), offset = loop.place(message), loop.offset(message)
        entry = self._entry(message)
        asked = False
        if entry is not None and entry.effect == "stored" and entry.memory_id is not None:
            asked = self._compare(shard, entry.memory_id, loop.traceparent(message))
        self._shown.at(topics.JOURNAL, shard, offset + 1)
        if asked or offset + 1 - self._committed.get(shard, 0) >= _COMMIT_EVERY:
            self._commit(shard, offset + 1)

    def _entry(self, message: Message) -> JournalEntry | None:
        """Reads the entry; gives None, and logs it, for a stranger's record or one that cannot be read."""
        if self._strangers.wrote(message):
            return None
        try:
            link = self._codec.decode_as(JournalAppended, message.value() or b"")
            entry = self._codec.decode_as(JournalEntry, link.entry)
        except DecodeError as error:
            _LOG.error("%s/%d/%d left out: %s", *loop.place(message), loop.offset(message), error)
            return None
        return entry if entry.shard == message.partition() else None

    def _compare(self, shard: int, memory_id: str, parent: str | None) -> bool:
        """Asks about a memory and publishes what was answered; whether there was anything to ask. Raises _Stopped."""
        answers: dict[str, Verdict | None] = {}
        tries: dict[str, int] = {}
        while True:
            if self._stop:
                raise _Stopped
            try:
                around = self._comparer.around(shard, memory_id)
                if around is None:
                    return bool(answers)
                self._disclose(around)
                self._ask_all(around, answers, tries)
                self._publish(around, answers, parent)
            except StoreUnavailable as error:
                _LOG.warning("memory %s: compared again in %g s: %s", memory_id, _BACK_OFF_S, error)
                self._shown.health.wait("store", str(error))
                self._idle(_BACK_OFF_S)
            except BudgetSpent as error:
                self._shown.health.slow("budget of comparisons", str(error))
                self._idle(min(error.wait_s, _BUDGET_S))
            except SummariserUnavailable as error:
                rests_s = max(_BACK_OFF_S, self._comparer.rests_s)
                _LOG.warning("memory %s: compared again in %.0f s: %s", memory_id, rests_s, error)
                self._shown.health.alarm("comparisons", f"memory {memory_id} waits for the model: {error}")
                self._idle(rests_s)
            else:
                self._shown.health.go("store")
                self._shown.health.slow("budget of comparisons", None)
                self._shown.health.alarm("comparisons", None)
                return True

    def _ask_all(self, around: Around, answers: dict[str, Verdict | None], tries: dict[str, int]) -> None:
        """Asks about each pair that has no answer yet; about no further one where the newer memory asserts nothing, or
        where the model's answer about a pair is left out. Raises SummariserUnavailable."""
        for older in around.older:
            if older.memory_id in answers:
                continue
            if any(one is not None and not one.asserted for one in answers.values()):
                answers[older.memory_id] = Verdict((), asserted=False)
                continue
            try:
                answers[older.memory_id] = self._asked(around.newer, older)
            except Unanswerable as error:
                tries[older.memory_id] = tries.get(older.memory_id, 0) + 1
                if tries[older.memory_id] < _TRIES:
                    raise
                _LOG.error("%s and %s are not compared: %s", around.newer.memory_id, older.memory_id, error)
                self._comparer.left_out()
                answers[older.memory_id] = None

    def _asked(self, newer: ComparableMemory, older: ComparableMemory) -> Verdict | None:
        def idle(over: threading.Event) -> None:
            if self._stop:
                raise _Stopped
            self._idle(_WAIT_S, over)

        return beside(lambda: self._comparer.ask(newer, older), idle)

    def _disclose(self, around: Around) -> None:
        """Says whose text is sent, and waits until the journal does. Raises SummariserUnavailable."""

        def say() -> None:
            disclosing = Disclosing(self._genesis, self._codec, self._seed)
            at = around.newer.side.at
            disclosing.order(self._producer, around.namespace, around.memory_ids, self._comparer.recipient, at)
            self._flush()
            self._shown.sent(topics.DISCLOSURES)

        def wait() -> None:
            if self._stop:
                raise _Stopped
            self._idle(_WAIT_S)

        settled(around.memory_ids, lambda: self._comparer.disclosed(around), say, wait)

    def _publish(self, around: Around, answers: dict[str, Verdict | None], parent: str | None) -> None:
        """Publishes what was answered; nothing where every answer was refused."""
        found = [Comparison(i, one.statements) for i, one in answers.items() if one is not None]
        if not found:
            return
        newer, cluster = around.newer, self._genesis.cluster
        order = ordered(cluster, around.namespace, newer.memory_id, found, by=self._comparer.name, at=newer.side.at)
        self._producer.produce(
            topics.COMPARISONS, COMPARE.make(self._codec, self._genesis, SIGNER, self._seed, order),
            key=around.namespace.encode(), partition=ids.shard_of(around.namespace, self._genesis.shards),
            headers=loop.headers(Signed.__name__, SOURCE, order.order_id, parent),
        )  # fmt: skip
        self._flush()
        self._shown.sent(topics.COMPARISONS)

    def _idle(self, seconds: float, over: threading.Event | None = None) -> None:
        """Waits, and keeps its place in the group meanwhile; no longer than until something is over."""
        assigned = self._consumer.assignment()
        self._consumer.pause(assigned)
        for _ in range(max(1, round(seconds / _WAIT_S))):
            if self._stop or (over and over.is_set()):
                break
            self._shown.health.turn()
            # Partitions that the group assigns meanwhile are not paused.
            self._ahead.extend(loop.records(self._consumer, 1, 0.05 if over else _WAIT_S))
        self._consumer.resume([one for one in assigned if one in self._consumer.assignment()])

    def _flush(self) -> None:
        while self._producer.flush(_WAIT_S):
            self._shown.health.turn()
            if self._stop and self._producer.flush(5):
                raise _Stopped

    def _commit(self, shard: int, offset: int) -> None:
        try:
            self._consumer.commit(offsets=[TopicPartition(topics.JOURNAL, shard, offset)], asynchronous=True)
        except KafkaException as error:
            # The group has given the partition to another, who asks again: the journal keeps the first answer.
            _LOG.warning("%s/%d: not committed: %s", topics.JOURNAL, shard, error.args[0].str())
            return
        self._committed[shard] = offset
