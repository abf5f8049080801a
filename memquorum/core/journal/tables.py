"""Every table that follows from the journal, declared once.

A batch gathers its rows by these declarations (`workset`), and a rebuild its own (`replay`); the store copies, changes
and deletes rows by them (`db.store`, `db.copying`), and so does the tests' one in memory; an audit and a comparison of
two databases read and compare them (`audit.witness`, `db.audit_rows`).

A new table is a class of rows (`rows`), a declaration here, the rule that makes its rows (`effects`), and its SQL: the
schema, `NAME_copy` and `audit_NAME`, and where the declaration asks for it `NAME_update`, `NAME_delete` or
`NAME_upsert`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.journal.rows import (
    AdmissionRow,
    Answered,
    BallotRow,
    Conflict,
    DecisionRow,
    Disclosure,
    Dropped,
    ErasedRow,
    ErasureRow,
    Event,
    FeedbackRow,
    JournalRow,
    LetGo,
    LinkRow,
    Living,
    Memory,
    OutcomeRow,
    PatchRow,
    Profile,
    Protection,
    Provenance,
    QuoteRow,
    R,
    Reward,
    Spent,
    Strength,
    TaskRow,
    TrialRow,
    UseRow,
    WeightRow,
)

Kind = type[Struct]
"""The class of a table's rows, which stands for the table."""

_TYPES: Mapping[Any, str] = {
    "uuid": "uuid", "int4": "int4", int: "int8", str: "text", bool: "bool", bytes: "bytea",
    tuple[int, ...]: "int8[]", tuple[bytes, ...]: "bytea[]",
    tuple[str, ...]: "text[]", Mapping[str, int]: "jsonb",
}  # fmt: skip


class Table(Struct, frozen=True):
    """One table: what a row of it is called by, and what may become of it."""

    name: str
    rows: Kind
    key: tuple[str, ...]
    """The columns that no two rows share."""
    order: tuple[str, ...] = ()
    """In which order an audit reads the rows of a shard; by the key where nothing is said."""
    entry: str = ""
    """The column that names the journal entry behind a row."""
    changes: tuple[str, ...] = ()
    """The columns that a later entry may change."""
    ends: bool = False
    """Whether a later entry may take a row away."""
    loaded: bool = False
    """Whether rows are read before an entry is judged: then a batch knows which of its rows are new, and what goes."""
    adds: tuple[str, ...] = ()
    """The columns in which rows of the same key are added up."""
    without: tuple[str, ...] = ()
    """The fields of the class that are no columns."""
    uncompared: tuple[str, ...] = ()
    """The columns that two databases may differ in."""

    @property
    def grows(self) -> bool:
        """Whether rows only come: then an audit holds each against the entry that brings it."""
        return not (self.changes or self.ends or self.adds)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names them, in the order of the class and of the statements."""
        return tuple(name for name in self.rows.__struct_fields__ if name not in self.without)

    def row(self, values: Sequence[Any]) -> Any:
        """Makes a row of its columns' values."""
        return self.rows(**dict(zip(self.columns, values, strict=True)))

    def key_of(self, row: Struct) -> Any:
        """Gives what the row is called by: one value, or several in a tuple."""
        return _taking(self.key)(row)

    def ordered(self, row: Struct) -> Any:
        """Gives what an audit orders the row by."""
        return _taking(self.order or self.key)(row)

    def plus(self, row: R, more: R) -> R:
        """Adds up two rows of one key."""
        return replace(row, **{name: getattr(row, name) + getattr(more, name) for name in self.adds})


@cache
def _taking(names: tuple[str, ...]) -> attrgetter[Any]:
    return attrgetter(*names)


@cache
def types(kind: Kind) -> Mapping[str, str]:
    """The type in the store of each column of a class of rows."""
    plain = get_type_hints(kind)
    hints = get_type_hints(kind, include_extras=True)
    return {name: _type(hint) or _type(plain[name]) for name, hint in hints.items()}


def _type(hint: Any) -> str:
    """Returns the type of a column, NULL or not; empty for a field that is no column."""
    parts = [part for part in get_args(hint) if part is not type(None)] if type(None) in get_args(hint) else [hint]
    (one,) = parts
    return _TYPES.get(one, "") or next(
        (part for part in getattr(one, "__metadata__", ()) if isinstance(part, str) and part in _TYPES), ""
    )


_PROTECTS = ("shard", "seq", "namespace", "order_id", "signer", "ordered_by", "reference", "accepted_at")
_STANDS = (
    "seq",
    "merged_into",
    "merged_at",
    "general",
    "status",
    "position",
    "digest",
    "score_ppm",
    "version",
    "weight_ppm",
    "epoch",
    "after",
    "rejections",
    "rejected",
    "judges",
    "gained_ppm",
    "refusals",
    "since",
    "gains",
    "losses",
)
_USED = (
    "tier",
    "salience_ppm",
    "last_access",
    "touched",
    "accesses",
    "reinforced",
    "kept",
    "rest",
    "replays",
    "doubts",
    "rehearsed",
    "fades",
)

TABLES: dict[Kind, Table] = {
    table.rows: table
    for table in (
        Table(
            "memory", Memory, ("id",), entry="seq", loaded=True,
            changes=(
                "tier", "encoder", "confidence_ppm", "changed", "sealed_until", "seq", "asks_after", "told_by", "said",
                "said_offset", "sensitivity_ppm", "purposes", "jurisdictions",
            ),
        ),
        Table("strength", Strength, ("memory_id",), loaded=True, changes=_USED, ends=True),
        # A failed episode that is retried has one row, with its last outcome.
        Table(
            "event", Event, ("namespace", "event_id"), ("seq",), "seq", loaded=True,
            changes=("outcome", "memory_id", "seq", "agent", "subject", "source", "session", "type", "occurred"),
        ),
        Table("used", UseRow, ("memory_id", "shard", "seq"), ("seq", "memory_id"), "seq"),
        Table("dropped", Dropped, ("memory_id",), ends=True),
        Table("provenance", Provenance, ("namespace", "parent", "child"), ("seq", "parent"), "seq"),
        Table("quote", QuoteRow, ("summary", "place"), ("seq", "place"), "seq"),
        Table("patch", PatchRow, ("shard", "seq", "place"), ("seq", "place"), "seq"),
        Table("task", TaskRow, ("memory_id",), ("seq",), "seq"),
        Table("feedback", FeedbackRow, ("shard", "seq", "memory_id"), ("seq", "memory_id"), "seq"),
        Table("trial", TrialRow, ("memory_id", "position", "verifier"), ("seq",), "seq"),
        Table("admission", AdmissionRow, ("memory_id",), entry="seq", loaded=True, changes=_STANDS),
        Table("weight", WeightRow, ("memory_id", "version"), ("seq", "memory_id", "version"), "seq"),
        Table("conflict", Conflict, ("namespace", "older", "newer", "seq"), ("seq", "older"), "seq"),
        Table("link", LinkRow, ("namespace", "memory", "kind", "target"), ("seq", "kind", "target"), "seq"),
        Table("erased", ErasedRow, ("memory_id",), ("seq", "memory_id"), "seq"),
        # A head is a signature beside the chain; a rebuild has none.
        Table(
            "erasure", ErasureRow, ("shard", "first_seq"), ("first_seq",), "first_seq",
            adds=("memories", "episodes", "summaries", "anew"),
            uncompared=("head",),
        ),
        Table("living", Living, ("namespace",), adds=("alive",)),
        Table("let_go", LetGo, ("namespace", "epoch"), ("epoch", "namespace")),
        Table("protection", Protection, ("memory_id", "kind"), loaded=True, changes=_PROTECTS, ends=True),
        Table("answered", Answered, ("shard", "digest"), ("seq",), "seq"),
        Table("disclosure", Disclosure, ("shard", "seq", "memory_id"), ("seq", "memory_id"), "seq"),
        Table("profile", Profile, ("shard", "seq"), ("seq",), "seq", without=("sealed",)),
        Table("reward", Reward, ("shard", "seq", "memory_id", "kind"), ("seq", "memory_id", "kind"), "seq"),
        Table("spent", Spent, ("shard", "seq", "memory_id"), ("seq", "memory_id"), "seq"),
        Table("journal", JournalRow, ("shard", "seq"), ("seq",), "seq"),
        Table("decision", DecisionRow, ("shard", "epoch"), ("epoch",), "journal_seq", without=("outcomes", "ballots")),
        Table("outcome", OutcomeRow, ("shard", "epoch", "position", "memory_id"), ("epoch", "position", "memory_id")),
        Table("ballot", BallotRow, ("shard", "epoch", "position", "member"), ("epoch", "position", "member")),
    )
}  # fmt: skip
"""By the class of its rows, in the order in which they are written."""
