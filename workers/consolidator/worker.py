"""The consolidator's loop: a session that is over becomes summaries, published and signed, each once.

Order of each record: wait until the store holds what the accepted stream had of the session, read its memories, or what
is left of those that an erased summary was made of, make the summaries, publish them, flush, and only then commit the
offset. A crash in between makes them a second time, with
the same event ids: the journal keeps the first.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from confluent_kafka import KafkaException, Message, TopicPartition

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity import signatures
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.records import EpisodeRecorded, SessionClosed
from memquorum.ports import SessionMemory, Sessions, StoreUnavailable, Summariser, SummariserUnavailable
from memquorum.telemetry.bundle import Telemetry
from workers.consolidator import making
from workers.consolidator.opening import UNREADABLE, Opening
from workers.kafka import loop
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.consolidator")
_SOURCE = "memquorum/consolidator"
_GROUP = "memquorum-consolidator"
_WAIT_S = 0.2
# While the store has not applied what the session needs, it is asked again so often.
_BEHIND_S = 0.2
# After a failure of the summariser or the store: doubling from the first to the last.
_BACK_OFF_S = (0.5, 60.0)


class Consolidator:
    """One process of the group. `run` is all of it."""

    def __init__(
        self, bootstrap: str, genesis: Genesis, codec: Codec, *, seed: bytes, sessions: Sessions, opening: Opening,
        summariser: Summariser, stop: loop.Stop, stamps: Reader | None = None, telemetry: Telemetry | None = None,
        instance: str | None = None,
    ) -> None:  # fmt: skip
        """`seed`: of the agent in whose name summaries are published; `opening`: opens what rests sealed."""
        self._genesis, self._codec, self._seed, self._stop = genesis, codec, seed, stop
        self._sessions, self._opening, self._summariser = sessions, opening, summariser
        self._shown = (telemetry or Telemetry()).stage("consolidator")
        self._strangers = Strangers(_LOG, stamps)
        settings = {"group.instance.id": f"consolidator-{instance}"} if instance else {}
        self._consumer = loop.consumer(bootstrap, _GROUP, **settings)
        self._producer = loop.producer(bootstrap)

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Consolidates until it is told to stop. `ready` is called once it reads."""
        self._consumer.subscribe([topics.CLOSED], on_assign=lambda *_: ready())
        try:
            while not self._stop:
                self._shown.health.turn()
                for message in loop.records(self._consumer, 1, _WAIT_S):
                    self._take(message)
        finally:
            self._consumer.close()
            self._producer.flush(5)
            self._sessions.close()

    def _take(self, message: Message) -> None:
        """Consolidates one session, and commits; leaves it uncommitted if it is told to stop."""
        began, (topic, partition) = time.monotonic(), loop.place(message)
        closed = self._read(message)
        if closed is not None and not self._consolidated(closed, loop.traceparent(message)):
            return
        offset = loop.offset(message) + 1
        try:
            self._consumer.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
        except KafkaException as error:
            # The group has given the partition to another, who makes the same summaries: the journal keeps the first.
            _LOG.warning("%s/%d: not committed: %s", topic, partition, error.args[0].str())
            return
        self._shown.at(topic, partition, offset)
        self._shown.worked(time.monotonic() - began)

    def _read(self, message: Message) -> SessionClosed | None:
        """The session that is over; None, told of, where a stranger wrote the record or it is none."""
        if self._strangers.wrote(message):
            return None
        try:
            closed = self._codec.decode_as(SessionClosed, message.value() or b"")
        except DecodeError as error:
            _LOG.error("%s/%d/%d left out: %s", *loop.place(message), loop.offset(message), error)
            return None
        if closed.shard != message.partition():
            _LOG.error("a session of shard %d in partition %d left out", closed.shard, message.partition())
            return None
        return closed

    def _consolidated(self, closed: SessionClosed, parent: str | None) -> bool:
        """Publishes the session's summaries; False where it was told to stop before."""
        pause, most = _BACK_OFF_S
        while not self._stop:
            try:
                if not self._there(closed):
                    return False
                memories = self._memories(closed)
                made = making.summaries(self._summariser, closed, memories)
            except (StoreUnavailable, SummariserUnavailable, *UNREADABLE) as error:
                # The raw memories are as they were, and nothing of the session is in the line.
                _LOG.warning("session %s of %s: failed, tried again in %g s: %s", closed.session, closed.namespace,
                             pause, error)  # fmt: skip
                self._shown.refused("failed")
                self._shown.health.wait("a summary", str(error))
                self._idle(pause)
                pause = min(2 * pause, most)
                continue
            self._shown.health.go("a summary")
            for record in made:
                self._publish(record, closed, parent)
            _LOG.info("session %s of %s, %s: %d memories, %d summaries", closed.session, closed.namespace, closed.why,
                      len(memories), len(made))  # fmt: skip
            return self._flushed()
        return False

    def _memories(self, closed: SessionClosed) -> list[SessionMemory]:
        """What the session's summaries are made of. Raises StoreUnavailable, and what `Opening` raises."""
        if closed.summary is None:
            return self._sessions.memories(closed.shard, closed.namespace, closed.agent, closed.session)
        return self._opening.opened(closed.shard, self._sessions.left(closed.shard, closed.summary))

    def _there(self, closed: SessionClosed) -> bool:
        """Waits until the store holds what the accepted stream had of the session; False if told to stop."""
        while self._sessions.applied(closed.shard) < closed.accepted_offset:
            if self._stop:
                return False
            self._idle(_BEHIND_S)
        return not self._stop

    def _idle(self, seconds: float) -> None:
        """Waits, and keeps its place in the group meanwhile."""
        until = time.monotonic() + seconds
        assigned = self._consumer.assignment()
        self._consumer.pause(assigned)
        while time.monotonic() < until and not self._stop:
            self._shown.health.turn()
            loop.records(self._consumer, 1, min(_WAIT_S, max(0.0, until - time.monotonic())))
        self._consumer.resume(assigned)

    def _publish(self, record: EpisodeRecorded, closed: SessionClosed, parent: str | None) -> None:
        value = self._codec.encode(record)
        signed = signatures.sign(self._genesis.cluster, topics.EPISODES, self._seed, value)
        headers = loop.headers(EpisodeRecorded.__name__, _SOURCE, record.event_id or "", parent)
        self._producer.produce(
            topics.EPISODES, value, key=closed.namespace.encode(),
            partition=ids.shard_of(closed.namespace, self._genesis.shards),
            headers=[*headers, (signatures.HEADER, signed)],
        )  # fmt: skip
        self._shown.sent(topics.EPISODES)

    def _flushed(self) -> bool:
        while not self._stop:
            self._shown.health.turn()
            if self._producer.flush(_WAIT_S) == 0:
                return True
        return self._producer.flush(5) == 0
