"""The contract of every Comparisons port: the memories to compare with, and the earlier comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from db.standing import Clear
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.orders.compare import SIGNER, pair_digest
from memquorum.core.records import ErasedEpisode
from tests.builders import comparisons, disclosures, erasures, votes
from tests.builders import genesis as cluster
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World

ENTITLED = erasures.entitled()
GENESIS = cluster.make(
    **{**ENTITLED, "agent_keys": {**ENTITLED["agent_keys"], CONSOLIDATOR: cluster.public_key(SIGNER)}}
)
A, B, C, D = (memory_id(one) for one in "abcd")


def turned(degrees: float) -> np.ndarray:
    vector = np.zeros(384, np.float32)
    vector[:2] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return vector


def flush(world: World, shard: Shard) -> None:
    angles = {A: 0.0, B: 30.0, C: 100.0, D: 10.0}
    texts = {one: Clear(f"text of {one}", turned(angles.get(one, 0.0))) for one in shard.work.net().revealed}
    world.flush(shard, texts)


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    made = world.shard(codec, GENESIS)
    for at, event in enumerate("abcd"):
        made.episode(event, 1_000 * (at + 1), session="s1")
    made.tick(9_000)
    flush(world, made)
    return made


def near(world: World, memory: str, limit: int = 9) -> list[str]:
    found = world.comparisons.near(0, memory, 0.4, limit)
    assert found is not None and found[0] == NAMESPACE and found[1].memory_id == memory
    return [one.memory_id for one in found[2]]


def test_what_was_said_before_and_lies_near_is_told_the_nearest_first(world: World, shard: Shard) -> None:
    assert near(world, D) == [A, B], "what is far, or was said later, is compared"
    assert near(world, D, 1) == [A] and near(world, A) == [] == near(world, C)
    (_, own, (first, *_)) = world.comparisons.near(0, D, 0.4, 9) or (None, None, ())
    assert own is not None and (own.side.text, own.side.at, first.side.agent) == (f"text of {D}", 4_000, "planner")
    assert world.comparisons.near(1, D, 0.4, 9) is None is world.comparisons.near(0, memory_id("never"), 0.4, 9)


def test_what_is_gone_is_not_compared(world: World, shard: Shard, codec: Codec) -> None:
    order = erasures.ordered(GENESIS, "memory", A, order_id=memory_id("order", "orders"))
    row = shard.rows.memories[A]
    gone = [ErasedEpisode(A, row.tier, row.commitment, None)]
    shard.erase(erasures.accepted(order, erasures.signed(codec, GENESIS, order), 25_000), gone)
    shard.tick(200_000)
    shard.decide([votes.proposal(B, "promote")])
    flush(world, shard)
    assert near(world, D) == [B] and world.comparisons.near(0, A, 0.4, 9) is None


def test_which_pairs_were_compared_and_what_may_be_sent_the_journal_tells(
    world: World, shard: Shard, codec: Codec
) -> None:
    pairs = [pair_digest(NAMESPACE, D, one) for one in (A, B)]
    assert world.comparisons.answered(0, pairs) == frozenset()
    shard.protect(comparisons.accepted(codec, GENESIS, comparisons.wanted(GENESIS, D, (A, ()))))
    shard.protect(disclosures.accepted(codec, GENESIS, A, D))
    flush(world, shard)
    assert world.comparisons.answered(0, pairs) == {pairs[0]} and world.comparisons.answered(1, pairs) == frozenset()
    assert world.comparisons.disclosed(disclosures.HOST, [A, B, D]) == {A, D}
    assert world.comparisons.disclosed("elsewhere.example.org", [A]) == frozenset()


def test_what_a_model_says_opens_no_vote_and_is_no_ground(world: World, shard: Shard, codec: Codec) -> None:
    shard.protect(comparisons.accepted(codec, GENESIS, comparisons.wanted(GENESIS, D, (A, (1,)))))
    flush(world, shard)
    assert world.schedule.contested(0, 10, inferred=True) == []
    with world.rehearsals.look(10_000) as look:
        assert [seen.contested for _, seen in look.seen([A, D])] == [None, None]
    shard.episode("e", 5_000, contradicts=(A,))
    flush(world, shard)
    assert [(n.memory_id, o.memory_id) for n, o in world.schedule.contested(0, 10, inferred=True)] == [
        (memory_id("e"), A)
    ]
