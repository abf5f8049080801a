"""Verifies a cluster from outside, from the journal's topics and the genesis file alone.

It is the operator's audit (`core.audit.verify`) without the database: it checks that the journal is complete, and that
every decision in it was taken by the members entitled to it. Anyone who may read the topics may run it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, Self, TypeVar

from memquorum import topics
from memquorum.client.broker_access import AIOKafkaConsumer, KafkaError, TopicPartition, explained, shown
from memquorum.client.errors import Unreachable
from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import ShardReport, VerifyReport
from memquorum.core.audit.person_receipts import Compared
from memquorum.core.audit.verify import verify_shard
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.effects import Rules
from memquorum.core.records import JournalAppended, JournalEntry
from memquorum.kafka import aiokafka

# Heads follow entries within milliseconds; entries that a head already names are awaited for this long.
_PATIENCE_MS = 5_000
# Records below the end offset arrive sooner than this, or something is wrong.
_STALLED_S = 60.0
_FETCH_BYTES = 10 * 1024 * 1024

T = TypeVar("T")


def verify(
    kafka: str, genesis: Genesis, codec: Codec, progress: Callable[[int, int], None] = lambda _, __: None
) -> VerifyReport:
    """Audits every shard from its first entry on. `progress`: (shard, next offset), after every entry.

    Raises Unreachable if the topics cannot be read, NotAllowed if the brokers refuse them to this login: neither is a
    finding. Runs its own event loop.
    """
    with _topics(kafka, genesis) as (entries, heads):
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


def compare(kafka: str, genesis: Genesis, codec: Codec, compared: Compared) -> tuple[ShardReport, list[str]]:
    """Audits the shard of a person's receipt, and compares the receipt with its entries. Returns the report, and what
    differs. Raises Unreachable and NotAllowed as `verify` does."""
    shard = compared.person.first.shard

    def noted(records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            with suppress(DecodeError):  # the audit notes what cannot be read
                link = codec.decode_as(JournalAppended, record.data)
                entry = codec.decode_as(JournalEntry, link.entry)
                compared.take(entry, codec.decode(entry.detail), link.hash)
            yield record

    with _topics(kafka, genesis) as (entries, heads):
        source = entries.source(shard)
        read = Source(noted(source.records), source.settled)
        found = verify_shard(Rules(codec, genesis), shard, entries=read, heads=heads.source(shard))
    return found, compared.finish()


@contextmanager
def _topics(kafka: str, genesis: Genesis) -> Iterator[tuple[_Topic, _Topic]]:
    """Opens the journal and its heads."""
    with asyncio.Runner() as runner, ExitStack() as stack:
        # The heads' ends first: whatever a head names then must be found in the journal.
        heads = stack.enter_context(_Topic(runner, kafka, topics.HEADS, genesis.shards))
        yield stack.enter_context(_Topic(runner, kafka, topics.JOURNAL, genesis.shards)), heads


class _Topic:
    """A topic's partitions as plain iterators, one after the other.

    Its consumer lives on the runner's loop, which runs only during a call.
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
        """Reads a partition's records in order, until none comes within the patience. Call it again only after the
        iterator has ended."""
        return Source(self._records(self._places[shard]), self._ends[self._places[shard]])

    def _answer(self, asked: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine of the consumer and translates Kafka's errors. Raises Unreachable or NotAllowed."""
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
            # Past the marker of a stranger's transaction, which no consumer gets.
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
