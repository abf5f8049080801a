"""The Rehearsals port on Postgres: what a rehearsal draws from, and what it looks at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg

from db.connection import REHEARSER, Link
from db.queries import QUERIES
from memquorum import topics
from memquorum.ports import Drawable, Seen, StoreUnavailable


class Look:
    """The store as a rehearsal sees it, in one snapshot."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def shards(self) -> list[tuple[int, int, int]]:
        """(shard, its time, the next offset of its accepted stream to be applied); see the port."""
        return self._connection.execute(QUERIES["rehearsal_shards"], {"topic": topics.ACCEPTED}).fetchall()

    def configured(self, shards: int) -> dict[int, list[tuple[bytes, tuple[bytes, ...]]]]:
        """The decisions that changed the shards' configurations; see the port."""
        found: dict[int, list[tuple[bytes, tuple[bytes, ...]]]] = {shard: [] for shard in range(shards)}
        wanted = {"shards": list(found), "configs": [0] * shards}
        for shard, pre_prepare, commits in self._connection.execute(QUERIES["configurations"], wanted):
            found[shard].append((pre_prepare, tuple(commits)))
        return found

    def recent(self, shard: int, before: int, most: int, namespace: str | None = None) -> list[Drawable]:
        """Short-term memories, the most salient first; see the port."""
        return self._drawable("rehearsal_recent", shard, before, most, namespace)

    def old(self, shard: int, before: int, most: int, namespace: str | None = None) -> list[Drawable]:
        """Long-term memories, longest unused first; see the port."""
        return self._drawable("rehearsal_old", shard, before, most, namespace)

    def seen(self, memory_ids: Sequence[str]) -> list[tuple[int, Seen]]:
        """Each memory with its shard, as it is now; see the port."""
        rows = self._connection.execute(QUERIES["rehearsal_seen"], {"ids": list(memory_ids)})
        return [(shard, Seen(*rest)) for shard, *rest in rows]

    def _drawable(self, query: str, shard: int, before: int, most: int, namespace: str | None) -> list[Drawable]:
        wanted = {"shard": shard, "before": before, "namespace": namespace, "limit": most}
        return [Drawable(*row) for row in self._connection.execute(QUERIES[query], wanted)]


class PostgresRehearsals:
    """This class answers one thread. Its method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str, role: str = REHEARSER) -> None:
        """Connects at the first question, with the rights of a role."""
        self._link = Link(dsn, role, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    @contextmanager
    def look(self, patience_ms: int) -> Iterator[Look]:
        """One moment of the store; see the port."""
        with self._link.snapshot() as connection:
            connection.execute(QUERIES["read_only"])
            connection.execute(QUERIES["patience"], {"ms": str(patience_ms)})
            yield Look(connection)
