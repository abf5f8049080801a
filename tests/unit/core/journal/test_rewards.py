"""The rewards of agents by the journal's entries: each of SPEC B's four rewards from its own entry, and
from no other.
"""

from __future__ import annotations

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal.rewards import AMOUNTS_PPM, PROMOTED, REFUSED, REPEATED, USED, WEIGHT_PPM
from memquorum.core.journal.rows import Change, Reward
from memquorum.core.records import Quote, Summary
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make()
A, B = memory_id("a"), memory_id("b")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """`a` is in long-term memory, `b` is not."""
    made = Shard(codec, GENESIS)
    made.episode("a", 1_000)
    made.episode("b", 1_000)
    made.tick(100_000)
    made.decide([votes.proposal(A, "promote")])
    assert [made.rows.memories[i].tier for i in (A, B)] == [LONG_TERM, SHORT_TERM]
    return made


def rewards_of(change: Change) -> list[tuple[str, str, str, int]]:
    return [(one.kind, one.agent, one.memory_id, one.amount_ppm) for one in change.of(Reward)]


def test_the_amounts_are_those_of_spec_b() -> None:
    assert AMOUNTS_PPM == {USED: 300_000, PROMOTED: 500_000, REPEATED: -200_000, REFUSED: -100_000}
    assert WEIGHT_PPM == 100_000


def test_who_recorded_what_is_promoted_is_rewarded(shard: Shard) -> None:
    entry = shard.changes[-1].entry
    assert shard.changes[-1].of(Reward) == (Reward(0, entry.seq, NAMESPACE, "planner", A, PROMOTED, 500_000, 100_000),)


def test_who_uses_what_is_in_long_term_memory_is_rewarded_and_nobody_for_anything_else(shard: Shard) -> None:
    assert rewards_of(shard.access(A, 110_000)) == [(USED, "reviewer", A, 300_000)]
    assert rewards_of(shard.access(B, 110_000)) == []
    assert rewards_of(shard.access(memory_id("nothing"), 110_000)) == []
    again = shard.access(A, 120_000, "twice")
    assert rewards_of(again) == [(USED, "reviewer", A, 300_000)]
    assert rewards_of(shard.access(A, 120_000, "twice")) == []


@pytest.mark.parametrize("outcome", ["reinforced", "stored"])
def test_who_says_again_what_is_in_long_term_memory_is_penalised(shard: Shard, outcome: str) -> None:
    assert rewards_of(shard.episode("c", 110_000, outcome, reinforces=A, agent="reviewer")) == [
        (REPEATED, "reviewer", A, -200_000)
    ]
    assert rewards_of(shard.episode("d", 110_000, outcome, reinforces=B, agent="reviewer")) == []


def test_a_summary_that_says_what_its_sources_say_is_no_repetition(shard: Shard) -> None:
    summary = Summary("extractive/1", "s1", 600_000, b"c" * 32, (Quote(A, 0, 5, "facts", 1_000),))
    assert rewards_of(shard.episode("e", 110_000, reinforces=A, derives_from=(A,), summary=summary)) == []


def test_what_is_refused_once_more_than_it_is_tried_again_costs_its_author_once(shard: Shard) -> None:
    tries = GENESIS.policy.promote.retries_max + 3
    given = [rewards_of(shard.decide([votes.proposal(B, "promote")], votes.nobody)) for _ in range(tries)]
    at = GENESIS.policy.promote.retries_max
    assert [bool(one) for one in given] == [place == at for place in range(tries)]
    assert given[at] == [(REFUSED, "planner", B, -100_000)]


def test_what_is_forgotten_or_demoted_gives_nothing(shard: Shard) -> None:
    for kind in ("demote", "forget"):
        shard.tick(10**12)
        assert rewards_of(shard.decide([votes.proposal(A, kind)])) == []
    assert rewards_of(shard.decide([votes.proposal(B, "forget")])) == []
