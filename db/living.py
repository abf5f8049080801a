"""The Living port on Postgres: the count that commit keeps for the caps on forgetting (decision 51)."""

from __future__ import annotations

from collections.abc import Collection

from db.connection import COUNTER, Link
from db.queries import QUERIES
from memquorum import topics
from memquorum.ports import Counted, StoreUnavailable


class PostgresLiving:
    """Safe to share between threads. Raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, COUNTER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def counted(self, namespaces: Collection[str]) -> Counted:
        """Returns the number of living memories by namespace; see the port."""
        with self._link.use() as connection:
            # In this order: a count that is younger than the place counts twice what came between, and misses nothing.
            applied = connection.execute(QUERIES["applied"], {"topic": topics.ACCEPTED}).fetchall()
            alive = connection.execute(QUERIES["living_counted"], {"namespaces": list(namespaces)}).fetchall()
        return Counted(dict.fromkeys(namespaces, 0) | dict(alive), dict(applied))
