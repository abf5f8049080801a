"""Waiting for what becomes of events, without polling."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from db.event_reads import Event
from db.pool import as_tenant
from db.queries import QUERIES
from db.reads import Reads
from memquorum.core.access import Sight, covers
from memquorum.ports import StoreUnavailable

_LOG = logging.getLogger("memquorum.reads")
_BACKOFF_MAX_S = 5.0


class Outcomes:
    """Waits for the outcomes of events: one LISTEN for all waiting requests, one question per batch of the journal."""

    def __init__(self, dsn: str, reads: Reads, heard: Callable[[str], None] = lambda _: None) -> None:
        """`heard`: is called with each notification, '<shard>:<seq>', and with '' where some may have been missed."""
        self._dsn = as_tenant(dsn)
        self._reads, self._heard = reads, heard
        self._waiting: dict[Event, set[asyncio.Future[dict[str, Any]]]] = {}
        self._dirty = asyncio.Event()
        self.listening = False

    async def wait(self, sight: Sight, event: Event, seconds: float) -> dict[str, Any] | None:
        """The event's outcome as soon as it has one; None after so many seconds, or where it is out of sight."""
        if not covers(sight.namespaces, event[0]):
            return None
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(event, set()).add(future)
        self._dirty.set()
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return None
        finally:
            futures = self._waiting.get(event, set())
            futures.discard(future)
            if not futures:
                self._waiting.pop(event, None)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listens and answers for the duration."""
        tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._answer())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self) -> None:
        pause = 0.1
        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(self._dsn, autocommit=True, connect_timeout=5)
                async with connection:
                    await connection.execute(QUERIES["journal_listen"])
                    self.listening, pause = True, 0.1
                    # Notifications from before this LISTEN reached nobody, so all waiting events are looked up once.
                    self._dirty.set()
                    self._heard("")
                    async for told in connection.notifies():
                        self._dirty.set()
                        self._heard(told.payload)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                _LOG.warning("the journal cannot be listened to: %s", str(error).strip())
            self.listening = False
            await asyncio.sleep(pause)
            pause = min(2 * pause, _BACKOFF_MAX_S)

    async def _answer(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            if not self._waiting:
                continue
            try:
                # Each event was in sight of the request that waits for it.
                sight = Sight(tuple({namespace for namespace, _ in self._waiting}))
                found = await self._reads.outcomes(sight, list(self._waiting))
            except StoreUnavailable as error:
                _LOG.warning("%s; %d events wait", error, len(self._waiting))
                await asyncio.sleep(0.5)
                self._dirty.set()
                continue
            for event, outcome in found.items():
                for future in self._waiting.get(event, ()):
                    if not future.done():
                        future.set_result(outcome)
