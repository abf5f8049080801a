"""The fields of an outcome's row beside the vote: its namespace, its time, and the policy of the proposal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import DecisionRow, OutcomeRow
from memquorum.core.records import Proposal, Weighed
from tests.builders import votes
from tests.builders.published import GENESIS
from tests.builders.shard import NAMESPACE, Shard, memory_id

A = memory_id("a")
WEIGHED = Weighed("lru", 0, 64, 90, 30, "episodic", 0, (0,) * 7, 0, 0, "used longest ago")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.tick(100_000)
    return made


def row(shard: Shard, proposal: Proposal) -> OutcomeRow:
    (decision,) = shard.decide([proposal]).of(DecisionRow)
    (found,) = decision.outcomes
    return found


def test_a_row_has_the_memorys_namespace_the_time_and_the_policy(shard: Shard) -> None:
    found = row(shard, replace(votes.proposal(A, "evict"), weighed=WEIGHED))
    assert (found.namespace, found.as_of, found.policy) == (NAMESPACE, 100_000, "lru")
    assert row(shard, votes.proposal(A, "promote")).policy is None


def test_whose_memory_it_is_no_nominator_says(shard: Shard) -> None:
    found = row(shard, replace(votes.proposal(A, "forget"), namespace="another\0one"))
    assert (found.outcome, found.namespace) == ("voided", NAMESPACE)
    assert row(shard, votes.proposal(memory_id("nothing"), "forget")).namespace is None


def test_a_name_that_is_no_policys_stands_in_no_row(shard: Shard) -> None:
    assert row(shard, replace(votes.proposal(A, "promote"), weighed=replace(WEIGHED, policy="a\0b"))).policy is None
