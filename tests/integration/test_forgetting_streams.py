"""Decay and nomination on a real Kafka: a tick in the journal becomes a signed nomination, past poison and outages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.messages import open_signed
from memquorum.core.decay import due_at
from memquorum.core.policy import EpochPolicy, Policy
from memquorum.core.records import DecayCrossed, JournalAppended, JournalEntry, NominationProposed
from memquorum.ports import Candidate, DueMemory, ShardStatus
from streams import app as faust_app
from streams import decay, nomination
from tests.unit import genesis as cluster
from tests.unit.shelf import Shelf
from workers import loop

NOW = 1_700_000_000_000
POLICY = Policy(epoch=EpochPolicy(interactions=3))
GENESIS = cluster.make(policy=POLICY)
SHARD = 2
GROUP = "memquorum-test-forgetting"


def tick(seq: int, as_of: int) -> JournalEntry:
    return JournalEntry(SHARD, seq, as_of, "ticked", f"t{seq}", topics.ACCEPTED, SHARD, 100 + seq, b"")


def appended(codec: Codec, entry: JournalEntry) -> bytes:
    return codec.encode(JournalAppended(codec.encode(entry), b"p" * 32, b"h" * 32))


def shelf(*, old: int) -> Shelf:
    """`old` memories last used at NOW, due together; an epoch has been waiting for interactions."""
    due = due_at(NOW, POLICY)
    names = [f"m{i}" for i in range(old)]
    return Shelf(
        status_of={SHARD: ShardStatus(SHARD, 1, NOW, 0, NOW, 3, old)},
        due_memories=[DueMemory(name, "n", NOW, due) for name in names],
        alive=[Candidate(name, "n", "short-term", NOW, NOW, 0, early=False) for name in names],
    )


@asynccontextmanager
async def running(bootstrap: str, data_dir: Path, codec: Codec, schedule: Shelf) -> AsyncIterator[None]:
    app = faust_app.create(bootstrap, data_dir, GENESIS.shards, GROUP)
    decay.attach(app, codec, POLICY, schedule)
    nomination.attach(app, codec, GENESIS, cluster.seed_of(nomination.SIGNER), schedule)
    app.finalize()
    await app.start()
    try:
        yield
    finally:
        await app.stop()


def journal(bootstrap: str, values: Sequence[bytes]) -> None:
    client = loop.producer(bootstrap)
    for value in values:
        client.produce(topics.JOURNAL, value, partition=SHARD)
    assert client.flush(10) == 0


async def read(bootstrap: str, topic: str, count: int) -> list[bytes]:
    """The first `count` records of the shard's partition."""

    def wait() -> list[bytes]:
        client = loop.consumer(bootstrap)
        loop.assign(client, {(topic, SHARD): None})
        found: list[bytes] = []
        try:
            while len(found) < count:
                found += [message.value() or b"" for message in loop.records(client, 100, 5)]
            return found
        finally:
            client.close()

    return await asyncio.wait_for(asyncio.to_thread(wait), 20)


async def committed(bootstrap: str, topic: str, offset: int) -> None:
    """Returns once the stages' group has committed the shard's offset: not before the outputs are out."""

    def ask(client: Consumer) -> Any:
        return client.committed([TopicPartition(topic, SHARD)], timeout=10)[0].offset

    client = loop.consumer(bootstrap, GROUP)
    try:
        async with asyncio.timeout(10):
            while await asyncio.to_thread(ask, client) < offset:
                pass
    finally:
        client.close()


async def test_ticks_become_a_signed_nomination(fresh_kafka: str, tmp_path: Path, codec: Codec) -> None:
    due, schedule = due_at(NOW, POLICY), shelf(old=2)
    stored = appended(
        codec, JournalEntry(SHARD, 2, NOW, "stored", "e", topics.ACCEPTED, SHARD, 1, b"detail", "n", "m0")
    )
    poison = [b"\xc3\x01ticked", b"", b"{}"]
    async with running(fresh_kafka, tmp_path, codec, schedule):
        journal(fresh_kafka, [stored, appended(codec, tick(3, due - 1)), *poison, appended(codec, tick(4, due))])
        answers = [codec.decode_as(DecayCrossed, value) for value in await read(fresh_kafka, topics.CROSSED, 2)]
        (value,) = await read(fresh_kafka, topics.NOMINATIONS, 1)
        await committed(fresh_kafka, topics.JOURNAL, 6)
        await committed(fresh_kafka, topics.CROSSED, 2)
    assert [(a.journal_seq, a.as_of, a.accepted_offset, len(a.crossed)) for a in answers] == [
        (3, due - 1, 103, 0),
        (4, due, 104, 2),
    ]
    _, record = open_signed(codec, GENESIS, value, NominationProposed)
    assert (record.shard, record.epoch, record.as_of, record.accepted_offset) == (SHARD, 1, due, 104)
    assert record.trigger == "interactions"
    assert [(p.memory_id, p.kind, p.reason) for p in record.proposals] == [
        ("m0", "forget", "decayed"),
        ("m1", "forget", "decayed"),
    ]


async def test_an_outage_of_the_store_delays_and_loses_nothing(fresh_kafka: str, tmp_path: Path, codec: Codec) -> None:
    due, schedule = due_at(NOW, POLICY), shelf(old=1)
    schedule.down = {"due", "status"}
    async with running(fresh_kafka, tmp_path, codec, schedule):
        journal(fresh_kafka, [appended(codec, tick(3, due))])
        for _ in range(3):
            assert await asyncio.to_thread(schedule.refused.acquire, timeout=10)
        schedule.down.remove("due")
        await read(fresh_kafka, topics.CROSSED, 1)
        while ("status", SHARD) not in schedule.asked:
            assert await asyncio.to_thread(schedule.refused.acquire, timeout=10)
        schedule.down.clear()
        assert len(await read(fresh_kafka, topics.NOMINATIONS, 1)) == 1
