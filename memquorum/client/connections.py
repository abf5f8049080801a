"""The connections of a client: those of each event loop that uses it, and none that a parent process made.

Neither a Kafka producer nor an HTTP client works on another event loop than the one that it was made on: it raises, or
waits for ever. A forked process shares its parent's sockets and must not use them.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from memquorum.client import wire
from memquorum.client.settings import Place

if TYPE_CHECKING:
    import httpx
    from aiokafka import AIOKafkaProducer

_inherited: list[object] = []
"""Connections opened by a parent process. Keeps references, as dropping one would close it and write to the parent's
sockets."""
_CLOSE_S = 5.0


@dataclass(eq=False)
class Connection:
    """The open connections of one event loop. `starting` is held while the producer starts."""

    producer: AIOKafkaProducer | None = None
    http: httpx.AsyncClient | None = None
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def close(self) -> None:
        """Delivers pending records and closes both. To be called on their loop."""
        producer, self.producer = self.producer, None
        http, self.http = self.http, None
        if producer is not None:
            await producer.stop()
        if http is not None:
            await http.aclose()


class Connections:
    """The connections of one client, by the event loop that uses it. `http`: an HTTP client that all loops share."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.http: httpx.AsyncClient | None = None
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = WeakKeyDictionary()
        self._process = os.getpid()

    @property
    def publishes(self) -> bool:
        """True if a producer is open on any loop."""
        return any(each.producer is not None for each in self._by_loop.values())

    def asker(self) -> httpx.AsyncClient:
        """The HTTP client of the running loop. Raises NotConfigured."""
        import httpx  # not at the top: a client that only publishes does not need it

        here = self._here()
        if self.http is None and here.http is None:
            here.http = httpx.AsyncClient(base_url=self._place.need_url(), timeout=wire.POLL_MS / 1000 + 10)
        return self.http or here.http  # type: ignore[return-value]

    async def producer(self) -> AIOKafkaProducer:
        """The Kafka producer of the running loop. Raises NotConfigured, NotInstalled, Unreachable."""
        here = self._here()
        async with here.starting:
            if here.producer is None:
                address = self._place.need_kafka()
                from memquorum.client import broker_access  # not at the top: a client over HTTP does not need it

                here.producer = await broker_access.producer(address)
        return here.producer

    def _here(self) -> Connection:
        self.leave_parents()
        loop = asyncio.get_running_loop()
        found = self._by_loop.get(loop)
        if found is None:
            found = self._by_loop[loop] = Connection()
        return found

    def leave_parents(self) -> bool:
        """Starts with no connections in a forked process; True if this is one."""
        if self._process == os.getpid():
            return False
        _inherited.append((self._by_loop, dict(self._by_loop), self.http))
        self._by_loop, self.http, self._process = WeakKeyDictionary(), None, os.getpid()
        return True

    async def close(self) -> None:
        """Closes the connections of the running loop and of every other loop that still runs."""
        self.leave_parents()
        here, open_on = asyncio.get_running_loop(), list(self._by_loop.items())
        self._by_loop = WeakKeyDictionary()
        http, self.http = self.http, None
        if http is not None:
            await http.aclose()
        for loop, connection in open_on:
            if loop is here:
                await connection.close()
            elif loop.is_running():
                closing: Any = asyncio.run_coroutine_threadsafe(connection.close(), loop)
                await asyncio.wait([asyncio.wrap_future(closing)], timeout=_CLOSE_S)
