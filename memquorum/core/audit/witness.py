"""Postgres as a second witness: its rows, held against what the journal's chain says they must be.

The chain is the truth here; the database is only believed where it says the same. Rows are streams of mappings from
column to value, ordered by their table's key, so that two tables of any size are compared in one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from memquorum.core.audit.chain import Link
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.audit.history import History
from memquorum.core.journal.rows import (
    Answered,
    BallotRow,
    Change,
    DecisionRow,
    Dropped,
    ErasedRow,
    ErasureRow,
    Event,
    LetGo,
    Memory,
    OutcomeRow,
    Protection,
    Provenance,
    ShardState,
    Strength,
)
from memquorum.core.salience import FAILED

Row = Mapping[str, Any]

# The column that names the journal entry behind a row.
_ENTRY_COLUMN = {
    "journal": "seq", "event": "seq", "memory": "seq", "decision": "journal_seq", "provenance": "seq", "erased": "seq",
    "erasure": "first_seq", "answered": "seq",
}  # fmt: skip


class Store(Struct, frozen=True):
    """A shard as one snapshot of the database shows it: the rows of each table as mappings, ordered by its key.

    `shard`: its row in the table `shard`, and in `accepted` its cursor there; None where there is none. Ids are text,
    arrays lists. The keys: `journal` and `event` by seq, `decision` by epoch, `outcome` by (epoch, position), `ballot`
    by (epoch, position, member), `memory` by id, `provenance` by (seq, parent), `erased` by (seq, memory_id),
    `erasure` by first_seq, `living` by namespace, `let_go` by (epoch, namespace), `answered` by seq, `protection` by
    (memory_id, kind), the others by memory_id.
    `content` and `embedding` say which memories have one: memory_id,
    its namespace, and of content its number of characters.
    """

    shard: Row | None
    journal: Iterable[Row]
    event: Iterable[Row]
    decision: Iterable[Row]
    outcome: Iterable[Row]
    ballot: Iterable[Row]
    memory: Iterable[Row]
    strength: Iterable[Row]
    content: Iterable[Row]
    embedding: Iterable[Row]
    dropped: Iterable[Row]
    provenance: Iterable[Row] = ()
    erased: Iterable[Row] = ()
    erasure: Iterable[Row] = ()
    living: Iterable[Row] = ()
    let_go: Iterable[Row] = ()
    protection: Iterable[Row] = ()
    answered: Iterable[Row] = ()

    @property
    def seq(self) -> int | None:
        """How far the shard's row says that its journal reaches."""
        return self.shard["seq"] if self.shard else None


class Table:
    """One table's rows in key order, consumed as the expected ones come."""

    def __init__(self, name: str, key: tuple[str, ...], rows: Iterable[Row], findings: Findings) -> None:
        self._name = name
        self._key = key
        self._rows = iter(rows)
        self._findings = findings
        self._next: Row | None = next(self._rows, None)
        self._cut: tuple[tuple[Any, ...], int | None] | None = None
        self._lacking = 0

    def expect(self, expected: Row, seq: int | None = None, *, needed: bool = True) -> bool:
        """Holds the table's next row against the expected one. `seq`: the journal entry that calls for it. Answers
        whether there is one; `needed`: if there is none, that is a finding."""
        key = self._of(expected)
        while self._next is not None and self._of(self._next) < key:
            self._extra()
        there = self._next is not None and self._of(self._next) == key
        if not there and not needed:
            return False
        if self._next is None:
            # All that is left is missing: one finding, not one for each row.
            self._lacking += 1
            self._cut = self._cut or (key, seq)
        elif there:
            self._compare(expected, self._next, seq)
            self._next = next(self._rows, None)
        else:
            self._findings.add(Kind.ROW_MISSING, seq, self._where(key), "a row", "none")
        return there

    def finish(self, whole: bool = True) -> None:
        """Ends the comparison after the last expected row: what the table still holds is too much, if the `whole` table
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
        seq = self._next.get(_ENTRY_COLUMN.get(self._name, ""))
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
        self._journal = Table("journal", ("seq",), store.journal, findings)
        self._event = Table("event", ("seq",), store.event, findings)
        self._decision = Table("decision", ("epoch",), store.decision, findings)
        self._outcome = Table("outcome", ("epoch", "position", "memory_id"), store.outcome, findings)
        self._ballot = Table("ballot", ("epoch", "position", "member"), store.ballot, findings)
        self._provenance = Table("provenance", ("seq", "parent"), store.provenance, findings)
        self._erased = Table("erased", ("seq", "memory_id"), store.erased, findings)
        self._let_go = Table("let_go", ("epoch", "namespace"), store.let_go, findings)
        self._answered = Table("answered", ("seq",), store.answered, findings)
        # Of each event that failed last: the entry, and whether its row is there.
        self._failed: dict[tuple[str, str], tuple[int, bool]] = {}

    def entry(self, link: Link) -> None:
        """The journal's row of an entry: the bytes, and the columns that repeat them for SQL."""
        self._journal.expect(_journal_row(link), link.entry.seq)

    def change(self, change: Change) -> None:
        """The rows that an entry's change adds for good."""
        seq = change.entry.seq
        if change.event is not None:
            self._expect_event(change.event, seq)
        if change.decision is not None:
            self._expect_decision(change.decision, seq)
        for made in sorted(change.provenance, key=lambda row: row.parent):
            self._provenance.expect(_columns(made, _PROVENANCE), seq)
        for one in sorted(change.erased, key=lambda row: row.memory_id):
            self._erased.expect(_columns(one, _ERASED), seq)
        if change.answered is not None:
            self._answered.expect(_columns(change.answered, _ANSWERED), seq)
        for took in change.let_go:
            self._let_go.expect(_columns(took, _LET_GO), seq)

    def state(self, history: History) -> None:
        """The shard's row and every memory, where the snapshot ends."""
        if self._store.shard is not None or history.state.seq > 0:  # before its first entry a shard may lack its row
            expected = _columns(history.state, _SHARD) | {"accepted": history.accepted}
            found = [self._store.shard] if self._store.shard is not None else []
            _hold("shard", ("shard",), [expected], found, self._findings)
        memories = [history.memories[i] for i in sorted(history.memories)]
        alive = [m for m in memories if m.id in history.strengths]
        _hold("memory", ("id",), (_columns(m, _MEMORY) for m in memories), self._store.memory, self._findings)
        strengths = (_columns(history.strengths[m.id], _STRENGTH) for m in alive)
        _hold("strength", ("memory_id",), strengths, self._store.strength, self._findings)
        contents = ({"memory_id": m.id, "characters": m.characters, "namespace": m.namespace} for m in alive)
        _hold("content", ("memory_id",), contents, self._store.content, self._findings)
        vectors = ({"memory_id": m.id, "namespace": m.namespace, "encoder": m.encoder} for m in alive)
        _hold("embedding", ("memory_id",), vectors, self._store.embedding, self._findings)
        dropped = (_columns(history.dropped[i], _DROPPED) for i in sorted(history.dropped))
        _hold("dropped", ("memory_id",), dropped, self._store.dropped, self._findings)
        orders = (_columns(one, _ERASURE) for one in history.erasures.orders.values())
        _hold("erasure", ("first_seq",), orders, self._store.erasure, self._findings)
        standing = history.protections.standing
        guarded = (_columns(standing[key], _PROTECTION) for key in sorted(standing))
        _hold("protection", ("memory_id", "kind"), guarded, self._store.protection, self._findings)
        known = ((name, history.quotas[name].living) for name in sorted(history.quotas))
        living = ({"shard": history.state.shard, "namespace": name, "alive": count} for name, count in known if count)
        _hold("living", ("namespace",), living, self._store.living, self._findings)

    def finish(self, whole: bool) -> None:
        """Ends the audit after the last entry. `whole`: the chain reached the snapshot's end, so no further row can be
        right."""
        grown = (self._journal, self._event, self._decision, self._outcome, self._ballot)
        for table in (*grown, self._provenance, self._erased, self._let_go, self._answered):
            table.finish(whole)
        for seq in [seq for seq, there in self._failed.values() if whole and not there]:
            self._findings.add(Kind.ROW_MISSING, seq, f"table event, seq {seq}", "a row", "none")

    def finish_journal(self, whole: bool) -> None:
        """Ends the audit where the chain broke: the tables that follow from its history were not followed to the
        end."""
        self._journal.finish(whole)

    def _expect_event(self, row: Event, seq: int) -> None:
        """An event has one row. That of a failure goes when the event is tried again, which may come later."""
        named = row.namespace, row.event_id
        before, there = self._failed.pop(named, (seq, False))
        if there:
            self._findings.add(Kind.ROW_ADDED, before, f"table event, seq {before}", "no row: tried again", "one")
        failed = row.outcome == FAILED
        there = self._event.expect(_columns(row, _EVENT), seq, needed=not failed)
        if failed:
            self._failed[named] = seq, there

    def _expect_decision(self, row: DecisionRow, seq: int) -> None:
        columns = _columns(row, _DECISION)
        self._decision.expect(columns | {"commits": list(row.commits)}, seq)
        place = {"shard": row.shard, "epoch": row.epoch}
        for outcome in row.outcomes:
            self._outcome.expect(place | _columns(outcome, _OUTCOME), seq)
        for position in dict.fromkeys(outcome.position for outcome in row.outcomes):
            for ballot in row.ballots_on(position):
                values = {"position": position} | _columns(ballot, _BALLOT) | {"terms": list(ballot.terms)}
                self._ballot.expect(place | values, seq)


def _hold(name: str, key: tuple[str, ...], expected: Iterable[Row], found: Iterable[Row], findings: Findings) -> None:
    table = Table(name, key, found, findings)
    for row in expected:
        table.expect(row, row.get("seq"))
    table.finish()


def _names(kind: type[Struct], *without: str) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in without)


_SHARD = _names(ShardState)
_MEMORY = _names(Memory)
_STRENGTH = _names(Strength)
_EVENT = _names(Event)
_DROPPED = _names(Dropped)
_PROVENANCE = _names(Provenance)
_ERASED = _names(ErasedRow)
_LET_GO = _names(LetGo)
_ANSWERED = _names(Answered)
_PROTECTION = _names(Protection)
# A head is a signature beside the chain; a rebuild has none.
_ERASURE = _names(ErasureRow, "head")
_DECISION = _names(DecisionRow, "outcomes", "ballots", "commits")
_OUTCOME = _names(OutcomeRow)
_BALLOT = _names(BallotRow, "terms")
_ENTRY = ("shard", "seq", "as_of", "effect", "event_id", "namespace", "memory_id", "source_topic", "source_partition",
          "source_offset")  # fmt: skip
_APPENDED = ("entry", "previous_hash", "hash")


def _columns(value: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _journal_row(link: Link) -> Row:
    return _columns(link.entry, _ENTRY) | _columns(link.appended, _APPENDED)
