"""Questions of the retrieval service to the store, over a few connections: an answer in time, or StoreUnavailable."""

from __future__ import annotations

import asyncio
import time
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import psycopg
from psycopg import conninfo
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from db.connection import TENANT, patient
from db.queries import QUERIES
from memquorum.core.access import Sight
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.ports import StoreUnavailable

# A connection that was used so lately is not asked first whether it still has a server: that is a round trip each time.
_FRESH_S = 1.0

# Planned once for a connection: they name memories by id, or read a whole namespace, so one plan is as good as another.
# To plan takes ten times as long as to answer.
_PLANNED = frozenset(
    {"search", "search_cached", "answer_again", "beside", "supports", "conflicts", "entries", "vectors"}
)
# Planned anew for each question with filters: a plan for any filter takes ten times as long as one for these. Without
# filters (`Pool.ask`: planned) the plan for any namespace is as good, and to plan it takes as long as to answer it.
# Those of a crowd hold its name in their text, and are prepared at once.
_PREPARED = {
    name: False for name in ("candidates", "around", "walked", "names_shared", "passed", "traces", "search_filtered")
} | {name: True for name in ("search_crowd", "candidates_crowd", *_PLANNED)}

# The number of neighbours that the index of a crowd follows at a time: more than are asked for, or it finds fewer of
# the nearest; it goes on in order where rows that it lists are gone.
_EFFORT = "-c hnsw.ef_search=120 -c hnsw.iterative_scan=strict_order"

T = TypeVar("T")


class _Broken(psycopg.OperationalError):
    """The connection broke under a question."""


class Pool:
    """Connections of tenants, for one event loop. Each question carries its own sight, so what may be seen holds for
    that question alone."""

    def __init__(self, dsn: str, bounds: Bounds = DEFAULTS) -> None:
        self._bounds = bounds
        self._patience_s = bounds.store_wait_ms / 1000
        self.connections: AsyncConnectionPool[psycopg.AsyncConnection[Any]] = AsyncConnectionPool(
            as_tenant(dsn, bounds),
            kwargs={"autocommit": True},
            min_size=1,
            max_size=bounds.store_connections,
            open=False,
            timeout=self._patience_s,
            check=self._check,
            # Then the next question has it tried anew, and at once; later attempts would come ever more seldom.
            reconnect_timeout=self._patience_s,
        )
        self._renewed = -_FRESH_S  # when all connections were last thrown away
        self._used: WeakKeyDictionary[psycopg.AsyncConnection[Any], float] = WeakKeyDictionary()
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def open(self) -> None:
        """Fills the pool in the background; the first question waits for a connection."""
        await self.connections.open(wait=False)

    async def close(self) -> None:
        """Lets all connections go."""
        await self.connections.close(timeout=1)

    async def ask(
        self, name: str, parameters: dict[str, Any], sight: Sight, *, text: str | None = None, planned: bool = False
    ) -> list[tuple[Any, ...]]:
        """The rows of a named statement, or of `text` in its place. `planned`: it has a plan for any parameters.
        Raises StoreUnavailable."""
        # A server that stands still does not hear that its answer is not wanted any more, and psycopg would wait until
        # it does. So a late question is left to itself, with its connection; the pool bounds how many there are.
        return await in_time(
            asyncio.ensure_future(self._ask(name, parameters, sight, text, planned=planned or name in _PLANNED)),
            self._bounds,
        )

    async def _check(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Checks that a connection still has a server, unless it had one a moment ago (see `_ask`)."""
        if time.monotonic() - self._used.get(connection, -_FRESH_S) >= _FRESH_S:
            await AsyncConnectionPool.check_connection(connection)

    async def _ask(
        self, name: str, parameters: dict[str, Any], sight: Sight, text: str | None, *, planned: bool
    ) -> list[tuple[Any, ...]]:
        # One sight's questions get a share of the connections: a tenant with many slow ones cannot block the others.
        share = self._shares.setdefault(sight.text, asyncio.Semaphore(self._bounds.store_connections_of_one))
        try:
            if share.locked():
                await asyncio.wait_for(share.acquire(), self._patience_s)
            else:
                await share.acquire()
        except TimeoutError:
            raise StoreUnavailable("Postgres: these namespaces have enough questions under way") from None
        began = time.monotonic()
        try:
            try:
                return await self._once(name, parameters, sight, text, planned=planned)
            except _Broken:
                # It only reads, so it may be asked again. If one connection has lost its server, all have: none of them
                # is handed out again.
                if self._renewed < began:
                    self._renewed = time.monotonic()
                    await self.connections.drain()
                return await self._once(name, parameters, sight, text, planned=planned)
        except (PoolTimeout, PoolClosed, psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreUnavailable(f"Postgres: {str(error).strip() or type(error).__name__}") from error
        finally:
            share.release()

    async def _once(
        self, name: str, parameters: dict[str, Any], sight: Sight, text: str | None, *, planned: bool
    ) -> list[tuple[Any, ...]]:
        async with self.connections.connection() as connection:
            try:
                async with connection.cursor(binary=True) as asked:
                    # In one go, which is one transaction: what may be seen goes out with the question, for it alone.
                    async with connection.pipeline():
                        seen = "sight_planned" if planned else "sight"
                        await connection.execute(QUERIES[seen], {"namespaces": sight.text, "purpose": sight.purpose})
                        prepared = planned or _PREPARED.get(name)
                        await asked.execute(text or QUERIES[name], parameters, prepare=prepared)
                    self._used[connection] = time.monotonic()
                    return await asked.fetchall()
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if connection.broken:
                    raise _Broken(str(error)) from error
                raise


async def in_time(asked: asyncio.Future[T], bounds: Bounds) -> T:
    """The answer. Raises StoreUnavailable after `bounds.store_ms`; the question itself goes on."""
    done, _ = await asyncio.wait({asked}, timeout=bounds.store_ms / 1000)
    if not done:
        asked.add_done_callback(lambda late: late.cancelled() or late.exception())
        raise StoreUnavailable(f"Postgres: no answer in {bounds.store_ms / 1000:g} s")
    return asked.result()


def bounded(dsn: str, bounds: Bounds) -> str:
    """The server gives up what nobody waits for any more; or one tenant's questions would keep all connections."""
    options = conninfo.conninfo_to_dict(dsn).get("options")
    return conninfo.make_conninfo(dsn, options=f"{options or ''} -c statement_timeout={bounds.store_ms}".strip())


def as_tenant(dsn: str, bounds: Bounds = DEFAULTS) -> str:
    """The connection string of a login that steps down to the tenants' role, with an end to each question."""
    ended = bounded(patient(dsn), bounds)
    options = conninfo.conninfo_to_dict(ended)["options"]
    # A search is over before its machine code would be made, or a second process be there to help.
    own = f"{options} -c role={TENANT} -c jit=off -c max_parallel_workers_per_gather=0 {_EFFORT}"
    return conninfo.make_conninfo(ended, options=own, application_name="memquorum-retrieval")
