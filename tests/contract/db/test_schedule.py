"""The contract of every schedule, run on both adapters."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import psycopg
import pytest
from msgspec.structs import replace

from db.standing import Clear
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.consolidation.alike import cliques, cosine_ppm
from memquorum.core.decay import span_ms
from memquorum.core.merging import Marks
from memquorum.core.policy import EpochPolicy
from memquorum.core.records import ErasedEpisode, Proposal
from memquorum.core.tiers import ALIVE, LONG_TERM, SHORT_TERM
from memquorum.core.triage import HOUR_MS, expiring, falling
from memquorum.ports import NEAREST, Candidate, DueMemory, ErasedSummary, Grade, IdleSession, Peers, ShardStatus
from tests.builders import genesis, rehearsals, votes
from tests.builders.erasures import accepted as erasure
from tests.builders.erasures import entitled, ordered, signed
from tests.builders.policies import by_the_paper
from tests.builders.protections import accepted as protection
from tests.builders.rehearsals import doubt, rehearse
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.inmemory.store import InMemoryStore
from tests.support.stores import World

POLICY = by_the_paper(epoch=EpochPolicy(rest_epochs=1))
GENESIS = genesis.make(policy=POLICY, **entitled(signed=()))
SPAN = span_ms(POLICY)
A, B, C, D = (memory_id(e) for e in "abcd")
LATE = 10**12


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    return world.shard(codec, GENESIS)


def since(at: int) -> dict[str, int]:
    """Returns one last use for every tier."""
    return dict.fromkeys(ALIVE, at)


def test_due_is_what_has_crossed_oldest_first(world: World, shard: Shard) -> None:
    for event, at in (("a", 3_000), ("b", 1_000), ("c", 2_000), ("d", 1_000)):
        shard.episode(event, at)
    world.flush(shard)
    first = sorted([B, D])
    assert world.schedule.due(0, since(999), 10) == []
    assert [m.memory_id for m in world.schedule.due(0, since(1_000), 10)] == first  # ties by id
    assert [m.memory_id for m in world.schedule.due(0, since(5_000), 10)] == [*first, C, A]
    assert [m.memory_id for m in world.schedule.due(0, since(5_000), 3)] == [*first, C]
    assert world.schedule.due(0, since(2_000), 10)[2] == DueMemory(C, NAMESPACE, 2_000)
    assert world.schedule.due(1, since(LATE), 10) == []


def test_an_access_moves_what_is_due(world: World, shard: Shard) -> None:
    shard.episode("a", 1_000)
    world.flush(shard)
    shard.access(A, 4_000)
    world.flush(shard)
    assert world.schedule.due(0, since(3_999), 10) == []
    assert world.schedule.due(0, since(4_000), 10) == [DueMemory(A, NAMESPACE, 4_000)]


def test_what_was_kept_rests_and_what_was_forgotten_is_gone(world: World, shard: Shard) -> None:
    for event in "abc":
        shard.episode(event, 1_000)
    shard.tick(LATE)
    world.flush(shard)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "forget")], lambda _, p: p.memory_ids == (B,))
    world.flush(shard)
    # A was kept in epoch 1 and rests until epoch 3.
    assert [m.memory_id for m in world.schedule.due(0, since(LATE), 10)] == [C]
    shard.decide([votes.proposal(C, "promote")])
    world.flush(shard)
    assert [m.memory_id for m in world.schedule.due(0, since(LATE), 10)] == sorted([A, C])  # from either tier
    short = {SHORT_TERM: LATE, LONG_TERM: 999}
    assert [m.memory_id for m in world.schedule.due(0, short, 10)] == [A]
    shard.decide([votes.proposal(A, "forget")], votes.nobody)
    world.flush(shard)
    assert [m.memory_id for m in world.schedule.due(0, since(LATE), 10)] == [C]
    shard.access(A, 2_000)  # use ends the rest
    world.flush(shard)
    assert [m.memory_id for m in world.schedule.due(0, since(LATE), 10)] == [C, A]


def test_what_expires_is_found_by_its_grade_lowest_score_first(world: World, shard: Shard) -> None:
    saliences = {"a": 690_000, "b": 350_000, "c": 359_999, "d": 700_000}
    for event, salience in saliences.items():
        shard.episode(event, HOUR_MS, salience=salience)
    shard.episode("wanted", HOUR_MS, salience=100_000, explicit=True)
    shard.episode("promoted", HOUR_MS, salience=360_000)
    shard.tick(HOUR_MS)
    shard.decide([votes.proposal(memory_id("promoted"), "promote")])
    world.flush(shard)
    grades = world.schedule.grades(0)
    assert grades == [Grade(35, 0), Grade(69, 0), Grade(70, 0)], "neither what was wanted nor what was promoted"
    assert world.schedule.grades(1) == []

    def found(hours: int, limit: int = 10, without: Collection[str] = ()) -> list[str]:
        as_of = (1 + hours) * HOUR_MS
        asked = expiring(grades, as_of, POLICY)
        return [one.memory_id for one in world.schedule.fading(0, asked, as_of, limit, without)]

    first = sorted([B, C])
    assert found(19) == []
    assert found(20) == first
    assert found(27) == [*first, A]
    assert found(300) == [*first, A, D]
    assert found(27, 1) == first[:1]
    assert found(27, without=[NAMESPACE]) == []
    shard.access(B, 2 * HOUR_MS)
    shard.episode("again", HOUR_MS, "reinforced", reinforces=D, salience=100_000, explicit=True)
    shard.tick(30 * HOUR_MS)
    shard.decide([votes.proposal(C, "forget")], votes.nobody)
    world.flush(shard)
    assert found(20) == [], "one was used, and the other rests"
    assert found(27) == [B, A]
    assert found(300) == [B, A], "the last one was said again on purpose"
    assert [one for one in world.schedule.candidates(0, [A])] == [
        Candidate(A, NAMESPACE, "short-term", HOUR_MS, HOUR_MS, 690_000, False, replays=0, fades=True)
    ]


def test_what_was_rehearsed_expires_later(world: World, shard: Shard) -> None:
    """Nine rehearsals double the score: 26.4 hours at a salience of 0.35 in place of 19.5."""
    for event in "ab":
        shard.episode(event, 0, salience=350_000)
    shard.tick(HOUR_MS)
    world.flush(shard)
    if isinstance(world.store, InMemoryStore):
        world.store.strengths[A] = replace(world.store.strengths[A], replays=9)
    else:
        with psycopg.connect(world.dsn or "") as connection:
            connection.execute("UPDATE strength SET replays = 9 WHERE memory_id = %s", [A])
    grades = world.schedule.grades(0)
    assert grades == [Grade(35, 0), Grade(35, 9)]

    def found(hours: int) -> list[str]:
        asked = expiring(grades, hours * HOUR_MS, POLICY)
        return [one.memory_id for one in world.schedule.fading(0, asked, hours * HOUR_MS, 10)]

    assert (found(19), found(20), found(26), found(27)) == ([], [B], [B], [B, A])
    assert [one.replays for one in world.schedule.candidates(0, [A, B])] == [9, 0]


def test_of_all_grades_the_lowest_score_comes_first(world: World, shard: Shard, codec: Codec) -> None:
    """A slowly fading memory may be older and have the higher score."""
    shard.episode("a", 0, salience=800_000)
    shard.episode("b", 10 * HOUR_MS, salience=600_000)
    shard.episode("c", 12 * HOUR_MS, salience=400_000)
    shard.episode("d", 0, salience=350_000)
    shard.tick(LATE)
    shard.protect(protection(codec, "pin", D, cluster=GENESIS.cluster))
    world.flush(shard)
    asked = falling(world.schedule.grades(0), POLICY)
    # 20 h on: 0.655, 0.221 and 0.180; 5 h in they are all that there was.
    assert [m.memory_id for m in world.schedule.fading(0, asked, 20 * HOUR_MS, 10)] == [C, B, A]
    assert [m.memory_id for m in world.schedule.fading(0, asked, 20 * HOUR_MS, 2)] == [C, B]
    assert world.schedule.fading(1, asked, 20 * HOUR_MS, 10) == []


def test_quotas_count_what_lives_and_what_was_forgotten_since(world: World, shard: Shard) -> None:
    for event in "abcd":
        shard.episode(event, 1_000)
    shard.tick(LATE)
    world.flush(shard)
    assert world.schedule.losses([NAMESPACE, "nowhere"], 0) == {NAMESPACE: Losses(4), "nowhere": Losses()}
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "forget")], lambda _, p: p.memory_ids == (B,))
    world.flush(shard)
    shard.tick(LATE + 5)
    shard.decide([votes.proposal(i, "forget") for i in (C, D)])
    shard.episode("e", 1_000)
    world.flush(shard)
    assert world.schedule.losses([NAMESPACE], LATE - 1) == {NAMESPACE: Losses(2, ((LATE, 1), (LATE + 5, 2)))}
    assert world.schedule.losses([NAMESPACE], LATE) == {NAMESPACE: Losses(2, ((LATE + 5, 2),))}
    assert world.schedule.losses([], 0) == {}
    assert [m.memory_id for m in world.schedule.due(0, since(LATE), 10)] == sorted([memory_id("e"), A])
    assert world.schedule.due(0, since(LATE), 10, {NAMESPACE}) == []


def test_what_is_protected_is_not_due_nor_a_candidate(world: World, shard: Shard, codec: Codec) -> None:
    for event in "ab":
        shard.episode(event, 1_000)
    shard.tick(LATE)
    shard.protect(protection(codec, "pin", A, cluster=GENESIS.cluster))
    world.flush(shard)
    assert [m.memory_id for m in world.schedule.due(0, since(LATE), 10)] == [B]
    assert [c.memory_id for c in world.schedule.candidates(0, [A, B])] == [B]
    shard.protect(protection(codec, "unpin", A, 2, cluster=GENESIS.cluster))
    world.flush(shard)
    assert [m.memory_id for m in world.schedule.due(0, since(LATE), 10)] == sorted([A, B])


def test_promotable_is_salient_old_enough_and_short_term(world: World, shard: Shard) -> None:
    shard.episode("a", 1_000, salience=600_000)
    shard.episode("b", 2_000, salience=550_000, early=True)
    shard.episode("c", 3_000, salience=900_000)
    shard.episode("d", 1_000, salience=549_999)
    world.flush(shard)
    wanted = [
        Candidate(B, NAMESPACE, "short-term", 2_000, 2_000, 550_000, True),
        Candidate(C, NAMESPACE, "short-term", 3_000, 3_000, 900_000, False),
        Candidate(A, NAMESPACE, "short-term", 1_000, 1_000, 600_000, False),
    ]
    assert world.schedule.promotable(0, 550_000, 3_001, 10) == wanted
    assert world.schedule.promotable(0, 550_000, 3_000, 10) == [wanted[0], wanted[2]]
    assert world.schedule.promotable(0, 550_000, 3_001, 1) == wanted[:1]
    assert world.schedule.promotable(1, 0, LATE, 10) == []
    shard.tick(LATE)
    shard.decide([votes.proposal(C, "promote"), votes.proposal(B, "promote")], lambda _, p: p.memory_ids == (C,))
    world.flush(shard)
    assert world.schedule.promotable(0, 550_000, 3_001, 10) == [wanted[2]]  # C is promoted, B rests


def test_what_was_read_or_said_again_is_promotable_first(world: World, shard: Shard) -> None:
    """A memory needs support for a promotion, however salient it was."""
    for event, salience in zip("abcd", (600_000, 610_000, 900_000, 620_000), strict=True):
        shard.episode(event, 1_000, salience=salience, early=event == "c")
    world.flush(shard)
    assert [one.memory_id for one in world.schedule.promotable(0, 550_000, LATE, 10)] == [C, D, B, A]
    shard.access(A, 1_001)
    shard.episode("more", 1_002, "reinforced", reinforces=B)
    # Two memories of different subjects stay two, and each supports the other.
    shard.episode("e", 1_003, "reinforced", reinforces=D, salience=700_000, subject="somebody", agent="somebody")
    world.flush(shard)
    found = [one.memory_id for one in world.schedule.promotable(0, 550_000, LATE, 10)]
    assert found == [memory_id("e"), D, B, A, C]


def test_candidates_are_the_living_in_the_order_asked_for(world: World, shard: Shard) -> None:
    for event in "abc":
        shard.episode(event, 1_000)
    shard.tick(LATE)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "promote")])
    world.flush(shard)
    found = world.schedule.candidates(0, [C, A, D, B])
    assert [(c.memory_id, c.tier) for c in found] == [(C, "short-term"), (B, "long-term")]
    assert world.schedule.candidates(0, []) == []
    assert world.schedule.candidates(1, [C]) == []
    shard.decide([votes.proposal(C, "forget")], votes.nobody)
    world.flush(shard)
    assert [c.memory_id for c in world.schedule.candidates(0, [B, C])] == [B]  # C was kept, and rests
    shard.decide([votes.proposal(B, "demote")], votes.nobody)
    world.flush(shard)
    assert [c.memory_id for c in world.schedule.candidates(0, [B, C])] == [C]  # B rests, for the kind of its tier
    assert [(m.memory_id, m.tier) for m in world.schedule.due(0, since(LATE), 10)] == [(C, "short-term")]
    shard.access(B, LATE)
    world.flush(shard)
    found = world.schedule.due(0, since(2 * LATE), 10)
    assert [(m.memory_id, m.tier) for m in found] == [(C, "short-term"), (B, "long-term")]


def test_status_is_where_the_journal_stands(world: World, shard: Shard) -> None:
    assert world.schedule.status(0) == ShardStatus(0, 0, 0, 0, 0, 0, 0)
    shard.episode("a", 1_000)
    shard.episode("b", 1_000)
    shard.tick(70_000)
    shard.access(A, 2_000)
    world.flush(shard)
    assert world.schedule.status(0) == ShardStatus(
        0, seq=4, as_of=70_000, last_epoch=0, last_epoch_at=0, interactions_since_epoch=3, alive=2
    )
    shard.decide([votes.proposal(B, "forget"), votes.proposal(A, "promote")])
    shard.episode("c", 1_000, "below_threshold")
    world.flush(shard)
    assert world.reopen().schedule.status(0) == ShardStatus(
        0, seq=6, as_of=70_000, last_epoch=1, last_epoch_at=70_000, interactions_since_epoch=1, alive=1
    )


def test_status_of_a_shard_that_never_began(world: World) -> None:
    assert world.schedule.status(7) == ShardStatus(7, 0, 0, 0, 0, 0, 0)


def test_what_is_contested_is_alive_and_does_not_rest(world: World, shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b", contradicts=(A,))
    shard.episode("c", contradicts=(A, B))
    shard.tick(100_000)
    shard.decide([votes.proposal(A, "promote")])
    world.flush(shard)

    def contested() -> list[tuple[str, str]]:
        assert world.schedule.contested(0, 10) == [], "it was inferred"
        return [(n.memory_id, o.memory_id) for n, o in world.schedule.contested(0, 10, inferred=True)]

    assert contested() == [(C, A), (C, B), (B, A)]
    assert [(n.tier, o.tier) for n, o in world.schedule.contested(0, 2, inferred=True)] == [
        (SHORT_TERM, LONG_TERM), (SHORT_TERM, SHORT_TERM)
    ]  # fmt: skip
    assert world.schedule.contested(1, 10, inferred=True) == []
    shard.decide([Proposal((C, B), NAMESPACE, "supersede", "contradicted", 0, 0, 0)], votes.nobody)
    world.flush(shard)
    assert contested() == [(C, A), (B, A)], "these two rest by this kind, and not by the other"
    shard.protect(protection(shard.rules.codec, "pin", A, cluster=GENESIS.cluster))
    world.flush(shard)
    assert contested() == []


def test_of_two_the_newer_one_is_what_was_said_last(world: World, shard: Shard) -> None:
    shard.episode("a", 1_000, accepted_at=9_000)
    shard.episode("b", 2_000, accepted_at=9_000, contradicts=(A,))
    shard.episode("c", 500, accepted_at=9_000, contradicts=(A,))  # imported: it came in later, and is the older one
    world.flush(shard)

    def contested() -> list[tuple[str, str]]:
        return [(n.memory_id, o.memory_id) for n, o in world.schedule.contested(0, 10, inferred=True)]

    assert contested() == [(A, C), (B, A)]
    shard.episode("d", 3_000, "reinforced", accepted_at=9_000, reinforces=A, agent="stranger", subject="planner")
    world.flush(shard)
    assert contested() == [(A, C), (B, A)]
    shard.episode("e", 2_000, "reinforced", accepted_at=9_000, reinforces=A)  # of that moment, and came in later
    world.flush(shard)
    assert contested() == [(A, C), (A, B)]


def test_what_is_said_on_purpose_is_voted_on_and_what_was_inferred_is_not(world: World, shard: Shard) -> None:
    shard.episode("a", explicit=True, slot="door", agent="another")
    shard.episode("b", contradicts=(A,))
    shard.episode("c", explicit=True, slot="door", contradicts=(A, B))
    shard.episode("d", explicit=True, supersedes=(B,), contradicts=(B, C))
    shard.tick(100_000)
    world.flush(shard)
    found = [(n.memory_id, o.memory_id) for n, o in world.schedule.contested(0, 10)]
    assert found == [(memory_id("d"), B), (C, A)]
    assert len(world.schedule.contested(0, 10, inferred=True)) == 5


def test_drafts_are_offered_with_all_that_they_were_made_of(world: World, shard: Shard) -> None:
    for at, name in enumerate("abcd"):
        shard.episode(name, 1_000 + at)
    first, second = memory_id("first"), memory_id("second")
    shard.summary("first", [B, A], at=1_001)
    shard.summary("second", [C, memory_id("d")], at=1_003)
    shard.tick(100_000)
    world.flush(shard)

    def drafted() -> list[tuple[str, str]]:
        return [(draft.memory_id, source.memory_id) for draft, source in world.schedule.drafted(0, 10, POLICY.epoch)]

    assert drafted() == [(first, A), (first, B), (second, C), (second, memory_id("d"))]
    assert {draft.tier for draft, _ in world.schedule.drafted(0, 10, POLICY.epoch)} == {"draft"}
    assert [draft.memory_id for draft, _ in world.schedule.drafted(0, 1, POLICY.epoch)] == [first, first]
    assert world.schedule.drafted(1, 10, POLICY.epoch) == []
    assert world.schedule.drafted(0, 10, POLICY.epoch, unsaid=True) == [], "its sources are found until it is voted for"
    shard.consolidate(first, [A, B], votes.nobody)
    shard.protect(protection(shard.rules.codec, "pin", C, cluster=GENESIS.cluster))
    world.flush(shard)
    assert drafted() == [], "the sources of one rest, one of the other's is protected"


def erase(shard: Shard, codec: Codec, value: str, *summaries: str) -> None:
    """An order to erase a memory, and the summaries that were made of it."""
    order = ordered(GENESIS, "memory", value, order_id=memory_id(value, "orders"))
    found = [ErasedEpisode(value, "sealed", b"c" * 32), *(ErasedEpisode(i, "draft", b"c", "anew") for i in summaries)]
    shard.erase(erasure(order, signed(codec, GENESIS, order), LATE), found)


def test_what_an_erased_summary_said_is_offered_sealed_as_it_rests(world: World, shard: Shard, codec: Codec) -> None:
    for at, name in enumerate("abcd"):
        shard.episode(name, 1_000 + at, session="s1")
    first, again = memory_id("first"), memory_id("again")
    shard.summary("first", [A, B, C, D], at=1_003)
    shard.tick(100_000)
    shard.consolidate(first, [A, B, C, D])
    shard.tick(200_000)
    shard.access(first, 150_000)
    world.flush(shard)
    assert world.schedule.erased_summaries(0, [first, A]) == [], "it is there"
    erase(shard, codec, A, first)
    world.flush(shard)
    agent = shard.rows.memories[A].agent
    told = [ErasedSummary(first, NAMESPACE, agent, "s1", 1_003)]
    assert world.schedule.erased_summaries(0, [first, A]) == told
    assert world.schedule.erased_summaries(1, [first]) == []
    shard.summary("again", [B, C, D], at=1_003, renews=first)
    shard.summary("other", [B, C, D], at=1_003)
    world.flush(shard)
    found = world.schedule.drafted(0, 10, POLICY.epoch)
    assert [(draft.memory_id, one.memory_id, one.tier) for draft, one in found] == [
        (again, one, "sealed") for one in (B, C, D)
    ], "of what rests sealed only the one in the place of what was erased"
    assert {one.last_access for _, one in found} == {200_000}, "used last when the erased summary was read"
    assert world.schedule.drafted(0, 10, POLICY.epoch, unsaid=True) == found
    shard.consolidate(again, [B, C, D], votes.nobody)
    shard.tick(300_000)
    world.flush(shard)
    assert world.schedule.drafted(0, 10, POLICY.epoch) == [], "it was kept just now, and has no source that could rest"
    shard.decide([votes.proposal(memory_id("nobody"), "forget")])
    world.flush(shard)
    assert len(world.schedule.drafted(0, 10, POLICY.epoch)) == 3
    assert world.schedule.drafted(0, 10, POLICY.epoch, unsaid=True) == [], "a vote was taken on it"
    shard.tick(100_000 + POLICY.forget.grace_ms)
    world.flush(shard)
    assert world.schedule.drafted(0, 10, POLICY.epoch) == [], "its sources' grace time is over"


def test_what_says_otherwise_than_a_source_comes_first(world: World, shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b")
    shard.summary("sum", [A, B])
    shard.episode("c", contradicts=(A,))
    shard.tick(100_000)
    world.flush(shard)
    assert world.schedule.drafted(0, 10, POLICY.epoch) == []
    assert world.schedule.contested(0, 10) == []
    assert [(n.memory_id, o.memory_id) for n, o in world.schedule.contested(0, 10, inferred=True)] == [(C, A)]


def test_idle_sessions_are_those_that_a_summary_may_be_made_of(world: World, shard: Shard, codec: Codec) -> None:
    said: dict[str, dict[str, Any]] = {
        "over": {}, "busy": {}, "few": {}, "wanted": {"explicit": True}, "Over": {}, "pinned": {},
    }  # fmt: skip
    for session, more in said.items():
        for k in range(2 if session == "few" else 3):
            shard.episode(f"{session}{k}", 9_000 if (session, k) == ("busy", 2) else 1_000 + k, session=session, **more)
    shard.episode("alone", 1_000)
    for k in range(3):  # of another agent it is another session
        shard.episode(f"other{k}", 500, session="over", agent=f"agent {k}")
    shard.tick(10_000)
    shard.protect(protection(codec, "pin", memory_id("pinned1"), cluster=GENESIS.cluster))
    world.flush(shard)
    agent = shard.rows.memories[memory_id("over0")].agent
    first, second = (IdleSession(NAMESPACE, agent, session, 1_002, 3) for session in ("Over", "over"))
    assert world.schedule.idle_sessions(0, 8_999, 3, 10) == [first, second]
    assert world.schedule.idle_sessions(0, 8_999, 3, 1) == [first]
    assert world.schedule.idle_sessions(0, 8_999, 3, 10, first) == [second]
    assert world.schedule.idle_sessions(0, 8_999, 3, 10, second) == []
    assert world.schedule.idle_sessions(0, 1_001, 3, 10) == []
    found = [(one.session, one.latest) for one in world.schedule.idle_sessions(0, 9_000, 3, 10)]
    assert found == [("Over", 1_002), ("over", 1_002), ("busy", 9_000)]
    assert world.schedule.idle_sessions(1, LATE, 3, 10) == []
    shard.decide([votes.proposal(memory_id("over0"), "promote")])
    world.flush(shard)
    assert world.schedule.idle_sessions(0, 8_999, 3, 10) == [first]


def test_what_rehearsals_doubt_is_told_the_least_salient_first(world: World, codec: Codec) -> None:
    shard = world.shard(codec, genesis.make(policy=POLICY, **rehearsals.entitled()))
    for name, salience in (("a", 500_000), ("b", 300_000), ("c", 700_000), ("d", 900_000)):
        shard.episode(name, 1_000, salience=salience)
    shard.access(D, 1_500)
    shard.tick(2_000)
    rehearse(shard, D)
    for offset, memory in enumerate((A, B, C), 1):
        doubt(shard, memory, offset=offset)
    world.flush(shard)
    found = world.schedule.doubted(0, 10)
    assert [(c.memory_id, c.salience_ppm, c.replays) for c in found] == [
        (B, 255_000, 0), (A, 425_000, 0), (C, 595_000, 0),
    ]  # fmt: skip
    assert [c.memory_id for c in world.schedule.doubted(0, 1)] == [B]
    shard.protect(protection(codec, "pin", B, cluster=shard.rules.genesis.cluster))
    shard.decide([votes.proposal(A, "forget")], votes.nobody)
    world.flush(shard)
    assert [c.memory_id for c in world.schedule.doubted(0, 10)] == [C]  # one is protected, and one rests
    assert world.schedule.doubted(1, 10) == []


def summed_up(world: World, shard: Shard, **texts: tuple[str, float, dict[str, Any]]) -> dict[str, str]:
    """Summaries by their names, each of a memory of its own: its text, its vector's angle, what else is said of it."""
    ids: dict[str, str] = {}
    for name, (text, degrees, said) in texts.items():
        ids[name] = memory_id(name)
        shard.episode(f"of {name}", 1_000)
        shard.summary(name, [memory_id(f"of {name}")], 1_000, **said)
        shard.consolidate(ids[name], [memory_id(f"of {name}")])
        angle = np.radians(degrees)
        vector = np.array([np.cos(angle), np.sin(angle)], np.float32)
        world.flush(shard, {memory_id(f"of {name}"): Clear("x", vector), ids[name]: Clear(text, vector)})
    return ids


def near(world: World, *asked: Any, least: int = 970_000) -> list[str]:
    return [one.candidate.memory_id for one in world.schedule.alike(0, least, *(asked or (10,))).found]


def test_alike_are_summaries_that_lie_near_each_other(world: World, shard: Shard) -> None:
    ids = summed_up(
        world, shard,
        one=("Pump 7 runs.", 0, {}), two=("Pump 8 runs.", 5, {}), far=("The valve leaks.", 60, {}),
        ben=("Pump 7 runs.", 0, {"subject": "ben"}), book=("Pump 7 runs.", 0, {"source": "manual"}),
    )  # fmt: skip
    shard.episode("said", 1_000)
    world.flush(shard, {memory_id("said"): Clear("Pump 7 runs.", np.array([1, 0], np.float32))})
    pair = sorted([ids["one"], ids["two"]])
    assert near(world) == pair, "no episode, none of another subject or source, none that is far"
    assert near(world, least=998_000) == [] and near(world, least=400_000) == sorted([*pair, ids["far"]])
    assert world.schedule.alike(1, 0, 10).found == ()
    first = next(p for p in world.schedule.alike(0, 970_000, 10).found if p.candidate.memory_id == ids["two"])
    assert first.text == "Pump 8 runs." and first.marks == Marks("consolidator")
    assert first.candidate == Candidate(ids["two"], NAMESPACE, "short-term", 1_000, 1_000, 600_000, False, fades=False)
    assert cosine_ppm(first.vector, np.array([1, 0], np.float32)) == pytest.approx(996_195, abs=100)


def test_alike_goes_on_where_it_was(world: World, shard: Shard) -> None:
    ids = summed_up(world, shard, **{f"s{at}": ("Pump 7 runs.", at, {}) for at in range(5)})
    every = sorted(ids.values())
    seen, after = list[str](), None
    for _ in range(3):
        found = world.schedule.alike(0, 970_000, 2, after)
        assert [one.candidate.memory_id for one in found.found] == every, "what is near is told of wherever it stands"
        seen, after = [*seen, after or ""], found.after
    assert after is None and seen[1:] == [every[1], every[3]]
    assert world.schedule.alike(0, 970_000, 5).after == every[4]
    assert world.schedule.alike(0, 970_000, 5, every[4]) == Peers()


def test_of_many_that_are_near_the_nearest_are_told(world: World, shard: Shard) -> None:
    ids = summed_up(world, shard, **{f"s{at}": ("Pump 7 runs.", at / 2, {}) for at in range(NEAREST + 3)})
    first = min(ids, key=lambda name: ids[name])
    before = max((i for i in ids.values() if i < ids[first]), default=None)
    nearest = sorted(ids, key=lambda name: (abs(int(name[1:]) - int(first[1:])), ids[name]))[: NEAREST + 1]
    assert near(world, 1, before) == sorted(ids[name] for name in nearest)


def test_what_rests_or_is_protected_or_disputed_is_not_merged(world: World, shard: Shard, codec: Codec) -> None:
    ids = summed_up(world, shard, **{name: ("Pump 7 runs.", 0, {}) for name in ("a1", "b1", "c1", "d1", "e1")})
    assert near(world) == sorted(ids.values())
    shard.protect(protection(codec, "pin", ids["a1"], cluster=GENESIS.cluster))
    shard.episode("otherwise", contradicts=(ids["b1"],))
    shard.tick(LATE)
    shard.decide([votes.proposal(ids["c1"], "promote")])
    world.flush(shard)
    assert near(world) == sorted([ids["d1"], ids["e1"]])
    shard.merge(ids["d1"], ids["e1"], vote=votes.nobody)
    world.flush(shard)
    assert near(world) == []


def test_siblings_of_one_session_become_one_summary(world: World, shard: Shard) -> None:
    """Made twice of overlapping parts, a session has one summary, or two that do not share a source."""
    for at, name in enumerate("abcd"):
        shard.episode(name, 1_000 + at)
    first, second = memory_id("first"), memory_id("second")
    shard.summary("first", [A, B, C], at=1_002)
    shard.summary("second", [A, B, C, D], at=1_003)
    shard.tick(100_000)
    world.flush(shard)
    assert {draft.memory_id for draft, _ in world.schedule.drafted(0, 10, POLICY.epoch)} == {first, second}
    assert world.schedule.status(0).alive == 4
    shard.consolidate(first, [A, B, C])
    world.flush(shard)
    assert world.schedule.drafted(0, 10, POLICY.epoch) == [], "its sources are gone: nothing is summed up twice"
    assert world.schedule.status(0).alive == 2


def test_the_number_of_summaries_falls_by_merging(world: World, shard: Shard) -> None:
    summed_up(world, shard, **{f"s{at}": ("Pump 7 runs.", at, {}) for at in range(6)})
    policy, alive = POLICY.consolidate, [world.schedule.status(0).alive]
    for at in range(3):
        shard.tick(LATE + at)
        world.flush(shard)
        found = world.schedule.alike(0, policy.merge_alike_ppm, 10).found
        for group in cliques(found, policy.merge_alike_ppm, 3, LATE + at):
            shard.merge(*(one.candidate.memory_id for one in group))
            world.flush(shard)
        alive.append(world.schedule.status(0).alive)
    assert alive == [6, 2, 1, 1]


def test_an_erased_summary_of_no_session_is_told_as_well(world: World, shard: Shard, codec: Codec) -> None:
    """It was made for want of room; what others said of it is to be said again."""
    for at, name in enumerate("abcd"):
        shard.episode(name, 1_000 + at, session=None)
    first = memory_id("first")
    shard.summary("first", [A, B, C, D], at=1_003)
    shard.tick(100_000)
    shard.consolidate(first, [A, B, C, D])
    erase(shard, codec, A, first)
    world.flush(shard)
    told = [ErasedSummary(first, NAMESPACE, shard.rows.memories[A].agent, "", 1_003)]
    assert world.schedule.erased_summaries(0, [first]) == told
