"""The Rewarded port on Postgres."""

from __future__ import annotations

from collections.abc import Sequence

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.core.records import RewardGiven
from memquorum.ports import StoreUnavailable


class PostgresRewarded:
    """Safe to share between threads. Raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, READER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def rewarded(self, shard: int, seqs: Sequence[int]) -> list[RewardGiven]:
        """Returns the rewards that these entries gave; see the port."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["rewarded"], {"shard": shard, "seqs": list(seqs)}).fetchall()
        return [RewardGiven(*row) for row in rows]
