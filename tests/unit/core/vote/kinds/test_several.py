"""A proposal that names several memories, by a kind that takes them: one vote, one outcome, a fate for each."""

from __future__ import annotations

import sys
from types import MappingProxyType

import numpy as np
import pytest
from msgspec.structs import replace

from db.copying import ballots
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import Change, DecisionRow, LetGo, Memory, Strength
from memquorum.core.policy import Policy
from memquorum.core.records import Decided, Proposal
from memquorum.core.tiers import SEALED
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.judging import judged
from memquorum.core.vote.kinds import ERASE, KINDS
from memquorum.core.vote.kinds.kind import GONE_ALREADY, Fate, Rests
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make()
A, B, C = memory_id("a"), memory_id("b"), memory_id("c")
UNITE = votes.varied(
    ERASE,
    name="unite",
    judge=lambda facts, case: [(1_000_000 * (len(each) == 2),) for each in facts],
    outcome="united",
    ordered=False,
    attests=False,
    takes=2,
    absent=lambda found, as_of: None if found.alive else GONE_ALREADY,
    about_memories=True,
    effect=lambda found, confidence, as_of, policy: [None, *(Fate(SEALED, sealed_until=as_of + 1) for _ in found[1:])],
    rests=Rests.THROUGH_USE,
    capped=True,
    seals=True,
)
"""The first of its memories stays, and the other one rests sealed."""


@pytest.fixture(autouse=True)
def unite(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kinds with one more."""
    more = MappingProxyType({**KINDS, UNITE.name: UNITE})
    for module in list(sys.modules.values()):
        if getattr(module, "KINDS", None) is KINDS and module.__name__ != __name__:
            monkeypatch.setattr(module, "KINDS", more)


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    for name in "abc":
        made.episode(name)
    made.tick(10_000)
    return made


def together(*memory_ids: str) -> Proposal:
    return Proposal(memory_ids, NAMESPACE, UNITE.name, "test", 0, 0, 600_000)


def ended(shard: Shard, change: Change) -> list[tuple[tuple[str, ...], str, str]]:
    detail = shard.rules.codec.decode_as(Decided, change.entry.detail)
    return [(one.memory_ids, one.outcome, one.reason) for one in detail.results]


def test_each_memory_has_its_own_fate(shard: Shard) -> None:
    change = shard.decide([together(B, A), votes.proposal(C, "forget")])
    assert ended(shard, change) == [((B, A), "united", "quorum"), ((C,), "forgotten", "quorum")]
    assert [m.id for m in change.of(Memory)] == list(change.ended(Strength)) == [A, C]
    assert (shard.rows.memories[B].tier, shard.rows.memories[A].tier) == ("short-term", SEALED)
    assert shard.rows.state.alive == 1
    assert [(one.namespace, one.forgotten) for one in change.of(LetGo)] == [(NAMESPACE, 3)]


def test_there_is_a_row_for_each_memory_and_one_ballot_of_each_member(shard: Shard) -> None:
    row = shard.decide([votes.proposal(C, "forget"), together(B, A)]).one(DecisionRow)
    assert row is not None
    assert [(o.position, o.memory_id) for o in row.outcomes] == [(0, C), *((1, i) for i in sorted((A, B)))]
    assert len(row.ballots_on(1)) == 4
    alone = replace(row, outcomes=row.outcomes[:2])
    assert len(ballots(row)) == len(ballots(alone))


def test_one_that_is_gone_voids_the_whole(shard: Shard) -> None:
    shard.decide([votes.proposal(B, "forget")])
    change = shard.decide([together(A, B)])
    assert ended(shard, change) == [((A, B), "voided", "gone already")]
    assert shard.rows.memories[A].tier == "short-term"


def test_all_that_were_kept_rest(shard: Shard) -> None:
    shard.decide([together(A, B)], votes.nobody)
    assert [shard.rows.strengths[i].kept for i in (A, B, C)] == [{"unite": 1}, {"unite": 1}, {}]
    shard.access(A, 10_001)
    assert shard.rows.strengths[A].rest == {"unite": 3}


def test_a_cap_counts_every_memory(codec: Codec) -> None:
    made = Shard(codec, GENESIS)
    for number in range(10):
        made.episode(f"m{number}")
    made.tick(10_000)
    ids = [memory_id(f"m{number}") for number in range(6)]
    change = made.decide([together(*ids[at : at + 2]) for at in (0, 2, 4)])
    assert sorted(end[1:] for end in ended(made, change)) == [("kept", "cap")] * 2 + [("united", "quorum")]


def test_a_member_judges_what_it_knows_all_of() -> None:
    facts = MemoryFacts(A, NAMESPACE, "planner", 0, 0, 600_000, np.ones(2, np.float32), None, None, None, 0, "x", True)
    known = [(facts, replace(facts, memory_id=B)), None, (facts,), (replace(facts, memory_id=B), facts)]
    asked = [(together(A, B), one) for one in known]
    said = judged(UNITE, asked, MemberContext(NAMESPACE), as_of=10, policy=Policy(), grounds=RULES)
    assert [votes.following(UNITE, terms, Policy()).yes for terms in said] == [True, False, False, False]
