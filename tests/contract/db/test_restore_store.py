"""Requests to restore as a schedule tells of them, and what comes back into a store: the same on both adapters."""

from __future__ import annotations

import pytest

from memquorum.core.avro import Codec
from memquorum.core.ids import shard_of
from memquorum.core.journal.recall import recall
from memquorum.core.journal.rows import RowKeys
from memquorum.core.orders import uses
from memquorum.core.policy import ForgetPolicy
from memquorum.core.records import Accessed, JournalEntry, Restored
from tests.builders import erasures, genesis, votes
from tests.builders.policies import by_the_paper
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.votes import nobody, proposal
from tests.support.stores import World

GENESIS = genesis.make(policy=by_the_paper(forget=ForgetPolicy(grace_ms=500)), **erasures.entitled())
OTHER, LATE = "orchard", "barn"  # of the same shard
A, B = memory_id("a"), memory_id("b")
FIRST, SECOND = votes.restore(GENESIS, A), votes.restore(GENESIS, A, B, order_id=memory_id("second"))


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """A, which was said again and read, and B rest sealed; the accepted offset is 5."""
    shard = world.shard(codec, GENESIS)
    shard.episode("a", 100)
    shard.episode("b", 100)
    shard.episode("echo", 110, outcome="reinforced", reinforces=A, salience=700_000)
    shard.access(A, 120)
    shard.tick(1_000)
    shard.decide([proposal(A, "forget"), proposal(B, "forget")])
    world.flush(shard)
    return shard


def request_ids(world: World, codec: Codec, *, since: int = 0, before: int = 99, through: int = 99) -> list[str]:
    found = world.stored.requests(0, since=since, before=before, through=through)
    return [codec.decode_as(JournalEntry, data).event_id for data in found]


def crowd(shard: Shard, namespace: str, count: int, at: int = 1_100) -> list[str]:
    """So many requests of a namespace to forget what it has; their ids, in their order."""
    event = f"of {namespace}"
    shard.episode(event, 200, namespace=namespace)
    named = memory_id(event, namespace)
    ids = [memory_id(f"request {number}", namespace) for number in range(count)]
    for one in ids:
        shard.ask(votes.restore(GENESIS, named, namespace=namespace, action="forget", order_id=one), at)
    return ids


def served(world: World) -> set[str]:
    return {one.memory_id for one in world.neighbourhoods.changes(0, NAMESPACE, None).arrived}


def test_a_request_is_told_until_an_epoch_has_voted_on_it(world: World, shard: Shard, codec: Codec) -> None:
    shard.ask(FIRST, 1_100)
    at = shard.offset
    shard.tick(1_200)
    shard.ask(SECOND, 1_200)
    world.flush(shard)
    assert request_ids(world, codec) == [FIRST.order_id, SECOND.order_id]
    assert request_ids(world, codec, since=1_001) == [SECOND.order_id]
    assert (request_ids(world, codec, before=at), request_ids(world, codec, before=at + 1)) == ([], [FIRST.order_id])
    assert world.stored.requests(1, since=0, before=99, through=99) == []
    shard.restore(SECOND, vote=nobody)
    world.flush(shard)
    # As it was before that epoch it is still told: a tick that is read late nominates what it would have.
    assert (request_ids(world, codec), request_ids(world, codec, through=1)) == (
        [FIRST.order_id],
        [FIRST.order_id, SECOND.order_id],
    )
    state = world.reopen().store.start(GENESIS.cluster, GENESIS.shards)[0].state
    assert (state, state.asked_at) == (shard.rows.state, 1_200)


def test_a_late_use_is_told_until_an_epoch_has_voted_on_it(world: World, shard: Shard, codec: Codec) -> None:
    shard.access(A, 1_001, event_id=FIRST.order_id)
    change = shard.changes[-1]
    world.flush(shard)
    # The user of a memory chooses the event's id: a request of that id stays open.
    shard.ask(FIRST, 1_100)
    shard.tick(1_200)
    world.flush(shard)
    assert request_ids(world, codec) == [FIRST.order_id] * 2
    detail = codec.decode_as(Accessed, change.entry.detail)
    shard.restore_used(uses.of_entry(codec, change.entry, detail), vote=nobody)
    shard.access(A, 1_201)
    world.flush(shard)
    (left,) = world.stored.requests(0, since=0, before=99, through=99)
    assert codec.decode_as(JournalEntry, left).effect == "requested"
    loaded = world.reopen().store.start(GENESIS.cluster, GENESIS.shards)[0]
    with world.reopen().store.transaction({loaded.state: RowKeys(frozenset({A, B}))}) as transaction:
        assert {i: m.asks_after for i, m in transaction.rows[0].memories.items()} == {A: None, B: 1_000}


def test_what_is_declined_is_not_told(world: World, shard: Shard, codec: Codec) -> None:
    shard.ask(votes.restore(GENESIS, memory_id("nobody")), 1_100)
    world.flush(shard)
    assert request_ids(world, codec) == [] and shard.rows.state.asked_at == 0


def test_what_comes_back_is_what_the_journal_recalls_of_it(world: World, shard: Shard, codec: Codec) -> None:
    assert served(world) == set()
    shard.ask(FIRST, 1_100)
    past = recall(codec, world.store.about(codec, [A, B])[A])
    assert past is not None and past.restored == Restored(A, 700_000, 1, 1, 0, 0)
    before = world.neighbourhoods.changes(0, NAMESPACE, None).seq
    shard.restore(FIRST, past.restored)
    world.flush(shard)
    assert served(world) == {A}
    # A reader that had dropped it gets it again.
    assert [one.memory_id for one in world.neighbourhoods.changes(0, NAMESPACE, before).arrived] == [A]
    (candidate,) = world.schedule.candidates(0, [A, B])
    assert (candidate.memory_id, candidate.last_access, candidate.salience_ppm) == (A, 1_100, 700_000)
    shard.tick(1_200)
    shard.decide([proposal(A, "forget")])
    world.flush(shard)
    assert served(world) == set()


def test_a_request_to_forget_is_told_and_done_with_in_the_same_way(world: World, shard: Shard, codec: Codec) -> None:
    shard.episode("c", 100)
    order = votes.restore(GENESIS, memory_id("c"), action="forget")
    shard.ask(order, 1_100)
    shard.tick(1_200)
    world.flush(shard)
    assert request_ids(world, codec) == [order.order_id]
    shard.decide([proposal(memory_id("c"), "forget")], trigger=f"forget/{order.order_id}")
    world.flush(shard)
    assert request_ids(world, codec) == []


def test_a_namespace_has_its_turn_before_the_second_request_of_another(
    world: World, shard: Shard, codec: Codec
) -> None:
    first, second = crowd(shard, NAMESPACE, 2)
    (other,) = crowd(shard, OTHER, 1)
    at = shard.offset
    shard.tick(1_200)
    (late,) = crowd(shard, LATE, 1, 1_200)
    world.flush(shard)
    assert request_ids(world, codec, before=at + 1) == [first, other, second]
    assert request_ids(world, codec, before=at) == [first, second]
    assert request_ids(world, codec) == [first, other, late, second]
    assert request_ids(world, codec, since=1_101) == [late]
    shard.decide([proposal(memory_id(f"of {NAMESPACE}"), "forget")], trigger=f"forget/{first}", vote=nobody)
    world.flush(shard)
    assert (request_ids(world, codec), request_ids(world, codec, through=0)) == (
        [second, other, late],
        [first, other, late, second],
    )


def test_however_many_requests_one_namespace_has_the_others_are_told(world: World, shard: Shard, codec: Codec) -> None:
    many, (other,) = crowd(shard, NAMESPACE, 40), crowd(shard, OTHER, 1)
    world.flush(shard)
    assert request_ids(world, codec) == [many[0], other, *many[1:32]]


def test_no_more_than_a_bounded_number_is_told(world: World, shard: Shard, codec: Codec) -> None:
    names = [name for name in (f"space-{i}" for i in range(90)) if shard_of(name, GENESIS.shards) == 0][:9]
    rows = [crowd(shard, name, 30) for name in names]
    world.flush(shard)
    assert request_ids(world, codec, before=999) == [row[place] for place in range(30) for row in rows][:256]
