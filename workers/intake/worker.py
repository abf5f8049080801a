"""Intake: reads the outside topics, judges every record by `core.intake`, and writes the accepted stream (DESIGN 4).

Order of each batch: judge, fetch keys from the vault in one call, seal, produce, flush, and only then commit offsets.
Between judging and sealing, episodes wait for their namespace's turn (`workers.intake.waiting_episodes`). After a crash
in between, records are read a second time; none is lost. Their ids are the same then, and the commit worker keeps the
first outcome per event id. While the vault cannot be reached the batch waits, and no record is refused for that.

Ticks. Mode `wall`: the process that reads partition 0 of the episodes writes a tick to every shard each `tick_ms`, by a
timer of its own (`workers.intake.ticking`). Mode `driven`: each ClockRequested becomes a tick on every shard, after all
records that were in the outside topics when the request was read; so an episode acknowledged before the request was
published precedes the tick. This holds for one intake process; of several, each knows only its own partitions.

A hold prevails over an erasure. So an erasure is let in after every order to protect that was in its topic when the
erasure was read: a hold that Kafka acknowledged before the erasure was published is not overtaken. It is also let in
after every query: a key made later would survive the erasure.

Feedback is let in after every task that was in its topic when the feedback was read: a publisher may give feedback once
Kafka has acknowledged the task.

The end of a session is let in after every episode that was in its topic when the end was read, and names the end of the
accepted stream then: at least the episodes before it belong to the session.

"In its topic" means what could be read then. Records of a transaction cannot be read before its end, nor can those
after them in the partition; nothing waits for these (`workers.intake.outside_topics`).
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from memquorum import topics
from memquorum.core import ids, intake, letters
from memquorum.core.asked import QueryIntent
from memquorum.core.avro import Codec
from memquorum.core.contained import Failures
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.core.intake import (
    AccessIntent,
    EndIntent,
    EpisodeIntent,
    Intent,
    LetIn,
    Origin,
    ProfileIntent,
    Refusal,
    TickIntent,
)
from memquorum.core.privacy.sensitivity import SHIPPED, Weights
from memquorum.core.quota import Plan
from memquorum.core.records import ClockTicked, EpisodeAccepted, QueryAsked, SessionClosed
from memquorum.ports import Living, Profiles, Vault, VaultUnavailable
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.tracing import Hop
from workers.intake import subjects
from workers.intake.arrivals import (
    Judged,
    at,
    dead_letter,
    ending,
    event_told,
    kept_headers,
    origin_of,
    proofs,
    sealed,
    session_closed,
    value_of,
)
from workers.intake.clearing import Clearing, is_marker
from workers.intake.event_owners import attested, keyed
from workers.intake.gate import Gate
from workers.intake.offsets import Offsets
from workers.intake.old_keys import OldKeys
from workers.intake.outside_topics import Reading
from workers.intake.stocktaking import Backlog, Stocktaking
from workers.intake.subjects import Subjects
from workers.intake.ticking import Ticking
from workers.intake.waiting_episodes import Holding
from workers.intake.writing import Writing
from workers.kafka import loop, spans
from workers.kafka.group_membership import GroupMembership
from workers.kafka.scored_offsets import Scored
from workers.kafka.ticks import last_tick

if TYPE_CHECKING:
    from workers.intake.registry import Registry

T = TypeVar("T")

_LOG = logging.getLogger("memquorum.intake")
_BATCH = 500
_IDLE_S = 0.2
# A partition that has unread records and gives none for this long is skipped.
_QUIET_S = 2.0

# The topics whose records are set aside until earlier records of other topics were let in.
_AFTER = {
    topics.ENDS: (topics.EPISODES,), topics.FEEDBACK: (topics.TASKS,),
    topics.ERASURES: (topics.PROTECTIONS, topics.QUERIES),
}  # fmt: skip
# The topics of accepted records that do not go to the accepted stream.
_TOPICS: dict[type, str] = {QueryAsked: topics.ASKED, SessionClosed: topics.CLOSED}

Clock = Literal["wall", "driven"]


def run(
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    vault: Vault,
    *,
    clock: Clock,
    tick_ms: int,
    stop: loop.Stop,
    instance: str | None = None,
    ready: Callable[[], None] = lambda: None,
    stamps: Writer | None = None,
    telemetry: Telemetry | None = None,
    letters_ms: int = 7 * 24 * 3600 * 1000,
    queries_ms: int = 0,
    outside_keep_ms: int = 0,
    limits: Plan | None = None,
    living: Living | None = None,
    refused: Collection[str] = (),
    weights: Weights = SHIPPED,
    registry: Registry | None = None,
    profiles: Profiles | None = None,
) -> None:
    """Runs until `stop`. `tick_ms`: the interval of the wall clock's ticks; unused if the clock is driven.
    `letters_ms`: the retention of the dead letters' topic, and so of their keys in the vault. `queries_ms`: how long
    queries can be opened; 0: none is logged. `outside_keep_ms`: how long records that were let in stay in outside
    topics that this installation provisioned; 0: until their retention is over (see `clearing`). `limits`: the limits
    of namespaces; None: no limits. `living`: counts memories, if one of the limits is of these. `refused`: the signers
    whose orders are refused. `weights`: by which a sensitivity is suggested. `registry`: looks up the schemas of
    records in a schema registry's framing; without one, such records are refused. `profiles`: what subjects keep out;
    without it no profile is let in.

    `ready` is called once the group has assigned partitions to this process. `stamps`: stamps every record written.
    `instance` makes it a static member of the group: restarted after a kill, it has its partitions at once and not only
    when the session of the dead process expires; another process with the same instance replaces it.
    """
    client = Intake(
        bootstrap, genesis, codec, vault, stop=stop, instance=instance, stamps=stamps, telemetry=telemetry,
        limits=limits, living=living, refused=refused, queries=queries_ms > 0, weights=weights,
        registry=registry, profiles=profiles,
    )  # fmt: skip
    old_keys = OldKeys(vault, letters_ms, queries_ms)
    serve(client, outside_keep_ms, clock=clock, tick_ms=tick_ms, ready=ready, old_keys=old_keys)


def serve(
    client: Intake,
    outside_keep_ms: int,
    *,
    clock: Clock,
    tick_ms: int,
    ready: Callable[[], None] = lambda: None,
    old_keys: OldKeys,
) -> None:
    """Runs an intake process, and beside it the clearing of the outside topics, until told to stop."""
    client.clear(outside_keep_ms / 1000)
    client.run(tick_ms / 1000 if clock == "wall" else None, ready, old_keys)


class Intake:
    """One process of the group. `run` does all of its work; the other methods are its steps."""

    def __init__(
        self,
        bootstrap: str,
        genesis: Genesis,
        codec: Codec,
        vault: Vault,
        *,
        stop: loop.Stop,
        instance: str | None = None,
        stamps: Writer | None = None,
        telemetry: Telemetry | None = None,
        limits: Plan | None = None,
        living: Living | None = None,
        refused: Collection[str] = (),
        queries: bool = True,
        weights: Weights = SHIPPED,
        registry: Registry | None = None,
        profiles: Profiles | None = None,
    ) -> None:
        """`queries`: whether they are logged; if not, queries that arrive are skipped."""
        self._refused, self._queries, self._weights, self._registry = refused, queries, weights, registry
        self._bootstrap, self._codec, self.vault, self._stop = bootstrap, codec, vault, stop
        self._genesis, self._shards, self._stamps = genesis, genesis.shards, stamps
        # The time of the last tick, if the clock is driven.
        self._driven, self._as_of = False, 0
        self._leads = self._joined = False
        self._offsets = Offsets()
        self._aside = {topic: deque[Message]() for topic in (topics.CLOCK, *_AFTER)}
        self._clocks = self._aside[topics.CLOCK]
        self.reading = Reading(bootstrap, instance)
        self._ticking: Ticking | None = None
        self._scored = Scored(bootstrap)
        self._holding = Holding(codec, self._scored)
        self._shown = (telemetry or Telemetry()).stage("intake")
        self._writing = Writing(bootstrap, codec, stamps, self._shown, stop)
        self.health, self._failures = self._shown.health, Failures()
        plan, backlog = limits or Plan(), Backlog(bootstrap, genesis.shards, codec, stamps)
        self._stocktaking = Stocktaking(plan, living, self._shown, backlog) if plan.counts_memories and living else None
        self._gate = Gate(plan, self._shown, _forward_ms(), self._stocktaking)
        self._subjects = None if profiles is None else Subjects(profiles, self.health)
        self._clearing: Clearing | None = None
        self.place = GroupMembership(self.reading.member, self.health)
        self._reached: dict[tuple[str, int], int] = {}  # where sessions of the batch end, in the accepted stream

    def run(self, tick_s: float | None, ready: Callable[[], None], old_keys: OldKeys) -> None:
        """Runs until told to stop. `tick_s`: seconds between ticks of the wall clock; None: the clock is driven."""
        if tick_s is not None:
            self._ticking = Ticking(
                self._bootstrap, self._codec, self._shards, tick_s,
                stamps=self._stamps, shown=self._shown, wall_ms=_wall_ms,
            )  # fmt: skip
        self.join(tick_s is None)
        told = False
        try:
            while not self._stop:
                self._turn()
                self.place.check()
                self._gate.turn(_forward_ms())
                if self.ready and not told:
                    ready()
                    told = True
                self.handle(self.reading.records(_BATCH, _IDLE_S))
                if self._leads:
                    old_keys.turn(time.monotonic())
        finally:
            self.close()

    def clear(self, keep_s: float) -> None:
        """Starts deleting records from the outside topics, `keep_s` after they were let in
        (`workers.intake.clearing`)."""
        self._clearing = Clearing(self._bootstrap, self._genesis.cluster, keep_s, self.health)
        threading.Thread(target=self._clearing.run, args=(self._stop.wait,), name="clearing", daemon=True).start()

    def join(self, driven: bool) -> None:
        """Joins the group; partitions are assigned with the first polls."""
        self._driven = driven
        read = topics.OUTSIDE if driven else topics.FROM_AGENTS
        self.reading.subscribe(read, self._assigned, self._revoked)

    @property
    def ready(self) -> bool:
        """True once the group has assigned partitions to this process."""
        return self._joined

    def close(self) -> None:
        """Leaves the group. The next owner of the partitions reads uncommitted records again."""
        held = self.reading, self._scored, self._writing, self._stocktaking, self._registry, self._subjects
        for close in (one.close for one in (self._ticking, *held) if one is not None):
            close()

    def _turn(self) -> None:
        self._shown.health.turn()
        if self._ticking is not None:
            self._ticking.turn()

    # Records

    def handle(self, messages: Sequence[Message]) -> None:
        """Lets a batch in: ends of sessions after episodes, feedback after tasks, erasures after holds, ticks last."""
        self._let_in(self._noted(messages))
        while self._due() and not self._stop:
            # Records in the topics now must precede every tick read so far, even those whose turn has not come.
            waiting = set(map(id, self._clocks))
            if waiting:
                self._holding.free = True
                self._drain(topics.FROM_AGENTS)
                # If they were all read before, the drain wrote nothing.
                self._release()
            for topic, before in _AFTER.items():
                self._let_in_after(before, self._aside[topic])
            self._holding.free = False
            # One by one: a tick is judged by its predecessor. The partition may be revoked meanwhile.
            while self._clocks and id(self._clocks[0]) in waiting and not self._stop:
                self._let_in([self._clocks.popleft()])

    def _due(self) -> bool:
        """True if records that were set aside can be let in."""
        if self._clocks:
            return True
        return any(self._aside[topic] and not self._full(before) for topic, before in _AFTER.items())

    def _full(self, names: Collection[str]) -> bool:
        """True if a partition of these topics is paused, as too many of its records wait."""
        return any(topic in names for topic, _ in self._holding.full)

    def _let_in_after(self, names: Collection[str], waiting: deque[Message]) -> None:
        if count := len(waiting):
            self._drain(names)
            # If told to stop, or with too many waiting records, it has not read all of these. The group may have
            # revoked some meanwhile.
            count = 0 if self._stop or self._full(names) else min(count, len(waiting))
            self._let_in([waiting.popleft() for _ in range(count)])

    def _noted(self, messages: Sequence[Message]) -> list[Message]:
        """Notes the positions; sets aside records that must follow others, and returns the rest."""
        rest: list[Message] = []
        self._shown.took(Counter(str(message.topic()) for message in messages).items())
        self.reading.note(messages)
        self._offsets.read(messages)
        for message in messages:
            self._aside.get(str(message.topic()), rest).append(message)
        return rest

    def _drain(self, names: Collection[str]) -> None:
        """Lets in the readable records of these topics, so that they precede those set aside.

        Reads no other topics meanwhile, so that it ends however much is published there, and skips a partition that
        gives nothing for `_QUIET_S`.
        """
        read = self.reading.next
        targets = self.reading.ends([p for p in read if p[0] in names], self._stop, self._turn)
        quiet = dict.fromkeys(targets, 0.0)
        while not self._stop and not self._full(names):
            behind = {p: read[p] for p in quiet if p in read and read[p] < targets[p] and quiet[p] < _QUIET_S}
            if not behind:
                break
            self.reading.only(behind)
            self._turn()
            began = time.monotonic()
            found = self.reading.records(_BATCH, _IDLE_S)
            waited = time.monotonic() - began
            quiet = {p: quiet[p] + waited if read.get(p) == at else 0.0 for p, at in behind.items()}
            self._let_in(self._noted(found))
        self.reading.only(None)

    def _let_in(self, messages: Sequence[Message]) -> None:
        """Judges messages; writes those that need no turn, and then the records whose turn it is."""
        now_ms = self._as_of if self._driven else _wall_ms()
        said = [m for m in messages if not is_marker(m) and (self._queries or m.topic() != topics.QUERIES)]
        origins = self._from_vault(lambda: attested(self.vault, [origin_of(m) for m in said]))
        profiles = self._subjects if said else None  # an idle loop asks the store nothing
        if origins is None or (profiles and not profiles.known(self._stop, self._turn, self.reading)):
            return
        judged = [
            Judged(m, origin, self._judge(m, origin, now_ms), len(m.value() or b""))
            for m, origin in zip(said, origins, strict=True)
        ]
        self._shown.contained(self._failures.told())
        skipped = {id(m) for m in messages} - {id(m) for m in said}
        self._write([one for one in judged if not self._holding.takes(one)], [m for m in messages if id(m) in skipped])
        self._release()

    def _release(self) -> None:
        """Writes the records whose turn it is."""
        batch: list[Judged] = []
        for one in self._holding.released():
            # The end of a session names the end of the accepted stream after all earlier records.
            if batch and (isinstance(one.answer, EndIntent) or len(batch) == _BATCH):
                self._write(batch)
                batch = []
            batch.append(one)
        self._write(batch)
        self.reading.full(self._holding.full)
        waits, spaces = len(self._holding), self._holding.namespaces
        why = f"{waits} records of {spaces} namespaces wait for their turn until others are scored" if waits else None
        self._shown.health.slow("salience", why)

    def _write(self, judged: Sequence[Judged], skipped: Sequence[Message] = ()) -> None:
        """Seals, produces, flushes and commits; leaves everything uncommitted if it is told to stop. `skipped`:
        messages without content, to be committed."""
        messages = [*(one.message for one in judged), *skipped]
        if not messages:
            return
        began, since_ns = time.monotonic(), time.time_ns()
        # The records before the end of a session were let in, and flushed, with the batches before.
        places = ending((one.answer for one in judged), self._shards)
        self._reached = self.reading.ends(places, self._stop, self._turn) if places else {}
        found = self._from_vault(lambda: keyed(self.vault, judged))
        if found is None or len(self._reached) < len(places):
            return
        for one, last in zip(judged, found[0], strict=True):
            self._gate.settled(one.answer, last.answer)
            if isinstance(last.answer, Refusal) and isinstance(one.answer, EpisodeIntent):
                self._holding.give_up(one)
            trace = loop.traceparent(last.message)
            self._writing.hops.append(spans.let_in(self._shown.tracing, last.origin, last.answer, trace, since_ns))
            self._send(last, found[1], self._writing.hops[-1])
        if self._writing.flushed():
            self._commit(messages)
            self._shown.worked(time.monotonic() - began)
            self._shown.done(((message.timestamp()[1], loop.traceparent(message)) for message in messages), _wall_ms())

    def _judge(self, message: Message, origin: Origin, now_ms: int) -> Intent | Refusal:
        data = value_of(message)
        with loop.about(message):
            answer = intake.accept(
                self._codec, data, origin, now_ms, self._driven, genesis=self._genesis, refused=self._refused,
                written=self._registry.written(data) if self._registry else None, failures=self._failures,
                **proofs(message),
            )  # fmt: skip
        answer = subjects.admitted(self._subjects, answer, _wall_ms())
        return intake.suggesting(
            self._gate.limited(answer, len(data or b""), _forward_ms()), self._weights, self._failures
        )

    def _from_vault(self, ask: Callable[[], T]) -> T | None:
        """Calls `ask` until the vault answers; returns None if told to stop."""
        pause = 0.1
        while not self._stop:
            try:
                found = ask()
            except VaultUnavailable as error:
                _LOG.warning("the vault cannot be reached (%s); a batch waits", error)
                self._shown.health.wait("vault", error.why)
                self._turn()
                self.reading.stay()
                self._stop.wait(pause)
                pause = min(2 * pause, 5.0)
                continue
            if pause > 0.1:
                self._shown.health.go("vault")
                self.reading.go_on()
            return found
        return None

    def _send(self, one: Judged, keys: dict[str, bytes], hop: Hop) -> None:
        message, origin, answer = one.message, one.origin, one.answer
        if isinstance(answer, TickIntent):
            self._tick(answer, loop.traceparent(message))
        elif isinstance(answer, EpisodeIntent | QueryIntent | ProfileIntent):
            if (record := sealed(answer, origin, keys)) is not None:
                self._accept(record, one, hop)
        elif isinstance(answer, Refusal):
            self._refuse(message, origin, answer, keys, hop)
        elif isinstance(answer, AccessIntent):
            self._refuse(message, origin, answer.refusal, keys, hop)
            self._accept(answer.accepted, one, hop)
        elif isinstance(answer, EndIntent):
            self._accept(session_closed(answer, self._shards, self._reached), one, hop)
        else:
            self._accept(answer, one, hop)

    def _accept(self, record: LetIn | QueryAsked | SessionClosed, one: Judged, hop: Hop) -> None:
        shard, event_id = ids.shard_of(record.namespace, self._shards), record.event_id
        topic = _TOPICS.get(type(record), topics.ACCEPTED)
        parent = hop.send(topic, shard, event_id)
        told = partial(self._placed, one) if isinstance(record, EpisodeAccepted) else None
        self._writing.produce(
            topic, shard, record.namespace.encode(), record, event_id=event_id, parent=parent, told=told
        )

    def _refuse(self, message: Message, origin: Origin, refusal: Refusal, keys: dict[str, bytes], hop: Hop) -> None:
        _LOG.info("refused %s/%d/%d: %s %s", *at(origin), refusal.reason, refusal.field or "")
        self._shown.refused(refusal.reason)
        hop.tell(outcome="refused", reason=refusal.reason)
        letter = letters.dead_letter_id(origin)
        event = event_told(self._codec, self._genesis, self._registry, message, origin)
        record = dead_letter(message, origin, refusal, keys.get(letter), _wall_ms(), event=event)
        shard = origin.partition % self._shards
        parent, more = hop.send(topics.REFUSED, shard, letter), [*kept_headers(origin), ("reason", refusal.reason)]
        key = "/".join(map(str, at(origin))).encode()
        self._writing.produce(topics.REFUSED, shard, key, record, event_id=letter, parent=parent, more=more)

    # Ticks

    def _tick(self, tick: TickIntent, parent: str | None) -> None:
        self._as_of = tick.as_of
        record = ClockTicked(tick.event_id, tick.as_of)
        for shard in range(self._shards):
            self._writing.produce(topics.ACCEPTED, shard, None, record, event_id=tick.event_id, parent=parent)

    # Kafka

    def _assigned(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        for place, at_offset in self.reading.given(partitions).items():
            self._shown.at(*place, at_offset)
            if self._clearing is not None:
                self._clearing.given(place, at_offset, time.monotonic())
        self._leads = (topics.EPISODES, 0) in self.reading.next
        # The process that had the clock before may have ticked since this process last looked.
        self._as_of = max(
            self._as_of, last_tick(self._bootstrap, self._codec, self._stamps.reader() if self._stamps else None)
        )
        if self._leads and self._ticking is not None:
            self._ticking.lead(self._as_of)
        # The last tick is also the last work of any process of the group, unless the clock is driven.
        away_ms = 0 if self._driven or not self._as_of else max(0, _wall_ms() - self._as_of)
        self._gate.begin(away_ms, _forward_ms())
        self._joined = True
        self.place.given()

    def _revoked(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.place.lost()
        if self._clearing is not None:
            self._clearing.left((p.topic, p.partition) for p in partitions)
        self.reading.lost(partitions)
        gone = [(p.topic, p.partition) for p in partitions]
        self._offsets.lose(gone)
        for one in self._holding.lose(gone):
            self._gate.left(one.answer)
        for p in partitions:
            self._shown.places.leave("intake", p.topic, [p.partition])
        self._leads = (topics.EPISODES, 0) in self.reading.next
        if not self._leads and self._ticking is not None:
            self._ticking.leave()
        for waiting in self._aside.values():
            mine = [m for m in waiting if loop.place(m) in self.reading.next]
            waiting.clear()
            waiting.extend(mine)

    def _placed(self, one: Judged, error: KafkaError | None, message: Message) -> None:
        if error is None:
            _, shard = loop.place(message)
            self._holding.placed(one, shard, loop.offset(message))
            if isinstance(one.answer, EpisodeIntent) and one.answer.counts:
                self._gate.placed(one.answer.namespace, shard, loop.offset(message))

    def _commit(self, messages: Sequence[Message]) -> None:
        ends = self._offsets.done(messages)
        if not ends:
            return
        for (topic, partition), end in ends.items():
            self._shown.at(topic, partition, end)
        offsets = [TopicPartition(topic, partition, end) for (topic, partition), end in ends.items()]
        try:
            self.reading.commit(offsets)
        except KafkaException as error:
            # The partitions may belong to another process now, which then lets the same records in under the same ids.
            _LOG.warning("offsets were not committed, records may be read again: %s", error)
            return
        if self._clearing is not None:
            for place in {loop.place(m) for m in messages if not is_marker(m)} & ends.keys():
                self._clearing.took(place, ends[place], time.monotonic())


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _forward_ms() -> int:
    """The milliseconds of a clock that only runs forward, independent of the machine's time."""
    return time.monotonic_ns() // 1_000_000
