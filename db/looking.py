"""One moment of the store for a worker that only looks: `rehearsals` and `trials` say what they see in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import psycopg

from db.connection import Link
from db.queries import QUERIES
from memquorum.ports import StoreUnavailable

L = TypeVar("L")


class Moment:
    """The store in one snapshot."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def configured(self, shards: int) -> dict[int, list[tuple[bytes, tuple[bytes, ...]]]]:
        """The decisions that changed the shards' configurations; see the ports."""
        found: dict[int, list[tuple[bytes, tuple[bytes, ...]]]] = {shard: [] for shard in range(shards)}
        wanted = {"shards": list(found), "configs": [0] * shards}
        for shard, pre_prepare, commits in self._connection.execute(QUERIES["configurations"], wanted):
            found[shard].append((pre_prepare, tuple(commits)))
        return found


class Looking(Generic[L]):
    """It answers one thread. Its method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str, role: str, seen: Callable[[psycopg.Connection], L]) -> None:
        """Connects at the first question, with the rights of a role. `seen`: makes of a connection what is seen."""
        self._link, self._seen = Link(dsn, role, StoreUnavailable), seen

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    @contextmanager
    def look(self, patience_ms: int) -> Iterator[L]:
        """One moment of the store; see the ports."""
        with self._link.snapshot() as connection:
            connection.execute(QUERIES["read_only"])
            connection.execute(QUERIES["patience"], {"ms": str(patience_ms)})
            yield self._seen(connection)
