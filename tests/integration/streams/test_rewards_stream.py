"""Rewards on genuine Kafka and Postgres: from the journal to the topic, and to who asks the service's store."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from db.reads import Reads
from db.rewarded import PostgresRewarded
from memquorum import topics
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import Change
from memquorum.core.records import RewardGiven
from streams import faust_app, reward_stage
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, make
from tests.support.waiting import PATIENCE_S
from workers.kafka import loop

GENESIS = genesis.make()
A = memory_id("a")
OTHERS = "greenhouse-annex"


@pytest.fixture(params=["postgres"])
def world(request: pytest.FixtureRequest) -> World:
    return make(request)


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """One memory that is promoted, used and said again."""
    made = world.shard(codec, GENESIS)
    made.episode("a", 1_000)
    made.tick(100_000)
    made.decide([votes.proposal(A, "promote")])
    made.access(A, 110_000)
    made.episode("b", 120_000, "reinforced", reinforces=A, agent="reviewer")
    world.flush(made)
    return made


GIVEN = [
    ("planner", "promoted", 500_000),
    ("reviewer", "used", 300_000),
    ("reviewer", "repeated", -200_000),
]


def read(bootstrap: str, count: int) -> list[bytes]:
    """The first records of the shard's partition of the rewards."""
    client, found, ends = loop.consumer(bootstrap), list[bytes](), time.monotonic() + PATIENCE_S
    loop.assign(client, {(topics.REWARDS, 0): None})
    try:
        while len(found) < count:
            assert time.monotonic() < ends, f"{len(found)} of {count} rewards"
            found += [message.value() or b"" for message in loop.records(client, 100, 5)]
        return found
    finally:
        client.close()


async def test_what_the_journal_gives_stands_on_the_topic_and_is_told_to_who_may_see_it(
    fresh_kafka: str, tmp_path: Path, codec: Codec, world: World, shard: Shard
) -> None:
    assert world.dsn is not None
    client = loop.producer(fresh_kafka)

    def publish(*changes: Change) -> None:
        for change in changes:
            client.produce(topics.JOURNAL, codec.encode(change.appended), partition=0)
        assert client.flush(10) == 0

    app = faust_app.create(fresh_kafka, tmp_path, GENESIS.shards, "memquorum-test-rewards")
    reward_stage.attach(app, reward_stage.Rewards(codec, PostgresRewarded(world.dsn)))
    app.finalize()
    await app.start()
    try:
        publish(*shard.changes)
        await asyncio.to_thread(read, fresh_kafka, 3)
        # As after a kill of the commit worker.
        publish(shard.changes[-1])
        found = [codec.decode_as(RewardGiven, value) for value in await asyncio.to_thread(read, fresh_kafka, 4)]
    finally:
        await app.stop()
    assert [(one.agent, one.kind, one.amount_ppm) for one in found] == [*GIVEN, GIVEN[-1]]
    assert len({(one.shard, one.seq, one.memory_id, one.kind) for one in found}) == len(GIVEN)
    assert {one.namespace for one in found} == {NAMESPACE}
    reads = Reads(world.dsn)
    await reads.open()
    try:
        sight = Sight((NAMESPACE,))
        assert await reads.rewards(sight, NAMESPACE, None, 9) == [
            ("planner", "promoted", 1, 500_000), ("reviewer", "repeated", 1, -200_000), ("reviewer", "used", 1, 300_000)
        ]  # fmt: skip
        assert await reads.rewards(sight, NAMESPACE, "planner", 9) == [("planner", "promoted", 1, 500_000)]
        assert await reads.rewards(Sight((OTHERS,)), NAMESPACE, None, 9) == []
    finally:
        await reads.close()
