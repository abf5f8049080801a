"""The contract of every neighbourhood, run on both adapters."""

from __future__ import annotations

import numpy as np
import pytest

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.ids import shard_of
from memquorum.ports import JournalChange
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, clear

GENESIS = genesis.make()
A, B, C = (memory_id(e) for e in "abc")
OTHER = next(f"n{i}" for i in range(99) if shard_of(f"n{i}", 4) == 0)


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    return world.shard(codec, GENESIS)


def arrived(change: JournalChange) -> list[str]:
    return [neighbour.memory_id for neighbour in change.arrived]


def test_the_start_is_everything_in_short_term_memory(world: World, shard: Shard) -> None:
    assert world.neighbourhoods.changes(0, NAMESPACE, None) == JournalChange(0, (), ())
    for event in "abc":
        shard.episode(event)
    shard.tick(10**9)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "promote")])
    shard.episode("a", namespace=OTHER)
    world.flush(shard)
    change = world.neighbourhoods.changes(0, NAMESPACE, None)
    assert (change.seq, arrived(change), change.left) == (6, [C], ())
    found = change.arrived[0]
    assert (found.agent, found.text) == ("planner", clear(C).text)
    assert found.vector.dtype == np.float32
    np.testing.assert_array_equal(found.vector, clear(C).vector)
    assert arrived(world.neighbourhoods.changes(0, OTHER, None)) == [memory_id("a", OTHER)]
    assert arrived(world.neighbourhoods.changes(1, NAMESPACE, None)) == []


def test_of_a_summary_it_is_told_who_said_what_it_says(world: World, shard: Shard) -> None:
    for event in "abc":
        shard.episode(event)
    shard.summary("sum", [A, B, C], at=1_000)
    shard.consolidate(memory_id("sum"), [A, B, C])
    world.flush(shard)
    change = world.neighbourhoods.changes(0, NAMESPACE, None)
    assert [(one.agent, one.said_by) for one in change.arrived] == [(CONSOLIDATOR, "planner")]
    again = world.neighbourhoods.changes(0, NAMESPACE, 3)
    assert [one.said_by for one in again.arrived] == ["planner"]


def test_a_refresh_is_what_arrived_and_left_since(world: World, shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b")
    world.flush(shard)
    first = world.neighbourhoods.changes(0, NAMESPACE, None)
    assert world.neighbourhoods.changes(0, NAMESPACE, first.seq) == JournalChange(2, (), ())
    shard.tick(10**9)
    shard.episode("c")
    shard.access(A, 10**9)
    shard.decide([votes.proposal(B, "promote")])
    world.flush(shard)
    second = world.neighbourhoods.changes(0, NAMESPACE, first.seq)
    assert (second.seq, arrived(second), second.left) == (6, [C], (B,))
    shard.decide([votes.proposal(C, "forget")])
    shard.destroy(C)
    world.flush(shard)
    third = world.neighbourhoods.changes(0, NAMESPACE, second.seq)
    assert (third.seq, arrived(third), third.left) == (8, [], (C,))
    # A reader that did not look in between learns of the gone memories all the same, and only of those.
    both = world.neighbourhoods.changes(0, NAMESPACE, first.seq)
    assert (arrived(both), set(both.left)) == ([], {B, C})


def test_what_is_known_is_told_of_only_where_it_leaves(world: World, shard: Shard) -> None:
    shard.episode("a")
    world.flush(shard)
    first = world.neighbourhoods.changes(0, NAMESPACE, None, {A})
    assert arrived(first) == [A], "who begins asks for everything"
    shard.episode("b")
    shard.episode("c")
    shard.tick(10**9)
    shard.decide([votes.proposal(A, "forget")])
    world.flush(shard)
    assert arrived(world.neighbourhoods.changes(0, NAMESPACE, first.seq, {A, B, C})) == []
    second = world.neighbourhoods.changes(0, NAMESPACE, first.seq, {A, B})
    assert (second.seq, arrived(second), second.left) == (5, [C], (A,))


def test_vectors_come_back_as_float16_kept_them(world: World, shard: Shard) -> None:
    shard.episode("a")
    vector = np.random.default_rng(7).normal(size=384).astype(np.float32)
    world.flush(shard, {A: type(clear(A))("words", vector)})
    (found,) = world.neighbourhoods.changes(0, NAMESPACE, None).arrived
    np.testing.assert_array_equal(found.vector, vector.astype(np.float16).astype(np.float32))


def test_who_looked_before_anything_was_stored_hears_of_what_came_and_went(world: World, shard: Shard) -> None:
    before = world.neighbourhoods.changes(0, NAMESPACE, None)
    assert before.seq == 0
    shard.episode("a")
    shard.tick(10**9)
    shard.decide([votes.proposal(A, "forget")])
    world.flush(shard)
    assert world.neighbourhoods.changes(0, NAMESPACE, before.seq).left == (A,)


def test_of_a_summary_it_is_told_who_said_all_of_it(world: World, shard: Shard) -> None:
    for name, agent in (("a", "ann"), ("b", "ann"), ("c", "ben")):
        shard.episode(name, agent=agent)
    for name, sources in (("hers", ("a",)), ("both", ("b", "c"))):
        ids = [memory_id(source) for source in sources]
        shard.summary(name, ids)
        shard.consolidate(memory_id(name), ids)
    shard.episode("d", agent="ann")
    world.flush(shard)
    told = {one.memory_id: one.said_by for one in world.neighbourhoods.changes(0, NAMESPACE, None).arrived}
    assert told == {memory_id("hers"): "ann", memory_id("both"): "", memory_id("d"): ""}
