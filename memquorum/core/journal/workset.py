"""A shard's rows while a batch is applied: each change is seen by the next, and what is left is written once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from memquorum.core.caps import Losses
from memquorum.core.journal import grounds, protections
from memquorum.core.journal.loaded import Loaded, LoadedSet, known
from memquorum.core.journal.rows import (
    AdmissionRow,
    Answered,
    Change,
    Conflict,
    DecisionRow,
    Emptied,
    ErasedRow,
    Event,
    EventKey,
    FeedbackRow,
    Guarded,
    JournalRow,
    Living,
    Memory,
    Protection,
    Provenance,
    R,
    Rows,
    ShardState,
    Strength,
    TaskRow,
    TrialRow,
    WeightRow,
)
from memquorum.core.journal.tables import TABLES, Kind
from memquorum.core.records import JournalAppended, JournalEntry
from memquorum.core.tiers import GONE, SUPERSEDED


class Net(Struct, frozen=True):
    """The changes of a batch that are to be written for one shard.

    `before` is the state at the start of the batch, and the store must still be in it. By the classes of their tables,
    `new` rows, those that `changed`, and the keys of those that are `gone`; the last are taken away first: of a table
    whose rows are not loaded a new row may take the place of one that was stored. A memory that came and went within
    the batch has its row, and no strength, content or embedding.

    `revealed`: memories whose content and embedding are stored now, or were until they were replaced. `reencoded`:
    those whose embedding is another one. `replaced`: those that went out of service because another one took their
    place, each with that one's id; `back`: those of before that are not replaced any more; `emptied`: slots of which
    nothing earlier is told any more.
    `attested`: of orders to erase, the epochs in which the members attested them. `journal`: the entries, each with its
    place in the chain. `cursors`: the next offset to read, by topic.
    """

    before: ShardState
    after: ShardState
    new: Mapping[Kind, tuple[Any, ...]]
    changed: Mapping[Kind, tuple[Any, ...]]
    gone: Mapping[Kind, tuple[Any, ...]]
    revealed: tuple[str, ...]
    reencoded: tuple[str, ...]
    replaced: tuple[tuple[str, str], ...]
    back: tuple[str, ...]
    emptied: tuple[Emptied, ...]
    attested: tuple[tuple[str, int], ...]
    journal: tuple[tuple[JournalEntry, JournalAppended], ...]
    cursors: dict[str, int]

    def of(self, kind: type[R]) -> tuple[R, ...]:
        """The rows of one table that are new or changed."""
        return (*self.new.get(kind, ()), *self.changed.get(kind, ()))


class Workset:
    """Loaded rows of one shard, and the changes made to them since."""

    def __init__(self, rows: Rows) -> None:
        """`rows` as they stand in the store."""
        self._stored = rows
        self._state = rows.state
        absent = known(rows.loaded)
        self._memories: dict[str, Memory] = Loaded(rows.memories, absent["memories"])
        self._strengths: dict[str, Strength] = Loaded(rows.strengths, absent["strengths"])
        self._events: dict[EventKey, Event] = Loaded(rows.events, absent["events"])
        self._protected: dict[tuple[str, str], Protection] = Loaded(rows.protected, absent["protected"])
        self._admissions: dict[str, AdmissionRow] = Loaded(rows.admissions, absent["admissions"])
        self._trials: Loaded = Loaded(rows.trials, absent["trials"])
        self._nominated: Loaded = Loaded(rows.nominated, absent["nominated"])
        self._tasks: Loaded = Loaded(rows.tasks, absent["tasks"])
        self._feedback: Loaded = Loaded(rows.feedback, absent["feedback"])
        self._weights: Loaded = Loaded(rows.weights, absent["weights"])
        # By table, the rows by their keys; the keys of those that a change brought or took; and of those that it took.
        self._rows: dict[Kind, dict[Any, Any]] = {kind: {} for kind in TABLES}
        self._rows |= {
            Memory: self._memories, Strength: self._strengths, Event: self._events, Protection: self._protected,
            AdmissionRow: self._admissions,
        }  # fmt: skip
        self._touched: dict[Kind, dict[Any, None]] = {kind: {} for kind in TABLES}
        self._gone: dict[Kind, dict[Any, None]] = {kind: {} for kind in TABLES}
        self._revealed: dict[str, None] = {}
        self._reencoded: dict[str, None] = {}
        # The memories that went out of service, each with the memory that replaced it, or None.
        self._ended: dict[str, str | None] = {}
        self._emptied: list[Emptied] = []
        self._attested: list[tuple[str, int]] = []
        self._journal: list[tuple[JournalEntry, JournalAppended]] = []
        self._erased: set[EventKey] = LoadedSet(rows.erased, absent["erased"])
        self._guarded = Loaded(rows.guarded, absent["guarded"])
        self._grounds: Loaded = Loaded(rows.grounds, absent["grounds"])
        self._answered: set[bytes] = LoadedSet(rows.answered, absent["answered"])
        self._losses: Mapping[str, Losses] = Loaded(rows.losses, absent["losses"])
        self._cursors: dict[str, int] = {}

    @property
    def rows(self) -> Rows:
        """The rows with every change so far. A view: it changes with the next `absorb`. A row that was not loaded
        raises NotLoaded."""
        return Rows(
            self._state,
            self._memories,
            self._strengths,
            self._events,
            self._erased,
            self._losses,
            self._protected,
            self._answered,
            self._guarded,
            self._grounds,
            self._admissions,
            self._trials,
            self._nominated,
            self._tasks,
            self._feedback,
            weights=self._weights,
            loaded=self._stored.loaded,
        )

    def absorb(self, change: Change) -> None:
        """Makes the change."""
        self._state = change.state
        replaced = dict(change.replaced)
        for kind, key in change.gone:
            self._take(kind, key)
            if kind is Strength:
                self._end(key, replaced.get(key))
        for row in change.rows:
            self._put(row)
        self._put(JournalRow.of(change.entry, change.appended))
        self._journal.append((change.entry, change.appended))
        self._absorb_content(change)
        decision = change.one(DecisionRow)
        if change.attested is not None and decision is not None:
            self._attested.append((change.attested, decision.epoch))
        for topic, next_offset in change.cursors:
            # A cursor never moves back: a redo of old entries after newer ones would not be a journal's order.
            self._cursors[topic] = max(self._cursors.get(topic, 0), next_offset)

    def _put(self, row: Any) -> None:
        kind = type(row)
        table, held = TABLES[kind], self._rows[kind]
        key = table.key_of(row)
        # In a table whose rows are loaded, a row that was not loaded would count as new.
        if table.loaded and key not in held and kind is Protection:
            self._count(row, +1)
        held[key] = table.plus(held[key], row) if table.adds and key in held else row
        self._touched[kind][key] = None
        if kind is Memory and row.tier == GONE:
            # A memory that came and went within a batch is in no store.
            self._end(key, None)
        if kind is ErasedRow:
            self._erased.add((row.namespace, row.memory_id))
        if kind is Answered:
            self._answered.add(row.digest)
        if kind in (Provenance, Conflict):
            grounds.note(self._grounds, (row,), self._grounds.knows)
        if kind is TrialRow:
            told = row.memory_id, row.position
            self._trials[told] = (*self._trials.get(told, ()), row)
        if kind is DecisionRow:
            self._nominated[row.epoch] = row.nomination
        if kind is TaskRow:
            self._tasks[row.memory_id] = row
        if kind is FeedbackRow:
            before = self._feedback[row.task] if self._feedback.knows(row.task) and row.task in self._feedback else ()
            self._feedback[row.task] = (*before, row)
        if kind is WeightRow and self._weights.knows(row.memory_id):
            self._weights[row.memory_id] = (*self._weights.get(row.memory_id, ()), row)

    def _take(self, kind: Kind, key: Any) -> None:
        ended = self._rows[kind].pop(key, None)
        self._touched[kind][key] = self._gone[kind][key] = None
        if kind is Protection and ended is not None:
            self._count(ended, -1)

    def _end(self, memory_id: str, by: str | None) -> None:
        """Notes that a memory went out of service; a replaced one keeps its content for reads of the past."""
        self._ended[memory_id] = by
        if by is None:
            self._revealed.pop(memory_id, None)
            self._reencoded.pop(memory_id, None)

    def _absorb_content(self, change: Change) -> None:
        if change.emptied is not None:
            self._emptied.append(change.emptied)
        if change.revealed is not None:
            self._revealed[change.revealed] = None
        if change.reencoded is not None:
            self._reencoded[change.reencoded] = None
        for told in change.restored:
            self._revealed[told.memory_id] = None
            if told.reencoded_offset >= 0:
                self._reencoded[told.memory_id] = None

    def _count(self, one: Protection, more: int) -> None:
        if self._guarded.knows(one.namespace):
            known = self._guarded.get(one.namespace, Guarded())
            self._guarded[one.namespace] = protections.counted(known, one.kind, more)

    def net(self) -> Net:
        """Returns the changes that are to be written."""
        new, changed, gone = dict[Kind, tuple[Any, ...]](), dict[Kind, tuple[Any, ...]](), dict[Kind, tuple[Any, ...]]()
        for kind, touched in self._touched.items():
            held, before = self._rows[kind], self._before(kind)
            there = [key for key in touched if key in held]
            new[kind] = tuple(held[key] for key in there if key not in before)
            changed[kind] = tuple(held[key] for key in there if key in before)
            # For rows that were not loaded it is unknown which of them were stored.
            taken = (key for key in touched if key not in held and key in before)
            gone[kind] = tuple(taken if TABLES[kind].loaded else self._gone[kind])
        new[Living] = self._living(new[Strength], gone[Strength])
        return Net(
            before=self._stored.state,
            after=self._state,
            new=new,
            changed=changed,
            gone=gone,
            # A memory that was forgotten and restored within the batch never left the store.
            revealed=tuple(i for i in self._revealed if i not in self._stored.strengths),
            reencoded=tuple(self._reencoded),
            replaced=tuple((i, by) for i, by in self._ended.items() if by is not None and self._superseded(i)),
            back=tuple(i for i, before in self._stored.memories.items() if self._came_back(i, before)),
            emptied=tuple(self._emptied),
            attested=tuple(self._attested),
            journal=tuple(self._journal),
            cursors=dict(self._cursors),
        )

    def _superseded(self, memory_id: str) -> bool:
        return self._memories[memory_id].tier == SUPERSEDED

    def _came_back(self, memory_id: str, before: Memory) -> bool:
        """Whether what was superseded is so no more, or came back and nothing took its place since."""
        if before.tier != SUPERSEDED:
            return False
        return not self._superseded(memory_id) or self._ended.get(memory_id, "") is None

    def _before(self, kind: Kind) -> Mapping[Any, Any]:
        stored = self._stored
        loaded: Mapping[Kind, Mapping[Any, Any]] = {
            Memory: stored.memories, Strength: stored.strengths, Event: stored.events, Protection: stored.protected,
            AdmissionRow: stored.admissions,
        }  # fmt: skip
        return loaded.get(kind, {})

    def _living(self, born: tuple[Strength, ...], ended: tuple[str, ...]) -> tuple[Living, ...]:
        found = Counter(self._memories[strength.memory_id].namespace for strength in born)
        found.subtract(self._memories[memory_id].namespace for memory_id in ended)
        return tuple(Living(self._state.shard, namespace, more) for namespace, more in found.items() if more)
