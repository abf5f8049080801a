"""Decay and nomination on a real Kafka: a tick in the journal becomes a signed nomination, past poison and outages."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.decay import due_at
from memquorum.core.identity.messages import open_signed
from memquorum.core.policy import EpochPolicy
from memquorum.core.records import DecayCrossed, NominationProposed
from memquorum.ports import Candidate, DueMemory, StoreUnavailable
from streams import decay_stage, faust_app, nomination_stage
from tests.builders import genesis as cluster
from tests.builders.policies import by_the_paper
from tests.builders.shard import Shard, memory_id
from tests.inmemory.store import InMemorySchedule, InMemoryStore, InMemoryStoredOrders
from tests.support.stores import World, make
from tests.support.waiting import PATIENCE_S
from workers.kafka import loop

NOW = 1_700_000_000_000
POLICY = by_the_paper(epoch=EpochPolicy(interactions=3))
GENESIS = cluster.make(policy=POLICY)
DUE = due_at(NOW, POLICY)
SHARD = 0
GROUP = "memquorum-test-forgetting"


class Flaky(InMemorySchedule):
    """A schedule whose store is away while `down` names the question; `refused` counts the vain ones."""

    def __init__(self, store: InMemoryStore) -> None:
        super().__init__(store)
        self.down: set[str] = set()
        self.refused: dict[str, threading.Semaphore] = {q: threading.Semaphore(0) for q in ("due", "candidates")}

    def due(
        self,
        shard: int,
        unused_since: Mapping[str, int],
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        self._may("due")
        return super().due(shard, unused_since, limit, without, room=room)

    def candidates(self, shard: int, memory_ids: Sequence[str], *, room: bool = False) -> list[Candidate]:
        self._may("candidates")
        return super().candidates(shard, memory_ids, room=room)

    def _may(self, question: str) -> None:
        if question in self.down:
            self.refused[question].release()
            raise StoreUnavailable(question)


@pytest.fixture(params=["memory"])
def world(request: pytest.FixtureRequest) -> World:
    return make(request)


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """Three memories at rest since NOW: enough interactions for an epoch, of too little salience for promotion."""
    shard = world.shard(codec, GENESIS, SHARD)
    for event in "abc":
        shard.episode(event, NOW, salience=400_000)
    return shard


@asynccontextmanager
async def running(bootstrap: str, data_dir: Path, codec: Codec, schedule: InMemorySchedule) -> AsyncIterator[None]:
    app = faust_app.create(bootstrap, data_dir, GENESIS.shards, GROUP)
    stored = InMemoryStoredOrders(schedule._store)
    decay_stage.attach(app, decay_stage.Decay(codec, GENESIS, schedule, stored))
    seed = cluster.seed_of(nomination_stage.SIGNER)
    nomination_stage.attach(app, nomination_stage.Nomination(codec, GENESIS, seed, schedule, stored))
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
        ends = time.monotonic() + PATIENCE_S
        try:
            while len(found) < count:
                assert time.monotonic() < ends, f"{len(found)} of {count} records in {topic}"
                found += [message.value() or b"" for message in loop.records(client, 100, 5)]
            return found
        finally:
            client.close()

    return await asyncio.to_thread(wait)


async def committed(bootstrap: str, topic: str, offset: int) -> None:
    """Returns once the stages' group has committed the shard's offset: not before the outputs are out."""

    def ask(client: Consumer) -> Any:
        return client.committed([TopicPartition(topic, SHARD)], timeout=10)[0].offset

    client = loop.consumer(bootstrap, GROUP)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while await asyncio.to_thread(ask, client) < offset:
                pass
    finally:
        client.close()


async def test_ticks_become_a_signed_nomination(
    fresh_kafka: str, tmp_path: Path, codec: Codec, world: World, shard: Shard
) -> None:
    for as_of in (DUE - 1, DUE):
        shard.tick(as_of)
    world.flush(shard)
    entries = [codec.encode(change.appended) for change in shard.changes]
    poison = [b"\xc3\x01ticked", b"", b"{}"]
    async with running(fresh_kafka, tmp_path, codec, world.schedule):
        journal(fresh_kafka, [*entries[:-1], *poison, entries[-1]])
        answers = [codec.decode_as(DecayCrossed, value) for value in await read(fresh_kafka, topics.CROSSED, 2)]
        (value,) = await read(fresh_kafka, topics.NOMINATIONS, 1)
        await committed(fresh_kafka, topics.JOURNAL, len(entries) + len(poison))
        await committed(fresh_kafka, topics.CROSSED, 2)
    assert [(a.journal_seq, a.as_of, a.accepted_offset, len(a.crossed)) for a in answers] == [
        (4, DUE - 1, 3, 0),
        (5, DUE, 4, 3),
    ]
    _, record = open_signed(codec, GENESIS, value, NominationProposed)
    assert (record.shard, record.epoch, record.as_of, record.accepted_offset) == (SHARD, 1, DUE, 4)
    assert record.trigger == "interactions"
    assert [(p.memory_ids[0], p.kind, p.reason) for p in record.proposals] == [
        (memory, "forget", "decayed") for memory in sorted(map(memory_id, "abc"))
    ]


async def test_an_outage_of_the_store_delays_and_loses_nothing(
    fresh_kafka: str, tmp_path: Path, codec: Codec, world: World, shard: Shard
) -> None:
    tick = shard.tick(DUE)
    world.flush(shard)
    assert isinstance(world.store, InMemoryStore)
    schedule = Flaky(world.store)
    schedule.down = {"due", "candidates"}
    async with running(fresh_kafka, tmp_path, codec, schedule):
        journal(fresh_kafka, [codec.encode(tick.appended)])
        for question, topic in (("due", topics.CROSSED), ("candidates", topics.NOMINATIONS)):
            for _ in range(2):
                assert await asyncio.to_thread(schedule.refused[question].acquire, timeout=PATIENCE_S)
            schedule.down.remove(question)
            assert len(await read(fresh_kafka, topic, 1)) == 1
