"""The Neighbourhoods port on Postgres: what a namespace holds in short-term memory, and what changed since."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import numpy as np
import psycopg

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.core.merging import Marks
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.ports import JournalChange, Neighbour, StoreUnavailable


class PostgresNeighbourhoods:
    """Safe to share between threads. Raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        # One snapshot for all that a first answer is made of.
        self._link = Link(dsn, READER, StoreUnavailable, vectors=True, isolation=psycopg.IsolationLevel.REPEATABLE_READ)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def changes(self, shard: int, namespace: str, after_seq: int | None, known: Container[str] = ()) -> JournalChange:
        """Short-term memories that arrived or left after a journal sequence; see the port."""
        if after_seq is None:
            return self._all(shard, namespace)
        wanted = {"shard": shard, "namespace": namespace, "after": after_seq}
        with self._link.use() as connection, connection.cursor(binary=True) as cursor:
            rows = cursor.execute(QUERIES["neighbourhood_changed"], wanted).fetchall()
            seq = rows[0][0] if rows else 0
            changed = {memory_id: tier for _, memory_id, tier in rows if memory_id is not None}
            new = [i for i, tier in changed.items() if tier == LONG_TERM or (tier == SHORT_TERM and i not in known)]
            # Asked a moment later: what has left since is missing here, and told of as left the next time.
            found = cursor.execute(QUERIES["neighbourhood_some"], {"ids": new}).fetchall() if new else []
        left = tuple(memory_id for memory_id, tier in changed.items() if tier != SHORT_TERM)
        return _change(seq, found, left)

    def _all(self, shard: int, namespace: str) -> JournalChange:
        wanted = {"shard": shard, "namespace": namespace}
        with self._link.use() as connection, connection.transaction(), connection.cursor(binary=True) as cursor:
            row = cursor.execute(QUERIES["neighbourhood_seq"], wanted).fetchone()
            return _change(row[0] if row else 0, cursor.execute(QUERIES["neighbourhood_all"], wanted), ())


def _change(seq: int, rows: Iterable[tuple[Any, ...]], left: tuple[str, ...]) -> JournalChange:
    """Makes a change of rows that tell the tier of each."""
    found: dict[str, list[Neighbour]] = {SHORT_TERM: [], LONG_TERM: []}
    for row in rows:
        found[row[5]].append(_neighbour(row))
    return JournalChange(seq, tuple(found[SHORT_TERM]), left, tuple(found[LONG_TERM]))


def _neighbour(row: tuple[Any, ...]) -> Neighbour:
    memory_id, agent, vector, text, encoder, _, *marked, said_by = row
    return Neighbour(
        memory_id, agent, vector.to_numpy().astype(np.float32), text, encoder, Marks(*marked), said_by or ""
    )
