"""The changes that the retrieval cache learns of, and the rehearsed long-term memories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from db.cached import PostgresCached
from memquorum.core.avro import Codec
from tests.builders import genesis, rehearsals, votes
from tests.builders.rehearsals import rehearse
from tests.builders.shard import NAMESPACE, memory_id
from tests.support.stores import World, make

NOW = 10_000_000
A, B, C = (memory_id(name) for name in "abc")
pytestmark = pytest.mark.parametrize("world", ["postgres"], indirect=True)


@pytest.fixture
def world(request: pytest.FixtureRequest) -> World:
    return make(request)


@pytest.fixture
def cached(world: World) -> Iterator[PostgresCached]:
    assert world.dsn is not None
    with closing(PostgresCached(world.dsn, "hashing")) as found:
        yield found


def test_what_was_rehearsed_in_long_term_memory_is_there_again_and_used_once_more(
    world: World, cached: PostgresCached, codec: Codec
) -> None:
    shard = world.shard(codec, genesis.make(**rehearsals.entitled()))
    for name in "abc":
        shard.episode(name, NOW - 10)
        shard.access(memory_id(name), NOW - 5)
    shard.tick(NOW)
    shard.decide([votes.proposal(A, "promote"), votes.proposal(B, "promote")])
    world.flush(shard)
    seq, _, _ = cached.changed(0, 0, [NAMESPACE], 100)
    assert cached.changed(0, seq, [NAMESPACE], 100)[1] == {}
    rehearse(shard, A)
    rehearse(shard, C, offset=1)
    world.flush(shard)
    reached, changed, _ = cached.changed(0, seq, [NAMESPACE], 100)
    assert reached == seq + 2
    there = changed[NAMESPACE].there
    assert (list(there.memory_ids), list(there.uses), changed[NAMESPACE].gone) == ([A], [2], ())
    assert cached.changed(0, seq, ["elsewhere"], 100)[1] == {}
    filled = cached.fill(0, NAMESPACE, 1)
    assert filled is not None and (A in filled or C in filled) and B not in filled
