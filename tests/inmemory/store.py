"""The storage ports in this process's memory: for tests, simulations and small tools. Its data ends with the
process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec.structs import astuple, replace

from db import keys_to_destroy
from db.keys_to_destroy import Due, Echo
from db.rollup_rows import CHARACTERS_MOST, LOG_MOST, SAID_MOST, Quoted, logged, quoted, readable
from db.standing import Clear, Published, Start, check_standing
from memquorum import topics
from memquorum.core import ids, linking
from memquorum.core.access import covers
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.consolidation.alike import cosine_ppm
from memquorum.core.consolidation.twins import FAMILY_LEAST
from memquorum.core.experience.admission import ADMITTED
from memquorum.core.experience.context import Context
from memquorum.core.journal import anew, grounds, hash_chain
from memquorum.core.journal.contexts import context
from memquorum.core.journal.naming import DROPPED, REINFORCED, Kin, Names, matching
from memquorum.core.journal.protections import counted, protects
from memquorum.core.journal.rows import (
    AdmissionRow,
    Answered,
    Conflict,
    DecisionRow,
    Disclosure,
    Dropped,
    ErasedRow,
    ErasureRow,
    Event,
    EventKey,
    FeedbackRow,
    GoalDue,
    Grounds,
    Guarded,
    LetGo,
    LinkRow,
    Living,
    Memory,
    OutcomeRow,
    PatchRow,
    Protection,
    Provenance,
    QuoteRow,
    Reward,
    RowKeys,
    Rows,
    ShardState,
    Spent,
    Strength,
    TaskRow,
    TrialRow,
    UseRow,
    WeightRow,
)
from memquorum.core.journal.tables import TABLES, Kind
from memquorum.core.journal.tombstones import Tombstone
from memquorum.core.journal.trials import AGREED
from memquorum.core.journal.workset import Net
from memquorum.core.merging import Marks
from memquorum.core.orders import uses
from memquorum.core.orders.erase import MEMORY, SUBJECT
from memquorum.core.orders.protect import GOAL, HOLD
from memquorum.core.orders.restore import ACTIONS
from memquorum.core.orders.turns import in_turn
from memquorum.core.policy import EpochPolicy, Retention
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import ErasedEpisode, JournalAppended, JournalEntry, OrderFound, RewardGiven
from memquorum.core.tiers import ALIVE, DRAFT, GONE, LONG_TERM, SEALED, SHORT_TERM
from memquorum.core.triage import HOUR_MS, grade
from memquorum.core.vote import asking
from memquorum.core.vote.kinds import CONTESTS, GENERALISES, GOES, KINDS, LETS_GO, MERGES, RAISES, SUMS_UP, UNITES
from memquorum.core.vote.tally import KEPT
from memquorum.ports import (
    NEAREST,
    Candidate,
    Counted,
    DueMemory,
    ErasedSummary,
    Fading,
    Grade,
    IdleSession,
    JournalChange,
    Logged,
    Neighbour,
    OrderVote,
    Peer,
    Peers,
    ShardStatus,
    Unattested,
    Uttered,
    Vector,
    Weighted,
)
from tests.inmemory.budgets import Held, older, steps, unused, weighted
from tests.inmemory.vault import InMemoryVault

__all__ = ["InMemoryNeighbourhoods", "InMemorySchedule", "InMemoryStore", "InMemoryStoredOrders", "InMemoryVault"]


Tasks = dict[str, TaskRow]
Feedback = dict[str, tuple[FeedbackRow, ...]]
Versions = dict[str, tuple[WeightRow, ...]]
Used = tuple[Tasks, Feedback]
"""Tasks, and what is said of them, as `Rows` have them."""


class InMemoryStore:
    """The port of `db.store.PostgresStore` on dictionaries, for one thread. One thread."""

    def __init__(self) -> None:
        self.states: dict[int, ShardState] = {}
        self.contents, self.experience = dict[str, Clear](), dict[str, Context]()
        self.entries: dict[int, list[tuple[JournalEntry, JournalAppended]]] = {}
        # By table, its rows by their keys; those that are asked for have a name.
        self.rows: dict[Kind, dict[Any, Any]] = {kind: {} for kind in TABLES}
        self.memories: dict[str, Memory] = self.rows[Memory]
        self.strengths: dict[str, Strength] = self.rows[Strength]
        self.events: dict[EventKey, Event] = self.rows[Event]
        self.dropped: dict[str, Dropped] = self.rows[Dropped]
        self.provenance: dict[tuple[str, str, str], Provenance] = self.rows[Provenance]
        self.erased: dict[str, ErasedRow] = self.rows[ErasedRow]
        self.erasures: dict[tuple[int, int], ErasureRow] = self.rows[ErasureRow]
        self.protected: dict[tuple[str, str], Protection] = self.rows[Protection]
        self.answers: dict[tuple[int, bytes], Answered] = self.rows[Answered]
        self._cursors: dict[int, dict[str, int]] = {}
        self._published: dict[int, int] = {}

    @property
    def decisions(self) -> list[DecisionRow]:
        """Returns the decisions, in the order in which they were applied."""
        return list(self.rows[DecisionRow].values())

    def alive(self, namespace: str) -> int:
        """Returns the number of living memories of a namespace."""
        found: Living | None = self.rows[Living].get(namespace)
        return 0 if found is None else found.alive

    def start(self, cluster: bytes, shards: int) -> dict[int, Start]:
        """Returns the start of each shard; makes the missing shards."""
        for shard in range(shards):
            self.states.setdefault(shard, hash_chain.beginning(cluster, shard))
        decided = {k: {row.seq: row.digest for row in self.decisions if row.shard == k} for k in self.states}
        return {
            shard: Start(
                state,
                dict(self._cursors.get(shard, {})),
                self._published.get(shard, 0),
                decided[shard],
                [(v.pre_prepare, v.commits) for v in InMemoryStoredOrders(self).decided(shard) if v.configured],
                [
                    Tombstone(e.namespace, e.order_id, e.selector, e.value, e.accepted_at)
                    for e in self.erasures.values()
                    if e.shard == shard
                ],
            )
            for shard, state in self.states.items()
        }

    @contextmanager
    def transaction(self, wanted: Mapping[ShardState, RowKeys]) -> Iterator[InMemoryTransaction]:
        """A transaction on the shards that stand as given. Raises Fenced where one stands elsewhere."""
        for expected in wanted:
            check_standing(expected, self.states.get(expected.shard))
        used = {state.shard: _used(self, state, keys.uses) for state, keys in wanted.items()}
        filled = {s: keys | self._filling(keys.slots) | _given(*used[s.shard]) for s, keys in wanted.items()}
        rows = {
            state.shard: Rows(
                state,
                {i: self.memories[i] for i in keys.memories if i in self.memories},
                {i: self.strengths[i] for i in keys.memories if i in self.strengths},
                {k: self.events[k] for k in keys.events if k in self.events},
                {(n, i) for n, i in keys.erased if i in self.erased and self.erased[i].namespace == n},
                self.losses(keys.losses),
                {key: one for key, one in self.protected.items() if key[0] in keys.protected},
                self.answered(state.shard, keys.orders),
                self.guarded(keys.guarded),
                found,
                *_tried(self, state.shard, keys, used),
                keys,
            )
            for state, keys, found in _grounded(self, filled)
        }
        yield InMemoryTransaction(self, rows)

    def _filling(self, slots: Collection[tuple[str, str]]) -> RowKeys:
        """The memories that fill slots."""
        of = {i: (self.memories[i].namespace, self.memories[i].slot) for i in self.strengths} if slots else {}
        found = frozenset(memory_id for memory_id, slot in of.items() if slot in slots)
        return RowKeys(memories=found, protected=found)

    def losses(self, asked: Iterable[tuple[str, int]]) -> dict[str, Losses]:
        """Returns the losses of namespaces, for pairs (namespace, time after which forgotten memories count)."""
        return {
            name: Losses(
                self.alive(name),
                tuple(
                    (o.as_of, o.forgotten) for o in self.rows[LetGo].values() if o.namespace == name and o.as_of > since
                ),
            )
            for name, since in asked
        }

    def applied(self, topic: str) -> dict[int, int]:
        """The next offset of a topic, by shard."""
        return {shard: known[topic] for shard, known in self._cursors.items() if topic in known}

    def answered(self, shard: int, orders: Collection[bytes]) -> set[bytes]:
        """Finds those of the orders, by their digests, that were answered."""
        return {digest for digest in orders if (shard, digest) in self.answers}

    def guarded(self, namespaces: Collection[str]) -> dict[str, Guarded]:
        """Returns the counts of protected memories by namespace."""
        found: dict[str, Guarded] = {}
        for one in self.protected.values():
            if one.namespace in namespaces:
                found[one.namespace] = counted(found.get(one.namespace, Guarded()), one.kind, 1)
        return found

    def goals_due(self, after_ms: Mapping[int, int], most: int) -> dict[int, GoalDue]:
        """Finds for each shard a goal that was last spoken of at least that long ago, with at most `most` of its
        memories."""
        goals: dict[tuple[int, str, str], list[Protection]] = {}
        for one in self.protected.values():
            if one.kind.startswith(GOAL):
                goals.setdefault((one.shard, one.namespace, one.kind), []).append(one)
        found: dict[int, GoalDue] = {}
        for (shard, namespace, kind), rows in sorted(goals.items()):
            used_at = max(row.accepted_at for row in rows)
            if shard in found or shard not in after_ms:
                continue
            if used_at <= self.states[shard].as_of - after_ms[shard]:
                ids = sorted(row.memory_id for row in rows)[:most]
                found[shard] = GoalDue(namespace, kind, used_at, tuple(ids))
        return found

    def held(self, memory_ids: Sequence[str]) -> list[str]:
        """Those of the memories that are held."""
        return [one for one in memory_ids if (one, HOLD) in self.protected]

    def published(self, upto: Mapping[int, int]) -> None:
        """Notes how far each shard's journal is in its topic."""
        for shard, seq in upto.items():
            self._published[shard] = max(seq, self._published.get(shard, 0))

    def journal(self, shard: int, after: int, limit: int) -> list[Published]:
        """The shard's journal entries after a sequence, in order."""
        later = [(e, link) for e, link in self.entries.get(shard, []) if e.seq > after]
        return [Published(e.seq, e.event_id, e.as_of, link) for e, link in later[:limit]]

    def taken(self, namespace: str, selector: str, value: str) -> list[ErasedEpisode]:
        """Returns the present episodes that an order names, by id."""
        roots, named = [value] if selector == MEMORY else [], matching(selector, value)
        for (where, event_id), event in self.events.items():
            own = ids.memory_id(where, event_id)
            said = Names(own, event.agent or "", event.subject or "", event.source, event.type, event.occurred)
            if where == namespace and event.agent is not None and named(said):
                roots.append(own)
        kin = Kin()
        for made in self.provenance.values():
            if made.namespace == namespace:
                kin.add(made)
        held = [own for own, kind in self.protected if kind == HOLD]
        taken = kin.taken(selector, roots, self.memories, self.erased, held)
        found = ((one, self._was(namespace, one)) for one in sorted(taken))
        memories, made_of = self.memories, _made_of(self, taken)
        as_of = max((self.states[memories[one].shard].as_of for one in made_of), default=0)
        summaries = anew.fates(taken, set(roots), memories, made_of, self.erased, as_of=as_of)
        sent = _recipients(self.rows[Disclosure].values())
        return [
            ErasedEpisode(
                one,
                was,
                memories[one].commitment if one in memories else None,
                summaries.get(one),
                sent.get(one, ()),
            )
            for one, was in found
            if was is not None
        ]

    def _was(self, namespace: str, own: str) -> str | None:
        """Returns the tier or state of an episode whose key exists; None for others."""
        memory = self.memories.get(own)
        if memory is not None:
            return memory.tier if memory.tier != GONE and memory.namespace == namespace else None
        if own in self.dropped and self.dropped[own].namespace == namespace:
            return DROPPED
        told = (m for m in self.provenance.values() if m.echo and m.child == own and m.namespace == namespace)
        alive = any(self.memories[m.parent].tier != GONE for m in told)
        return REINFORCED if alive and own not in self.erased else None

    def about(self, codec: Codec, memory_ids: Sequence[str]) -> dict[str, list[JournalEntry]]:
        """Returns the journal's entries on each memory's birth, uses and encodings, in order."""
        found = {one: _told_of(self, one) for one in memory_ids}
        return {i: entries for i, entries in found.items() if entries}

    def keys_due(self, shards: Iterable[int], echoed: Mapping[str, int] = keys_to_destroy.NONE) -> dict[int, Due]:
        """The ids whose keys are to be destroyed now, by shard."""
        wanted = [shard for shard in shards if shard in self.states]
        over = sorted(
            (m.sealed_until, m.id, m.shard)
            for m in self.memories.values()
            if m.shard in wanted
            and m.tier == SEALED
            and (m.sealed_until or 0) <= self.states[m.shard].as_of
            and (m.id, HOLD) not in self.protected
        )
        sealed = [(shard, memory_id) for _, memory_id, shard in over][: keys_to_destroy.SEALED_MOST]
        echoes = [
            Echo(memory_id, ids.memory_id(e.namespace or "", e.event_id), e.seq)
            for shard, memory_id in sealed
            for e, _ in self.entries[shard]
            if e.effect == "reinforced" and e.memory_id == memory_id and e.seq > echoed.get(memory_id, 0)
        ]
        found = keys_to_destroy.pick(sealed, echoes[: keys_to_destroy.MOST], keys_to_destroy.MOST)
        left = keys_to_destroy.MOST - sum(len(one.ids) for one in found.values())
        old = sorted(
            (d.destroy_at, i, d.shard)
            for i, d in self.dropped.items()
            if d.shard in wanted and d.destroy_at <= self.states[d.shard].as_of
        )
        for _, memory_id, shard in old[:left]:
            found.setdefault(shard, Due()).ids.append(memory_id)
        return found

    def write(
        self,
        net: Net,
        contents: Mapping[str, Clear],
        cursors: Mapping[tuple[int, str], int],
        vectors: Mapping[str, Vector],
    ) -> None:
        """Makes one shard's changes."""
        shard = net.after.shard
        self.states[shard] = net.after
        for kind, held in self.rows.items():
            for key in net.gone[kind]:
                held.pop(key, None)
            for row in net.of(kind):
                table = TABLES[kind]
                key = table.key_of(row)
                held[key] = table.plus(held[key], row) if table.adds and key in held else row
        for memory_id in net.gone[Strength]:
            self.contents.pop(memory_id, None)
        _reveal(self, net, contents)
        for memory_id in net.reencoded:
            if memory_id in vectors and memory_id in self.contents:
                self.contents[memory_id] = replace(self.contents[memory_id], vector=vectors[memory_id])
        for order_id, epoch in net.attested:
            named = [key for key, one in self.erasures.items() if key[0] == shard and one.order_id == order_id]
            self.erasures |= {key: replace(self.erasures[key], epoch=epoch) for key in named}
        self.entries.setdefault(shard, []).extend(net.journal)
        known = self._cursors.setdefault(shard, {})
        moved = net.cursors | {topic: offset for (k, topic), offset in cursors.items() if k == shard}
        known |= {topic: max(offset, known.get(topic, 0)) for topic, offset in moved.items()}


def _weights(store: InMemoryStore, memory_ids: Collection[str]) -> Versions:
    """All versions of the weights of memories."""
    found: Versions = {}
    rows = (row for row in store.rows[WeightRow].values() if row.memory_id in memory_ids)
    for row in sorted(rows, key=lambda one: one.version):
        found[row.memory_id] = (*found.get(row.memory_id, ()), row)
    return found


def _tried(
    store: InMemoryStore, shard: int, keys: RowKeys, used: Mapping[int, Used]
) -> tuple[
    dict[str, AdmissionRow], dict[tuple[str, int], tuple[TrialRow, ...]], dict[int, bytes], Tasks, Feedback, Versions
]:  # fmt: skip
    """Returns the admissions of memories, the trials of verifiers, the nominations, the uses, and all versions of
    weights."""
    stand: dict[str, AdmissionRow] = store.rows[AdmissionRow]
    told = sorted(store.rows[TrialRow].values(), key=lambda row: row.seq) if keys.trials else ()
    found = {key: tuple(row for row in told if (row.memory_id, row.position) == key) for key in keys.trials}
    return (
        {one: stand[one] for one in keys.admissions if one in stand},
        {key: rows for key, rows in found.items() if rows},
        {d.epoch: d.nomination for d in store.decisions if d.shard == shard and d.epoch in keys.epochs},
        *used[shard],
        _weights(store, keys.weights),
    )


def _used(store: InMemoryStore, state: ShardState, before: int) -> Used:
    """Returns the uses before an accepted offset that no decision has counted yet."""
    of = [*store.rows[TaskRow].values(), *sorted(store.rows[FeedbackRow].values(), key=lambda row: row.seq)]
    of = [row for row in of if row.shard == state.shard]
    named = {
        row.memory_id if isinstance(row, TaskRow) else row.task
        for row in of if state.weighed_to <= row.accepted_offset < before
    }  # fmt: skip
    tasks = {row.memory_id: row for row in of if isinstance(row, TaskRow) and row.memory_id in named}
    feedback: dict[str, tuple[FeedbackRow, ...]] = {}
    for row in of:
        if isinstance(row, FeedbackRow) and row.task in named:
            feedback[row.task] = (*feedback.get(row.task, ()), row)
    return tasks, feedback


def _given(tasks: Mapping[str, TaskRow], _: object) -> RowKeys:
    """Returns the keys of the admissions of the memories that tasks were given."""
    return RowKeys(admissions=frozenset(i for task in tasks.values() for i in task.retrieved if ids.is_uuid(i)))


def _reveal(store: InMemoryStore, net: Net, contents: Mapping[str, Clear]) -> None:
    """Takes contents in, and the names of subjects that an order erased out of the links of what occurred before."""
    tasks: dict[str, TaskRow] = store.rows[TaskRow]
    for one in net.of(Memory):
        if one.tier == GONE:
            store.experience.pop(one.id, None)
    for i in net.revealed:
        if i in contents and i in tasks:
            clear = contents[i]
            vector = np.atleast_2d(clear.vector)[0].astype("<f2").tobytes()
            store.experience[i] = context(store.memories[i], tasks[i], clear.text, vector)
    store.contents |= {i: contents[i] for i in net.revealed if i in contents and i not in tasks}
    for i, _ in net.replaced:  # reads of the past are not asked of this store
        store.contents.pop(i, None)
    if not (net.of(ErasureRow) or net.revealed):
        return
    orders = [one for one in store.erasures.values() if one.selector == SUBJECT]
    for memory_id, clear in store.contents.items():
        memory = store.memories[memory_id]
        gone = {e.value for e in orders if e.namespace == memory.namespace and e.accepted_at >= memory.created}
        kept = tuple(one for one in clear.named if linking.read(one).name not in gone)
        if kept != clear.named:
            store.contents[memory_id] = replace(clear, named=kept)


def _recipients(rows: Iterable[Disclosure]) -> dict[str, tuple[str, ...]]:
    """Names to whom the text of each memory was sent, in the order of their names."""
    sent: dict[str, set[str]] = {}
    for one in rows:
        sent.setdefault(one.memory_id, set()).add(one.recipient)
    return {memory_id: tuple(sorted(names)) for memory_id, names in sent.items()}


def _grounded(
    store: InMemoryStore, wanted: Mapping[ShardState, RowKeys]
) -> Iterator[tuple[ShardState, RowKeys, dict[str, Grounds]]]:
    """The keys with all that the grounds among them name, and these grounds."""
    told = (*store.provenance.values(), *store.rows[Conflict].values())

    def find(shard: int, memory_ids: frozenset[str]) -> dict[str, Grounds]:
        found: dict[str, Grounds] = {}
        grounds.note(found, (row for row in told if row.shard == shard), memory_ids.__contains__)
        return found

    for state, keys in wanted.items():
        yield state, *grounds.wanted(keys, partial(find, state.shard))


def _in_time(came: Memory, found: Memory) -> tuple[str, str]:
    """The ids of two memories that contradict each other, the one that was said later first. `came`: which came in
    later."""
    newer = found if (found.said, found.said_offset) > (came.said, came.said_offset) else came
    return newer.id, (came if newer is found else found).id


def _offered(store: InMemoryStore, s: Strength) -> Candidate:
    memory = store.memories[s.memory_id]
    return Candidate(
        s.memory_id, memory.namespace, s.tier, s.created, s.last_access, s.salience_ppm, memory.early, s.replays,
        s.fades,
    )  # fmt: skip


def _agreed_in(store: InMemoryStore, alive: Mapping[str, Strength]) -> list[tuple[Candidate, tuple[bytes, ...]]]:
    """Those memories of which verifiers agree that they help, in that order, each with the trials that tell it."""
    agreed: Iterable[AdmissionRow] = store.rows[AdmissionRow].values()
    told: list[TrialRow] = sorted(store.rows[TrialRow].values(), key=lambda one: one.seq)
    return [
        (
            _offered(store, alive[a.memory_id]),
            tuple(t.made for t in told if t.memory_id == a.memory_id and (t.position, t.digest) == wanted),
        )
        for a in sorted(agreed, key=lambda one: one.seq)
        if a.memory_id in alive and a.status == AGREED and (wanted := (a.position, a.digest))
    ]


def _made_of(store: InMemoryStore, memory_ids: Collection[str]) -> dict[str, list[str]]:
    """Returns the sources of those of the memories that are summaries."""
    found: dict[str, list[str]] = {}
    for made in store.provenance.values():
        child = store.memories.get(made.child)
        if made.child in memory_ids and child is not None and child.made_by is not None and not made.merged:
            found.setdefault(made.child, []).append(made.parent)
    return found


def _told_of(store: InMemoryStore, memory_id: str) -> list[JournalEntry]:
    told = ("stored", "drafted", "reinforced", "reencoded", "rehearsed")
    used = {(one.shard, one.seq) for one in store.rows[UseRow].values() if one.memory_id == memory_id}
    return [
        entry
        for entries in store.entries.values()
        for entry, _ in entries
        if (entry.memory_id == memory_id and entry.effect in told) or (entry.shard, entry.seq) in used
    ]


class InMemoryTransaction:
    """The rows that were asked for, and the one way to change them."""

    def __init__(self, store: InMemoryStore, rows: Mapping[int, Rows]) -> None:
        self._store = store
        self.rows = rows

    def write(
        self,
        nets: Sequence[Net],
        contents: Mapping[str, Clear],
        cursors: Mapping[tuple[int, str], int],
        vectors: Mapping[str, Vector] = MappingProxyType({}),
    ) -> None:
        """Writes what the batches leave."""
        for net in nets:
            self._store.write(net, contents, cursors, vectors)


class InMemoryLiving:
    """The Living port over an in-memory store."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def counted(self, namespaces: Collection[str]) -> Counted:
        """Returns the number of living memories by namespace; see the port."""
        return Counted({name: self._store.alive(name) for name in namespaces}, self._store.applied(topics.ACCEPTED))


class _OfExperience:
    """The part of the schedule for experience, with its views of living memories."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def tried(self, shard: int, limit: int) -> list[tuple[Candidate, tuple[bytes, ...]]]:
        """Returns the candidates that enough verifiers agree in, with the trials they signed; see the port."""
        return _agreed_in(self._store, {s.memory_id: s for s in self._alive(shard)})[:limit]

    def twins(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        """Memories of experience that lie near others, and those; see the port."""
        alive = {s.memory_id: s for s in self._alive(shard)}
        disputed = _disputed(self._store, alive)
        free = [
            self._store.memories[i] for i, s in sorted(alive.items())
            if given(self._store, i) and i not in disputed and self._rested(s, UNITES)
            and self._store.memories[i].general_of is None
        ]  # fmt: skip
        return _peers(self._store, free, least_ppm, limit, after, twins=True)

    def general(self, shard: int, limit: int) -> list[tuple[Candidate, Candidate]]:
        """General forms that wait for their vote, with what they were made of; see the port."""
        alive = {
            s.memory_id: s for s in self._alive(shard) if self._rested(s, dict.fromkeys(ALIVE, GENERALISES[DRAFT]))
        }
        forms = _forms(self._store, shard, alive)[:limit]
        return [(_drafted(m), self._candidate(alive[m.general_of or ""])) for m in forms]

    def families(self, shard: int, limit: int) -> list[tuple[Candidate, ...]]:
        """General forms with the lessons that they may stand for; see the port."""
        alive = {s.memory_id: s for s in self._alive(shard)}
        disputed = _disputed(self._store, alive)
        alike: dict[Any, list[Memory]] = {}
        for form in sorted(self._store.memories.values(), key=lambda m: (m.seq, m.id)):
            of = self._store.memories.get(form.general_of or "")
            both = (form.id, form.general_of)
            if of is None or not all(i in alive and given(self._store, i) for i in both) or of.id in disputed:
                continue
            if of.slot or of.label or not all(self._rested(alive[i], UNITES) for i in both if i):
                continue
            about = None if of.subject == of.agent else of.subject
            bound = about, of.source, of.sensitivity_ppm, of.purposes, of.jurisdictions
            alike.setdefault((of.namespace, self._store.contents[form.id].text, *bound), []).append(form)
        most = KINDS[UNITES[SHORT_TERM]].takes - 1
        some = [forms for forms in alike.values() if len(forms) >= FAMILY_LEAST]
        return [
            tuple(self._candidate(alive[i]) for i in (forms[0].id, *(f.general_of or "" for f in forms[:most])))
            for forms in some[:limit]
        ]

    def _alive(self, shard: int) -> list[Strength]:
        return [s for s in self._store.strengths.values() if s.shard == shard]

    def _rested(self, s: Strength, kinds: Mapping[str, str]) -> bool:
        """Whether the kind of its tier may propose it again."""
        return s.rest.get(kinds[s.tier], 0) <= self._store.states[s.shard].last_epoch + 1

    def _candidate(self, s: Strength) -> Candidate:
        return _offered(self._store, s)


class InMemorySchedule(_OfExperience):
    """The Schedule port over an in-memory store."""

    def due(
        self,
        shard: int,
        unused_since: Mapping[str, int],
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        """Memories alive that nobody used after a time and that rest no longer; see the port."""
        found = [
            s
            for s in self._free(shard, room=room)
            if self._used(s) <= unused_since[s.tier] and self._store.memories[s.memory_id].namespace not in without
        ]
        found.sort(key=lambda s: (s.last_access, s.memory_id))
        return [
            DueMemory(s.memory_id, self._store.memories[s.memory_id].namespace, s.last_access, s.tier)
            for s in found[:limit]
        ]

    def _used(self, s: Strength) -> int:
        """When it was used last; a task with a deadline counts as used then."""
        return max(s.last_access, self._store.memories[s.memory_id].deadline or 0)

    def grades(self, shard: int) -> list[Grade]:
        """The grades of which a short-term memory is alive whose decay score counts; see the port."""
        found = {grade(s.salience_ppm, s.replays) for s in self._alive(shard) if s.tier == SHORT_TERM and s.fades}
        return sorted(found, key=astuple)

    def fading(
        self,
        shard: int,
        asked: Sequence[Fading],
        as_of: int,
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        """Returns memories of these grades that were unused for long enough and no longer rest; see the port."""
        of, found = {one.grade: one for one in asked}, list[tuple[int, int, str, str]]()
        for s in self._free(shard, room=room):
            namespace = self._store.memories[s.memory_id].namespace
            one = of.get(grade(s.salience_ppm, s.replays))
            if one is None or s.tier != SHORT_TERM or not s.fades or namespace in without:
                continue
            if self._used(s) <= one.unused_since:
                log = one.head * HOUR_MS - one.rate * max(0, as_of - s.last_access)
                found.append((log, s.last_access, s.memory_id, namespace))
        return [DueMemory(memory_id, where, used, SHORT_TERM) for _, used, memory_id, where in sorted(found)[:limit]]

    def promotable(self, shard: int, salience_ppm: int, created_before: int, limit: int) -> list[Candidate]:
        """Short-term memories that are salient and old enough and rest no longer; see the port."""
        again = {i for made in self._store.provenance.values() if made.echo for i in (made.child, made.parent)}
        found = [
            (s.memory_id in again or s.accesses + s.reinforced > 0, self._candidate(s))
            for s in self._alive(shard)
            if s.tier == SHORT_TERM
            and self._store.memories[s.memory_id].general_of is None
            and s.salience_ppm >= salience_ppm
            and s.created < created_before
            and self._rested(s, RAISES)
        ]
        found.sort(key=lambda one: (not one[0], not one[1].early, -one[1].salience_ppm, one[1].memory_id))
        return [candidate for _, candidate in found[:limit]]

    def doubted(self, shard: int, limit: int) -> list[Candidate]:
        """Returns memories that failed their last rehearsal; see the port."""
        found = [s for s in self._free(shard) if s.doubts]
        found.sort(key=lambda one: (one.salience_ppm, one.memory_id))
        return [self._candidate(one) for one in found[:limit]]

    def contested(self, shard: int, limit: int, *, inferred: bool = False) -> list[tuple[Candidate, Candidate]]:
        """Returns pairs of living memories in a stated conflict, or with `inferred` in any; see the port."""
        alive = {s.memory_id: s for s in self._alive(shard)}
        pinned = {memory for memory, kind in self._store.protected if kind != HOLD}
        memories = self._store.memories
        rows = sorted(
            (-one.seq, alive[older].tier, older, newer)
            for one in self._store.rows[Conflict].values()
            if (one.stated or inferred) and not one.compared and one.newer in alive and one.older in alive
            for newer, older in [_in_time(memories[one.newer], memories[one.older])]
            if older not in pinned
            and memories[newer].made_by is memories[older].made_by is None
            and memories[older].general_of is None
        )
        found = ((alive[newer], alive[older]) for *_, older, newer in rows)
        free = ((n, o) for n, o in found if all(self._rested(s, {s.tier: CONTESTS[o.tier]}) for s in (n, o)))
        return [(self._candidate(n), self._candidate(o)) for n, o in free][:limit]

    def drafted(
        self, shard: int, limit: int, rests: EpochPolicy, *, unsaid: bool = False
    ) -> list[tuple[Candidate, Candidate]]:
        """Summaries that wait for their vote, with what they were made of; see the port."""
        alive = {s.memory_id: s for s in self._alive(shard)}
        protected = {memory for memory, _ in self._store.protected}
        disputed = _disputed(self._store, alive)
        state = self._store.states[shard]
        drafts = [
            m for m in self._store.memories.values()
            if m.shard == shard and m.tier == DRAFT and (m.sealed_until or 0) > state.as_of and m.general_of is None
        ]  # fmt: skip
        found: list[tuple[Candidate, Candidate]] = []
        named = 0
        for draft in sorted(drafts, key=lambda m: (m.seq, m.id)):
            parents = [p.parent for p in self._store.rows[Provenance].values() if p.child == draft.id]
            sources = [alive[i] for i in parents if i in alive]
            stubs = [self._stub(i, draft) for i in parents if self._is_stub(i, draft, state.as_of)]
            free = (
                s.tier == SHORT_TERM and s.memory_id not in protected | disputed
                and self._rested(s, {s.tier: SUMS_UP[DRAFT]})
                for s in sources
            )  # fmt: skip
            if draft.renews is not None and not self._waited(draft, rests):
                continue
            if unsaid and not (stubs and not _outcomes(self._store, draft.id)):
                continue
            if len(sources) + len(stubs) < len(parents) or not all(free) or named == limit:
                continue
            named += 1
            first = _drafted(draft)
            named_with = [*stubs, *(self._candidate(source) for source in sources)]
            found += [(first, one) for one in sorted(named_with, key=lambda one: (one.created, one.memory_id))]
        return found

    def _waited(self, draft: Memory, rests: EpochPolicy) -> bool:
        """Whether a draft in the place of an erased summary has rested long enough since it was kept last."""
        kept = [one.epoch for one in _outcomes(self._store, draft.id) if one.outcome == KEPT]
        if not kept:
            return True
        until = max(kept) + min(rests.rest_epochs * 2 ** (len(kept) - 1), rests.rest_epochs_max)
        return bool(until <= self._store.states[draft.shard].last_epoch)

    def _is_stub(self, memory_id: str, draft: Memory, as_of: int) -> bool:
        """Whether it rests sealed because of the erased summary in whose place the draft was made."""
        return anew.stub(self._store.memories[memory_id], (draft.renews,), as_of)

    def _stub(self, memory_id: str, draft: Memory) -> Candidate:
        """Used last when it, or the erased summary, was read."""
        m = self._store.memories[memory_id]
        used = {(u.shard, u.seq) for u in self._store.rows[UseRow].values() if u.memory_id in (m.id, draft.renews)}
        read = (entry.as_of for entry, _ in self._store.entries[m.shard] if (entry.shard, entry.seq) in used)
        return Candidate(m.id, m.namespace, m.tier, m.created, max((m.created, *read)), 0, m.early, fades=False)

    def erased_summaries(self, shard: int, memory_ids: Sequence[str]) -> list[ErasedSummary]:
        """Those of the memories that were summaries and are gone; see the port."""
        memories, found = self._store.memories, list[ErasedSummary]()
        for own, parents in sorted(_made_of(self._store, memory_ids).items()):
            left = [memories[i] for i in parents if i in memories and i not in self._store.erased]
            said = sorted((m.created, m.id, m) for m in left if m.made_by is None)
            if memories[own].shard == shard and memories[own].tier == GONE and said:
                first = said[0][2]
                latest = said[-1][0]
                named = first.namespace, first.agent, first.session or ""
                found.append(ErasedSummary(own, *named, latest, memories[own].renews))
        return found

    def alike(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        """Summaries that lie near others, and those; see the port."""
        alive = {s.memory_id: s for s in self._alive(shard)}
        held = {memory for memory, _ in self._store.protected} | _disputed(self._store, alive)
        free = [
            self._store.memories[i] for i, s in sorted(alive.items())
            if s.tier == SHORT_TERM and self._store.memories[i].made_by is not None and i not in held
            and self._rested(s, MERGES)
        ]  # fmt: skip
        return _peers(self._store, free, least_ppm, limit, after)

    def idle_sessions(
        self, shard: int, until: int, least: int, limit: int, after: IdleSession | None = None
    ) -> list[IdleSession]:
        """Sessions without activity since a time; see the port."""
        memories = self._store.memories
        made = {m.id for m in memories.values() if m.made_by is not None}
        summed = {p.parent for p in self._store.rows[Provenance].values() if p.child in made}
        of: dict[tuple[str, str, str], list[int]] = {}
        for strength in self._alive(shard):
            m = memories[strength.memory_id]
            plain = strength.tier == SHORT_TERM and m.made_by is None and not m.explicit and m.id not in summed
            if plain and m.session is not None and not protects(self._store.protected, m.id):
                of.setdefault((m.namespace, m.agent, m.session), []).append(m.created)
        found = [IdleSession(*key, max(at), len(at)) for key, at in of.items()]
        found = [one for one in found if one.memories >= least and one.latest <= until]
        found.sort(key=_place)
        return [one for one in found if after is None or _place(one) > _place(after)][:limit]

    def held(self, shard: int, patterns: Collection[str]) -> dict[str, int]:
        """Returns the number of tokens that namespaces hold; see the port."""
        return _held_tokens(self._store, self._alive(shard), patterns)

    def weighted(self, shard: int, namespace: str) -> list[Weighted]:
        """Returns the living memories of a namespace with the values that a budget weighs; see the port."""
        return weighted(_held(self._store, shard), shard, namespace, self._store.states[shard].last_epoch)

    def weighted_some(self, shard: int, namespace: str, memory_ids: Collection[str]) -> list[Weighted]:
        """Returns those of the memories; see the port."""
        return [one for one in self.weighted(shard, namespace) if one.candidate.memory_id in memory_ids]

    def weights(self, shard: int, memory_ids: Collection[str]) -> list[Weighted]:
        """Returns those of the memories, without goals and accounts; see the port."""
        named = {self._store.memories[one].namespace for one in memory_ids if one in self._store.memories}
        found = (one for namespace in sorted(named) for one in self.weighted_some(shard, namespace, memory_ids))
        return [replace(one, goals_ppm=0, spent_ppm=0) for one in found]

    def accounts(self, shard: int, namespace: str) -> dict[str, int]:
        """Returns what draws have cost the subjects of a namespace; see the port."""
        found: Counter[str] = Counter()
        for one in self._store.rows[Spent].values():
            stands = self._store.memories.get(one.memory_id)
            if stands is not None and stands.namespace == one.namespace == namespace and stands.shard == shard:
                found[stands.subject] += one.spent_ppm
        return dict(found)

    def spaces(self, shard: int, patterns: Collection[str]) -> list[str]:
        """Returns the namespaces that hold memories; see the port."""
        return sorted({self._store.memories[s.memory_id].namespace for s in self._alive(shard)
                       if covers(patterns, self._store.memories[s.memory_id].namespace)})  # fmt: skip

    def living(self, shard: int, namespace: str, behind: tuple[int, str] | None, limit: int) -> list[tuple[int, str]]:
        """Returns the living memories of a namespace behind one; see the port."""
        memories = (self._store.memories[s.memory_id] for s in self._alive(shard))
        found = sorted((m.created, m.id) for m in memories if m.namespace == namespace)
        return [one for one in found if behind is None or one > behind][:limit]

    def entries(self, shard: int, after: int, limit: int) -> list[JournalEntry]:
        """Returns the shard's journal entries after a sequence; see the port."""
        return [entry for entry, _ in self._store.entries.get(shard, ()) if entry.seq > after][:limit]

    def around(self, memory_ids: Collection[str]) -> set[str]:
        """Returns the memories that these were made of, contradict or are linked with; see the port."""
        found = {made.parent for made in self._store.provenance.values() if made.child in memory_ids}
        for told in self._store.rows[Conflict].values():
            found |= {told.older} if told.newer in memory_ids else set()
            found |= {told.newer} if told.older in memory_ids else set()
        return found | {link.target for link in self._store.rows[LinkRow].values() if link.memory in memory_ids}

    def aged(self, shard: int, before: Mapping[str, int], limit: int) -> list[Candidate]:
        """Returns the memories that are older than their type may become; see the port."""
        found = older(self._free(shard, room=True), self._store.memories, before)
        return [self._candidate(s) for s in found[:limit]]

    def unused(self, shard: int, rules: Sequence[Retention], as_of: int, limit: int) -> list[Candidate]:
        """Returns the memories that nobody has used for as long as their namespace allows; see the port."""
        found = unused(self._free(shard, room=True), self._store.memories, rules, as_of)
        return [self._candidate(s) for s in found[:limit]]

    def steps(self, shard: int, before: int, limit: int) -> list[Candidate]:
        """Returns the steps of tasks that are over; see the port."""
        here = {one.id: one for one in self._store.memories.values() if one.shard == shard}
        links = [one for one in self._store.rows[LinkRow].values() if one.shard == shard]
        return [self._candidate(s) for s in steps(self._free(shard, room=True), here, links, before)[:limit]]

    def candidates(self, shard: int, memory_ids: Sequence[str], *, room: bool = False) -> list[Candidate]:
        """Those of the memories that are alive and rest no longer; see the port."""
        known = {s.memory_id: s for s in self._free(shard, room=room)}
        return [self._candidate(known[i]) for i in memory_ids if i in known]

    def losses(self, namespaces: Iterable[str], since: int) -> dict[str, Losses]:
        """Returns the losses of the namespaces; see the port."""
        return self._store.losses((namespace, since) for namespace in namespaces)

    def status(self, shard: int) -> ShardStatus:
        """Returns the status of the shard."""
        state = self._store.states.get(shard)
        if state is None:
            return ShardStatus(shard, 0, 0, 0, 0, 0, 0)
        return ShardStatus(
            shard, state.seq, state.as_of, state.last_epoch, state.last_epoch_at, state.interactions, state.alive
        )

    def _free(self, shard: int, *, room: bool = False) -> list[Strength]:
        rested = (s for s in self._alive(shard) if self._rested(s, GOES if room else LETS_GO))
        return [s for s in rested if not protects(self._store.protected, s.memory_id)]


def _outcomes(store: InMemoryStore, memory_id: str) -> list[OutcomeRow]:
    """Returns the outcomes of the votes on a memory."""
    return [one for row in store.decisions for one in row.outcomes if one.memory_id == memory_id]


def _held_tokens(store: InMemoryStore, alive: Iterable[Strength], patterns: Collection[str]) -> dict[str, int]:
    """Returns the number of tokens of the living memories by namespace."""
    found: Counter[str] = Counter()
    for s in alive:
        namespace = store.memories[s.memory_id].namespace
        if covers(patterns, namespace):
            found[namespace] += tokens(store.contents[s.memory_id].text)
    return dict(found)


def _disputed(store: InMemoryStore, alive: Collection[str]) -> set[str]:
    """Returns the living memories that contradict another living one, or are contradicted by one."""
    rows = store.rows[Conflict].values()
    return {i for one in rows if one.newer in alive and one.older in alive for i in (one.newer, one.older)}


def _cosine_ppm(store: InMemoryStore, one: Memory, other: Memory) -> int:
    a, b = (store.contents[m.id].vector.astype(np.float16).astype(np.float32) for m in (one, other))
    return cosine_ppm(a, b)


def _drafted(draft: Memory) -> Candidate:
    """Returns the candidate of a draft that waits for its vote."""
    return Candidate(draft.id, draft.namespace, draft.tier, draft.created, draft.created, 0, draft.early, fades=False)


def _forms(store: InMemoryStore, shard: int, of: Collection[str]) -> list[Memory]:
    """The general forms that wait for their vote, of these memories that are given as experience."""
    found = [
        m for m in store.memories.values()
        if m.shard == shard and m.tier == DRAFT and m.general_of in of and given(store, m.general_of or "")
        and (m.sealed_until or 0) > store.states[shard].as_of
    ]  # fmt: skip
    return sorted(found, key=lambda m: (m.seq, m.id))


def given(store: InMemoryStore, memory_id: str) -> bool:
    """Whether a memory is given as experience: admitted, and no other that is alive stands for it."""
    row: AdmissionRow | None = store.rows[AdmissionRow].get(memory_id)
    return row is not None and row.status == ADMITTED and row.merged_into not in store.strengths


def _peers(
    store: InMemoryStore,
    free: Sequence[Memory],
    least_ppm: int,
    limit: int,
    after: str | None,
    *,
    twins: bool = False,
) -> Peers:
    """Returns those of the memories that have near neighbours among them; looks at `limit` memories behind `after`, in
    the order of their ids. `twins`: who names no subject may say the same as another agent that names none."""

    def kin(m: Memory) -> tuple[str, str, str | None, str | None]:
        return m.namespace, m.encoder, _about(m) if twins else m.subject, m.source

    looked = [m for m in free if after is None or m.id > after][:limit]
    named: set[str] = set()
    for one in looked:
        beside = [(_cosine_ppm(store, one, m), m.id) for m in free if m.id != one.id and kin(m) == kin(one)]
        near = sorted((-cosine, i) for cosine, i in beside if cosine >= least_ppm)[:NEAREST]
        named.update(i for _, i in near)
        named.update([one.id] if near else [])
    found = tuple(_peer(store, _offered(store, store.strengths[i])) for i in sorted(named))
    return Peers(found, looked[-1].id if looked and len(looked) == limit else None)


def _peer(store: InMemoryStore, one: Candidate) -> Peer:
    m, clear = store.memories[one.memory_id], store.contents[one.memory_id]
    row: AdmissionRow | None = store.rows[AdmissionRow].get(one.memory_id)
    marks = Marks(m.subject, m.source, m.sensitivity_ppm, m.purposes, m.jurisdictions, m.slot, m.label)
    weight = 0 if row is None else row.weight_ppm or 0
    return Peer(one, clear.text, clear.vector.astype(np.float16).astype(np.float32), marks, weight, m.agent)


def _held(store: InMemoryStore, shard: int) -> Held:
    """Returns the tables that a budget weighs, for a shard."""
    entries = store.entries.get(shard, ())
    return Held(
        store.memories, store.strengths, store.contents, store.provenance.values(), store.rows[Conflict].values(),
        store.rows[LinkRow].values(),
        store.protected.values(),
        {e.memory_id: e for e, _ in entries if e.memory_id is not None and e.effect in ("stored", "drafted")},
        store.rows[Spent].values(),
        store.rows[QuoteRow].values(),
    )  # fmt: skip


def _about(m: Memory) -> str | None:
    """Returns the subject of a memory; None if it has none, or if that is the speaker."""
    return None if m.subject == m.agent else m.subject


def _place(one: IdleSession) -> tuple[int, str, str, str]:
    return one.latest, one.namespace, one.agent, one.session


class InMemoryRewarded:
    """The Rewarded port over an in-memory store."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def rewarded(self, shard: int, seqs: Sequence[int]) -> list[RewardGiven]:
        """Returns the rewards that these entries gave; see the port."""
        rows = [row for row in self._store.rows[Reward].values() if row.shard == shard and row.seq in seqs]
        return [RewardGiven(*astuple(row)) for row in sorted(rows, key=lambda row: (row.seq, row.memory_id, row.kind))]


class InMemoryRollups:
    """The Rollups port over an in-memory store."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def close(self) -> None:
        """Does nothing: there is no connection to close."""

    def said(self, namespace: str) -> list[Uttered]:
        """The verbatim sentences of a namespace that can be read; see the port."""
        alive = [m for m in self._alive(namespace) if self._said(m)]
        rows = [(m.id, self._store.contents[m.id].text, m.created, m.agent, m.subject) for m in alive[:SAID_MOST]]
        return readable(rows, self._quoted(namespace))

    def log(self, namespace: str) -> list[Logged]:
        """The patches of the namespace's roll-ups; see the port."""
        rows = sorted(self._store.rows[PatchRow].values(), key=lambda row: (row.seq, row.place))
        summaries = {one.id for one in self._alive(namespace) if one.made_by is not None}
        summed = {one.parent for one in self._store.rows[Provenance].values() if one.child in summaries}
        found = []
        for row in rows:
            if row.namespace == namespace:
                memory, there = self._store.memories[row.memory], self._store.contents.get(row.memory)
                text = None if there is None else there.text[row.start : row.finish]
                patch = astuple(row)[4:-1]
                lost = text is None and memory.id in summed
                found.append((row.seq, row.place, row.as_of, *patch, memory.agent, memory.subject, False, text, lost,
                              memory.said, memory.said_offset))  # fmt: skip
        return logged(found[:LOG_MOST], self._quoted(namespace))

    @staticmethod
    def _said(m: Memory) -> bool:
        return m.made_by is None and m.general_of is None and m.characters <= CHARACTERS_MOST

    def _alive(self, namespace: str) -> list[Memory]:
        of = [m for m in self._store.memories.values() if m.namespace == namespace and m.id in self._store.strengths]
        return sorted(of, key=lambda m: (-m.created, m.id))

    def _quoted(self, namespace: str) -> Quoted:
        quotes = sorted(self._store.rows[QuoteRow].values(), key=lambda q: (q.summary, q.place))
        summaries = [m for m in self._alive(namespace) if (m.made_by or "").startswith("extractive/")][:SAID_MOST]
        return quoted(
            (m.id, self._store.contents[m.id].text, *astuple(q)[5:10], *self._whose(q.source))
            for m in summaries for q in quotes if q.summary == m.id
        )  # fmt: skip

    def _whose(self, memory_id: str) -> tuple[str, str]:
        memory = self._store.memories[memory_id]
        return memory.agent, memory.subject


class InMemoryStoredOrders:
    """The StoredOrders port over an in-memory store."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def decided(self, shard: int) -> list[OrderVote]:
        """Returns the votes on orders of another configuration; see the port."""
        found = [(row, o) for row in self._store.decisions for o in row.outcomes]
        return [
            OrderVote(o.memory_id, row.epoch, o.outcome == KINDS[o.kind].outcome, row.pre_prepare, row.commits)
            for row, o in sorted(found, key=lambda each: each[0].seq)
            if row.shard == shard and row.trigger == "order" and not KINDS[o.kind].about_memories
        ]

    def unattested(self, shard: int) -> list[Unattested]:
        """The erasures that the members have not attested yet; see the port."""
        open_ = [one for one in self._store.erasures.values() if one.shard == shard and one.epoch is None]
        return [
            Unattested(OrderFound(one.ordered, one.accepted_at, one.accepted_offset), self._kept(shard, one.order_id))
            for one in sorted(open_, key=lambda one: one.first_seq)
        ]

    def requests(self, shard: int, *, since: int, before: int, through: int) -> list[bytes]:
        """Requests that are to be voted on; see the port."""
        voted = {d.trigger for d in self._store.decisions if d.shard == shard and d.epoch <= through}
        open_ = (
            ((entry.namespace, entry.effect), link.entry)
            for entry, link in self._store.entries.get(shard, ())
            if entry.effect in ("requested", uses.ASKED) and entry.as_of >= since and entry.source_offset < before
            and voted.isdisjoint(
                [asking.trigger(uses.order_id(entry.source_offset))] if entry.effect == uses.ASKED
                else [asking.trigger(entry.event_id, action) for action in ACTIONS]
            )
        )  # fmt: skip
        return [data for _, data in in_turn(open_, lambda one: one[0])]

    def _kept(self, shard: int, order_id: str) -> tuple[int, ...]:
        told = ((row.epoch, o) for row in self._store.decisions if row.shard == shard for o in row.outcomes)
        return tuple(
            sorted(
                epoch
                for epoch, o in told
                if not KINDS[o.kind].about_memories and (o.memory_id, o.outcome) == (order_id, KEPT)
            )
        )


class InMemoryNeighbourhoods:
    """The Neighbourhoods port over an in-memory store."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    def changes(self, shard: int, namespace: str, after_seq: int | None, known: Container[str] = ()) -> JournalChange:
        """Short-term memories that arrived or left after a journal sequence; see the port."""
        state = self._store.states.get(shard)
        found = sorted(
            (
                m
                for m in self._store.memories.values()
                if m.shard == shard and m.namespace == namespace and (after_seq is None or m.seq > after_seq)
            ),
            key=lambda m: m.seq,
        )
        found = [m for m in found if m.general_of is None or m.tier not in ALIVE]
        here = (m for m in found if m.tier == SHORT_TERM and (after_seq is None or m.id not in known))
        arrived = tuple(self._neighbour(m) for m in here if m.id in self._store.contents)
        left = () if after_seq is None else tuple(m.id for m in found if m.tier != SHORT_TERM)
        settled = tuple(self._neighbour(m) for m in found if m.tier == LONG_TERM and m.id in self._store.contents)
        return JournalChange(state.seq if state else 0, arrived, left, settled)

    def _neighbour(self, memory: Memory) -> Neighbour:
        clear = self._store.contents[memory.id]
        vector = clear.vector.astype(np.float16).astype(np.float32)
        m = memory
        marks = Marks(m.subject, m.source, m.sensitivity_ppm, m.purposes, m.jurisdictions, m.slot, m.label)
        made = (p for p in self._store.provenance.values() if p.child == m.id and not (p.echo or p.merged))
        speakers = {self._store.memories[p.parent].agent for p in made if p.parent in self._store.memories}
        said_by = speakers.pop() if m.made_by is not None and len(speakers) == 1 else ""
        return Neighbour(memory.id, memory.agent, vector, clear.text, memory.encoder, marks, said_by)
