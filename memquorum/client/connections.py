"""The connections of a client: those of each event loop that uses it, and none that a parent process made.

Neither a Kafka producer nor an HTTP client works on another event loop than the one that it was made on: it raises, or
waits for ever. A process that was forked shares its parent's sockets and must leave them alone.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from memquorum.client import wire
from memquorum.client.errors import Unreachable
from memquorum.client.settings import Place
from memquorum.kafka import aiokafka

if TYPE_CHECKING:
    import httpx

_inherited: list[object] = []
"""What a parent process had opened. It is kept, for dropping it would close it, and speak to the parent's sockets."""
_CLOSE_S = 5.0


@dataclass(eq=False)
class Connection:
    """What one event loop has open. `starting` is held while the producer starts."""

    producer: AIOKafkaProducer | None = None
    http: httpx.AsyncClient | None = None
    starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def close(self) -> None:
        """Delivers what is under way and closes both. To be called on their loop."""
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
        import httpx  # not at the top: who only publishes needs none of it

        here = self._here()
        if self.http is None and here.http is None:
            here.http = httpx.AsyncClient(base_url=self._place.need_url(), timeout=wire.POLL_MS / 1000 + 10)
        return self.http or here.http  # type: ignore[return-value]

    async def producer(self) -> AIOKafkaProducer:
        """The Kafka producer of the running loop. Raises NotConfigured, Unreachable."""
        here = self._here()
        async with here.starting:
            if here.producer is None:
                address = self._place.need_kafka()
                producer = AIOKafkaProducer(**aiokafka(address), enable_idempotence=True, acks="all")
                try:
                    await producer.start()
                except KafkaError as error:
                    await producer.stop()
                    raise Unreachable(
                        f"Kafka at {address} cannot be reached: does it run (`make status`)? ({error})"
                    ) from error
                here.producer = producer
        return here.producer

    def _here(self) -> Connection:
        self.leave_parents()
        loop = asyncio.get_running_loop()
        found = self._by_loop.get(loop)
        if found is None:
            found = self._by_loop[loop] = Connection()
        return found

    def leave_parents(self) -> bool:
        """Begins anew in a process that was forked since; True if it was."""
        if self._process == os.getpid():
            return False
        _inherited.append((self._by_loop, dict(self._by_loop), self.http))
        self._by_loop, self.http, self._process = WeakKeyDictionary(), None, os.getpid()
        return True

    async def close(self) -> None:
        """Closes what is open on the running loop and, where it still runs, on each other one."""
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
