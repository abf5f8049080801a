"""The commit worker: applies everything that happens to the shards, in one order, and journals it (DESIGN 8, 14).

A synchronous loop over all shards, or a range of them. Records that have arrived are joined (`core.commit`), judged by
the rules (`core.commit`) and written in one transaction with the offsets that it used up; while one transaction is
under way the next batch gathers, so a batch is as large as the load makes it and an idle line waits for nobody. The
journal is published after the transaction.

The offsets to read from are in Postgres alone. So after a crash, a kill or an outage of Postgres it begins again where
the last transaction ended. Keys are destroyed in a step of its own, after the transaction of the decision or the tick
that makes them due: no crash can destroy the key of a memory that a repeated run would then keep.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from confluent_kafka import Consumer, TopicPartition

from db import profile_rows
from db.standing import Clear, Fenced
from db.store import PostgresStore
from memquorum import topics
from memquorum.core import ids
from memquorum.core.authorship import meant
from memquorum.core.avro import Codec
from memquorum.core.commit.assembly import DigestConflict
from memquorum.core.identity.keys import Keys
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import Change, DecisionRow, ErasedRow, Event, LetGo
from memquorum.core.journal.workset import Net
from memquorum.core.merging import marks
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.records import EpisodeAccepted, OrderAccepted
from memquorum.ports import Follows, StoreUnavailable, VaultBehind, VaultUnavailable, Vector
from memquorum.telemetry.bundle import STRANGER, Stage, Telemetry
from memquorum.telemetry.metrics import Meters
from memquorum.telemetry.tracing import NOTHING, Hop
from workers.commit.commit_shard import SOURCES, Batch, CommitShard, opened, vault_ids
from workers.commit.destroyer import Destroyer
from workers.commit.destruction import Destruction
from workers.commit.erasure_turn import RESIDUE_MS, Erasing
from workers.commit.experience_metrics import Counts
from workers.commit.lapsing import Lapsing
from workers.commit.outbox import SIGNER, Outbox, Outgoing
from workers.commit.recalling import Recalling
from workers.commit.reclassification_turn import carry_out as reclassify
from workers.kafka import loop, published, spans
from workers.kafka.own_clock import OwnClock
from workers.kafka.stall_watch import ALARM_MS, Patience
from workers.kafka.strangers import Strangers

__all__ = ["DigestConflict", "Fenced", "run"]

log = logging.getLogger("memquorum.commit")

# Records read, and applied in one transaction, at a time.
_READ_MOST = 2_000
_BATCH_MOST = 1_000
# The waits for a record: with nothing under way, and with acknowledgements of the journal outstanding.
_IDLE_S = 0.1
_ACK_S = 0.002
_BACKOFF_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
# The published position of the journal is noted this often at most: after a crash, later entries are sent again.
_NOTE_EVERY_S = 0.5
_FLUSH_S = 3.0
_REPUBLISH = 1_000
_KEY_S = 2.0

T = TypeVar("T")


def run(
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    *,
    memory_dsn: str,
    vault: Follows,
    journal_seed: bytes,
    shards: range | None = None,
    further: Callable[[], Sequence[bytes]] = tuple,
    stop: loop.Stop,
    ready: Callable[[], None] = lambda: None,
    stamps: Writer | None = None,
    own_clock: OwnClock | None = None,
    telemetry: Telemetry | None = None,
    residue_ms: int = RESIDUE_MS,
    score_alarm_ms: int = ALARM_MS,
) -> None:
    """Runs until `stop`. `shards`: those that this process has; None: all. `journal_seed`: the 32-byte Ed25519 seed of
    service:journal; `further` answers those of its keys that a later configuration may name; one that is named and not
    there is waited for. `ready` is called when it has reached the store and reads; again after an outage. `stamps`:
    what the line's records bear, the journal's too; None, for tests: records of any writer are accepted. `own_clock`:
    no key is destroyed for a shard's time that runs away from it; None where the fleet's time is driven. `residue_ms`:
    see `erasure_turn.Erasing`; `score_alarm_ms`: after how long an episode without a score is an alarm.

    Raises DigestConflict (two quorums contradict each other: halt, and let people look), StoreLost (Postgres lacks what
    is published already: halt too) and Fenced (a second commit worker writes to the database, or it is another
    cluster's). Outages of Postgres, vault and Kafka are waited out.
    """
    store = PostgresStore(memory_dsn)
    # A batch's entries go out in few requests: the broker and each reader of the journal spend as much on one as on
    # many.
    keys = Keys(codec, SIGNER, journal_seed, further)
    outbox = Outbox(loop.producer(bootstrap, linger_ms=2), codec, keys, stamps)
    strangers = Strangers(log, stamps.reader() if stamps else None)
    last = partial(published.last_entries, bootstrap, codec, strangers)
    # The read-ahead is bounded: without this, a backlog would only fill memory.
    limits: dict[str, Any] = {"queued.max.messages.kbytes": 16_384}
    consumer = loop.consumer(bootstrap, **limits)
    failures, shown = 0, (telemetry or Telemetry()).stage("commit")
    try:
        while not stop:
            began = time.monotonic()
            try:
                rules = Rules(codec, genesis)
                session = _Session(
                    rules, store, vault, consumer, bootstrap,
                    shards=shards or range(genesis.shards), outbox=outbox, strangers=strangers, last=last,
                    own_clock=own_clock, stop=stop, shown=shown,
                    residue_ms=residue_ms, score_alarm_ms=score_alarm_ms,
                )  # fmt: skip
                session.run(ready)
            except (StoreUnavailable, VaultBehind) as error:
                # A session that held for a while shows that the outage before it was another one.
                failures = 0 if time.monotonic() - began > 2 * _BACKOFF_S[-1] else failures
                wait = _BACKOFF_S[min(failures, len(_BACKOFF_S) - 1)]
                failures += 1
                log.warning("beginning again in %.1f s: %s", wait, error)
                away = isinstance(error, StoreUnavailable)
                shown.health.wait(*("store", "it does not answer") if away else ("vault", VaultBehind.why))
                shown.health.turn()
                stop.wait(wait)
    finally:
        outbox.close()
        consumer.close()
        store.close()


class _Stopped(Exception):
    """Asked to stop while waiting for something."""


def _alone(
    rules: Rules, store: PostgresStore, destroyer: Destroyer, outbox: Outbox, residue_ms: int
) -> Mapping[str, Callable[[CommitShard, Batch, int, OrderAccepted], Net]]:
    """Returns who carries out orders that have a transaction of their own, by the kind of order."""
    erasing = Erasing(
        rules, store, destroyer.destroy, destroyer.forget_asked, head=outbox.signed_head, residue_ms=residue_ms
    )
    return {ERASURE.name: erasing.carry_out, RECLASSIFICATION.name: partial(reclassify, store)}


class _Session:
    """Works from reading where the store stands until the store is lost, or the stop."""

    def __init__(
        self,
        rules: Rules,
        store: PostgresStore,
        vault: Follows,
        consumer: Consumer,
        bootstrap: str,
        *,
        shards: range,
        outbox: Outbox,
        strangers: Strangers,
        last: Callable[..., dict[int, published.Last]],
        own_clock: OwnClock | None,
        stop: loop.Stop,
        shown: Stage,
        residue_ms: int,
        score_alarm_ms: int,
    ) -> None:
        """`last`: the last entry of each shard's journal topic; see published.last_entries."""
        self._rules, self._shards, self._store, self._vault = rules, shards, store, vault
        self._consumer, self._outbox, self._stop, self._shown = consumer, outbox, stop, shown
        self._strangers, self._last = strangers, last
        self._destroyer = Destroyer(rules.codec, store, vault, self._patiently)
        self._destruction = Destruction(rules, store, self._destroyer.destroy, own_clock, shown.health)
        self._lapsing = Lapsing(store, own_clock)
        self._counts = Counts(store, shown, shards)
        self._alone = _alone(rules, store, self._destroyer, outbox, residue_ms)
        self._recalling = Recalling(rules.codec, bootstrap, store, lambda own: self._patiently(lambda: vault.open(own)))
        self._lines: dict[int, CommitShard] = {}
        self._paused: set[tuple[str, int]] = set()
        self._published, self._noted_at = dict[int, int](), 0.0
        self._patience, self._applied = Patience(log, shown, score_alarm_ms), Counter[str]()

    def run(self, ready: Callable[[], None]) -> None:
        """Raises StoreUnavailable, VaultBehind, StoreLost, DigestConflict, Fenced."""
        try:
            self._begin()
        except _Stopped:
            return
        self._shown.health.go("store")
        ready()
        try:
            self._destruction.look_at(self._lines)
            while not self._stop:
                self._shown.health.turn()
                busy = self._step()
                busy |= self._destroy_due()
                self._outbox.poll()
                self._note_published(force=False)
                self._counts.look(time.monotonic())
                self._destroyer.look((line.state for line in self._lines.values()), time.monotonic())
                self._read(0 if busy else _ACK_S if self._outbox.pending else _IDLE_S)
                waiting = {shard: line.spine.waiting_for() for shard, line in self._lines.items()}
                self._patience.look(waiting, time.monotonic())
        except _Stopped:
            pass
        finally:
            done = ", ".join(f"{count} {effect}" for effect, count in sorted(self._applied.items()))
            log.info("applied: %s", done or "nothing")
        self._outbox.flush(_FLUSH_S)
        self._note_published(force=True)

    def _begin(self) -> None:
        """Takes up every shard where the store left it, and sends what of the journal may not have been sent."""
        genesis = self._rules.genesis
        # Entries that an earlier session sent have to be in the topic before its end is read. And the topic is read
        # before the store: a worker that ends just now may still commit, and then publish.
        while self._outbox.pending:
            self._outbox.flush(_FLUSH_S)
            self._still("it does not take the journal" if self._outbox.pending else None)
        last = self._last(self._shards, self._still)
        offsets: dict[tuple[str, int], int | None] = {}
        for shard, start in self._store.start(genesis.cluster, genesis.shards, self._shards).items():
            self._lines[shard] = CommitShard(self._rules, start)
            self._await_key(shard)
            self._published[shard] = start.published
            offsets |= {(topic, shard): start.cursors.get(topic) for topic in SOURCES}
            for topic in SOURCES:
                self._shown.at(topic, shard, start.cursors.get(topic, 0))
            delivered = self._outbox.delivered.get(shard, 0)
            published.check(start.state, delivered, last.get(shard), partial(self._hash, shard))
            self._republish(shard, max(start.published, delivered))
        self._destroyer.begin(line.state for line in self._lines.values())
        loop.assign(self._consumer, offsets)
        # A session before this one may have left some of them paused.
        self._consumer.resume([TopicPartition(*place) for place in offsets])

    def _still(self, waits: str | None) -> None:
        """The broker is waited for, or answers. Raises _Stopped."""
        self._shown.health.turn()
        if waits is None:
            self._shown.health.go("kafka")
        else:
            self._shown.health.wait("kafka", waits)
        if self._stop:
            raise _Stopped

    def _hash(self, shard: int, seq: int) -> bytes:
        return b"".join(row.link.hash for row in self._store.journal(shard, seq - 1, 1))

    def _republish(self, shard: int, published: int) -> None:
        state, in_force = self._lines[shard].state, self._lines[shard].rules.genesis
        while published < state.seq:
            rows = self._store.journal(shard, published, _REPUBLISH)
            self._outbox.send([Outgoing(row.seq, row.event_id, row.link) for row in rows], state, in_force)
            published = rows[-1].seq
        if state.seq:
            self._outbox.head(state, in_force)
            self._store.sign_erasures(shard, partial(self._outbox.signed_head, genesis=in_force))

    def _read(self, wait_s: float) -> None:
        messages = loop.records(self._consumer, _READ_MOST, wait_s)
        for message in messages:
            (topic, shard), offset = loop.place(message), loop.offset(message)
            if self._strangers.wrote(message):
                self._lines[shard].skip(topic, offset)
                self._shown.refused(STRANGER)
                continue
            value, parent, since_ms = message.value() or b"", loop.traceparent(message), message.timestamp()[1]
            with loop.about(message):
                wrong = self._lines[shard].take(topic, offset, value, parent, since_ms)
            if wrong is not None:
                self._applied["refused"] += 1
                self._shown.refused(topic)
                self._strangers.note(topic, shard, offset, wrong)
        if messages:
            self._show_read(Counter(loop.place(message) for message in messages))
            for shard in {loop.place(message)[1] for message in messages}:
                self._rewind(shard)
        wanted = {(topic, shard) for shard, line in self._lines.items() for topic in line.paused()}
        if wanted != self._paused:
            self._consumer.pause([TopicPartition(*place) for place in wanted - self._paused])
            self._consumer.resume([TopicPartition(*place) for place in self._paused - wanted])
            self._paused = wanted
            for topic in SOURCES:
                count = sum(paused == topic for paused, _ in wanted)
                self._shown.health.slow(topic, f"{count} partitions are not read on: see the lag" if count else None)

    def _rewind(self, shard: int) -> None:
        """Reads again what the shard's decisions need once more."""
        for topic, offset in self._lines[shard].rewind().items():
            self._consumer.seek(TopicPartition(topic, shard, offset))

    def _show_read(self, counts: Counter[tuple[str, int]]) -> None:
        by_topic: Counter[str] = Counter()
        for (topic, shard), count in counts.items():
            by_topic[topic] += count
            if topic != topics.ACCEPTED:  # what was read of it counts once it is applied
                self._shown.at(topic, shard, self._lines[shard].read_to[topic])
        self._shown.took(by_topic.items())

    def _step(self) -> bool:
        """Applies what can be applied, in one transaction; whether there was anything."""
        most = max(50, _BATCH_MOST // len(self._lines))
        batches = {shard: batch for shard, line in self._lines.items() if (batch := line.batch(most)) is not None}
        if not batches:
            return False
        began, since_ns = time.monotonic(), time.time_ns()
        for shard, batch in batches.items():
            if batch.order is not None:
                net = self._alone[batch.order[1].kind](self._lines[shard], batch, *batch.order)
                self._done(shard, batch, net, since_ns)
        if batches := {shard: batch for shard, batch in batches.items() if batch.order is None}:
            self._write(batches, since_ns)
        self._shown.worked(time.monotonic() - began)
        return True

    def _write(self, batches: Mapping[int, Batch], since_ns: int) -> None:
        contents, vectors = self._open(batches)
        for shard, batch in batches.items():
            if back := batch.restores():
                batch.recalled, found = self._recalling.recall(shard, back)
                contents |= found
        lines = {shard: self._lines[shard] for shard in batches}
        wanted = {
            line.state: batches[shard].rows_touched(self._rules.codec, line.tombstones, line.since)
            for shard, line in lines.items()
        }
        with self._store.transaction(wanted) as transaction:
            rows = transaction.rows
            nets = {
                shard: batches[shard].apply(line.rules, rows[shard], contents, vectors[shard], line.tombstones)
                for shard, line in lines.items()
            }
            # An erased episode has no grace time: the vault comes first here too.
            if through := {shard: net.after.seq for shard, net in nets.items() if net.of(ErasedRow)}:
                self._destroyer.destroy([one.memory_id for net in nets.values() for one in net.of(ErasedRow)], through)
            cursors: dict[tuple[int, str], int] = {}
            for shard, batch in batches.items():
                cursors |= lines[shard].cursors(batch)
            cursors |= {p: offset for shard, batch in batches.items() for p, offset in batch.cursors(shard).items()}
            anew = {memory_id: vector for batch in batches.values() for memory_id, vector in batch.reencoded.items()}
            lists = profile_rows.opened(nets.values(), lambda named: self._patiently(partial(self._vault.open, named)))
            transaction.write(list(nets.values()), contents, cursors, anew, lists)
        for shard, batch in batches.items():
            self._done(shard, batch, nets[shard], since_ns)
        self._destruction.look_at(
            shard
            for shard, batch in batches.items()
            if any(change.entry.effect in ("ticked", "decided") for change, _ in batch.changes)
        )

    def _done(self, shard: int, batch: Batch, net: Net, since_ns: int) -> None:
        line = self._lines[shard]
        line.applied(batch, net)
        self._show_applied(line, batch)
        for topic, offset, why in batch.unborne:
            self._applied["refused"] += 1
            self._shown.refused(topic)
            self._strangers.note(topic, shard, offset, why)
        if batch.rejected is not None:
            log.error("a decision with a sound certificate cannot be applied: %s", batch.rejected)
        self._rewind(shard)
        outgoing = []
        for change, item in batch.changes:
            hop = spans.applied(self._shown.tracing, change, item, batch.parents, since_ns)
            outgoing.append(Outgoing(change.entry.seq, change.entry.event_id, change.appended, hop))
        if batch.certified is not None and batch.certified.checked.configures is not None:
            self._await_key(shard)
        self._outbox.send(outgoing, net.after, line.rules.genesis)

    def _show_applied(self, line: CommitShard, batch: Batch) -> None:
        meters, effects = self._shown.meters, Counter(change.entry.effect for change, _ in batch.changes)
        self._applied.update(effects)
        for effect, count in effects.items():
            meters.journalled.labels(effect).inc(count)
        told = (change for change, item in batch.changes if item and isinstance(item.record, EpisodeAccepted))
        for outcome, count in Counter(event.outcome for change in told for event in change.of(Event)).items():
            meters.episodes.labels(outcome).inc(count)
        _show_decided(meters, self._counts, batch)
        for one in (took for change, _ in batch.changes for took in change.of(LetGo) if took.held_back):
            meters.held_back.labels(str(one.shard)).inc(one.held_back)
            log.error(
                "shard %d, epoch %d: the cap of namespace %r has kept %d memories that the votes let go",
                one.shard, one.epoch, one.namespace, one.held_back,
            )  # fmt: skip
        self._shown.sent(topics.JOURNAL, len(batch.changes))
        self._shown.at(topics.ACCEPTED, line.state.shard, line.spine.next_offset)
        self._shown.done(((item.written_ms, item.traceparent) for item in batch.items), time.time_ns() // 1_000_000)

    def _open(self, batches: Mapping[int, Batch]) -> tuple[dict[str, Clear], dict[int, dict[int, Vector]]]:
        """Contents and embeddings in the clear, of what is still readable; by shard and offset, embeddings anew."""
        lines = self._lines
        sealed = [one for shard, batch in batches.items() for one in vault_ids(batch, lines[shard].rules.genesis)]
        keys = self._patiently(partial(self._vault.open, sealed)) if sealed else {}
        found: dict[str, Clear | None] = {}
        for shard, batch in batches.items():
            codec, genesis = lines[shard].rules.codec, lines[shard].rules.genesis
            for item in batch.items:
                # The first record of an event is the one that counts: a later one is a repetition, whatever it holds.
                if isinstance(item.record, EpisodeAccepted) and item.record.memory_id not in found:
                    key = keys.get(item.record.memory_id)
                    found[item.record.memory_id] = read = opened(item, key)
                    if not _meant(codec, genesis, item.record, read, keys):
                        batch.unproven.add(item.record.memory_id)
        clear = {memory_id: content for memory_id, content in found.items() if content is not None}
        return clear, {shard: batch.vectors(keys) for shard, batch in batches.items()}

    def _destroy_due(self) -> bool:
        """One round of destroying the keys whose grace time is over, and of goals that lapse; whether any."""
        done = self._destruction.round(self._lines)
        for one in done:
            self._made(one.net, one.change, spans.destroyed(self._shown.tracing, one.change, one.memory_ids))
        lapsed = self._lapsing.round(self._lines)
        for net, change in lapsed:
            self._made(net, change)
        return bool(done or lapsed)

    def _made(self, net: Net, change: Change, hop: Hop = NOTHING) -> None:
        """An entry that no record asked for is in the store."""
        line, batch = self._lines[net.after.shard], Batch(None, [], changes=[(change, None)])
        line.applied(batch, net)
        self._show_applied(line, batch)
        outgoing = Outgoing(change.entry.seq, change.entry.event_id, change.appended, hop)
        self._outbox.send([outgoing], net.after, line.rules.genesis)

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Asks the vault until it answers. Raises _Stopped, and VaultBehind."""
        for attempt in itertools.count():
            wait = _BACKOFF_S[min(attempt, len(_BACKOFF_S) - 1)]
            try:
                answer = ask()
                self._shown.health.go("vault")
                return answer
            except VaultBehind:
                raise
            except VaultUnavailable as error:
                log.warning("the vault cannot be reached: asking again in %.1f s (%s)", wait, error)
                self._shown.health.wait("vault", error.why)
                self._shown.health.turn()
            if self._stop.wait(wait):
                break
        raise _Stopped

    def _await_key(self, shard: int) -> None:
        """Waits until it has the key that the shard's configuration names for its journal. Raises _Stopped."""
        genesis = self._lines[shard].rules.genesis
        while not self._outbox.signs(genesis):
            why = f"configuration {genesis.config} of shard {shard} names a key of {SIGNER} that is not in its folder"
            log.error("%s: put it there; nothing is applied until then", why)
            self._shown.health.wait("key", why)
            self._shown.health.turn()
            if self._stop.wait(_KEY_S):
                raise _Stopped
        self._shown.health.go("key")

    def _note_published(self, *, force: bool) -> None:
        """Notes in the store how far the journal is in its topic: not at once, as it only spares sending twice."""
        now = time.monotonic()
        if not force and now - self._noted_at < _NOTE_EVERY_S:
            return
        news = {k: seq for k, seq in self._outbox.delivered.items() if seq > self._published.get(k, 0)}
        if news:
            self._store.published(news)
            self._published |= news
            self._noted_at = now


def _meant(
    codec: Codec, genesis: Genesis, record: EpisodeAccepted, read: Clear | None, keys: Mapping[str, bytes]
) -> bool:
    """Whether the agent itself wants what the record supersedes; no API key says so where agents have to sign. A record
    that cannot be read supersedes nothing anyway. `keys`: the memory's, and where it has to the namespace's."""
    text = "" if record.clears else None if read is None else read.text
    if text is None or record.namespace not in genesis.signed:
        return True
    key = keys.get(record.memory_id)
    if record.granted is not None or key is None:
        return False
    return meant(
        codec, genesis, memory_id=record.memory_id, namespace=record.namespace, agent=record.agent, text=text,
        sealed=record.sealed_signed, key=key, marks=marks(record),
        space=keys.get(ids.space_key_id(record.namespace)),
    )  # fmt: skip


def _show_decided(meters: Meters, counts: Counts, batch: Batch) -> None:
    """Counts how votes ended, and what became of experience."""
    counts.note([change for change, _ in batch.changes])
    for decision in (row for change, _ in batch.changes for row in change.of(DecisionRow)):
        for ended, count in Counter((o.kind, o.outcome) for o in decision.outcomes).items():
            meters.decisions.labels(*ended).inc(count)
