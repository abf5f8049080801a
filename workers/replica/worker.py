"""A member's process: one loop, one thread, all shards or a range of them (DESIGN 10 to 14).

Each turn: read the available records and hand them to the shards' seats; let them advance, vote and fire timers; then
claim all messages to send in one transaction of the sign-state, and only then produce them. Decisions, facts and
offsets move in one transaction of the view.

A seat is silent at first, until it has read its log up to the end: its own earlier messages are there. Consensus has no
dead-letter topic: records of strangers are counted and skipped, and a message that cannot be written ends the process.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message

from db import sign_state_moves
from db.view import View
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.events import Keep, Send, Timings
from memquorum.core.consensus.gate import LATER
from memquorum.core.identity.keys import Keys
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import Grounds
from memquorum.ports import Contradiction, SignState, Vault
from memquorum.telemetry import metrics
from memquorum.telemetry.bundle import STRANGER, Stage, Telemetry
from memquorum.telemetry.tracing import Hop
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable
from workers.kafka.own_clock import OwnClock
from workers.kafka.partition import Partition
from workers.kafka.stall_watch import ALARM_MS, Patience
from workers.kafka.strangers import Strangers
from workers.replica.catchup import Following, follow
from workers.replica.judge import Judge
from workers.replica.replica_topics import SPINE, Place, Reading
from workers.replica.seat import LOGS, TOPIC_OF, Seat
from workers.replica.second_process import Twins

_LOG = logging.getLogger("memquorum.replica")

_IDLE_S = 0.25
_REPORT_S = 60.0
# The time-out of a request to Kafka before it is repeated.
_PATIENCE_S = 3.0
_READ = (*SPINE, *LOGS.values())
_VOTES = frozenset(LOGS.values())
# The replica can do without expired records of these: a commit certificate replaces them.
_EXPIRING = (topics.NOMINATIONS, topics.BALLOTS, topics.PREPARES)
# The journal holds the deleted records of these (`prune`): the decisions with their proofs.
_PRUNED = (topics.PRE_PREPARES, topics.COMMITS)


class LogLost(RuntimeError):
    """The log lacks records that this replica has to read next; the message names the offset."""


def run(
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    vault: Vault,
    *,
    member_id: int,
    seed: bytes,
    run_dir: Path,
    shards: range | None = None,
    named: str = "",
    ballot_grace_ms: int,
    stop: loop.Stop,
    grounds: Grounds = RULES,
    contradiction: Contradiction | None = None,
    ready: Callable[[], None] = lambda: None,
    stamps: Reader | None = None,
    clock: Callable[[], float] = time.monotonic,
    own_clock: OwnClock | None = None,
    telemetry: Telemetry | None = None,
    further: Callable[[], Sequence[bytes]] = tuple,
    score_alarm_ms: int = ALARM_MS,
) -> None:
    """Runs the member until `stop`; `ready` is called once every shard is live.

    `seed`: the member's 32-byte Ed25519 seed; `further` returns those of its keys that a later configuration may name.
    A future or former member listens. Its files are in `run_dir`/replica-N: signed.db, never to be lost or copied, and
    view.db, which can be deleted. `shards`: those that this process has; None: all. `named`: their range, where others
    of the same member have the rest; its files are in a folder below (`sign_state_moves`). Raises SignConflict if this
    identity would contradict itself (do not restart), LeaseHeld if it runs already, TwinRuns if it runs elsewhere,
    LogLost and ValueError for unusable data. `stamps` identifies strangers' records in unsigned topics; None, for
    tests: every record is accepted. `own_clock`: the clock to compare a vote's time with; None if the fleet's time is
    driven. `score_alarm_ms`: the time without a score after which an episode raises an alarm.
    """
    keys = Keys(codec, f"member:{member_id}", seed, further)
    if genesis.operator is None and keys.signer(genesis) is None:
        raise ValueError(f"the key is not that of member {member_id} in the genesis file")
    own, member = shards or range(genesis.shards), run_dir / f"replica-{member_id}"
    view_file = sign_state_moves.folder_of(member, named) / sign_state_moves.VIEW
    with (
        sign_state_moves.opened(member, named, own, genesis.cluster, member_id) as signed,
        closing(View(view_file, genesis.cluster, member_id)) as view,
    ):
        judge = Judge(codec, view, vault, genesis, grounds, contradiction=contradiction)
        shown = (telemetry or Telemetry()).stage("replica")
        with view.batch():
            seats = [
                Seat(
                    codec, genesis, view, judge,
                    shard=shard, me=member_id, sign=keys.signer, timings=Timings(ballot_grace_ms=ballot_grace_ms),
                    signed=signed, clock=clock, own_clock=own_clock, shown=shown, prepares=shard == own[0],
                )
                for shard in own
            ]  # fmt: skip
        source = f"memquorum/replica-{member_id}"
        strangers = Strangers(_LOG, stamps, view)
        made = Replica(
            bootstrap,
            source,
            seats,
            codec=codec,
            view=view,
            signed=signed,
            strangers=strangers,
            clock=clock,
            shown=shown,
            score_alarm_ms=score_alarm_ms,
        )
        with closing(made) as replica:
            replica.run(stop, ready)


def claim(signed: SignState, seats: Sequence[Seat]) -> list[tuple[Seat, Send, bytes]]:
    """Moves the outboxes into the sign-state, in one transaction; returns the messages that may be produced, with their
    bytes.

    No message is sent before it is on the disk (DESIGN 12). Raises SignConflict; then nothing may be produced at all.
    """
    for seat in seats:
        slots, through = seat.settles()
        if slots:
            signed.settle(slots, through)
    wanted = [(seat, effect) for seat in seats for effect in seat.outbox]
    if not wanted:
        return []
    answers = signed.claim([(effect.slot, effect.digest, effect.data) for _, effect in wanted])
    for seat in seats:
        seat.outbox.clear()
    claimed = zip(wanted, answers, strict=True)
    return [(seat, effect, data) for (seat, effect), data in claimed if not isinstance(effect, Keep)]


class Replica:
    """The loop: Kafka on one side, the seats on the other."""

    def __init__(
        self,
        bootstrap: str,
        source: str,
        seats: Sequence[Seat],
        *,
        codec: Codec,
        view: View,
        signed: SignState,
        strangers: Strangers,
        clock: Callable[[], float],
        shown: Stage,
        score_alarm_ms: int,
    ) -> None:
        self._shown = shown
        self._waits = Patience(_LOG, shown, score_alarm_ms)
        shown.meters.follow(metrics.IGNORED, lambda: {(shown.name, why): n for why, n in self._ignored().items()})
        self._source, self._seats, self._view, self._signed, self._clock = source, seats, view, signed, clock
        self._strangers, self._bootstrap, self._codec = strangers, bootstrap, codec
        self._reading, self._seat = Reading(bootstrap), {seat.shard: seat for seat in seats}
        self._producer, self._twins = loop.producer(bootstrap), Twins(codec, view.member)
        self._failed: KafkaError | None = None
        self._following: dict[int, Following] = {}
        self._report_at, self._reported = clock() + _REPORT_S, Counter[str]()

    def run(self, stop: loop.Stop, ready: Callable[[], None]) -> None:
        """Turns until `stop`."""
        self._shown.health.wait("log", "it reads what was said before it started")
        self._assign(stop)
        announced = False
        while not stop:
            ended: set[tuple[str, int]] = set()
            messages = self._reading.records(self._patience(), ended)
            self.turn(messages, ended)
            if not announced and all(seat.live for seat in self._seats):
                announced = True
                self._shown.health.go("log")
                ready()

    def close(self) -> None:
        """Closes the clients; claimed messages that were not delivered are sent again on the next start."""
        for each in self._following.values():
            each.close()
        self._reading.close()
        self._producer.flush(2)

    def turn(self, messages: Sequence[Message], ended: Iterable[tuple[str, int]]) -> None:
        """Does one turn of the loop with the records read, and the partitions whose end was reached."""
        began = time.monotonic()
        with self._view.batch():
            for message in messages:
                with loop.about(message):
                    self._hand_in(message)
            for topic, shard in ended:
                self._seat[shard].end(topic)
            for seat in self._seats:
                seat.turn()
        self._say()
        self._accuse()
        self._read_again()
        self._look_for_ends()
        self._follow_on()
        self._waits.look({seat.shard: seat.walk.waiting_for() for seat in self._seats}, self._clock())
        if any(message.topic() in SPINE for message in messages):
            self._balance()
        self._producer.poll(0)
        if self._failed is not None:
            raise KafkaException(self._failed)
        self._report()
        self._shown.health.turn()
        if messages:
            self._shown.worked(time.monotonic() - began)
            self._show(Counter(loop.place(message) for message in messages))

    def _hand_in(self, message: Message) -> None:
        (topic, shard), offset = loop.place(message), loop.offset(message)
        seat = self._seat[shard]
        if self._strangers.wrote(message):
            seat.skip(topic, offset)
            self._shown.refused(STRANGER)
            return
        # Records of the accepted stream are not in a vote's trace; reading each one's headers is costly.
        parent = loop.traceparent(message) if topic in _VOTES else None
        self._twins.heard(seat, message.value() or b"", message.timestamp()[1])
        seat.watch.heard(topic, offset, parent, message.timestamp()[1])
        seat.take(topic, offset, message.value() or b"")
        seat.watch.over(seat.core.ignored[LATER])

    def _show(self, counts: Counter[tuple[str, int]]) -> None:
        by_topic: Counter[str] = Counter()
        for (topic, shard), count in counts.items():
            by_topic[topic] += count
            self._shown.at(topic, shard, self._seat[shard].positions[topic])
        # The streams are processed as far as the walk has taken them, whichever of them had records just now.
        for shard in {shard for _, shard in counts}:
            for topic in (topics.ACCEPTED, topics.SCORED, topics.REHEARSED):
                self._shown.at(topic, shard, self._seat[shard].walk.next_of(topic))
        self._shown.took(by_topic.items())

    # Speaking ------------------------------------------------------------------------------------------------------

    def _say(self) -> None:
        for seat, send, data in claim(self._signed, self._seats):
            self._produce(seat, send, data)

    def _produce(self, seat: Seat, send: Send, data: bytes) -> None:
        parent, hop = seat.watch.sending(send, TOPIC_OF[send.message])
        headers = loop.headers("Signed", self._source, send.slot, parent)
        delivered = partial(self._delivered, TOPIC_OF[send.message], hop)
        self._append(TOPIC_OF[send.message], seat.shard, data, headers=headers, on_delivery=delivered)

    def _accuse(self) -> None:
        """Publishes proofs that members are faulty. It waits for no delivery, and a failure ends nothing."""
        for seat in self._seats:
            for report in seat.accuser.take():
                headers = loop.headers("Signed", self._source, report.name)
                told = self._evidence_told
                self._append(topics.EVIDENCE, seat.shard, report.data, headers=headers, on_delivery=told)

    def _append(self, topic: str, shard: int, data: bytes, **more: Any) -> None:
        while True:
            try:
                self._producer.produce(topic, value=data, key=str(shard).encode(), partition=shard, **more)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _evidence_told(self, error: KafkaError | None, _: Message) -> None:
        if error is not None:
            _LOG.error("evidence could not be published: %s", error)
        else:
            self._shown.sent(topics.EVIDENCE)

    def _delivered(self, topic: str, hop: Hop, error: KafkaError | None, _: Message) -> None:
        self._failed = self._failed or error
        if error is None:
            hop.end()
            self._shown.sent(topic)

    # Reading -------------------------------------------------------------------------------------------------------

    def _assign(self, stop: loop.Stop) -> None:
        """Assigns every partition at the view's offset; follows the journal for records that the logs have deleted."""
        late: list[Seat] = []
        for seat in self._seats:
            for topic in _READ:
                place = (topic, seat.shard)
                bounds = self._bounds(place, stop)
                if bounds is None:
                    return
                stored = self._view.position(topic, seat.shard)
                seat.positions[topic] = _start(stored, *bounds, place)
                if topic in _PRUNED and (stored or 0) < bounds[0] and seat not in late:
                    late.append(seat)
        for seat in late:
            self._follow_journal(seat, stop)
        positions = {(topic, seat.shard): at for seat in self._seats for topic, at in seat.positions.items()}
        self._reading.assign(positions)
        for (topic, shard), at in positions.items():
            self._shown.at(topic, shard, at)

    def _follow_journal(self, seat: Seat, stop: loop.Stop) -> None:
        """Follows the journal for one seat. Raises LogLost if it does not hold the logs' deleted records either."""
        self._shown.health.wait("journal", "it follows decisions that the logs hold no more")
        while not stop:
            try:
                with closing(Partition(self._bootstrap, topics.JOURNAL, seat.shard, self._strangers)) as journal:
                    taken = follow(self._codec, journal, seat, self._view, stop, turned=self._shown.health.turn)
            except (KafkaException, TopicUnreadable) as error:
                _LOG.warning("waiting for the journal: %s", error)
                self._shown.health.turn()
                stop.wait(1)
                continue
            if not taken and seat.core.seq == 1:
                raise LogLost(f"shard {seat.shard}: its logs begin late, and the journal holds no decision before them")
            break
        self._shown.health.go("journal")

    def _follow_on(self) -> None:
        """Follows the journal, beside the rest, for seats to which the logs do not show the others' decisions."""
        for seat in self._seats:
            shard, why, seat.wants_journal = seat.shard, seat.wants_journal, ""
            try:
                if why and shard not in self._following:
                    journal = Partition(self._bootstrap, topics.JOURNAL, shard, self._strangers)
                    self._following[shard] = Following(self._codec, journal, seat, self._view, why)
                more = shard not in self._following or self._following[shard].turn()
            except (KafkaException, TopicUnreadable) as error:
                _LOG.warning("shard %d: the journal cannot be read, retrying later: %s", shard, error)
                more = False
            if not more and (ended := self._following.pop(shard, None)) is not None:
                ended.close()

    def _bounds(self, place: Place, stop: loop.Stop) -> tuple[int, int] | None:
        """The first and the next offset of a partition, once Kafka answers; None if it is time to stop."""
        while not stop:
            try:
                return self._reading.bounds(place, _PATIENCE_S)
            except KafkaException as error:
                _LOG.warning("waiting for Kafka: %s", error)
                self._shown.health.turn()
                stop.wait(1)
        return None

    def _read_again(self) -> None:
        for seat in self._seats:
            for message, at in seat.rereads.items():
                self._reading.seek((LOGS[message], seat.shard), at)
                seat.positions[LOGS[message]] = at
            seat.rereads.clear()
            scores = seat.walk.rewind()
            if scores is not None:
                self._reading.seek((topics.SCORED, seat.shard), scores)
                seat.positions[topics.SCORED] = scores

    def _look_for_ends(self) -> None:
        """Asks the broker for the end of the accepted stream if a nomination names an offset that may not exist."""
        for seat in filter(Seat.unsure_of_end, self._seats):
            try:
                seat.told_end(self._reading.bounds((topics.ACCEPTED, seat.shard), _PATIENCE_S)[1])
            except KafkaException as error:
                _LOG.warning("shard %d: the end of the accepted stream is unknown: %s", seat.shard, error)
                seat.told_end(None)

    def _balance(self) -> None:
        """Pauses a stream that is far ahead of the one that it waits for."""
        full = ((topic, seat.shard) for seat in self._seats for topic, full in seat.walk.full().items() if full)
        for topic, paused in self._reading.balance(full).items():
            self._shown.health.slow(topic, f"{paused} partitions are not read on: see the lag" if paused else None)

    def _patience(self) -> float:
        """The time to wait for a record, in seconds."""
        return min(
            0.0 if self._following else _IDLE_S, max(0.0, min(seat.wake_at() for seat in self._seats) - self._clock())
        )

    def _report(self) -> None:
        """Logs the ignored records at intervals, so that a flood by a stranger is visible."""
        if self._clock() < self._report_at:
            return
        self._report_at = self._clock() + _REPORT_S
        ignored = self._ignored()
        if ignored != self._reported:
            _LOG.info("ignored so far: %s", ", ".join(f"{n} {why}" for why, n in sorted(ignored.items())))
            self._reported = ignored

    def _ignored(self) -> Counter[str]:
        return sum((seat.core.ignored.copy() for seat in self._seats), Counter[str]())


def _start(stored: int | None, low: int, end: int, place: Place) -> int:
    """The offset to begin at, within the partition's bounds. Raises LogLost."""
    topic, partition = place
    where = f"{topic}/{partition}"
    if stored is None:
        # First start: from the beginning, which must still exist except for records that certificates replace.
        stored = low if topic in _EXPIRING else 0
    if stored > end:
        raise LogLost(f"{where} ends at {end}, but was read up to {stored} before: the log has lost its end")
    if stored < low and topic not in (*_EXPIRING, *_PRUNED):
        raise LogLost(f"{where} begins at {low}, but has to be read from {stored} on: its retention must be unlimited")
    return max(stored, low)
