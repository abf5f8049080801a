"""Memories' states on the way into experience, as both stores load them to apply a trial or a vote."""

from __future__ import annotations

import psycopg
import pytest

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.journal import rollbacks, uniting, weighing
from memquorum.core.journal import trials as rule
from memquorum.core.journal.rows import Change, RowKeys, Rows, WeightRow
from memquorum.core.journal.workset import Workset
from memquorum.core.records import Proposal
from tests.builders import genesis, trials, tried, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, drawn, proposal, signed, statistics, tell
from tests.support.stores import World

GENESIS = genesis.make(**trials.entitled())
A, B = memory_id("a"), memory_id("b")


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    made = world.shard(codec, GENESIS)
    made.episode("a")
    made.episode("b")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], lambda _, __: False)
    world.flush(made)
    return made


def loaded(world: World, shard: Shard, keys: RowKeys) -> Rows:
    with world.reopen().store.transaction({shard.rows.state: keys}) as transaction:
        return transaction.rows[shard.rows.state.shard]


def test_a_trial_finds_what_was_told_before_it(world: World, shard: Shard, codec: Codec) -> None:
    first, second, third = drawn(shard, A, 1)
    data = [signed(codec, GENESIS, statistics(GENESIS, A, 1, helped), who)
            for who, helped in ((first, 3), (second, 2), (third, 3))]  # fmt: skip
    for at, one in enumerate(data):
        keys = rule.keys(codec, one)
        rows = loaded(world, shard, keys)
        expected = shard.rows
        assert dict(rows.admissions) == {k: v for k, v in expected.admissions.items() if k == A}
        assert dict(rows.trials) == ({(A, 1): expected.trials[A, 1]} if at else {})
        assert dict(rows.nominated) == {1: expected.nominated[1]}
        place = applying.RecordPosition(topics.TRIALS, 0, at)
        found = applying.apply_tried(shard.rules, Workset(rows).rows, place, one)
        assert isinstance(found, Change)
        assert found.rows == tell(shard, one, at).rows  # type: ignore[union-attr]
        world.flush(shard)
    assert shard.rows.admissions[A].status == "agreed"


def test_what_was_voted_on_is_found_as_it_stands(world: World, shard: Shard) -> None:
    made = agree(shard, A)
    world.flush(shard)
    shard.decide([proposal(A, made)])
    world.flush(shard)
    rows = loaded(world, shard, RowKeys(admissions=frozenset({A, B})))
    assert dict(rows.admissions) == {A: shard.rows.admissions[A]}
    assert (rows.admissions[A].status, rows.admissions[A].weight_ppm) == ("admitted", 1_000_000)


def test_what_is_gone_left_experience(world: World, shard: Shard) -> None:
    agree(shard, A)
    world.flush(shard)
    shard.decide([votes.proposal(A, "forget")])
    shard.destroy(A)
    world.flush(shard)
    assert loaded(world, shard, RowKeys(admissions=frozenset({A}))).admissions[A].status == "left"


def test_nobody_elses_decision_draws(world: World, shard: Shard, codec: Codec) -> None:
    """Epochs are a shard's own."""
    other = world.shard(codec, GENESIS, 1)
    rows = loaded(world, other, RowKeys(epochs=frozenset({1})))
    assert not rows.nominated


def test_a_decision_finds_the_uses_that_nobody_has_counted_and_where_stands_what_was_used(
    world: World, shard: Shard
) -> None:
    """All feedback on a task is found, wherever the new part of it stands."""
    texts = {memory_id(name): tried.clear("done", goal="what") for name in ("before", "t0", "t1", "t2")}
    texts[memory_id("t3", "attic-1")] = tried.clear("done", goal="what")
    shard.task("before", (A,))
    made = agree(shard, A)
    shard.tick(1_000_000_001)
    shard.decide([proposal(A, made)])
    world.flush(shard, texts)
    for at in range(3):
        shard.task(f"t{at}", (A, B))
    shard.feedback(memory_id("t0"), (A,), (B,))
    shard.tick(1_000_000_002)
    decided = shard.decide([votes.proposal(B, "promote")], votes.nobody)
    assert [row.gains for row in decided.of(WeightRow)] == [6]
    shard.feedback(memory_id("t1"), (), (A,), event_id="later")
    shard.feedback(memory_id("t0"), (), (A,), event_id="no more")
    shard.task("t3", (), namespace="attic-1")
    world.flush(shard, texts)
    rows = loaded(world, shard, RowKeys(uses=shard.offset))
    names = {memory_id(name) for name in ("t0", "t1")}
    assert dict(rows.tasks) == {name: shard.rows.tasks[name] for name in names}
    assert {name: set(said) for name, said in rows.feedback.items()} == {
        name: set(shard.rows.feedback[name]) for name in names
    }
    assert [one.helped for one in rows.feedback[memory_id("t0")] if one.memory_id == A] == [True, False]
    assert dict(rows.admissions) == {A: shard.rows.admissions[A]} and B not in rows.admissions
    change = shard.changes[-4]
    assert change.entry.effect == "decided"
    policy, offset = GENESIS.policy.experience, shard.offset
    told = weighing.weighed(rows, change.entry, 4, offset, policy)
    assert told == weighing.weighed(shard.rows, change.entry, 4, offset, policy) and len(told) == 2
    if world.dsn is not None:
        with psycopg.connect(world.dsn) as connection:
            told = "SELECT version, cause, weight, tasks, round(gained::numeric, 2)::float8, holds FROM audit_weights"
            found = connection.execute(f"{told} ORDER BY version").fetchall()
        assert found == [(1, "admitted", 1.0, 3, 1.0, False), (2, "used", 1.2, 3, 0.67, True)]
    nothing = loaded(world, shard, RowKeys(uses=rows.state.weighed_to))
    assert not nothing.tasks and not nothing.feedback


def test_how_far_uses_are_counted_is_kept(world: World, shard: Shard) -> None:
    assert shard.rows.state.weighed_to == shard.offset > 0
    assert world.reopen().store.start(GENESIS.cluster, GENESIS.shards)[0].state == shard.rows.state


def test_a_request_to_roll_a_weight_back_finds_all_its_versions(world: World, shard: Shard, codec: Codec) -> None:
    shard.decide([proposal(A, agree(shard, A))])
    shard.task("t", (A,))
    shard.tick(1_000_000_001)
    shard.decide([votes.proposal(B, "promote")], votes.nobody)
    world.flush(shard, {memory_id("t"): tried.clear("done", goal="what")})
    order = votes.rollback(GENESIS, A, 1)
    rows = loaded(world, shard, rollbacks.keys(codec, votes.signed(codec, GENESIS, "operator", order)))
    assert dict(rows.weights) == {A: shard.rows.weights[A]} and [one.version for one in rows.weights[A]] == [1, 2]
    assert rollbacks.refused(rows, order) is None
    shard.ask(order, 1_000_000_001)
    shard.tick(1_000_000_002)
    shard.restore(order)
    world.flush(shard)
    rows = loaded(world, shard, RowKeys(weights=frozenset({A, B}), admissions=frozenset({A})))
    assert dict(rows.weights) == {A: shard.rows.weights[A]}
    assert [(one.cause, one.weight_ppm) for one in rows.weights[A]][2:] == [("rolled back", 1_000_000)]
    assert rows.admissions[A] == shard.rows.admissions[A]


def test_a_vote_on_what_becomes_one_finds_all_versions_of_what_it_names(world: World, shard: Shard) -> None:
    for at, name in enumerate((A, B)):
        shard.decide([proposal(name, agree(shard, name, offset=9 * at))])
    shard.task("t", (B,))
    shard.tick(1_000_000_001)
    texts = {memory_id("t"): tried.clear("done", goal="what")}
    shard.decide([votes.proposal(B, "promote")], votes.nobody)
    world.flush(shard, texts)
    keys = uniting.keys([Proposal((A, B), NAMESPACE, "unite", "twins", 0, 0, 0)])
    rows = loaded(world, shard, keys)
    assert {name: [row.cause for row in found] for name, found in rows.weights.items()} == {
        A: ["admitted"], B: ["admitted", "used"]
    }  # fmt: skip
    shard.decide([Proposal((A, B), NAMESPACE, "unite", "twins", 0, 0, 0)])
    world.flush(shard)
    rows = loaded(world, shard, keys)
    assert dict(rows.admissions) == {one: shard.rows.admissions[one] for one in (A, B)}
    assert (rows.admissions[B].merged_into, rows.admissions[B].merged_at) == (A, 5)
    assert [row.cause for row in rows.weights[A]] == ["admitted", "merged"]
    assert rows.weights[A][-1].weight_ppm == 1_100_000
    assert not loaded(world, shard, RowKeys(admissions=keys.admissions)).weights
