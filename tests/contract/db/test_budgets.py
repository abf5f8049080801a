"""The contract of every schedule for a namespace with a budget, on both adapters."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from db.standing import Clear
from memquorum.core.avro import Codec
from memquorum.core.policy import PPM, BudgetPolicy, Retention
from memquorum.core.records import ErasedEpisode, Link, Lot, Proposal, Weighed
from memquorum.core.tiers import ALIVE, LONG_TERM, SHORT_TERM
from memquorum.ports import Candidate, Fading
from tests.builders import erasures, genesis, votes
from tests.builders.erasures import entitled
from tests.builders.policies import by_the_paper
from tests.builders.protections import accepted as protection
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World

GENESIS = genesis.make(**entitled(signed=()))
A, B, C, D = (memory_id(e) for e in "abcd")


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    return world.shard(codec, GENESIS)


def _clear(text: str, *vector: float) -> Clear:
    return Clear(text, np.array([*vector, *(0.0,) * (8 - len(vector))], np.float32))


def test_a_namespace_weighs_what_its_contents_weigh(world: World, shard: Shard) -> None:
    for event in "ab":
        shard.episode(event, 1_000)
    world.flush(shard, {A: _clear("äöü€", 1), B: _clear("x" * 41, 1)})  # nine bytes: three tokens
    assert world.schedule.held(0, [NAMESPACE]) == {NAMESPACE: 14}
    assert world.schedule.held(0, [NAMESPACE[:2] + "*"]) == {NAMESPACE: 14}
    assert world.schedule.held(0, ["another", "b*"]) == {}
    assert world.schedule.held(1, [NAMESPACE]) == {}
    assert [one.tokens for one in world.schedule.weighted(0, NAMESPACE)] == [
        {A: 3, B: 11}[one] for one in sorted([A, B])
    ]
    assert world.schedule.weighted(0, "another") == []


def test_what_is_told_of_a_memory_is_what_happened_to_it(world: World, shard: Shard) -> None:
    shard.episode("a", 1_000)
    shard.episode("b", 2_000, derives_from=(A,))
    shard.episode("c", 3_000)
    world.flush(shard, {A: _clear("a", 1), B: _clear("b", 0.6, 0.8), C: _clear("c", 0, 1)})
    shard.access(A, 4_000)
    world.flush(shard)
    found = {one.candidate.memory_id: one for one in world.schedule.weighted(0, NAMESPACE)}
    assert found[A].candidate == Candidate(
        A, NAMESPACE, SHORT_TERM, 1_000, 4_000, found[A].candidate.salience_ppm, False
    )
    assert (found[A].uses, found[A].links, found[A].needs) == (1, 1, ())
    assert (found[B].uses, found[B].links, found[B].needs) == (0, 0, (A,))
    assert {one.goals_ppm for one in found.values()} == {0}
    assert not any(one.rests or one.protections for one in found.values())


def test_what_is_required_supports_and_every_link_makes_central(world: World, shard: Shard) -> None:
    shard.episode("a", 1_000)
    shard.episode("b", 2_000, links=(Link("requires", A), Link("isA", A), Link("isA")))
    shard.episode("c", 3_000, links=(Link("partOf", A), Link("friendOf", B)), derives_from=(B,))
    world.flush(shard)
    found = {one.candidate.memory_id: one for one in world.schedule.weighted(0, NAMESPACE)}
    assert {i: one.needs for i, one in found.items()} == {A: (), B: (A,), C: (B,)}
    assert {i: one.links for i, one in found.items()} == {A: 2, B: 1, C: 0}


def test_what_protects_and_what_lies_near_a_goal_is_told(world: World, codec: Codec, shard: Shard) -> None:
    for event in "abc":
        shard.episode(event, 1_000)
    world.flush(shard, {A: _clear("a", 1), B: _clear("b", 0.6, 0.8), C: _clear("c", 0, 0, 1)})
    shard.protect(protection(codec, "need", A, reference="deploy", cluster=GENESIS.cluster))
    shard.protect(protection(codec, "pin", B, 2, cluster=GENESIS.cluster))
    world.flush(shard)
    found = {one.candidate.memory_id: one for one in world.schedule.weighted(0, NAMESPACE)}
    assert (found[A].protections, found[B].protections, found[C].protections) == (("goal:deploy",), ("pin",), ())
    assert found[A].goals_ppm >= PPM - 1
    assert abs(found[B].goals_ppm - 600_000) < 1_000
    assert found[C].goals_ppm == 0


def test_what_a_vote_kept_rests(world: World, shard: Shard) -> None:
    for event in "ab":
        shard.episode(event, 1_000)
    shard.tick(10**12)
    world.flush(shard)
    shard.decide([votes.proposal(A, "evict"), votes.proposal(B, "evict")], lambda _, p: p.memory_ids == (B,))
    world.flush(shard)
    assert [(one.candidate.memory_id, one.rests) for one in world.schedule.weighted(0, NAMESPACE)] == [(A, True)]
    assert list(world.schedule.held(0, [NAMESPACE])) == [NAMESPACE]


def test_what_was_kept_for_another_reason_does_not_rest_here(world: World, shard: Shard) -> None:
    """A memory that has not decayed may still be among the least."""
    shard.episode("a", 1_000)
    shard.tick(10**12)
    world.flush(shard)
    shard.decide([votes.proposal(A, "forget")], votes.nobody)
    world.flush(shard)
    assert [(one.candidate.memory_id, one.rests) for one in world.schedule.weighted(0, NAMESPACE)] == [(A, False)]


def test_a_task_with_a_deadline_tells_it(world: World, shard: Shard) -> None:
    shard.episode("a", 1_000, type="task", deadline=5_000)
    shard.episode("b", 1_000, type="task", over=True)
    world.flush(shard)
    told = {one.candidate.memory_id: one.deadline for one in world.schedule.weighted(0, NAMESPACE)}
    assert told == {A: 5_000, B: None}
    assert {one.deadline for one in world.schedule.weights(0, [A])} == {5_000}


def test_a_task_counts_as_used_at_its_deadline(world: World, shard: Shard) -> None:
    shard.episode("a", 1_000, type="task", deadline=5_000)
    shard.episode("b", 2_000, type="task", over=True)
    shard.tick(10**12)
    world.flush(shard)
    due, unused = world.schedule.due, world.schedule.unused
    for until, found in ((4_999, {B}), (5_000, {A, B})):
        assert {one.memory_id for one in due(0, dict.fromkeys(ALIVE, until), 10)} == found
        rules = [Retention("*", {"task": 1_000})]
        assert {one.memory_id for one in unused(0, rules, until + 1_001, 10)} == found
        grades = [Fading(one, until, 0, 1) for one in world.schedule.grades(0)]
        assert {one.memory_id for one in world.schedule.fading(0, grades, 10**6, 10)} == found


def test_what_nobody_used_is_found_by_the_first_rule_that_fits(world: World, codec: Codec, shard: Shard) -> None:
    for at, event in enumerate("cba"):
        shard.episode(event, 1_000 + at, type="social")
    shard.tick(10**12)
    world.flush(shard)

    def found(*rules: Retention, as_of: int = 11_003) -> list[str]:
        return [one.memory_id for one in world.schedule.unused(0, rules, as_of, 10)]

    mine = Retention("green*", {"social": 10_001})
    assert found(mine) == [C, B]
    assert found(mine, as_of=11_001) == [] == found(Retention("green*", {"task": 1}))
    assert found(Retention(NAMESPACE, {"social": 10_002}), mine) == [C]
    assert found(Retention("else*", {"social": 1}), Retention("*", {"social": 10_001})) == [C, B]
    shard.access(C, 5_000)
    shard.protect(protection(codec, "pin", B, cluster=GENESIS.cluster))
    world.flush(shard)
    assert found(mine, as_of=12_000) == [A], "a use or a pin keeps it"


def test_the_steps_of_a_task_that_is_over_are_found_unless_something_else_needs_them(
    world: World, codec: Codec, shard: Shard
) -> None:
    ids = {
        one: memory_id(one)
        for one in ("need", "shared", "ship", "open", "step", "both", "purpose", "pinned", "over", "again", "thing")
    }
    task = {"type": "task", "explicit": True}
    for at, event in enumerate(("need", "shared", "thing")):
        shard.episode(event, 1_000 + at)
    requires = (Link("requires", ids["need"]), Link("requires", ids["shared"]), Link("isA", ids["thing"]))
    shard.episode("ship", 2_000, slot="ship", links=requires, **task)
    shard.episode("open", 2_001, links=(Link("requires", ids["shared"]),), **task)
    part = Link("partOf", ids["ship"])
    shard.episode("step", 3_000, links=(part,))
    shard.episode("both", 3_001, links=(part, Link("partOf", ids["open"])))
    shard.episode("purpose", 3_002, links=(part,), explicit=True)
    shard.episode("pinned", 3_003, links=(part,))
    shard.protect(protection(codec, "pin", ids["pinned"], cluster=GENESIS.cluster))
    shard.tick(10**12)
    world.flush(shard)
    assert world.schedule.steps(0, 10**12, 10) == []
    shard.episode("over", 4_000, slot="ship", over=True, **task)
    world.flush(shard)
    steps = world.schedule.steps

    def found(before: int = 4_000) -> list[str]:
        return [one.memory_id for one in steps(0, before, 10)]

    assert found() == [ids["need"], ids["step"]]
    assert found(3_999) == []
    assert [one.memory_id for one in steps(0, 4_000, 1)] == [ids["need"]]
    shard.decide([votes.proposal(ids["need"], "evict")], votes.nobody)
    world.flush(shard)
    assert found() == [ids["step"]], "what a vote kept rests"
    shard.episode("again", 5_000, slot="ship", **task)
    world.flush(shard)
    assert found(9_000) == [], "the task is open again"


def test_what_is_older_than_its_type_may_become_is_found_the_oldest_first(
    world: World, codec: Codec, shard: Shard
) -> None:
    for at, event in enumerate("cba"):
        shard.episode(event, 1_000 + at)
    shard.tick(10**12)
    world.flush(shard)

    def found(**before: int) -> list[str]:
        return [one.memory_id for one in world.schedule.aged(0, before, 10)]

    assert found(episodic=1_002) == [C, B]
    assert found(episodic=1_000) == found(semantic=10**12) == found() == []
    assert [one.memory_id for one in world.schedule.aged(0, {"episodic": 10**12}, 1)] == [C]
    shard.protect(protection(codec, "pin", C, cluster=GENESIS.cluster))
    shard.decide([votes.proposal(B, "evict")], votes.nobody)
    world.flush(shard)
    assert found(episodic=10**12) == [A], "what is pinned, or was kept for want of room, is left out"


def test_what_a_vote_to_forget_kept_is_found_where_there_is_no_room(world: World, shard: Shard) -> None:
    for event in "ab":
        shard.episode(event, 1_000)
    shard.tick(10**12)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "evict")], votes.nobody)
    world.flush(shard)
    due = world.schedule.due
    assert [one.memory_id for one in due(0, {SHORT_TERM: 10**12, LONG_TERM: -1}, 9)] == [B]
    assert [one.memory_id for one in due(0, {SHORT_TERM: 10**12, LONG_TERM: -1}, 9, room=True)] == [A]
    assert [one.memory_id for one in world.schedule.candidates(0, [A, B], room=True)] == [A]


def _drawn(of: str, *charged: str) -> Proposal:
    told = Weighed("worth", 0, 64, 90, 30, "episodic", None, (), None, None, "by lot", Lot(2, charged, 0))
    return replace(votes.proposal(of, "evict"), reason="budget", weighed=told)


@pytest.fixture
def drawing(world: World, codec: Codec) -> Shard:
    """A shard by whose policy near-ties are drawn, for half of ε = 1."""
    policy = by_the_paper(budget=BudgetPolicy(tokens="*=64", epsilon_ppm=PPM // 2))
    return world.shard(codec, genesis.make(**entitled(signed=()), policy=policy))


def test_the_account_of_a_subject_is_what_draws_have_cost_it_in_the_namespace(world: World, drawing: Shard) -> None:
    elsewhere = memory_id("e", "elsewhere")
    for event, subject in (("a", "ada"), ("b", "bob"), ("c", "ada"), ("d", "cy")):
        drawing.episode(event, 1_000, subject=subject)
    drawing.episode("e", 1_000, subject="ada", namespace="elsewhere")
    drawing.tick(10**12)
    world.flush(drawing)
    drawing.decide([_drawn(B, A, B), _drawn(C, A, D, elsewhere)], votes.nobody)
    drawing.decide([_drawn(D, C)], votes.everybody)
    world.flush(drawing)
    found = {one.candidate.memory_id: (one.subject, one.spent_ppm) for one in world.schedule.weighted(0, NAMESPACE)}
    assert found == {A: ("ada", 3 * PPM // 2), B: ("bob", PPM // 2), C: ("ada", 3 * PPM // 2)}, "d is gone"
    assert [(one.subject, one.spent_ppm) for one in world.schedule.weighted(0, "elsewhere")] in ([], [("ada", 0)])


def test_an_erasure_empties_no_account(world: World, codec: Codec, drawing: Shard) -> None:
    for event in "abc":
        drawing.episode(event, 1_000, subject="ada")
    drawing.tick(10**12)
    world.flush(drawing)
    drawing.decide([_drawn(B, A), _drawn(C, A)], votes.nobody)
    wanted = erasures.ordered(drawing.rules.genesis, "subject", "ada", namespace=NAMESPACE)
    record = erasures.accepted(wanted, erasures.signed(codec, drawing.rules.genesis, wanted), 10**12)
    drawing.erase(record, [ErasedEpisode(one, SHORT_TERM, b"c" * 32) for one in (A, B, C)])
    drawing.episode("d", 10**12 + 1, subject="ada")
    world.flush(drawing)
    assert [(one.subject, one.spent_ppm) for one in world.schedule.weighted(0, NAMESPACE)] == [("ada", PPM)]


def test_how_far_a_draft_is_from_its_sources_is_told_by_those_that_it_quotes(world: World, shard: Shard) -> None:
    for at, event in enumerate("abc"):
        shard.episode(event, 1_000 + at)
    draft = memory_id("draft")
    shard.summary("draft", [A, B, C], at=1_002)
    world.flush(shard, {A: _clear("a", 1), B: _clear("b", 0.8, 0.6), C: _clear("c", 0.8, -0.6)})
    found = {one.candidate.memory_id: one.distortion_ppm for one in world.schedule.weighted(0, NAMESPACE)}
    # All three are quoted, so their middle is (2.6, 0) / 3: one lies there, and two where cos θ = 0.8.
    assert abs(found.pop(draft) - round(PPM * 2 * (2 * 0.2) ** 0.5 / 3)) < 1_000
    assert found == {A: 0, B: 0, C: 0}
