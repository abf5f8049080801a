"""Rows into tables by COPY: binary, so that neither this process nor Postgres goes through the text of a value.

A column's type is said once, and not looked up for every value. An id is written as its 16 bytes and a vector as
pgvector sends it: columns of those types take them from a value of type `bytea`.

Postgres refuses COPY where row security holds. So the writer copies into temporary tables of its session, and inserts
from these (`staging`; decision 192). A login past row security may copy into the tables themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import psycopg
from msgspec import Struct
from numpy.typing import NDArray
from psycopg.types.string import BytesBinaryDumper

from db.queries import QUERIES
from memquorum.core.journal.rows import DecisionRow
from memquorum.core.journal.tables import TABLES, Kind, Table, types

Row = Sequence[Any]

# Content and embeddings are no rows of the journal's.
_CONTENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "content_copy": ("bytea", "text", "text"),
        "labelled_content_copy": ("bytea", "text", "text", "text[]", "text", "text", "jsonb"),
        "embedding_copy": ("bytea", "text", "bytea", "text"),
        "experience_copy": ("bytea", "text", "text", "bytea", "text", "bytea"),
        "sentence_copy": ("bytea", "int4", "text", "bytea", "text"),
    }
)

# The header and trailer of COPY's binary format, and the values that are the same in every row of `ballot_copy`.
_SIGNATURE, _TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_INT8 = 20  # the type's number in every Postgres
_CONSTANT: Mapping[str, int] = MappingProxyType(
    {
        "columns": 7, "shard_bytes": 4, "epoch_bytes": 8, "position_bytes": 4, "member_bytes": 4, "yes_bytes": 1,
        "score_ppm_bytes": 4, "dimensions": 1, "nulls": 0, "type": _INT8, "lower": 1,
    }
)  # fmt: skip


# The form of the statements: `COPY table (columns) FROM STDIN (FORMAT BINARY)`.
_COPY = re.compile(r"COPY (\w+) (\(.+?\))\s+FROM STDIN \(FORMAT BINARY\)", re.DOTALL)
_STANDING: WeakKeyDictionary[psycopg.Connection, set[str]] = WeakKeyDictionary()
_USED: WeakKeyDictionary[psycopg.Connection, set[str]] = WeakKeyDictionary()


@contextmanager
def staging(connection: psycopg.Connection) -> Iterator[None]:
    """Has the copies of the block go through temporary tables. The block is a transaction; the rows in these tables go
    with its end, so each statement is carried out once in it."""
    used = _USED[connection] = set[str]()
    try:
        yield
        # A table that was made stands for certain once its transaction is committed.
        _STANDING.setdefault(connection, set()).update(used)
    finally:
        del _USED[connection]


@cache
def _target(name: str) -> tuple[str, str]:
    """The table of a COPY statement, and its columns in parentheses."""
    found = _COPY.fullmatch(QUERIES[name])
    assert found is not None, name
    return found[1], found[2]


def _copying(connection: psycopg.Connection, name: str) -> str:
    """The statement by which this connection copies. Makes the temporary table that it copies into, if it needs one:
    with the name of the statement and its columns."""
    used = _USED.get(connection)
    if used is None:
        return QUERIES[name]
    if name not in used and name not in _STANDING.get(connection, ()):
        table, columns = _target(name)
        made = f"SELECT {columns[1:-1]} FROM {table} WITH NO DATA"
        connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} ON COMMIT DELETE ROWS AS {made}")
    used.add(name)
    return f"COPY pg_temp.{name} FROM STDIN (FORMAT BINARY)"


def _insert(connection: psycopg.Connection, name: str) -> None:
    """Inserts what was copied into a temporary table, if it was."""
    if connection in _USED:
        table, columns = _target(name)
        connection.execute(f"INSERT INTO {table} {columns} SELECT * FROM pg_temp.{name}")


def copy(connection: psycopg.Connection, name: str, rows: Iterable[Row]) -> None:
    """Writes rows by the COPY statement of this name. Ids are given as `raw_id` gives them, vectors as `raw_vector`."""
    first = next(iterator := iter(rows), None)
    if first is None:
        return
    cursor = connection.cursor()
    # For a column of type bytea psycopg takes the dumper that was registered last: DB-API's, which is Python.
    cursor.adapters.register_dumper(bytes, BytesBinaryDumper)
    with cursor.copy(_copying(connection, name)) as out:
        out.set_types(_types(name))
        out.write_row(first)
        for row in iterator:
            out.write_row(row)
    _insert(connection, name)


def copy_rows(connection: psycopg.Connection, table: Table, rows: Iterable[Struct]) -> None:
    """Writes new rows of a table."""
    copy(connection, f"{table.name}_copy", map(_taker(table.rows), rows))


def raw(row: Struct) -> Row:
    """A row's columns as COPY takes them, in the order of the statement."""
    return _taker(type(row))(row)


def _types(name: str) -> Sequence[str]:
    if name in _CONTENTS:
        return _CONTENTS[name]
    (table,) = (table for table in TABLES.values() if f"{table.name}_copy" == name)
    of = types(table.rows)
    return ["bytea" if of[column] == "uuid" else of[column] for column in table.columns]


@cache
def _taker(kind: Kind) -> Callable[[Struct], Row]:
    table, of = TABLES[kind], types(kind)
    take = attrgetter(*table.columns)
    ids = [at for at, name in enumerate(table.columns) if of[name] == "uuid"]
    lists = [at for at, name in enumerate(table.columns) if of[name].endswith("[]")]

    def taken(row: Struct) -> Row:
        values = list(take(row))
        for at in ids:
            values[at] = None if values[at] is None else raw_id(values[at])
        for at in lists:
            values[at] = None if values[at] is None else list(values[at])
        return values

    return taken


def raw_id(memory_id: str) -> bytes:
    """A UUID's 16 bytes, from its text."""
    return bytes.fromhex(memory_id.replace("-", ""))


def raw_vector(vector: NDArray[np.floating[Any]]) -> bytes:
    """A vector of shape (d,) as pgvector sends a halfvec: d, two bytes without meaning, float16s; big-endian."""
    return len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(">f2").tobytes()


def copy_ballots(connection: psycopg.Connection, decisions: Iterable[DecisionRow]) -> None:
    """Writes all decisions' rows of `ballot_copy`."""
    rows = b"".join(map(ballots, decisions))
    if rows:
        with connection.cursor().copy(_copying(connection, "ballot_copy")) as out:
            out.write(_SIGNATURE + rows + _TRAILER)
        _insert(connection, "ballot_copy")


def ballots(row: DecisionRow) -> bytes:
    """A decision's rows of `ballot_copy` as COPY reads them, made in columns: opinions are too many to be made rows one
    by one. In the order of their proposals, and of the members for each, which is that of the table's index."""
    kept = np.unique(np.array([outcome.position for outcome in row.outcomes], np.int64))
    alike: dict[int, list[NDArray[Any]]] = {}
    for ballot in row.ballots:
        for places, votes, scores, terms in ballot.columns:
            positions = np.array(places, np.int64)
            made = np.empty(len(places), _ballot_type(len(terms)))
            for name, value in _CONSTANT.items():
                made[name] = value
            made["dimension"], made["array_bytes"] = len(terms), 20 + 12 * len(terms)
            made["shard"], made["epoch"], made["member"] = row.shard, row.epoch, ballot.member
            made["position"], made["yes"], made["score_ppm"] = positions, votes, scores
            made["terms"]["bytes"], made["terms"]["value"] = 8, terms.T
            if len(kept) < len(row.ballots[0].yes):
                made = made[np.isin(positions, kept)]
            alike.setdefault(len(terms), []).append(made)
    # Without its type numpy would turn the bytes of every number round.
    together = (np.concatenate(made, dtype=_ballot_type(terms)) for terms, made in alike.items())
    return b"".join(made[np.argsort(made["position"], kind="stable")].tobytes() for made in together)


@cache
def _ballot_type(terms: int) -> np.dtype[Any]:
    """A row of `ballot_copy` in COPY's binary format: the number of its columns; for each its bytes and its value, the
    last of them an array of numbers with so many elements."""
    return np.dtype([
        ("columns", ">i2"), ("shard_bytes", ">i4"), ("shard", ">i4"), ("epoch_bytes", ">i4"), ("epoch", ">i8"),
        ("position_bytes", ">i4"), ("position", ">i4"), ("member_bytes", ">i4"), ("member", ">i4"),
        ("yes_bytes", ">i4"), ("yes", "u1"), ("score_ppm_bytes", ">i4"), ("score_ppm", ">i4"),
        ("array_bytes", ">i4"), ("dimensions", ">i4"), ("nulls", ">i4"), ("type", ">i4"), ("dimension", ">i4"),
        ("lower", ">i4"), ("terms", [("bytes", ">i4"), ("value", ">i8")], (terms,)),
    ])  # fmt: skip
