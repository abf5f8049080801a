"""The Neighbourhoods port on Postgres: what a namespace holds in short-term memory, and what changed since."""

from __future__ import annotations

from typing import Any

import numpy as np
import psycopg

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.ports import JournalChange, Neighbour, StoreUnavailable


class PostgresNeighbourhoods:
    """Safe to share between threads. Raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        # One snapshot for all that an answer is made of.
        self._link = Link(dsn, READER, StoreUnavailable, vectors=True, isolation=psycopg.IsolationLevel.REPEATABLE_READ)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def changes(self, shard: int, namespace: str, after_seq: int | None) -> JournalChange:
        """Short-term memories that arrived or left after a journal sequence; see the port."""
        wanted = {"shard": shard, "namespace": namespace, "after": after_seq}
        with self._link.use() as connection, connection.transaction(), connection.cursor(binary=True) as cursor:
            row = cursor.execute(QUERIES["neighbourhood_seq"], wanted).fetchone()
            seq = row[0] if row else 0
            if seq == after_seq:
                return JournalChange(seq, (), ())
            name = "neighbourhood_all" if after_seq is None else "neighbourhood_arrived"
            arrived = tuple(_neighbour(found) for found in cursor.execute(QUERIES[name], wanted))
            left = () if after_seq is None else cursor.execute(QUERIES["neighbourhood_left"], wanted).fetchall()
            return JournalChange(seq, arrived, tuple(memory_id for (memory_id,) in left))


def _neighbour(row: tuple[Any, ...]) -> Neighbour:
    memory_id, agent, vector, text, encoder = row
    return Neighbour(memory_id, agent, vector.to_numpy().astype(np.float32), text, encoder)
