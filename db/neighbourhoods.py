"""The Neighbourhoods port on Postgres: what a namespace holds in short-term memory, and what changed since."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
import psycopg

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.core.merging import Marks
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
            changed = [(memory_id, here) for _, memory_id, here in rows if memory_id is not None]
            new = [memory_id for memory_id, here in changed if here and memory_id not in known]
            # Asked a moment later: what has left since is missing here, and told of as left the next time.
            found = cursor.execute(QUERIES["neighbourhood_some"], {"ids": new}).fetchall() if new else []
        left = tuple(memory_id for memory_id, here in changed if not here)
        return JournalChange(seq, tuple(map(_neighbour, found)), left)

    def _all(self, shard: int, namespace: str) -> JournalChange:
        wanted = {"shard": shard, "namespace": namespace}
        with self._link.use() as connection, connection.transaction(), connection.cursor(binary=True) as cursor:
            row = cursor.execute(QUERIES["neighbourhood_seq"], wanted).fetchone()
            arrived = tuple(map(_neighbour, cursor.execute(QUERIES["neighbourhood_all"], wanted)))
            return JournalChange(row[0] if row else 0, arrived, ())


def _neighbour(row: tuple[Any, ...]) -> Neighbour:
    memory_id, agent, vector, text, encoder, *marked = row
    return Neighbour(memory_id, agent, vector.to_numpy().astype(np.float32), text, encoder, Marks(*marked))
