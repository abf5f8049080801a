"""The rows that audits and digests read of the database, from one snapshot, however large the tables are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import psycopg
from msgspec import Struct
from msgspec.structs import replace
from psycopg import sql
from psycopg.rows import dict_row

from db.arrays import halves
from db.connection import READER, Link
from db.queries import QUERIES
from memquorum import topics
from memquorum.core.audit.witness import Row, Store
from memquorum.core.journal.digest import Kept, StateDigest, state_digest
from memquorum.core.journal.rows import Memory, ShardState, Strength, TaskRow
from memquorum.core.journal.tables import TABLES
from memquorum.ports import StoreUnavailable

# Rows fetched at a time: some tables hold whole certificates in a row.
_FETCH = 1_000

# The number of columns of `kept_memories` that each class takes.
_MEMORY = len(Memory.__struct_fields__)
_STRENGTH = len(Strength.__struct_fields__)
_TASK = len(TaskRow.__struct_fields__)

# The audited contents of memories, beside the tables that the journal makes.
CONTENTS = ("content", "embedding", "sentence", "replaced", "experience")
# The tables that the state digest covers: contents and embeddings as they are held, of the others the sums of their
# columns.
DIGESTED = ("memory", "strength", *CONTENTS)
STANDING = ("shard",)
UNCOMPARED: Mapping[str, str] = MappingProxyType(
    {
        "migration": "says how the database was made, and nothing of what is in it",
        "record_schema": "holds the schemas of records, by which SQL decodes entries: it is the same in every database",
        "profile_now": "says which profiles are in force, as `profile` does, with lists that the vault opens",
        "cursor": "says where the worker goes on to read; a rebuild has used up less, and it reads the rest again",
    }
)


def audited() -> tuple[str, ...]:
    """The tables that an audit reads."""
    return (*(table.name for table in TABLES.values()), *CONTENTS)


def summed() -> tuple[str, ...]:
    """Those of which two databases compare sums."""
    return tuple(name for name in audited() if name not in DIGESTED or name in CONTENTS)


class Summed(Struct, frozen=True):
    """A table's rows of one shard: how many, and the sums of their fingerprints."""

    rows: int
    first: int
    second: int


class TableDifference(Struct, frozen=True):
    """Two stores disagree about a table of a shard; `left` and `right`: how many rows each has."""

    shard: int
    table: str
    left: int
    right: int


class Snapshot:
    """The database at one moment. Streams are read from the server as they are consumed, while the block lasts."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self._names = itertools.count()

    def store(self, shard: int) -> Store:
        """A shard's rows, as an audit compares them."""
        wanted = {"shard": shard, "replaced_after": 0}
        with self._connection.cursor(row_factory=dict_row) as cursor:
            standing = cursor.execute(QUERIES["audit_shard"], wanted | {"accepted": topics.ACCEPTED}).fetchone()
        return Store(standing, {name: self._rows(f"audit_{name}", wanted) for name in audited()})

    def strays(self, shards: int) -> list[tuple[str, int]]:
        """(table, shard) of rows that belong to no shard of the cluster, one of each table."""
        return self._connection.execute(QUERIES["audit_strays"], {"shards": list(range(shards))}).fetchall()

    def standing(self) -> dict[int, ShardState]:
        """Returns the state of every shard."""
        rows = self._connection.execute(QUERIES["shard_standing"]).fetchall()
        return {row[0]: ShardState(*row[:12]) for row in rows}

    def kept(self, namespace: str | None = None) -> Iterator[Kept]:
        """All memories, or a namespace's, in the order of the state digest."""
        with self._connection.cursor(name=self._name()) as cursor:
            cursor.itersize = _FETCH
            cursor.execute(QUERIES["kept_memories"], {"namespace": namespace})
            for row in cursor:
                yield _kept(row)

    def bodies(self) -> Iterator[tuple[int, str, bytes, str]]:
        """All contents, by shard and memory: (shard, memory id, commitment, text)."""
        with self._connection.cursor(name=self._name()) as cursor:
            cursor.itersize = _FETCH
            yield from cursor.execute(QUERIES["audit_bodies"])

    def held(self, memory_ids: Sequence[str]) -> list[str]:
        """Returns those of the memories whose content exists."""
        rows = self._connection.execute(QUERIES["audit_held"], {"ids": list(memory_ids)})
        return [memory_id for (memory_id,) in rows]

    def contexts(self) -> Iterator[tuple[bytes, Memory, TaskRow, str, bytes]]:
        """Finished tasks with all that a trial of one reads: the digest that is kept of that, the task's rows, its
        texts, and its vector as little-endian float16."""
        with self._connection.cursor(name=self._name()) as cursor:
            cursor.itersize = _FETCH
            for digest, body, vector, *columns in cursor.execute(QUERIES["audit_contexts"]):
                task = TABLES[TaskRow].row(columns[:_TASK])
                row, memory = replace(task, retrieved=tuple(task.retrieved)), TABLES[Memory].row(columns[_TASK:])
                yield digest, memory, row, body, halves(vector)

    def digest(self, namespace: str | None = None) -> StateDigest:
        """The state digest, of everything or of one namespace."""
        return state_digest(self.kept(namespace))

    def replaced_after(self) -> dict[int, int]:
        """Reads up to which entry of each shard what was superseded is not kept for reads of the past."""
        return dict(self._connection.execute(QUERIES["shard_replaced"]).fetchall())

    def tables(self, namespace: str | None, replaced_after: Mapping[int, int]) -> dict[tuple[int, str], Summed]:
        """The sums of the tables, shard by shard: of everything, or of what is one namespace's where rows have one.
        `replaced_after`: by shard, from which entry on what was replaced counts."""
        return {
            (shard, table): self._summed(
                table, {"shard": shard, "namespace": namespace, "replaced_after": replaced_after.get(shard, 0)}
            )
            for shard in self.standing()
            for table in summed()
        }

    def knows(self, namespace: str) -> bool:
        """Whether there is anything of a namespace."""
        row = self._connection.execute(QUERIES["namespace_is_known"], {"namespace": namespace}).fetchone()
        return bool(row and row[0])

    def _summed(self, table: str, wanted: dict[str, Any]) -> Summed:
        rows = sql.SQL(QUERIES[f"audit_{table}"])
        named = self._connection.execute(sql.SQL(QUERIES["rows_named"]).format(rows=rows), wanted).description or []
        uncompared = [name for one in TABLES.values() if one.name == table for name in one.uncompared]
        names = [column.name for column in named if column.name not in uncompared]
        which = "rows_of_a_namespace" if "namespace" in names else "rows_of_any_namespace"
        statement = sql.SQL(QUERIES["rows_summed"]).format(
            rows=rows,
            columns=sql.SQL(", ").join(sql.Identifier("r", name) for name in names),
            which=sql.SQL(QUERIES[which]),
        )
        found = self._connection.execute(statement, wanted).fetchone()
        assert found is not None
        return Summed(*map(int, found))

    def _rows(self, name: str, wanted: dict[str, Any]) -> Iterator[Row]:
        with self._connection.cursor(name=self._name(), row_factory=dict_row) as cursor:
            cursor.itersize = _FETCH
            cursor.execute(QUERIES[name], wanted)
            yield from cursor

    def _name(self) -> str:
        return f"audit_{next(self._names)}"


def differing(one: Snapshot, other: Snapshot, namespace: str | None) -> list[TableDifference]:
    """The tables that differ, by shard and name. A store that an earlier release began lacks what was superseded then:
    of that nothing is compared."""
    begun, none = one.replaced_after(), Summed(0, 0, 0)
    both = {shard: max(after, begun.get(shard, 0)) for shard, after in other.replaced_after().items()}
    left, right = one.tables(namespace, both), other.tables(namespace, both)
    pairs = ((key, left.get(key, none), right.get(key, none)) for key in sorted(left.keys() | right.keys()))
    return [TableDifference(*key, a.rows, b.rows) for key, a, b in pairs if a != b]


@contextmanager
def snapshot(dsn: str) -> Iterator[Snapshot]:
    """A snapshot, for the duration. Raises StoreUnavailable where the database cannot be reached, or goes away."""
    link = Link(dsn, READER, StoreUnavailable, isolation=psycopg.IsolationLevel.REPEATABLE_READ)
    try:
        with link.use() as connection, connection.transaction():
            found = Snapshot(connection)
            found.standing()  # the first statement fixes the moment
            yield found
    finally:
        link.close()


def _kept(row: tuple[Any, ...]) -> Kept:
    strength = row[_MEMORY : _MEMORY + _STRENGTH]
    body, vector = row[_MEMORY + _STRENGTH :]
    return Kept(
        memory=TABLES[Memory].row(row[:_MEMORY]),
        strength=Strength(*strength) if strength[0] is not None else None,
        content=None if body is None else body.encode(),
        vector=None if vector is None else halves(vector),
    )
