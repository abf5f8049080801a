"""A summary takes the place of its sources by one entry of the journal, or nothing has changed."""

from __future__ import annotations

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import QuoteRow, Strength
from memquorum.core.records import Decided
from tests.builders import genesis as cluster
from tests.builders import votes
from tests.builders.policies import by_the_paper
from tests.builders.shard import Shard, memory_id

GENESIS = cluster.make()
A, B, SUMMARY = memory_id("a"), memory_id("b"), memory_id("sum")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    made.episode("a", at=1_000)
    made.episode("b", at=5_000)
    made.access(A, 9_000)
    made.summary("sum", [A, B], at=5_000)
    made.tick(20_000)
    return made


def result(shard: Shard) -> tuple[str, str]:
    (one,) = shard.rules.codec.decode_as(Decided, shard.changes[-1].entry.detail).results
    return one.outcome, one.reason


def test_a_draft_is_not_alive_and_its_sentences_name_their_sources(shard: Shard) -> None:
    rows = shard.rows
    assert rows.memories[SUMMARY].tier == "draft"
    assert SUMMARY not in rows.strengths
    assert rows.state.alive == 2
    drafted = next(c for c in shard.changes if c.entry.effect == "drafted")
    assert drafted.revealed is None, "its content must not be in the store before the vote"
    assert [(q.place, q.source, q.start, q.finish) for q in drafted.of(QuoteRow)] == [(0, A, 0, 23), (1, B, 0, 23)]


def test_summary_in_and_sources_out_are_one_entry(shard: Shard) -> None:
    change = shard.consolidate(SUMMARY, [A, B])
    assert result(shard) == ("consolidated", "quorum")
    assert [told.memory_id for told in change.restored] == [SUMMARY], "its content comes with the same entry"
    assert set(change.ended(Strength)) == {A, B}
    tiers = {i: shard.rows.memories[i].tier for i in (A, B, SUMMARY)}
    assert tiers == {A: "sealed", B: "sealed", SUMMARY: "short-term"}
    assert shard.rows.state.alive == 1
    assert shard.rows.memories[A].asks_after is None, "a late use of what the summary holds asks for nothing"


def test_a_summary_is_as_old_and_as_used_as_what_it_says(shard: Shard) -> None:
    shard.consolidate(SUMMARY, [A, B])
    strength = shard.rows.strengths[SUMMARY]
    assert (strength.created, strength.last_access, strength.accesses) == (5_000, 9_000, 1)


def test_voted_down_nothing_has_changed_and_the_sources_rest(shard: Shard) -> None:
    before = {i: shard.rows.memories[i] for i in (A, B, SUMMARY)}
    shard.consolidate(SUMMARY, [A, B], votes.nobody)
    assert result(shard)[0] == "kept"
    assert {i: shard.rows.memories[i] for i in (A, B, SUMMARY)} == before
    assert shard.rows.strengths[A].rest["consolidate"] > 0


def test_what_was_promoted_meanwhile_is_not_replaced(shard: Shard) -> None:
    shard.decide([votes.proposal(A, "promote")])
    shard.consolidate(SUMMARY, [A, B])
    assert result(shard) == ("voided", "moved since")
    assert shard.rows.memories[SUMMARY].tier == "draft"
    assert {A, B} <= shard.rows.strengths.keys()


def test_what_cannot_be_opened_replaces_nothing(shard: Shard) -> None:
    named = votes.proposal(SUMMARY, "consolidate")
    shard.decide([type(named)((SUMMARY, A, B), "greenhouse", "consolidate", "summed up", 9_000, 9_000, 0)])
    assert result(shard) == ("voided", "unreadable")
    assert {A, B} <= shard.rows.strengths.keys()


def test_a_summary_replaces_its_sources_once(shard: Shard) -> None:
    shard.consolidate(SUMMARY, [A, B])
    shard.tick(30_000)
    with pytest.raises(ValueError, match="max"):
        shard.consolidate(SUMMARY, [A, B])


def test_in_strict_determinism_nothing_is_sealed(codec: Codec) -> None:
    from memquorum.core.policy import ConsolidatePolicy

    made = Shard(codec, cluster.make(policy=by_the_paper(consolidate=ConsolidatePolicy(strict="green*"))))
    made.episode("a")
    made.summary("sum", [A])
    made.consolidate(SUMMARY, [A])
    assert (made.rows.memories[A].tier, made.rows.memories[SUMMARY].tier) == ("short-term", "short-term")
    assert made.rows.state.alive == 2


def test_a_draft_goes_for_good_when_it_has_waited_long_enough(shard: Shard) -> None:
    until = shard.rows.memories[SUMMARY].sealed_until
    assert until == 5_000 + GENESIS.policy.consolidate.wait_ms
    shard.tick(until)
    shard.destroy(SUMMARY)
    assert shard.rows.memories[SUMMARY].tier == "gone"
