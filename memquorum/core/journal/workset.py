"""A shard's rows while a batch is applied: each change is seen by the next, and what is left is written once."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core.journal import protections
from memquorum.core.journal.rows import (
    Answered,
    Change,
    DecisionRow,
    Dropped,
    ErasedRow,
    ErasureRow,
    Event,
    EventKey,
    Guarded,
    LetGo,
    Memory,
    Protection,
    Provenance,
    Rows,
    ShardState,
    Strength,
)
from memquorum.core.records import JournalAppended, JournalEntry


class Net(Struct, frozen=True):
    """What a batch leaves to be written for one shard.

    `before` is the state that the batch began at: whoever writes finds the shard exactly there. A memory that came and
    went within the batch has its row, and no strength, content or embedding. `removed`: memories whose strength,
    content and embedding were stored before the batch. `reencoded`: memories whose embedding was replaced.
    `events` are new; `changed_events` take the place of those that had failed, and `undropped` are the ids of these:
    they may have been dropped before the batch.
    `destroyed`: ids whose keys were destroyed, and which may have been dropped before the batch. `erasures`: orders,
    with the counts of this batch's entries alone. `attested`: of orders, the epochs in which the members attested them.
    `let_go`: what its decisions took of each namespace; `living`: by namespace, how many more memories are alive.
    `protected`, `unprotected`: the orders to protect that stand now and did not before, and those that do no more.
    `answered`: the orders that were.
    """

    before: ShardState
    after: ShardState
    new_memories: tuple[Memory, ...]
    changed_memories: tuple[Memory, ...]
    new_strengths: tuple[Strength, ...]
    changed_strengths: tuple[Strength, ...]
    removed: tuple[str, ...]
    revealed: tuple[str, ...]
    reencoded: tuple[str, ...]
    events: tuple[Event, ...]
    changed_events: tuple[Event, ...]
    journal: tuple[tuple[JournalEntry, JournalAppended], ...]
    decisions: tuple[DecisionRow, ...]
    dropped: tuple[Dropped, ...]
    undropped: tuple[str, ...]
    destroyed: tuple[str, ...]
    provenance: tuple[Provenance, ...]
    erased: tuple[ErasedRow, ...]
    erasures: tuple[ErasureRow, ...]
    attested: tuple[tuple[str, int], ...]
    let_go: tuple[LetGo, ...]
    protected: tuple[Protection, ...]
    unprotected: tuple[tuple[str, str], ...]
    answered: tuple[Answered, ...]
    living: dict[str, int]
    cursors: dict[str, int]


class Workset:
    """Loaded rows of one shard, and the changes made to them since."""

    def __init__(self, rows: Rows) -> None:
        """`rows` as they stand in the store."""
        self._stored = rows
        self._state = rows.state
        self._memories: dict[str, Memory] = dict(rows.memories)
        self._strengths: dict[str, Strength] = dict(rows.strengths)
        self._events: dict[EventKey, Event] = dict(rows.events)
        self._touched_memories: dict[str, None] = {}
        self._touched_strengths: dict[str, None] = {}
        self._revealed: dict[str, None] = {}
        self._reencoded: dict[str, None] = {}
        self._touched_events: dict[EventKey, None] = {}
        self._journal: list[tuple[JournalEntry, JournalAppended]] = []
        self._decisions: list[DecisionRow] = []
        self._dropped: dict[str, Dropped] = {}
        self._undropped: dict[str, None] = {}
        self._destroyed: dict[str, None] = {}
        self._provenance: list[Provenance] = []
        self._erased: list[ErasedRow] = []
        self._erased_ids: set[EventKey] = set(rows.erased)
        self._erasures: dict[int, ErasureRow] = {}
        self._attested: list[tuple[str, int]] = []
        self._let_go: list[LetGo] = []
        self._protected: dict[tuple[str, str], Protection] = dict(rows.protected)
        self._guarded: dict[str, Guarded] = dict(rows.guarded)
        self._turned: dict[tuple[str, str], None] = {}
        self._answered: list[Answered] = []
        self._digests: set[bytes] = set(rows.answered)
        self._cursors: dict[str, int] = {}

    @property
    def rows(self) -> Rows:
        """The rows with every change so far. A view: it changes with the next `absorb`."""
        return Rows(
            self._state,
            self._memories,
            self._strengths,
            self._events,
            self._erased_ids,
            self._stored.quotas,
            self._protected,
            self._digests,
            self._guarded,
        )

    def absorb(self, change: Change) -> None:
        """Makes the change."""
        self._state = change.state
        for memory in change.memories:
            self._memories[memory.id] = memory
            self._touched_memories[memory.id] = None
        for strength in change.strengths:
            self._strengths[strength.memory_id] = strength
            self._touched_strengths[strength.memory_id] = None
        for memory_id in change.removed:
            self._strengths.pop(memory_id, None)
            self._touched_strengths[memory_id] = None
            self._revealed.pop(memory_id, None)
            self._reencoded.pop(memory_id, None)
        self._absorb_content(change)
        if change.event is not None:
            key = change.event.namespace, change.event.event_id
            self._events[key] = change.event
            self._touched_events[key] = None
        if change.decision is not None:
            self._decisions.append(change.decision)
        if change.undropped is not None:
            self._dropped.pop(change.undropped, None)
            self._undropped[change.undropped] = None
        if change.dropped is not None:
            self._dropped[change.dropped.memory_id] = change.dropped
        for memory_id in change.destroyed:
            if self._dropped.pop(memory_id, None) is None:
                self._destroyed[memory_id] = None
        self._provenance += change.provenance
        self._let_go += change.let_go
        if change.answered is not None:
            self._answered.append(change.answered)
            self._digests.add(change.answered.digest)
        self._absorb_protection(change)
        self._absorb_erasure(change)
        self._journal.append((change.entry, change.appended))
        for topic, next_offset in change.cursors:
            # A cursor never moves back: a redo of old entries after newer ones would not be a journal's order.
            self._cursors[topic] = max(self._cursors.get(topic, 0), next_offset)

    def _absorb_content(self, change: Change) -> None:
        if change.revealed is not None:
            self._revealed[change.revealed] = None
        if change.reencoded is not None:
            self._reencoded[change.reencoded] = None
        for told in change.restored:
            self._revealed[told.memory_id] = None
            if told.reencoded_offset >= 0:
                self._reencoded[told.memory_id] = None

    def _absorb_protection(self, change: Change) -> None:
        for key in change.unprotected:
            ended = self._protected.pop(key, None)
            self._turned[key] = None
            if ended is not None:
                self._count(ended, -1)
        for one in change.protected:
            if (one.memory_id, one.kind) not in self._protected:
                self._count(one, +1)
            self._protected[one.memory_id, one.kind] = one
            self._turned[one.memory_id, one.kind] = None

    def _count(self, one: Protection, more: int) -> None:
        known = self._guarded.get(one.namespace, Guarded())
        self._guarded[one.namespace] = protections.counted(known, one.kind, more)

    def _absorb_erasure(self, change: Change) -> None:
        self._erased += change.erased
        self._erased_ids.update((one.namespace, one.memory_id) for one in change.erased)
        if change.attested is not None and change.decision is not None:
            self._attested.append((change.attested, change.decision.epoch))
        part = change.erasure
        if part is None:
            return
        known = self._erasures.get(part.first_seq)
        self._erasures[part.first_seq] = part if known is None else known.with_part(part)

    def net(self) -> Net:
        """What is to be written."""
        memories = [self._memories[memory_id] for memory_id in self._touched_memories]
        strengths = [self._strengths[i] for i in self._touched_strengths if i in self._strengths]
        before = self._stored
        new = tuple(s for s in strengths if s.memory_id not in before.strengths)
        removed = tuple(i for i in self._touched_strengths if i not in self._strengths and i in before.strengths)
        return Net(
            before=before.state,
            after=self._state,
            new_memories=tuple(m for m in memories if m.id not in before.memories),
            changed_memories=tuple(m for m in memories if m.id in before.memories),
            new_strengths=new,
            changed_strengths=tuple(s for s in strengths if s.memory_id in before.strengths),
            removed=removed,
            # What was forgotten and restored within the batch never left the store.
            revealed=tuple(i for i in self._revealed if i not in before.strengths),
            reencoded=tuple(self._reencoded),
            events=tuple(self._events[key] for key in self._touched_events if key not in before.events),
            changed_events=tuple(self._events[key] for key in self._touched_events if key in before.events),
            journal=tuple(self._journal),
            decisions=tuple(self._decisions),
            dropped=tuple(self._dropped.values()),
            undropped=tuple(self._undropped),
            destroyed=tuple(self._destroyed),
            provenance=tuple(self._provenance),
            erased=tuple(self._erased),
            erasures=tuple(self._erasures.values()),
            attested=tuple(self._attested),
            let_go=tuple(self._let_go),
            protected=tuple(self._protected[key] for key in self._turned if key in self._protected),
            unprotected=tuple(key for key in self._turned if key not in self._protected),
            answered=tuple(self._answered),
            living=self._living([s.memory_id for s in new], removed),
            cursors=dict(self._cursors),
        )

    def _living(self, born: Iterable[str], ended: Iterable[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for ids, count in ((born, 1), (ended, -1)):
            for memory_id in ids:
                namespace = self._memories[memory_id].namespace
                found[namespace] = found.get(namespace, 0) + count
        return {namespace: count for namespace, count in found.items() if count}
