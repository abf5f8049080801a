"""Postgres as a second witness: its rows, compared with those that follow from the journal's chain.

The chain is the reference; the database counts only where it agrees. Rows are streams of mappings from column to value,
ordered by their table's key, so that tables of any size are compared in one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from memquorum.core.audit.chain import Link
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.audit.history import History
from memquorum.core.journal.rows import (
    AdmissionRow,
    BallotRow,
    Change,
    DecisionRow,
    Dropped,
    ErasureRow,
    Event,
    JournalRow,
    Living,
    Memory,
    Protection,
    Strength,
)
from memquorum.core.journal.tables import TABLES
from memquorum.core.reading.passages import LONG_BYTES
from memquorum.core.salience import FAILED
from memquorum.core.tiers import FINISHED

Row = Mapping[str, Any]


class Store(Struct, frozen=True):
    """A snapshot of a shard in the database. Ids are text, arrays lists.

    `shard`: its row in the table `shard`, with its cursor as `accepted`; None where it has none. `tables`: by name, the
    rows of each as mappings, in the order of its declaration; and `content`, `embedding`, `sentence`, `replaced` and
    `experience` by memory_id, the memories that have one: memory_id, its namespace, and for content its number of
    characters.
    """

    shard: Row | None
    tables: Mapping[str, Iterable[Row]]

    @property
    def seq(self) -> int | None:
        """The last sequence of the journal by the shard's row."""
        return self.shard["seq"] if self.shard else None

    def rows(self, table: str) -> Iterable[Row]:
        """Returns the rows of a table."""
        return self.tables.get(table, ())


class Compared:
    """The rows of one table in order, consumed as the expected ones come."""

    def __init__(
        self, name: str, key: tuple[str, ...], rows: Iterable[Row], findings: Findings, entry: str = ""
    ) -> None:
        """`entry`: the column that names the journal entry behind a row."""
        self._name = name
        self._key = key
        self._entry = entry
        self._rows = iter(rows)
        self._findings = findings
        self._next: Row | None = next(self._rows, None)
        self._cut: tuple[tuple[Any, ...], int | None] | None = None
        self._lacking = 0

    def expect(self, expected: Row, seq: int | None = None, *, needed: bool = True) -> bool:
        """Compares the table's next row with the expected one. `seq`: the journal entry that requires it. Returns True
        if there is one; with `needed` a missing row is a finding."""
        key = self._of(expected)
        while self._next is not None and self._of(self._next) < key:
            self._extra()
        there = self._next is not None and self._of(self._next) == key
        if not there and not needed:
            return False
        if self._next is None:
            # All further rows are missing: one finding, not one for each row.
            self._lacking += 1
            self._cut = self._cut or (key, seq)
        elif there:
            self._compare(expected, self._next, seq)
            self._next = next(self._rows, None)
        else:
            self._findings.add(Kind.ROW_MISSING, seq, self._where(key), "a row", "none")
        return there

    def finish(self, whole: bool = True) -> None:
        """Ends the comparison after the last expected row: further rows of the table are findings, if the `whole` table
        was expected."""
        while whole and self._next is not None:
            self._extra()
        if self._cut is not None:
            (key, seq), lacking = self._cut, self._lacking
            kind = Kind.ROWS_CUT if lacking > 1 or self._name == "journal" else Kind.ROW_MISSING
            self._findings.add(kind, seq, self._where(key), f"{lacking} rows from here on", "none")

    def _compare(self, expected: Row, found: Row, seq: int | None) -> None:
        self._findings.counts.rows += 1
        for column, value in expected.items():
            if found[column] != value:
                where = f"{self._where(self._of(expected))}, column {column}"
                left = self._name == "memory" and column == "tier"
                kind = Kind.EFFECT_UNDECIDED if left else Kind.ROW_ALTERED
                self._findings.add(kind, seq, where, value, found[column])

    def _extra(self) -> None:
        assert self._next is not None
        key = self._of(self._next)
        seq = self._next.get(self._entry)
        self._findings.add(Kind.ROW_ADDED, seq, self._where(key), "no row", "one")
        self._next = next(self._rows, None)

    def _of(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[column] for column in self._key)

    def _where(self, key: tuple[Any, ...]) -> str:
        return f"table {self._name}, " + ", ".join(f"{c} {v}" for c, v in zip(self._key, key, strict=True))


class Witness:
    """Compares a shard of the database with the chain, entry by entry, and its memories where its snapshot ends."""

    def __init__(self, store: Store, findings: Findings) -> None:
        self._store = store
        self._findings = findings
        # The tables that only grow, and that of events.
        self._grown = {
            kind: Compared(table.name, table.order or table.key, store.rows(table.name), findings, table.entry)
            for kind, table in TABLES.items()
            if table.grows or kind is Event
        }
        # For each event that failed last: the entry, and whether its row is there.
        self._failed: dict[tuple[str, str], tuple[int, bool]] = {}

    def entry(self, link: Link) -> None:
        """Compares the journal's row of an entry: the bytes, and the columns that repeat them for SQL."""
        self._grown[JournalRow].expect(_columns(JournalRow.of(link.entry, link.appended)), link.entry.seq)

    def change(self, change: Change) -> None:
        """Compares the rows that an entry's change adds and that are never removed."""
        seq = change.entry.seq
        for event in change.of(Event):
            self._expect_event(event, seq)
        for kind, compared in self._grown.items():
            if kind is not Event:
                for row in sorted(change.of(kind), key=TABLES[kind].ordered):
                    compared.expect(_columns(row), seq)
        for decision in change.of(DecisionRow):
            for position in dict.fromkeys(outcome.position for outcome in decision.outcomes):
                for ballot in decision.ballots_on(position):
                    self._grown[BallotRow].expect(_columns(ballot), seq)

    def state(self, history: History) -> None:
        """Compares the shard's row and every memory, where the snapshot ends."""
        state = history.state
        if self._store.shard is not None or state.seq > 0:  # before its first entry a shard may lack its row
            expected = {name: getattr(state, name) for name in state.__struct_fields__}
            compared = Compared("shard", ("shard",), filter(None, [self._store.shard]), self._findings)
            compared.expect(expected | {"accepted": history.accepted}, state.seq)
            compared.finish()
        memories = [history.memories[i] for i in sorted(history.memories)]
        alive = [m for m in memories if m.id in history.strengths]
        living = ((name, history.losses[name].living) for name in sorted(history.losses))
        standing: dict[type[Struct], Iterable[Struct]] = {
            Memory: memories,
            Strength: (history.strengths[m.id] for m in alive),
            Dropped: (history.dropped[i] for i in sorted(history.dropped)),
            ErasureRow: history.erasures.orders.values(),
            Protection: (history.protections.standing[key] for key in sorted(history.protections.standing)),
            AdmissionRow: (history.admissions.standing[i] for i in sorted(history.admissions.standing)),
            Living: (Living(state.shard, name, count) for name, count in living if count),
        }
        for kind, rows in standing.items():
            table = TABLES[kind]
            self._hold(table.name, table.order or table.key, map(_columns, rows), table.entry)
        contents = ({"memory_id": m.id, "characters": m.characters, "namespace": m.namespace} for m in alive)
        self._hold("content", ("memory_id",), contents)
        vectors = ({"memory_id": m.id, "namespace": m.namespace, "encoder": m.encoder} for m in alive)
        self._hold("embedding", ("memory_id",), vectors)
        self._hold_parts(m for m in alive if m.made_by or m.characters * 4 > LONG_BYTES)
        self._hold_replaced(history)
        tasks = (
            {"memory_id": m.id, "characters": m.characters, "namespace": m.namespace, "encoder": m.encoder}
            for m in memories
            if m.tier == FINISHED
        )
        self._hold("experience", ("memory_id",), tasks)

    def finish(self, whole: bool) -> None:
        """Ends the audit after the last entry. `whole`: the chain reached the snapshot's end, so any further row is
        wrong."""
        for compared in self._grown.values():
            compared.finish(whole)
        for seq in [seq for seq, there in self._failed.values() if whole and not there]:
            self._findings.add(Kind.ROW_MISSING, seq, f"table event, seq {seq}", "a row", "none")

    def finish_journal(self, whole: bool) -> None:
        """Ends the audit where the chain broke: the other tables were not followed to the end."""
        self._grown[JournalRow].finish(whole)

    def _expect_event(self, row: Event, seq: int) -> None:
        """Compares the one row of an event. The row of a failed event is removed when the event is tried again, maybe
        later."""
        named = row.namespace, row.event_id
        before, there = self._failed.pop(named, (seq, False))
        if there:
            self._findings.add(Kind.ROW_ADDED, before, f"table event, seq {before}", "no row: tried again", "one")
        failed = row.outcome == FAILED
        there = self._grown[Event].expect(_columns(row), seq, needed=not failed)
        if failed:
            self._failed[named] = seq, there

    def _hold_parts(self, memories: Iterable[Memory]) -> None:
        """Compares the memories whose sentences or passages have vectors: those of summaries, and some long texts. The
        chain only has the number of characters, and earlier releases made no vectors of long texts."""
        compared = Compared("sentence", ("memory_id",), self._store.rows("sentence"), self._findings)
        for m in memories:
            row = {"memory_id": m.id, "namespace": m.namespace, "encoder": m.encoder}
            compared.expect(row, needed=m.made_by is not None)
        compared.finish()

    def _hold_replaced(self, history: History) -> None:
        """Compares what is kept for reads of the past: of what was superseded before the store kept that, nothing has
        to be there."""
        compared = Compared("replaced", ("memory_id",), self._store.rows("replaced"), self._findings)
        after = self._store.shard.get("replaced_after", 0) if self._store.shard else 0
        for memory_id in sorted(history.slots.replaced):
            m = history.memories[memory_id]
            row = {"memory_id": m.id, "characters": m.characters, "namespace": m.namespace, "encoder": m.encoder}
            compared.expect(row | {"newer": history.slots.replaced[memory_id]}, m.seq, needed=m.seq > after)
        compared.finish()

    def _hold(self, name: str, key: tuple[str, ...], expected: Iterable[Row], entry: str = "") -> None:
        compared = Compared(name, key, self._store.rows(name), self._findings, entry)
        for row in expected:
            compared.expect(row, row.get("seq"))
        compared.finish()


def _columns(row: Struct) -> Row:
    """Returns a row as the database has it, without the uncompared columns."""
    table = TABLES[type(row)]
    found = {name: getattr(row, name) for name in table.columns if name not in table.uncompared}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
