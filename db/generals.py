"""The Generals port on Postgres."""

from __future__ import annotations

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.core.policy import ExperiencePolicy
from memquorum.ports import Promoted, StoreUnavailable

_FIRST = -1, "00000000-0000-0000-0000-000000000000"


class PostgresGenerals:
    """Safe to share between threads. Every method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, READER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def promoted(
        self, shard: int, policy: ExperiencePolicy, limit: int, behind: tuple[int, str] | None = None
    ) -> list[Promoted]:
        """Memories that were promoted in experience and have no general form; see the port."""
        seq, memory_id = behind or _FIRST
        asked = {
            "shard": shard, "limit": limit, "seq": seq, "behind": memory_id, "weight": policy.promote_ppm,
            "gains": policy.promote_contexts,
        }  # fmt: skip
        with self._link.use() as connection:
            return [Promoted(*row) for row in connection.execute(QUERIES["generals_wanted"], asked)]
