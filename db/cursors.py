"""Says from where the commit worker reads each topic when it starts (DESIGN 3)."""

from __future__ import annotations

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.ports import StoreUnavailable


def cursors(dsn: str) -> dict[tuple[int, str], int]:
    """(shard, topic) → the next offset. Raises StoreUnavailable."""
    link = Link(dsn, READER, StoreUnavailable)
    try:
        with link.use() as connection:
            return {(shard, topic): offset for shard, topic, offset in connection.execute(QUERIES["cursors"])}
    finally:
        link.close()
