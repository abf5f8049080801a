"""The StoredOrders port on Postgres."""

from __future__ import annotations

from db.connection import READER, Link
from db.queries import QUERIES
from memquorum.core.orders import turns
from memquorum.core.records import OrderFound
from memquorum.ports import OrderVote, StoreUnavailable, Unattested


class PostgresStoredOrders:
    """Safe to share between threads. Every method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, READER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def decided(self, shard: int) -> list[OrderVote]:
        """Returns the votes on orders of another configuration; see the port."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["order_votes"], {"shard": shard}).fetchall()
        return [OrderVote(name, epoch, done, data, tuple(commits)) for _, name, epoch, done, data, commits in rows]

    def requests(self, shard: int, *, since: int, before: int, through: int) -> list[bytes]:
        """Requests that are to be voted on; see the port."""
        wanted = {"shard": shard, "since": since, "before": before, "through": through}
        wanted |= {"each": turns.OF_NAMESPACE, "limit": turns.MOST}
        with self._link.use() as connection:
            return [entry for (entry,) in connection.execute(QUERIES["restores_open"], wanted)]

    def unattested(self, shard: int) -> list[Unattested]:
        """The erasures that the members have not attested yet; see the port."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["erasures_unattested"], {"shard": shard}).fetchall()
        return [Unattested(OrderFound(*found), tuple(epochs)) for *found, epochs in rows]
