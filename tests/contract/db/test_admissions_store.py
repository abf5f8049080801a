"""Where memories stand on their way into experience, as both stores load it for whoever applies a trial or a vote."""

from __future__ import annotations

import pytest

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.journal import trials as rule
from memquorum.core.journal.rows import Change, Keys, Rows
from memquorum.core.journal.workset import Workset
from tests.builders import genesis, trials, votes
from tests.builders.shard import Shard, memory_id
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


def loaded(world: World, shard: Shard, keys: Keys) -> Rows:
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
        place = applying.Place(topics.TRIALS, 0, at)
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
    rows = loaded(world, shard, Keys(admissions=frozenset({A, B})))
    assert dict(rows.admissions) == {A: shard.rows.admissions[A]}
    assert (rows.admissions[A].status, rows.admissions[A].weight_ppm) == ("admitted", 1_000_000)


def test_what_is_gone_left_experience(world: World, shard: Shard) -> None:
    agree(shard, A)
    world.flush(shard)
    shard.decide([votes.proposal(A, "forget")])
    shard.destroy(A)
    world.flush(shard)
    assert loaded(world, shard, Keys(admissions=frozenset({A}))).admissions[A].status == "removed"


def test_nobody_elses_decision_draws(world: World, shard: Shard, codec: Codec) -> None:
    """Epochs are a shard's own."""
    other = world.shard(codec, GENESIS, 1)
    rows = loaded(world, other, Keys(epochs=frozenset({1})))
    assert not rows.nominated
