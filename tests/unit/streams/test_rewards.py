"""The reward stage without Kafka: what entries gave, once for each reward, the same however often an entry comes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import RewardGiven
from streams.reward_stage import Rewards
from streams.stage import Arrival
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.inmemory.store import InMemoryRewarded
from tests.support.stores import World, make

GENESIS = genesis.make()
A = memory_id("a")


@pytest.fixture(params=["memory"])
def world(request: pytest.FixtureRequest) -> World:
    return make(request)


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    made = world.shard(codec, GENESIS)
    made.episode("a", 1_000)
    made.tick(100_000)
    made.decide([votes.proposal(A, "promote")])
    made.access(A, 110_000)
    world.flush(made)
    return made


def arrivals(codec: Codec, shard: Shard) -> list[Arrival]:
    return [
        Arrival(0, at, codec.encode(change.appended), traceparent=f"00-{change.entry.seq}")
        for at, change in enumerate(shard.changes)
    ]


@pytest.fixture
def stage(world: World, codec: Codec) -> Rewards:
    return Rewards(codec, InMemoryRewarded(world.store))


def test_every_reward_is_published_under_an_id_of_its_own(stage: Rewards, shard: Shard, codec: Codec) -> None:
    outputs = stage.process(arrivals(codec, shard))
    decided, accessed = (change.entry.seq for change in shard.changes[-2:])
    assert [codec.decode(output.value) for output in outputs] == [
        RewardGiven(0, decided, NAMESPACE, "planner", A, "promoted", 500_000, 100_000),
        RewardGiven(0, accessed, NAMESPACE, "reviewer", A, "used", 300_000, 100_000),
    ]
    assert [output.event_id for output in outputs] == [
        f"reward/0/{decided}/{A}/promoted", f"reward/0/{accessed}/{A}/used"
    ]  # fmt: skip
    assert {(output.topic, output.partition, output.key) for output in outputs} == {
        (topics.REWARDS, 0, NAMESPACE.encode())
    }
    assert [output.traceparent for output in outputs] == [f"00-{decided}", f"00-{accessed}"]


def test_an_entry_that_comes_again_gives_the_same_again(
    stage: Rewards, shard: Shard, world: World, codec: Codec
) -> None:
    first = stage.process(arrivals(codec, shard))
    # Meanwhile the memory is no longer where it was when it was used.
    shard.tick(10**12)
    shard.decide([votes.proposal(A, "demote")])
    world.flush(shard)
    assert stage.process(arrivals(codec, shard)[: len(shard.changes) - 2]) == first


def test_what_is_no_entry_of_the_partition_is_refused(stage: Rewards, shard: Shard, codec: Codec) -> None:
    found = arrivals(codec, shard)[-1]
    with pytest.raises(ValueError, match="shard 0 in partition 1"):
        stage.process([replace(found, partition=1)])
    with pytest.raises(DecodeError):
        stage.process([replace(found, value=b"no entry")])
    assert stage.poisoned(found, ValueError("no entry")) == []
