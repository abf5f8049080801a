"""The subjects' costs of draws follow from decisions alone, whatever the votes say."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import Spent
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.records import Lot, Proposal, Weighed
from tests.builders import genesis, votes
from tests.builders.policies import by_the_paper
from tests.builders.shard import NAMESPACE, Shard, memory_id

BUDGET = BudgetPolicy(tokens=f"{NAMESPACE}=64", epsilon_ppm=PPM // 2, subject_epsilon_ppm=PPM)
GENESIS = genesis.make(policy=by_the_paper(budget=BUDGET))
A, B, C = memory_id("a"), memory_id("b"), memory_id("c")


def drawn(*charged: str, of: str = A) -> Proposal:
    weighed = Weighed("worth", 0, 64, 90, 30, "episodic", None, (), None, None, "by lot", Lot(3, charged, 0))
    return replace(votes.proposal(of, "evict"), reason="budget", weighed=weighed)


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    for name in "abc":
        made.episode(name, 1_000, subject="bob" if name == "b" else "ada")
    made.tick(100_000)
    return made


@pytest.mark.parametrize("vote", [votes.everybody, votes.nobody])
def test_each_subject_pays_for_each_draw_however_the_vote_ends(shard: Shard, vote: votes.Vote) -> None:
    change = shard.decide([drawn(A, B), drawn(A, of=C)], vote)
    seq = change.entry.seq
    rows = [Spent(0, seq, NAMESPACE, A, PPM), Spent(0, seq, NAMESPACE, B, PPM // 2)]
    assert list(change.of(Spent)) == sorted(rows, key=lambda row: row.memory_id)


def test_what_is_no_memory_or_is_said_of_none_costs_nothing(shard: Shard) -> None:
    assert shard.decide([drawn("nobody", "x" * 40)]).of(Spent) == ()
    assert shard.decide([drawn(B, of=memory_id("nothing"))]).of(Spent) == ()
    assert shard.decide([replace(drawn(B), namespace="another\0one")]).of(Spent) == ()
    assert shard.decide([votes.proposal(C, "evict")]).of(Spent) == ()


def test_where_near_ties_are_not_drawn_nothing_is_spent(codec: Codec) -> None:
    shard = Shard(codec, genesis.make(policy=by_the_paper(budget=replace(BUDGET, epsilon_ppm=0))))
    shard.episode("a", 1_000)
    shard.tick(100_000)
    assert shard.decide([drawn(A)]).of(Spent) == ()
