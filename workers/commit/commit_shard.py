"""One shard in the commit worker: where the store left it, what has arrived since, and what becomes of a batch."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import numpy as np
from msgspec.structs import replace

from db.standing import Clear, Start
from memquorum import topics
from memquorum.core import caps, ids, labelling, linking, sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.commit import applying, assembly, ordering
from memquorum.core.commit.assembly import Assembly, Certified
from memquorum.core.commit.spine import Item, Spine
from memquorum.core.consensus.certificate import follow
from memquorum.core.experience import texts
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage
from memquorum.core.journal import rehearsals, trials
from memquorum.core.journal.decisions import OutOfTurn
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rehearsals import NotBorneOut, NotRehearsed
from memquorum.core.journal.rows import Change, ErasureRow, RowKeys, Rows
from memquorum.core.journal.tombstones import Tombstone, Tombstones
from memquorum.core.journal.trials import NotTried
from memquorum.core.journal.workset import Net, Workset
from memquorum.core.orders.table import ORDERS
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    EpisodeAccepted,
    EpisodeScored,
    FeedbackAccepted,
    MemoryReencoded,
    OrderAccepted,
    RehearsalMade,
    Restored,
)
from memquorum.core.salience import REMEMBERED
from memquorum.core.vote.kinds import KINDS
from memquorum.ports import Vector
from memquorum.telemetry.tracing import unsampled

KIND_OF = {topics.PRE_PREPARES: assembly.PRE_PREPARE, topics.COMMITS: assembly.COMMIT}
SOURCES = (topics.ACCEPTED, topics.SCORED, topics.REENCODED, topics.REHEARSED, topics.TRIALS, *KIND_OF)

# The most dimensions of pgvector's halfvec.
_DIMENSIONS_MOST = 16_000
_TRACES_MOST = 256
# Embeddings by another encoder that wait: some 4 MB where a vector has 384 dimensions, and in proportion.
_REENCODED_MOST = 4_096
_ANEW_MOST = 256
# Bounds on waiting results of rehearsals, half a kilobyte each.
_REHEARSED_MOST, _TAKEN_MOST = 4_096, 256
# Bounds on waiting trials of verifiers, a kilobyte each; each reads the earlier trials.
_TRIALS_MOST, _TRIED_MOST = 4_096, 64


Anew = tuple[int, MemoryReencoded]
"""An offset, and the embedding by another encoder that stands there."""
Found = tuple[int, bytes, RehearsalMade]
"""An offset, and what a rehearsal found of a memory: as it was signed, and read."""
Told = tuple[int, bytes]
"""An offset, and what a verifier found of a candidate, as it was signed."""


@dataclass(slots=True)
class Batch:
    """The records applied to one shard in one transaction: at most one decision, records of the spine, new embeddings,
    results of rehearsals and trials of verifiers; or an order that is carried out alone (`order`).

    `parents`: the traces of the decision's commits, in the order of their arrival. `recalled`: of the memories that the
    decision restores, what the journal tells of those whose content can be opened. `unproven`: the episodes that fill a
    slot, and whose agents did not sign that where they have to.

    Filled by `apply`: the changes, each with the record that it comes from; why a decision could not be applied; and of
    what rehearsals and verifiers found, what is not borne out, with its topic and its offset.
    """

    certified: Certified | None
    items: list[Item]
    parents: tuple[str, ...] = ()
    anew: list[Anew] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    tried: list[Told] = field(default_factory=list)
    changes: list[tuple[Change, Item | None]] = field(default_factory=list)
    rejected: OutOfTurn | None = None
    unborne: list[tuple[str, int, str]] = field(default_factory=list)
    recalled: dict[str, Restored] = field(default_factory=dict)
    reencoded: dict[str, Vector] = field(default_factory=dict)
    unproven: set[str] = field(default_factory=set)

    @property
    def order(self) -> tuple[int, OrderAccepted] | None:
        """The order that it is, if it is to be carried out alone, and its offset."""
        first = self.items[0] if self.items else None
        order = _alone(first) if first else None
        return (first.offset, order) if first and order else None

    def rows_touched(self, codec: Codec, tombstones: Tombstones, since: int) -> RowKeys:
        """Returns the keys of the rows that it may touch. `since`: see `applying.touches`."""
        found = [applying.touches(codec, item.record, item.scored) for item in self.items]
        if self.certified is not None:
            found.append(applying.touches(codec, self.certified.checked, since=since))
        found.append(RowKeys(frozenset(record.memory_id for _, record in self.anew)))
        rehearsed = frozenset(i for _, _, made in self.found for i in (made.memory_id, made.witness) if i)
        # A memory stored by this batch may be rehearsed in it.
        born = (i for item in self.items if isinstance(item.record, EpisodeAccepted) for i in item.record.derives_from)
        found.append(RowKeys(rehearsed, grounds=rehearsed.union(born) if rehearsed else frozenset()))
        found += [trials.keys(codec, data) for _, data in self.tried]
        wanted = reduce(or_, found, RowKeys())
        return replace(wanted, erased=frozenset(key for key in wanted.erased if tombstones.stand_in(key[0])))

    def restores(self) -> list[str]:
        """The memories that its decision restores."""
        outcomes = self.certified.checked.outcomes if self.certified is not None else ()
        return [i for o in outcomes if o.decided for i in KINDS[o.kind].revived(o.memory_ids)]

    def sealed(self) -> list[str]:
        """The memories whose keys are needed to read the batch."""
        remembered = [memory_id for item in self.items if (memory_id := _memory_of(item)) is not None]
        return remembered + [record.memory_id for _, record in self.anew]

    def vectors(self, keys: Mapping[str, bytes]) -> dict[int, Vector]:
        """Returns the new embeddings that can be opened, by offset."""
        opened = ((at, _vector(keys.get(r.memory_id), r, r.memory_id)) for at, r in self.anew)
        return {at: vector for at, vector in opened if vector is not None}

    def apply(
        self,
        rules: Rules,
        rows: Rows,
        contents: Mapping[str, Clear],
        vectors: Mapping[int, Vector],
        tombstones: Tombstones,
    ) -> Net:
        """Judges everything, in order: the decision first, and the rest by the configuration that it leaves.
        `contents`, `vectors`: what could be opened. `tombstones`: what keeps episodes out.

        The `vectors`, by offset, that took effect are afterwards in `reencoded`, by memory.
        """
        work = Workset(rows)
        if self.certified is not None:
            self._decide(rules, work, self.certified)
            if self.rejected is None and self.certified.checked.configures is not None:
                rules = replace(rules, genesis=self.certified.checked.configures)
        for item in self.items:
            change = _judge(rules, work.rows, item, contents, tombstones, self.unproven)
            work.absorb(change)
            self.changes.append((change, item))
        for offset, record in self.anew:
            place = applying.RecordPosition(topics.REENCODED, rows.state.shard, offset)
            anew = applying.apply_reencoded(rules, work.rows, place, record) if offset in vectors else None
            if anew is not None:
                work.absorb(anew)
                self.changes.append((anew, None))
                self.reencoded[record.memory_id] = vectors[offset]
        for offset, data, _ in self.found:
            place = applying.RecordPosition(topics.REHEARSED, rows.state.shard, offset)
            rehearsed = applying.apply_rehearsed(rules, work.rows, place, data)
            if isinstance(rehearsed, Change):
                work.absorb(rehearsed)
                self.changes.append((rehearsed, None))
            elif not isinstance(rehearsed, NotRehearsed) or isinstance(rehearsed, NotBorneOut):
                self.unborne.append((topics.REHEARSED, offset, str(rehearsed)))
        for offset, data in self.tried:
            place = applying.RecordPosition(topics.TRIALS, rows.state.shard, offset)
            tried = applying.apply_tried(rules, work.rows, place, data)
            if isinstance(tried, Change):
                work.absorb(tried)
                self.changes.append((tried, None))
            elif not isinstance(tried, NotTried) or isinstance(tried, trials.NotBorneOut):
                self.unborne.append((topics.TRIALS, offset, str(tried)))
        return work.net()

    def cursors(self, shard: int) -> dict[tuple[int, str], int]:
        """Returns the next offsets of topics whose late records leave no journal entry."""
        ends = {topics.REENCODED: [at for at, _ in self.anew], topics.REHEARSED: [at for at, _, _ in self.found]}
        ends[topics.TRIALS] = [at for at, _ in self.tried]
        return {(shard, topic): some[-1] + 1 for topic, some in ends.items() if some}

    def _decide(self, rules: Rules, work: Workset, certified: Certified) -> None:
        place = applying.RecordPosition(topics.PRE_PREPARES, work.rows.state.shard, certified.offset)
        rules = replace(rules, verified=certified.verified)
        try:
            change = applying.apply_decision(
                rules, work.rows, place, certified.checked, certified.commits, recalled=self.recalled
            )
        except OutOfTurn as error:
            self.rejected = error
            return
        work.absorb(change)
        self.changes.append((change, None))


class CommitShard:
    """A shard's stand and its waiting records. Bounded by `core.commit`."""

    def __init__(self, rules: Rules, start: Start) -> None:
        """`rules`: with the genesis file's configuration. Raises BadCertificate where the store holds decisions about
        the members that prove nothing."""
        genesis = follow(rules.codec, rules.genesis, start.configured)
        self.rules = replace(rules, genesis=genesis)
        self.state = start.state
        self.tombstones = Tombstones(start.tombstones)
        self.read_to: dict[str, int] = {}
        """The next offset of each source, once anything of it has been read."""
        self.spine = Spine(start.cursors.get(topics.ACCEPTED, 0))
        self.decisions = Assembly(rules.codec, genesis, self.state.shard, self.state.decided_seq, start.decided)
        self._codec = rules.codec
        self._anew: deque[Anew] = deque()
        self._found: deque[Found] = deque()
        self._trials: deque[Told] = deque()
        # The traces of commits that wait, by their bytes; strangers can push out no more than a trace.
        self._traces: dict[bytes, str] = {}

    @property
    def since(self) -> int:
        """The time up to which forgotten memories no longer count against a cap."""
        return caps.since(self.state.as_of, self.rules.genesis.policy.caps)

    def take(self, topic: str, offset: int, data: bytes, traceparent: str | None, written_ms: int = 0) -> str | None:
        """A record of one of the sources; what is wrong with it, if nothing can be made of it.

        Raises assembly.DigestConflict.
        """
        self.read_to[topic] = offset + 1
        if topic == topics.PRE_PREPARES:
            self.decisions.pre_prepare(offset, data)
        elif topic == topics.COMMITS:
            self.decisions.commit(offset, data)
            self._note_trace(data, traceparent)
        elif topic == topics.SCORED:
            return self._score(offset, data, traceparent)
        elif topic == topics.REENCODED:
            return self._reencode(offset, data)
        elif topic == topics.REHEARSED:
            return self._rehearse(offset, data)
        elif topic == topics.TRIALS:
            return self._take_trial(offset, data)
        else:
            return self._accept(offset, data, traceparent, written_ms)
        refusals, self.decisions.refusals = self.decisions.refusals, []
        return "; ".join(refusals) or None

    def skip(self, topic: str, offset: int) -> None:
        """A record of one of the sources that is to be passed over unread."""
        self.read_to[topic] = offset + 1
        if topic == topics.ACCEPTED:
            self.spine.skip(offset)

    def batch(self, most: int) -> Batch | None:
        """Returns the batch that can be applied now, or None."""
        certified = self.decisions.next(self.spine.next_offset)
        items = _up_to_an_order(self.spine.ready(most), alone=certified is None)
        if certified is None and items and _alone(items[0]):
            return Batch(None, items)
        # Decisions and episodes come first: new embeddings are many, and nobody waits for one of them.
        anew = list(itertools.islice(self._anew, _ANEW_MOST))
        found = list(itertools.islice(self._found, _TAKEN_MOST))
        tried = list(itertools.islice(self._trials, _TRIED_MOST))
        if certified is None:
            some = items or anew or found or tried
            return Batch(None, items, anew=anew, found=found, tried=tried) if some else None
        commits = set(certified.commits)
        traces = tuple(trace for data, trace in self._traces.items() if data in commits)
        return Batch(certified, items, traces, anew, found, tried)

    def paused(self) -> set[str]:
        """Sources not to be read on until some of what has arrived is applied."""
        full = {topics.ACCEPTED: self.spine.full, topics.SCORED: self.spine.scores_full}
        full[topics.REENCODED] = len(self._anew) >= _REENCODED_MOST
        full[topics.REHEARSED] = len(self._found) >= _REHEARSED_MOST
        full[topics.TRIALS] = len(self._trials) >= _TRIALS_MOST
        return {topic for topic, so in full.items() if so}

    def rewind(self) -> dict[str, int]:
        """Sources to be read again, and from which offset; asked for once each. A restart before that was read has to
        read it as well."""
        again = self.decisions.rewind()
        asked = {topic: again[kind] for topic, kind in KIND_OF.items() if kind in again}
        # Never forward: what was asked for before may not have been read again yet.
        places = {topic: min(offset, self.read_to.get(topic, offset)) for topic, offset in asked.items()}
        if (scores := self.spine.rewind()) is not None:
            places[topics.SCORED] = scores
        self.read_to |= places
        return places

    def cursors(self, batch: Batch) -> dict[tuple[int, str], int]:
        """Returns the offsets from which a restart must read the consensus topics and scores, once the batch is in the
        store; that of the accepted stream follows from the journal's entries."""
        shard = self.state.shard
        found = {
            (shard, topic): self.decisions.cursor(kind, self.read_to[topic])
            for topic, kind in KIND_OF.items()
            if topic in self.read_to
        }
        scores = self.spine.scores_from(batch.items[-1].offset + 1 if batch.items else None)
        return found if scores is None else found | {(shard, topics.SCORED): scores}

    def applied(self, batch: Batch, net: Net) -> None:
        """The batch is in the store."""
        self.state = net.after
        for one in net.of(ErasureRow):
            order = Tombstone(one.namespace, one.order_id, one.selector, one.value, one.accepted_at)
            self.tombstones.add(order)
        if batch.items:
            self.spine.applied(batch.items[-1].offset)
        for _ in batch.anew:
            self._anew.popleft()
        for _ in batch.found:
            self._found.popleft()
        for _ in batch.tried:
            self._trials.popleft()
        if batch.certified is not None and batch.rejected is None:
            self.decisions.decided(batch.certified)
            configures = batch.certified.checked.configures
            if configures is not None:
                self.rules = replace(self.rules, genesis=configures)
            for data in batch.certified.commits:
                self._traces.pop(data, None)
        elif batch.certified is not None and batch.rejected is not None:
            self.decisions.reject(batch.certified, batch.rejected)

    def _note_trace(self, data: bytes, traceparent: str | None) -> None:
        if traceparent is None or unsampled(traceparent):
            return
        self._traces[data] = traceparent
        while len(self._traces) > _TRACES_MOST:
            del self._traces[next(iter(self._traces))]

    def _accept(self, offset: int, data: bytes, traceparent: str | None, written_ms: int) -> str | None:
        try:
            record = self._codec.decode(data)
            if not isinstance(record, applying.Accepted):
                raise DecodeError(f"a {type(record).__name__} does not belong there")
            wrong = applying.unfit(self._codec, self.rules.genesis, record)
        except DecodeError as error:
            wrong = str(error)
        if wrong is None:
            self.spine.accept(offset, record, traceparent, written_ms)
        else:
            self.spine.skip(offset)
        return wrong

    def _score(self, offset: int, data: bytes, traceparent: str | None) -> str | None:
        try:
            record = self._codec.decode_as(EpisodeScored, data)
        except DecodeError as error:
            return str(error)
        if self.spine.score(applying.Scored(offset, record, traceparent)):
            return None
        return f"its writer had lost the partition: assignment {record.writer_epoch} is not the latest"

    def _reencode(self, offset: int, data: bytes) -> str | None:
        try:
            record = self._codec.decode_as(MemoryReencoded, data)
        except DecodeError as error:
            return str(error)
        if not ids.is_uuid(record.memory_id):
            return f"memory id {record.memory_id[:40]!r} is no UUID"
        if "\0" in record.encoder + record.namespace:
            return "NUL in encoder or namespace"
        self._anew.append((offset, record))
        return None

    def _rehearse(self, offset: int, data: bytes) -> str | None:
        try:
            made = rehearsals.opened(self._codec, self.rules.genesis, data)
        except BadMessage as error:
            return str(error)
        if wrong := rehearsals.unfit(made, self.state.shard):
            return wrong
        self._found.append((offset, data, made))
        return None

    def _take_trial(self, offset: int, data: bytes) -> str | None:
        try:
            made = trials.opened(self._codec, self.rules.genesis, data)
        except BadMessage as error:
            return str(error)
        if wrong := trials.unfit(made, self.state.shard, self.rules.genesis):
            return wrong
        self._trials.append((offset, data))
        return None


def vault_ids(batch: Batch, genesis: Genesis) -> list[str]:
    """The vault's ids of the keys that it takes to read a batch: with the memories', of namespaces where agents sign
    which slot they fill, and in that of others nobody asks. So it is with what clears one."""
    filling = [
        item.record
        for item in batch.items
        if isinstance(item.record, EpisodeAccepted)
        and (item.record.slot is not None or item.record.clears)
        and item.record.namespace in genesis.signed
    ]
    spaces = {ids.space_key_id(record.namespace) for record in filling if record.slot is not None}
    return [*batch.sealed(), *(record.memory_id for record in filling if record.clears), *sorted(spaces)]


def opened(item: Item, key: bytes | None) -> Clear | None:
    """An episode's content and embedding in the clear; None where they cannot be opened, or not be stored."""
    record, scored = item.record, item.scored
    if key is None or scored is None or scored.record.sealed_embedding is None:
        return None
    assert isinstance(record, EpisodeAccepted)
    try:
        text = sealing.open_text(key, record.sealed_content, record.memory_id)
        named, labels = linking.named(record, key), labelling.of(labelling.opened(record, key))
    except ValueError:  # SealError, or bytes that are no text
        return None
    vector = _vector(key, scored.record, record.memory_id)
    if record.task is not None and not _readable(text, vector):
        return None
    return None if vector is None or "\0" in "".join((text, *named)) else Clear(text, vector, named, labels)


def _readable(text: str, vector: Vector | None) -> bool:
    """True if a trial can read a finished task: it has texts, and its vector has a direction."""
    try:
        texts.read(text)
    except ValueError:
        return False
    return vector is not None and bool(np.atleast_2d(vector)[0].astype("<f2").any())


def _vector(key: bytes | None, record: EpisodeScored | MemoryReencoded, memory_id: str) -> Vector | None:
    """An embedding in the clear, as `sealing.open_rows` gives it; None where it cannot be opened, or not be stored."""
    if key is None or record.sealed_embedding is None:
        return None
    try:
        vector = sealing.open_rows(key, record.sealed_embedding, record.sealed_sentences, memory_id)
    except ValueError:  # SealError, or bytes that are no vector
        return None
    return vector if 0 < vector.shape[-1] <= _DIMENSIONS_MOST and np.isfinite(vector).all() else None


def _memory_of(item: Item) -> str | None:
    """The memory that an item's episode becomes or strengthens; None if it does neither."""
    score = item.scored.record if item.scored is not None else None
    return score.memory_id if score is not None and score.outcome in REMEMBERED else None


def _alone(item: Item) -> OrderAccepted | None:
    """The order that is to be carried out in a transaction of its own, if it is one."""
    record = item.record
    return record if isinstance(record, OrderAccepted) and ORDERS[record.kind].alone else None


def _up_to_an_order(items: list[Item], *, alone: bool) -> list[Item]:
    """Returns the items before the first order that is carried out alone; or that order, where it is first and may
    be."""
    at = next((at for at, item in enumerate(items) if _alone(item)), len(items))
    return items[:1] if at == 0 and alone else items[:at]


def _judge(  # noqa: PLR0917
    rules: Rules,
    rows: Rows,
    item: Item,
    contents: Mapping[str, Clear],
    tombstones: Tombstones,
    unproven: Collection[str],
) -> Change:
    record = item.record
    place = applying.RecordPosition(topics.ACCEPTED, rows.state.shard, item.offset)
    if isinstance(record, EpisodeAccepted):
        assert item.scored is not None
        asked = applying.newcomer(record, item.scored)
        return applying.apply_episode(
            rules, rows, place, record,
            scored=item.scored,
            readable=record.memory_id in contents,
            kept_out=tombstones.keep_out(asked, rows.memories, rows.erased),
            proven=record.memory_id not in unproven,
        )  # fmt: skip
    if isinstance(record, AccessAccepted):
        return applying.apply_access(rules, rows, place, record)
    if isinstance(record, FeedbackAccepted):
        return applying.apply_feedback(rules, rows, place, record)
    if isinstance(record, OrderAccepted):
        return ordering.apply_order(rules, rows, place, record)
    assert isinstance(record, ClockTicked)
    return applying.apply_tick(rules, rows, place, record)
