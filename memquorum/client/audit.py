"""Verifies a cluster from outside: the journal's topics and the genesis file, and nobody's word.

The same audit as the operator's (`core.audit.verify`), without the database: whether the journal is whole, and whether
every decision in it was taken by those who had to take it. Anyone who may read the topics may run it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, Self, TypeVar

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from memquorum import topics
from memquorum.client.errors import Unreachable
from memquorum.client.refusals import explained, shown
from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import VerifyReport
from memquorum.core.audit.verify import verify_shard
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.effects import Rules
from memquorum.kafka import aiokafka

# Heads follow entries within milliseconds; what a head already names is waited for so long.
_PATIENCE_MS = 5_000
# Records that are known to be there come sooner than this, or something is wrong.
_STALLED_S = 60.0
_FETCH_BYTES = 10 * 1024 * 1024

T = TypeVar("T")


def verify(
    kafka: str, genesis: Genesis, codec: Codec, progress: Callable[[int, int], None] = lambda _, __: None
) -> VerifyReport:
    """Audits every shard from its first entry on. `progress`: (shard, next offset), after every entry.

    Raises Unreachable where the topics cannot be read, NotAllowed where the brokers refuse them to this login: neither
    is a finding. Runs its own event loop.
    """
    with asyncio.Runner() as runner, ExitStack() as stack:
        # The heads' ends first: whatever a head names then must be found in the journal.
        heads = stack.enter_context(_Topic(runner, kafka, topics.HEADS, genesis.shards))
        entries = stack.enter_context(_Topic(runner, kafka, topics.JOURNAL, genesis.shards))
        reports = [
            verify_shard(
                Rules(codec, genesis),
                shard,
                entries=entries.source(shard),
                heads=heads.source(shard),
                progress=partial(progress, shard),
            )
            for shard in range(genesis.shards)
        ]
    return VerifyReport(tuple(reports), store_compared=False)


class _Topic:
    """A topic's partitions as plain iterators, one after the other.

    Its consumer lives on the runner's loop, which turns only while we ask.
    """

    def __init__(self, runner: asyncio.Runner, kafka: str, topic: str, shards: int) -> None:
        self._runner, self._kafka, self._topic = runner, kafka, topic
        self._places = [TopicPartition(topic, shard) for shard in range(shards)]
        self._ends: dict[TopicPartition, int] = {}

    def __enter__(self) -> Self:
        self._consumer = self._answer(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._consumer.stop())

    def source(self, shard: int) -> Source:
        """A partition's records in order; ends when none comes any more. Ends the source before it."""
        return Source(self._records(self._places[shard]), self._ends[self._places[shard]])

    def _answer(self, asked: Coroutine[Any, Any, T]) -> T:
        """What the brokers answer. Raises Unreachable or NotAllowed."""
        try:
            return self._runner.run(asked)
        except KafkaError as error:
            away = f"the topic {self._topic} at {self._kafka} cannot be read: {error}"
            raise explained(error, self._kafka, "read", self._topic, away) from error

    async def _start(self) -> Any:
        consumer = AIOKafkaConsumer(
            **aiokafka(self._kafka),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_uncommitted",
            max_partition_fetch_bytes=_FETCH_BYTES,
        )
        try:
            await consumer.start()
            await shown(consumer, self._topic, self._kafka)
            self._ends = await consumer.end_offsets(self._places)
        except BaseException:
            await consumer.stop()
            raise
        return consumer

    def _records(self, place: TopicPartition) -> Iterator[Record]:
        position, heard, end = 0, time.monotonic(), self._ends[place]
        self._answer(self._begin(place))
        while True:
            batch = self._answer(self._fetch(place))
            for message in batch:
                position, heard = message.offset + 1, time.monotonic()
                yield Record(message.offset, message.value or b"")
            if batch:
                continue
            # Past the mark of a stranger's transaction, which nobody gets.
            position = max(position, self._answer(self._consumer.position(place)))
            if position >= end:
                return
            if time.monotonic() - heard > _STALLED_S:
                raise Unreachable(
                    f"{place.topic}, partition {place.partition} ends at offset {end}, and nothing from {position} on "
                    f"has come for {_STALLED_S:.0f} s. Are all brokers up?"
                )

    async def _begin(self, place: TopicPartition) -> None:
        self._consumer.assign([place])
        await self._consumer.seek_to_beginning(place)

    async def _fetch(self, place: TopicPartition) -> list[Any]:
        found = await self._consumer.getmany(place, timeout_ms=_PATIENCE_MS)
        messages: list[Any] = found.get(place, [])
        return messages
