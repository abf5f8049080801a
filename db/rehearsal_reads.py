"""The Rehearsals port on Postgres: what a rehearsal draws from, and what it looks at."""

from __future__ import annotations

from collections.abc import Sequence

from db.connection import REHEARSER
from db.looking import Looking, Moment
from db.queries import QUERIES
from memquorum import topics
from memquorum.ports import Drawable, Seen


class Look(Moment):
    """The store as a rehearsal sees it, in one snapshot."""

    def shards(self) -> list[tuple[int, int, int]]:
        """(shard, its time, the next offset of its accepted stream to be applied); see the port."""
        return self._connection.execute(QUERIES["rehearsal_shards"], {"topic": topics.ACCEPTED}).fetchall()

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


class PostgresRehearsals(Looking[Look]):
    """This class answers one thread. Its method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str, role: str = REHEARSER) -> None:
        """Connects at the first question, with the rights of a role."""
        super().__init__(dsn, role, Look)
