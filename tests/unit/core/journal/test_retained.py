"""A namespace that keeps what it has: no decision takes a memory of it, whatever the members voted; an erasure does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.decisions import NotTheOutcome, do_decided
from memquorum.core.policy import ConsolidatePolicy
from memquorum.core.records import Decided, Proposal, Result
from memquorum.core.vote.kinds import KINDS
from tests.builders import erasures, votes
from tests.builders import genesis as cluster
from tests.builders.policies import by_the_paper
from tests.builders.shard import NAMESPACE, Shard, memory_id

A, B, SUMMARY = memory_id("a"), memory_id("b"), memory_id("sum")
TAKING = sorted(name for name, kind in KINDS.items() if kind.seals and name != "consolidate")


def kept(codec: Codec, retained: str = "green*") -> Shard:
    genesis = cluster.make(policy=by_the_paper(consolidate=ConsolidatePolicy(retained=retained)))
    made = Shard(codec, genesis)
    made.episode("a", at=1_000)
    made.episode("b", at=5_000)
    made.tick(20_000)
    return made


def result(shard: Shard) -> tuple[str, str]:
    (one,) = shard.rules.codec.decode_as(Decided, shard.changes[-1].entry.detail).results
    return one.outcome, one.reason


def proposal(kind: str) -> Proposal:
    ids = (A,) if KINDS[kind].takes == 1 else (B, A)
    return Proposal(ids, NAMESPACE, kind, "decayed", 1_000, 1_000, 600_000)


def test_the_kinds_that_take_memories() -> None:
    assert TAKING == ["evict", "forget", "merge", "overrule", "supersede"]


@pytest.mark.parametrize("kind", TAKING)
def test_no_vote_takes_a_memory_though_all_were_for_it(codec: Codec, kind: str) -> None:
    shard = kept(codec)
    shard.decide([proposal(kind)])
    assert result(shard) == ("voided", "retained")
    assert {A, B} <= shard.rows.strengths.keys() and shard.rows.state.alive == 2
    assert {shard.rows.memories[one].tier for one in (A, B)} == {"short-term"}


def test_elsewhere_the_same_vote_takes_it(codec: Codec) -> None:
    shard = kept(codec, "another green")
    shard.decide([proposal("forget")])
    assert result(shard)[0] == "forgotten" and A not in shard.rows.strengths


def test_a_summary_lies_over_what_it_was_made_of(codec: Codec) -> None:
    shard = kept(codec)
    shard.summary("sum", [A, B], at=5_000)
    shard.tick(30_000)
    shard.consolidate(SUMMARY, [A, B])
    assert result(shard) == ("consolidated", "quorum")
    assert {A, B, SUMMARY} <= shard.rows.strengths.keys()


def test_an_erasure_takes_it_all_the_same(codec: Codec) -> None:
    shard = kept(codec)
    order = erasures.ordered(shard.rules.genesis, "memory", A)
    data = votes.signed(codec, shard.rules.genesis, "operator", order)
    shard.erase(erasures.accepted(order, data, 30_000), erasures.among(NAMESPACE, {"a": "short-term"}))
    assert shard.rows.memories[A].tier == "gone" and A not in shard.rows.strengths


def test_an_entry_that_says_it_was_taken_is_refused(codec: Codec) -> None:
    """A journal of which the commit worker let it go."""
    free = kept(codec, "")
    change = free.decide([proposal("forget")])
    detail = codec.decode_as(Decided, change.entry.detail)
    assert detail.results == (Result((A,), "forget", "forgotten", "quorum"),)
    genesis: Genesis = free.rules.genesis
    strict = replace(genesis, policy=by_the_paper(consolidate=ConsolidatePolicy(retained="greenhouse")))
    before = kept(codec, "")
    with pytest.raises(NotTheOutcome, match="against every vote"):
        do_decided(codec, strict, before.rows, change, detail)
