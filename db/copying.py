"""Rows into tables by COPY: binary, so that neither this process nor Postgres goes through the text of a value.

A column's type is said once, and not looked up for every value. An id is written as its 16 bytes and a vector as
pgvector sends it: columns of those types take them from a value of type `bytea`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np
import psycopg
from msgspec import Struct
from numpy.typing import NDArray
from psycopg.types.string import BytesBinaryDumper

from db.queries import QUERIES
from memquorum.core.journal.rows import (
    DecisionRow,
    Dropped,
    ErasedRow,
    Event,
    LetGo,
    Memory,
    OutcomeRow,
    Provenance,
    Strength,
)
from memquorum.core.records import JournalAppended, JournalEntry

_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "memory_copy": (
            *("bytea", "int4", *["text"] * 7, "int8", "int4", "bytea", "text", "bool", "int4", *["int8"] * 3, "text",
              "text", "int4", "text", "text", "int8"),
        ),
        "content_copy": ("bytea", "text", "text"),
        "embedding_copy": ("bytea", "text", "bytea", "text"),
        "strength_copy": ("bytea", "int4", "text", "int4", *["int8"] * 4, "int4", "int4", "jsonb", "jsonb"),
        "event_copy": ("text", "text", "int4", "text", "bytea", "int8", *["text"] * 4),
        "dropped_copy": ("bytea", "int4", "text", "int8"),
        "provenance_copy": ("int4", "int8", "text", "bytea", "bytea", "bool", "bool", "text"),
        "erased_copy": ("bytea", "int4", "int8", "text", "text"),
        "let_go_copy": ("int4", "text", *["int8"] * 4),
        "journal_copy": (
            *("int4", "int8", "int8", "text", "text", "text", "bytea", "text", "int4", "int8"),
            *("bytea", "bytea", "bytea"),
        ),
        "decision_copy": (
            *("int4", *["int8"] * 3, "int4", "int8", "text", "bytea", "bytea", "bytea[]", "int8"),
        ),
        "outcome_copy": ("int4", "int8", "int4", "bytea", *["text"] * 3, "int4", "int8", "int8"),
    }
)  # fmt: skip

Row = tuple[Any, ...]

# What COPY's binary format begins and ends with, and what is the same in every row of `ballot_copy`.
_SIGNATURE, _TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_INT8 = 20  # the type's number in every Postgres
_CONSTANT: Mapping[str, int] = MappingProxyType(
    {
        "columns": 7, "shard_bytes": 4, "epoch_bytes": 8, "position_bytes": 4, "member_bytes": 4, "yes_bytes": 1,
        "score_ppm_bytes": 4, "dimensions": 1, "nulls": 0, "type": _INT8, "lower": 1,
    }
)  # fmt: skip


def copy(connection: psycopg.Connection, name: str, rows: Iterable[Row]) -> None:
    """Writes rows by the COPY statement of this name. Ids are given as `raw_id` gives them, vectors as `raw_vector`."""
    first = next(iterator := iter(rows), None)
    if first is None:
        return
    cursor = connection.cursor()
    # For a column of type bytea psycopg takes the dumper that was registered last: DB-API's, which is Python.
    cursor.adapters.register_dumper(bytes, BytesBinaryDumper)
    with cursor.copy(QUERIES[name]) as out:
        out.set_types(_TYPES[name])
        out.write_row(first)
        for row in iterator:
            out.write_row(row)


def raw_id(memory_id: str) -> bytes:
    """A UUID's 16 bytes, from its text."""
    return bytes.fromhex(memory_id.replace("-", ""))


def raw_vector(vector: NDArray[np.floating[Any]]) -> bytes:
    """A vector of shape (d,) as pgvector sends a halfvec: d, two bytes without meaning, float16s; big-endian."""
    return len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(">f2").tobytes()


def _columns(kind: type[Struct], without: tuple[str, ...] = ()) -> Callable[[Any], Row]:
    """A row's fields as a tuple, in the order of the class, which is that of the COPY statements."""
    return attrgetter(*(name for name in kind.__struct_fields__ if name not in without))


_MEMORY = _columns(Memory, without=("id",))
_STRENGTH = _columns(Strength, without=("memory_id",))
_EVENT = attrgetter("namespace", "event_id", "shard", "outcome")
_OUTCOME = _columns(OutcomeRow, without=("position", "memory_id"))
_ENTRY = attrgetter("shard", "seq", "as_of", "effect", "event_id", "namespace")
_SOURCE = attrgetter("source_topic", "source_partition", "source_offset")


def memory(row: Memory) -> Row:
    """A row of `memory_copy`."""
    return (raw_id(row.id), *_MEMORY(row))


def strength(row: Strength) -> Row:
    """A row of `strength_copy`."""
    return (raw_id(row.memory_id), *_STRENGTH(row))


def event(row: Event) -> Row:
    """A row of `event_copy`."""
    return *_EVENT(row), raw_id(row.memory_id), row.seq, row.agent, row.subject, row.source, row.session


def dropped(row: Dropped) -> Row:
    """A row of `dropped_copy`."""
    return raw_id(row.memory_id), row.shard, row.namespace, row.destroy_at


def provenance(row: Provenance) -> Row:
    """A row of `provenance_copy`."""
    ids = raw_id(row.child), raw_id(row.parent)
    return row.shard, row.seq, row.namespace, *ids, row.echo, row.follows, row.agent


def erased(row: ErasedRow) -> Row:
    """A row of `erased_copy`."""
    return raw_id(row.memory_id), row.shard, row.seq, row.namespace, row.was


def let_go(row: LetGo) -> Row:
    """A row of `let_go_copy`."""
    return row.shard, row.namespace, row.epoch, row.as_of, row.forgotten, row.held_back


def journal(entry: JournalEntry, link: JournalAppended) -> Row:
    """A row of `journal_copy`."""
    memory_id = None if entry.memory_id is None else raw_id(entry.memory_id)
    return (*_ENTRY(entry), memory_id, *_SOURCE(entry), link.entry, link.previous_hash, link.hash)


def decision(row: DecisionRow) -> Row:
    """A row of `decision_copy`."""
    return (
        row.shard, row.epoch, row.seq, row.view, row.config, row.as_of, row.trigger, row.digest, row.pre_prepare,
        list(row.commits), row.journal_seq,
    )  # fmt: skip


def outcomes(row: DecisionRow) -> Iterable[Row]:
    """A decision's rows of `outcome_copy`."""
    return ((row.shard, row.epoch, o.position, raw_id(o.memory_id), *_OUTCOME(o)) for o in row.outcomes)


def copy_ballots(connection: psycopg.Connection, decisions: Iterable[DecisionRow]) -> None:
    """Writes all decisions' rows of `ballot_copy`."""
    rows = b"".join(map(ballots, decisions))
    if rows:
        with connection.cursor().copy(QUERIES["ballot_copy"]) as out:
            out.write(_SIGNATURE + rows + _TRAILER)


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
