"""Publishes that memories were used and what was asked, behind the answers and in groups: a reader does not wait for
Kafka.

    answer ─► hand over ─► gathered for a moment ─► Kafka ─► confirmed

What was handed over and is not confirmed when the process is killed does not count as used. A request that must know
that it does asks for the answer to wait until then.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Protocol

from confluent_kafka import KafkaError

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.records import AccessRecorded, QueryRecorded
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.telemetry.tracing import Hop
from workers.kafka import loop

_LOG = logging.getLogger("memquorum.retrieval.uses")

SOURCE = "memquorum/retrieval"
_GROUP = 500
_SLOW = "Kafka did not confirm the accesses in time; these hits may not count as used"
_TOPICS = {AccessRecorded: topics.ACCESSES, QueryRecorded: topics.QUERIES}
Delivered = Callable[[KafkaError | None, object], None]
_FULL = "Kafka takes no accesses, and more of them wait than there is room for; these hits do not count as used"


class Producer(Protocol):
    """The methods of confluent_kafka's producer that are used here."""

    def produce(self, topic: str, *, value: bytes, key: bytes, headers: Any, on_delivery: Any) -> None:
        """Takes a record."""

    def flush(self, timeout: float) -> int:
        """Waits until all is confirmed, at most `timeout` seconds; returns the number that are not."""


class _Handed:
    """The records of one answer, and what becomes true once Kafka has all its accesses."""

    __slots__ = ("confirmed", "hop", "records")

    def __init__(self, records: Sequence[AccessRecorded | QueryRecorded], hop: Hop) -> None:
        self.records, self.hop = records, hop
        self.confirmed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()


class Uses:
    """One for the process. `fails`: why the last group was not published, or is not yet; empty where it was."""

    def __init__(self, codec: Codec, sent: Callable[[str, int], None], bounds: Bounds = DEFAULTS) -> None:
        """`sent`: is told how many records stand in which topic. Memories used within `uses_gather_ms` share a round
        trip to the broker, and a batch in every stage after it; what Kafka does not take meanwhile waits, and is
        refused once `uses_most` do."""
        self._most, self._confirm_s = bounds.uses_most, bounds.kafka_ms / 1000
        self._gather_s = bounds.uses_gather_ms / 1000
        self._codec, self._sent = codec, sent
        self._waiting: deque[_Handed] = deque()
        self._room = self._most
        self._news, self._hurry, self._idle = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.fails = ""

    @asynccontextmanager
    async def running(self, producer: Producer) -> AsyncIterator[None]:
        """Publishes for the duration, and what is left at its end."""
        flushing = ThreadPoolExecutor(1, thread_name_prefix="uses")
        working = asyncio.create_task(self._work(producer, flushing))
        try:
            yield
        finally:
            self._hurry.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._confirm_s):
                    while self._room < self._most:
                        await self._idle.wait()
            working.cancel()
            await asyncio.wait({working})
            flushing.shutdown(wait=False)

    async def count(
        self, accesses: Sequence[AccessRecorded], hop: Hop, *, confirm: bool, asked: QueryRecorded | None = None
    ) -> tuple[int, str | None]:
        """Returns the number of memories that count as used, or will, and a warning where that is in doubt. With
        `confirm`, once Kafka has it. `asked`: is published with them; nobody is told where it is lost."""
        records: list[AccessRecorded | QueryRecorded] = [*accesses]
        memories = sum(len(one.memory_ids) for one in accesses)
        if asked is not None:
            records.append(asked)
        if len(records) > self._room:
            hop.end()
            return 0, _FULL if accesses else None
        handed = _Handed(records, hop)
        self._room -= len(records)
        self._waiting.append(handed)
        self._idle.clear()
        self._news.set()
        if not accesses:
            return 0, None
        if not confirm:
            return (memories, None) if not self.fails else (0, _SLOW)
        self._hurry.set()
        try:
            async with asyncio.timeout(self._confirm_s):
                taken = await asyncio.shield(handed.confirmed)
        except TimeoutError:
            taken = False
        return (memories, None) if taken else (0, _SLOW)

    async def _work(self, producer: Producer, flushing: Executor) -> None:
        while True:
            await self._news.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._gather_s):
                    await self._hurry.wait()
            self._news.clear()
            self._hurry.clear()
            while group := self._take():
                self._end(group, await self._publish(producer, flushing, group))

    def _take(self) -> list[_Handed]:
        group, records = [], 0
        while self._waiting and records < _GROUP:
            group.append(self._waiting.popleft())
            records += len(group[-1].records)
        return group

    async def _publish(self, producer: Producer, flushing: Executor, group: Sequence[_Handed]) -> list[tuple[str, str]]:
        """Returns the lost records, each as its topic and the error; nothing where all is confirmed."""
        lost: list[tuple[str, str]] = []

        def delivered(topic: str, error: KafkaError | None, _: object) -> None:
            if error is not None:
                lost.append((topic, str(error)))

        for handed in group:
            for place, record in enumerate(handed.records):
                # One of an answer's is traced: spans of all of them took longer than all else that became of them.
                topic, event_id = _TOPICS[type(record)], record.event_id or ""
                parent = handed.hop.aside() if place else handed.hop.send(topic, None, event_id)
                told = loop.headers(type(record).__name__, SOURCE, event_id, parent)
                key = (record.namespace or "").encode()
                try:
                    producer.produce(
                        topic, value=self._codec.encode(record), key=key, headers=told,
                        on_delivery=partial(delivered, topic),
                    )  # fmt: skip
                except Exception as error:  # whatever it is, the others are published
                    lost.append((topic, str(error) or type(error).__name__))
            # Requests are answered in between.
            await asyncio.sleep(0)
        flush = partial(producer.flush, self._confirm_s)
        while await asyncio.get_running_loop().run_in_executor(flushing, flush):
            # The client goes on trying for longer than anybody waits for an answer.
            self._fail("accesses are not confirmed yet")
        return lost

    def _end(self, group: Sequence[_Handed], lost: Sequence[tuple[str, str]]) -> None:
        records = Counter(_TOPICS[type(record)] for handed in group for record in handed.records)
        missing = Counter(topic for topic, _ in lost)
        for topic, count in records.items():
            self._sent(topic, count - missing[topic])
        if lost:
            self._fail(f"{len(lost)} of {records.total()} accesses and queries may not count: {lost[0][1]}")
        else:
            self.fails = ""
        self._room += records.total()
        if self._room == self._most:
            self._idle.set()
        for handed in group:
            handed.hop.end()
            handed.confirmed.set_result(not missing[topics.ACCESSES])

    def _fail(self, why: str) -> None:
        if why != self.fails:
            _LOG.warning("%s", why)
        self.fails = why
