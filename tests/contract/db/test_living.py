"""The contract of every count of memories, run on both adapters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from db.living import PostgresLiving
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.ports import Counted, Living
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, memory_id
from tests.inmemory.store import InMemoryLiving, InMemoryStore
from tests.support.stores import World, clear

GENESIS = genesis.make()
LATE = 10**12


@pytest.fixture
def living(world: World) -> Iterator[Living]:
    if isinstance(world.store, InMemoryStore):
        yield InMemoryLiving(world.store)
        return
    assert world.dsn is not None
    found = PostgresLiving(world.dsn)
    yield found
    found.close()


def test_it_counts_who_lives_and_says_up_to_where(world: World, living: Living, codec: Codec) -> None:
    shard = world.shard(codec, GENESIS)
    assert living.counted([NAMESPACE]) == Counted({NAMESPACE: 0}, {})
    for event in "abc":
        shard.episode(event, 1_000)
    shard.tick(LATE)
    net = shard.work.net()
    with world.store.transaction({net.before: RowKeys()}) as transaction:
        places = {(0, topics.ACCEPTED): 70, (0, topics.SCORED): 90, (1, topics.ACCEPTED): 5}
        transaction.write([net], {i: clear(i) for i in net.revealed}, places)
    counted = living.counted([NAMESPACE, "nowhere"])
    assert counted.stored == {NAMESPACE: 3, "nowhere": 0}
    assert counted.applied[0] == 70
    assert living.counted([]).stored == {}


def test_what_was_forgotten_counts_no_more(world: World, living: Living, codec: Codec) -> None:
    shard = world.shard(codec, GENESIS)
    for event in "abcd":
        shard.episode(event, 1_000)
    shard.tick(LATE)
    world.flush(shard)
    shard.decide([votes.proposal(memory_id("a"), "forget")])
    world.flush(shard)
    assert living.counted([NAMESPACE]).stored == {NAMESPACE: 3}
