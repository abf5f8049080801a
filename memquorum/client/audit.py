"""Verifies a cluster from outside: the journal's topics and the genesis file, and nobody's word.

The same audit as the operator's (`core.verify`), without the database: whether the journal is whole, and whether every
decision in it was taken by those who had to take it. Anyone who may read the topics may run it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from memquorum import topics
from memquorum.client.errors import Unreachable
from memquorum.core.avro import Codec
from memquorum.core.chain import Record, Source
from memquorum.core.consensus.membership import Genesis
from memquorum.core.effects import Rules
from memquorum.core.findings import VerifyReport
from memquorum.core.verify import verify_shard

# Heads follow entries within milliseconds; what a head already names is waited for so long.
_PATIENCE_MS = 5_000
# Records that are known to be there come sooner than this, or something is wrong.
_STALLED_S = 60.0
_FETCH_BYTES = 10 * 1024 * 1024


def verify(
    kafka: str, genesis: Genesis, codec: Codec, progress: Callable[[int, int], None] = lambda _, __: None
) -> VerifyReport:
    """Audits every shard from its first entry on. `progress`: (shard, next offset), after every entry.

    Raises Unreachable where the topics cannot be read: that is no finding. Runs its own event loop.
    """
    with asyncio.Runner() as runner:
        partitions: list[_Partition] = []
        try:
            # The heads' ends first: whatever a head names then must be found in the journal.
            for topic in (topics.HEADS, topics.JOURNAL):
                partitions += [_Partition(runner, kafka, topic, shard) for shard in range(genesis.shards)]
            heads, entries = partitions[: genesis.shards], partitions[genesis.shards :]
            reports = []
            for shard in range(genesis.shards):
                reports.append(
                    verify_shard(
                        Rules(codec, genesis),
                        shard,
                        entries=entries[shard].source(),
                        heads=heads[shard].source(),
                        progress=lambda offset, shard=shard: progress(shard, offset),  # type: ignore[misc]
                    )
                )
        except KafkaError as error:
            raise Unreachable(f"the journal's topics at {kafka} cannot be read: {error}") from error
        finally:
            for partition in partitions:
                partition.close()
    return VerifyReport(tuple(reports), store_compared=False)


class _Partition:
    """One partition as a plain iterator. Its consumer lives on the runner's loop, which turns only while we ask."""

    def __init__(self, runner: asyncio.Runner, kafka: str, topic: str, shard: int) -> None:
        self._runner = runner
        self._place = TopicPartition(topic, shard)
        self._consumer = runner.run(self._start(kafka))
        self._end: int = runner.run(self._ask_end())

    def source(self) -> Source:
        """The partition's records in order; ends when none comes any more."""
        return Source(self._records(), self._end)

    def close(self) -> None:
        """Lets the connection go."""
        self._runner.run(self._consumer.stop())

    async def _start(self, kafka: str) -> Any:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=kafka,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            max_partition_fetch_bytes=_FETCH_BYTES,
        )
        try:
            await consumer.start()
            consumer.assign([self._place])
            await consumer.seek_to_beginning(self._place)
        except BaseException:
            await consumer.stop()
            raise
        return consumer

    async def _ask_end(self) -> int:
        ends: dict[TopicPartition, int] = await self._consumer.end_offsets([self._place])
        return ends[self._place]

    def _records(self) -> Iterator[Record]:
        position, heard = 0, time.monotonic()
        while True:
            batch = self._runner.run(self._fetch())
            for message in batch:
                position, heard = message.offset + 1, time.monotonic()
                yield Record(message.offset, message.value or b"")
            if batch:
                continue
            if position >= self._end:
                return
            if time.monotonic() - heard > _STALLED_S:
                raise Unreachable(
                    f"{self._place.topic}, partition {self._place.partition} ends at offset {self._end}, and nothing "
                    f"from {position} on has come for {_STALLED_S:.0f} s. Are all brokers up?"
                )

    async def _fetch(self) -> list[Any]:
        found = await self._consumer.getmany(self._place, timeout_ms=_PATIENCE_MS)
        messages: list[Any] = found.get(self._place, [])
        return messages
