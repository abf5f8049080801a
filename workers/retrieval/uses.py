"""That memories were used is published behind the answers, in groups: whoever reads does not wait for Kafka.

    answer ─► hand over ─► gathered for a moment ─► Kafka ─► confirmed

What was handed over and is not confirmed when the process is killed does not count as used. Who must know that it does
asks for the answer to wait until then.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.records import AccessRecorded
from memquorum.telemetry.tracing import Hop
from workers import loop

_LOG = logging.getLogger("memquorum.retrieval.uses")

SOURCE = "memquorum/retrieval"
# What is used within it shares a round trip to the broker, and a batch in every stage after it.
GATHER_S = 0.05
# What Kafka does not take meanwhile waits here, and is refused once there is no room.
ROOM = 10_000
_GROUP = 500
_CONFIRM_S = 2.0
_SLOW = "Kafka did not confirm the accesses in time; these hits may not count as used"
_FULL = "Kafka takes no accesses, and more of them wait than there is room for; these hits do not count as used"


class Producer(Protocol):
    """Of aiokafka's, what is needed."""

    async def send(self, topic: str, value: bytes, *, key: bytes, headers: Any) -> asyncio.Future[Any]:
        """Takes a record; the future is done when the broker has confirmed it. Raises KafkaError."""


class _Handed:
    """The accesses of one answer, and what becomes true once Kafka has them all."""

    __slots__ = ("accesses", "confirmed", "hop")

    def __init__(self, accesses: Sequence[AccessRecorded], hop: Hop) -> None:
        self.accesses, self.hop = accesses, hop
        self.confirmed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()


class Uses:
    """One for the process. `fails`: why the last group was not published, or is not yet; empty where it was."""

    def __init__(self, codec: Codec, sent: Callable[[str, int], None]) -> None:
        """`sent`: is told how many records stand in which topic."""
        self._codec, self._sent = codec, sent
        self._waiting: deque[_Handed] = deque()
        self._room = ROOM
        self._news, self._hurry, self._idle = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.fails = ""

    @asynccontextmanager
    async def running(self, producer: Producer) -> AsyncIterator[None]:
        """Publishes for the duration, and what is left at its end."""
        working = asyncio.create_task(self._work(producer))
        try:
            yield
        finally:
            self._hurry.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(_CONFIRM_S):
                    while self._room < ROOM:
                        await self._idle.wait()
            working.cancel()
            await asyncio.wait({working})

    async def count(self, accesses: Sequence[AccessRecorded], hop: Hop, *, confirm: bool) -> tuple[int, str | None]:
        """How many are published, or will be, and a warning where that is in doubt. With `confirm`, once Kafka has
        them."""
        if len(accesses) > self._room:
            return 0, _FULL
        handed = _Handed(accesses, hop)
        self._room -= len(accesses)
        self._waiting.append(handed)
        self._idle.clear()
        self._news.set()
        if not confirm:
            return (len(accesses), None) if not self.fails else (0, _SLOW)
        self._hurry.set()
        try:
            async with asyncio.timeout(_CONFIRM_S):
                taken = await asyncio.shield(handed.confirmed)
        except TimeoutError:
            taken = False
        return (len(accesses), None) if taken else (0, _SLOW)

    async def _work(self, producer: Producer) -> None:
        while True:
            await self._news.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(GATHER_S):
                    await self._hurry.wait()
            self._news.clear()
            self._hurry.clear()
            while group := self._take():
                await self._publish(producer, group)

    def _take(self) -> list[_Handed]:
        group, records = [], 0
        while self._waiting and records < _GROUP:
            group.append(self._waiting.popleft())
            records += len(group[-1].accesses)
        return group

    async def _publish(self, producer: Producer, group: Sequence[_Handed]) -> None:
        publishing = asyncio.gather(*(self._publish_one(producer, handed) for handed in group))
        _, late = await asyncio.wait({publishing}, timeout=_CONFIRM_S)
        if late:
            # The client goes on trying for longer than anybody waits for an answer.
            self._fail("accesses are not confirmed yet")
        wrong = [why for why in await publishing if why is not None]
        if wrong:
            self._fail(f"{len(wrong)} reads do not count as used: {wrong[0]}")
        else:
            self.fails = ""

    async def _publish_one(self, producer: Producer, handed: _Handed) -> str | None:
        """Why it could not be published; None where it was."""
        wrong = None
        try:
            sent = [await self._send(producer, access, handed.hop) for access in handed.accesses]
            await asyncio.gather(*sent)
            self._sent(topics.ACCESSES, len(sent))
        except Exception as error:  # whatever it is, the next group is published
            wrong = str(error) or type(error).__name__
        self._room += len(handed.accesses)
        if self._room == ROOM:
            self._idle.set()
        handed.hop.end()
        handed.confirmed.set_result(wrong is None)
        return wrong

    async def _send(self, producer: Producer, access: AccessRecorded, hop: Hop) -> asyncio.Future[Any]:
        value, key, event_id = self._codec.encode(access), (access.namespace or "").encode(), access.event_id or ""
        told = loop.headers("AccessRecorded", SOURCE, event_id, hop.send(topics.ACCESSES, None, event_id))
        return await producer.send(topics.ACCESSES, value, key=key, headers=as_bytes(told))

    def _fail(self, why: str) -> None:
        self.fails = why
        _LOG.warning("%s", why)


def as_bytes(told: Sequence[tuple[str, Any]]) -> list[tuple[str, bytes]]:
    """Headers as aiokafka takes them."""
    return [(name, value.encode() if isinstance(value, str) else value or b"") for name, value in told]
