"""The Comparisons port on Postgres: what a model is asked to compare."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.core.showing.comparing import Side
from memquorum.ports import ComparableMemory, StoreUnavailable


class PostgresComparisons:
    """This class answers one thread. Every method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, READER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def near(
        self, shard: int, memory_id: str, least: float, limit: int
    ) -> tuple[str, ComparableMemory, list[ComparableMemory]] | None:
        """A memory, and those near it that were said before; see the port."""
        asked = {"shard": shard, "id": memory_id}
        with self._link.use() as connection:
            own = connection.execute(QUERIES["compare_own"], asked).fetchone()
            if own is None:
                return None
            asked |= {"least": least, "limit": limit}
            rows = connection.execute(QUERIES["compare_near"], asked).fetchall()
        namespace, *row = own
        return namespace, _told(row), [_told(one) for one in rows]

    def answered(self, shard: int, digests: Collection[bytes]) -> frozenset[bytes]:
        """Returns the digests that are answered; see the port."""
        asked = {"shard": shard, "digests": list(digests)}
        with self._link.use() as connection:
            return frozenset(bytes(one) for (one,) in connection.execute(QUERIES["compare_answered"], asked))

    def disclosed(self, recipient: str, memory_ids: Collection[str]) -> frozenset[str]:
        """Returns the memories whose text may be sent to the recipient; see the port."""
        asked = {"recipient": recipient, "ids": list(memory_ids)}
        with self._link.use() as connection:
            return frozenset(one for (one,) in connection.execute(QUERIES["compare_disclosed"], asked))


def _told(row: Sequence[Any]) -> ComparableMemory:
    memory_id, text, agent, subject, said, slot, label, sensitivity_ppm, purposes, jurisdictions = row
    return ComparableMemory(
        memory_id, Side(text, agent, subject, said, slot, label), sensitivity_ppm, purposes, jurisdictions
    )
