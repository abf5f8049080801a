"""The consolidator's loop: a session that is over becomes summaries, published and signed, each once.

For each record: wait until the store holds the session as far as the accepted stream had it, read its memories (or the
remaining sources of an erased summary). Then make the summaries, publish them, flush, and only then commit the offset.
A crash in between makes them a second time, with the same event ids: the journal keeps the first.

If a summariser makes nothing, the session has failed: its memories are unchanged, it is tried again with growing
pauses, and the others go on meanwhile (`parked`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consolidation.condensing import OVER, SLICE
from memquorum.core.consolidation.parting import Divided, Part
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import EpisodeRecorded, Quote, SessionClosed
from memquorum.ports import SessionMemory, Sessions, StoreUnavailable, SummariserUnavailable
from memquorum.telemetry.bundle import Telemetry
from workers.consolidator import making
from workers.consolidator.beside import beside
from workers.consolidator.disclosing import Disclosing, settled
from workers.consolidator.model import Model
from workers.consolidator.opening import UNREADABLE, Opening
from workers.consolidator.parked import Parked, Session, named
from workers.consolidator.published import Published
from workers.consolidator.publishing import Voice
from workers.consolidator.rule_summaries import Rules, RulesFailed
from workers.kafka import loop
from workers.kafka.own_clock import wall_ms
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.consolidator")
_GROUP = "memquorum-consolidator"
_WAIT_S = 0.2
# While the store has not applied what the session needs, it is asked again so often.
_BEHIND_S = 0.2
# After a failure of the store: doubling from the first to the last.
_BACK_OFF_S = (0.5, 60.0)
# So many sessions may have failed before no further one is read.
_PARKED_MAX = 1_000
# So often a session is tried on which rules fail.
_RULES_TRIES = 6
_FAILED = "a summary"


class _Stopped(Exception):
    """Raised on a stop: the session is left uncommitted."""


class Consolidator:
    """One process of the group. `run` is all of it."""

    def __init__(
        self, bootstrap: str, genesis: Genesis, codec: Codec, *, seed: bytes, sessions: Sessions, opening: Opening,
        policy: Callable[[int], Policy], stop: loop.Stop, model: Model | None = None, fallback_ms: int = 0,
        stamps: Reader | None = None, telemetry: Telemetry | None = None, instance: str | None = None,
        yields: Callable[[], str | None] = lambda: None,
    ) -> None:  # fmt: skip
        """`seed`: of the agent in whose name summaries are published; `opening`: opens what rests sealed; `policy`: by
        which a shard's sessions are summed up now; `yields`: says why a session has to wait for ingest, if it has to.
        `model`: is asked where it may be; rules (`Extractive`) make what it may not see, what is made anew, and what
        failed for so long as `fallback_ms` says, 0: never."""
        self._genesis, self._codec, self._seed, self._stop = genesis, codec, seed, stop
        self._sessions, self._opening, self._policy = sessions, opening, policy
        self._model, self._fallback_ms, self._yields = model, fallback_ms, yields
        self._shown = (telemetry or Telemetry()).stage("consolidator")
        self._strangers, self._rules = Strangers(_LOG, stamps), Rules()
        self._parked, self._ahead = Parked(_PARKED_MAX), deque[Message]()
        self._published = Published(sessions)
        settings = {"group.instance.id": f"consolidator-{instance}"} if instance else {}
        self._consumer = loop.consumer(bootstrap, _GROUP, **settings)
        self._producer = loop.producer(bootstrap)

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Consolidates until it is told to stop. `ready` is called once it reads."""
        self._consumer.subscribe([topics.CLOSED], on_assign=lambda *_: ready(), on_revoke=self._revoked)
        try:
            while not self._stop:
                self._shown.health.turn()
                self._turn()
        finally:
            if self._model is not None:
                self._model.close()
            self._consumer.close()
            self._producer.flush(5)
            self._sessions.close()

    def _turn(self) -> None:
        """One session that failed and is due, and one that is new."""
        again = self._parked.next(time.monotonic())
        if again is not None:
            self._try(again)
        if self._parked.full:
            self._shown.health.slow("failed sessions", f"{len(self._parked)} wait to be tried again")
            self._idle(_WAIT_S)
            return
        self._shown.health.slow("failed sessions", None)
        self._ahead.extend(loop.records(self._consumer, 1, 0 if again or self._ahead else _WAIT_S))
        if self._ahead:
            self._take(self._ahead.popleft())

    def _take(self, message: Message) -> None:
        place, offset = loop.place(message), loop.offset(message)
        if self._parked.read.get(place, 0) > offset:
            return  # the group took the partition away and gave it back
        closed = self._read(message)
        self._parked.reached(place, offset + 1)
        if closed is None:
            self._commit(place)
            return
        # The sources of an erased summary rest sealed until the new one comes, so that one gives way to nothing.
        if closed.summary is not None or self._give_way():
            self._try(Session(closed, place, offset, loop.traceparent(message), message.timestamp()[1]))

    def _give_way(self) -> bool:
        """Waits until ingest has room; False if it is told to stop meanwhile."""
        while not self._stop and (why := self._yields()) is not None:
            self._shown.health.slow("ingest", why)
            self._idle(_BEHIND_S)
        self._shown.health.slow("ingest", None)
        return not self._stop

    def _read(self, message: Message) -> SessionClosed | None:
        """The session that is over; None, with a log line, where a stranger wrote the record or it cannot be
        decoded."""
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

    def _try(self, session: Session) -> None:
        """Consolidates one session, and commits; parks it where that fails, and leaves it if it is told to stop."""
        began = time.monotonic()
        try:
            with loop.about(f"record {'/'.join(map(str, session.place))}/{session.offset}"):
                self._consolidate(session)
        except _Stopped:
            return
        except SummariserUnavailable as error:
            rests_s = self._model.rests_s if self._model is not None else 0.0
            self._park(session, str(error), rests_s)
        except RulesFailed as error:
            # The memory may be erased meanwhile. After some tries, or if many are parked, the session is given up,
            # since the same rule fails again.
            again = session.tries < _RULES_TRIES and 2 * len(self._parked) < _PARKED_MAX
            self._park(session, str(error), 0.0 if again else None)
        self._shown.contained(self._rules.failures.told())
        self._shown.failed(len(self._parked))
        self._shown.health.alarm(_FAILED, self._parked.told())
        self._commit(session.place)
        self._shown.worked(time.monotonic() - began)

    def _park(self, session: Session, why: str, rests_s: float | None) -> None:
        """Parks a session to be tried again later, or never if `rests_s` is None."""
        pause = None if rests_s is None else self._parked.fail(session, why, time.monotonic(), rests_s)
        then = "it is left as it is" if pause is None else f"tried again in {pause:.0f} s"
        _LOG.warning("%s: failed, %s: %s", named(session.closed), then, why)
        self._shown.refused("failed")

    def _commit(self, place: tuple[str, int]) -> None:
        """Commits a partition up to the first session that is not done."""
        topic, partition = place
        offset = self._parked.done_before(place)
        if offset is None:
            return  # another's by now
        try:
            self._consumer.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
        except KafkaException as error:
            # The group has given the partition to another, who makes the same summaries: the journal keeps the first.
            _LOG.warning("%s/%d: not committed: %s", topic, partition, error.args[0].str())
            return
        self._shown.at(topic, partition, offset)

    def _consolidate(self, session: Session) -> None:
        """Publishes the session's summaries. Raises SummariserUnavailable, RulesFailed, and _Stopped where it was told
        to stop."""
        closed, (pause, most) = session.closed, _BACK_OFF_S
        while not self._stop:
            try:
                self._published.settle(closed, self._wait)
                policy = self._policy(closed.shard)
                read, found = self._divided(closed, policy)
                share_ppm = policy.consolidate.share_ppm
                parts = (part for part in found.parts if self._publish_part(session, part, share_ppm))
                made = [len(part.memories) for part in parts]
            except (StoreUnavailable, *UNREADABLE) as error:
                _LOG.warning("%s waits %g s: %s", named(closed), pause, error)
                self._shown.health.wait("what is summed up", str(error))
                self._idle(pause)
                pause = min(2 * pause, most)
                continue
            self._shown.health.go("what is summed up")
            stay = ", ".join(f"{count} {why}" for why, count in found.reasons().items())
            _LOG.info("%s, %s: of %d memories %d are in %d summaries to be voted on%s", named(closed), closed.why,
                      read, sum(made), len(made), f"; others stay: {stay}" if stay else "")  # fmt: skip
            return
        raise _Stopped

    def _divided(self, closed: SessionClosed, policy: Policy) -> tuple[int, Divided]:
        """Counts the memories that were read, and divides them into the parts of which summaries are made. Raises
        StoreUnavailable, RulesFailed, and what `Opening` raises."""
        if closed.why == OVER:
            episodes = self._sessions.unused(closed.shard, closed.namespace, SLICE)
            return len(episodes), self._rules.condensed(episodes, policy)
        memories = self._memories(closed)
        return len(memories), self._rules.divided(closed, memories, policy.consolidate)

    def _memories(self, closed: SessionClosed) -> list[SessionMemory]:
        """The memories that the summaries are made of. Raises StoreUnavailable, and what `Opening` raises."""
        if closed.summary is None:
            return self._sessions.memories(closed.shard, closed.namespace, closed.agent, closed.session)
        left = self._sessions.left(closed.shard, closed.summary)
        return self._opening.opened(closed.shard, making.resting(left))

    def _publish_part(self, session: Session, part: Part, share_ppm: int) -> bool:
        """Makes and publishes the summary of a part, of a share of its tokens at most; whether there was something to
        say. A published summary stays, even if the other parts fail."""
        model = self._model if session.closed.summary is None and not _too_late(session, self._fallback_ms) else None
        if model is None or not model.takes(part.keeping().sources, share_ppm):
            name = self._rules.name  # what is left out of what rests sealed is nowhere
            made = self._rules.summarise(part, PPM if part.rests else share_ppm)
        else:
            part = part.keeping()
            self._disclose(session, model, part)
            name, made = model.name, self._asked(model, part, share_ppm)
            self._parked.hurry(time.monotonic())
        if made is None:
            return False
        self._publish(making.summary(session.closed, part, name, *made), session)
        return True

    def _disclose(self, session: Session, model: Model, part: Part) -> None:
        """Says whose text is sent to whom, and waits until the journal does: an erasure that comes later then knows
        whom to tell, and of one that came before nothing is sent. Raises SummariserUnavailable."""
        closed, sent = session.closed, [one.memory_id for one in model.sent(part.sources)]

        def say() -> None:
            disclosing = Disclosing(self._genesis, self._codec, self._seed)
            disclosing.order(self._producer, closed.namespace, sent, model.recipient, closed.closed_at)
            self._flush()
            self._shown.sent(topics.DISCLOSURES)

        settled(sent, lambda: self._sessions.disclosed(model.recipient, sent), say, self._wait)

    def _asked(self, model: Model, part: Part, share_ppm: int) -> tuple[str, tuple[Quote, ...]] | None:
        """Returns the model's summary, made in another thread: meanwhile this one keeps its place in the group."""

        def idle(over: threading.Event) -> None:
            if self._stop:
                raise _Stopped
            self._idle(_WAIT_S, over)

        try:
            return beside(lambda: model.summarise(part.sources, share_ppm), idle)
        except _Stopped:
            raise
        except Exception as error:
            self._rules.failed(part, error)

    def _wait(self) -> None:
        if self._stop:
            raise _Stopped
        self._idle(_BEHIND_S)

    def _idle(self, seconds: float, over: threading.Event | None = None) -> None:
        """Waits, and keeps its place in the group meanwhile; no longer than until something is over."""
        until = time.monotonic() + seconds
        assigned = self._consumer.assignment()
        self._consumer.pause(assigned)
        while (left := until - time.monotonic()) > 0 and not self._stop and not (over and over.is_set()):
            self._shown.health.turn()
            # Partitions that the group assigns meanwhile are not paused.
            self._ahead.extend(loop.records(self._consumer, 1, min(0.05 if over else _WAIT_S, left)))
        self._consumer.resume(assigned)

    def _revoked(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        places = {(p.topic, p.partition) for p in partitions}
        self._parked.lose(places)
        self._ahead = deque(message for message in self._ahead if loop.place(message) not in places)

    def _publish(self, record: EpisodeRecorded, session: Session) -> None:
        voice = Voice(self._genesis, self._codec, self._seed)
        voice.publish(self._producer, record, session.closed.namespace, session.parent)
        self._flush()
        self._published.add(session.closed, record.event_id or "")
        self._shown.sent(topics.EPISODES)

    def _flush(self) -> None:
        while self._producer.flush(_WAIT_S):
            self._shown.health.turn()
            if self._stop and self._producer.flush(5):
                raise _Stopped


def _too_late(session: Session, fallback_ms: int) -> bool:
    """Whether a session has failed for so long that the model is not asked any more."""
    late = fallback_ms and session.tries and session.since_ms > 0
    return bool(late) and wall_ms() - session.since_ms >= fallback_ms
