"""General forms in the store: who is to have one, which wait for their vote, and who never hears of one."""

from __future__ import annotations

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.core.policy import EpochPolicy, ExperiencePolicy
from memquorum.ports import Promoted
from tests.builders import genesis, trials, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, proposal
from tests.builders.tried import clear
from tests.support.stores import World

GENESIS = genesis.make(**trials.entitled())
NOW = 10_000_000
A, B, FORM = (memory_id(name) for name in ("a", "b", "form"))
LESSON = "Before a shift at Northgate, drain the line of crane 7."
TEXTS = {
    A: clear(LESSON),
    B: clear("The orchard's fence is green.", 0.61, 0.79),
    FORM: clear("Before a shift, drain it."),
    memory_id("t"): clear(LESSON, goal="Hand over?"),
}
POLICY = ExperiencePolicy()


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """A was admitted, helping in three tasks; B was not."""
    made = world.shard(codec, GENESIS)
    for name in "ab":
        made.episode(name, NOW - 9_000)
    made.tick(NOW)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A))])
    flush(world, made)
    return made


def flush(world: World, shard: Shard) -> None:
    net = shard.work.net()
    world.flush(shard, {one: TEXTS[one] for one in net.revealed})


def generalise(world: World, shard: Shard, vote: votes.Vote = votes.everybody) -> None:
    shard.tick(shard.rows.state.as_of + 1)
    shard.generalise(FORM, A, vote)
    flush(world, shard)


def waiting(world: World) -> list[tuple[str, str]]:
    return [(one.memory_id, of.memory_id) for one, of in world.schedule.general(0, 10)]


def test_it_waits_beside_its_memory_and_is_no_summary(world: World, shard: Shard) -> None:
    assert waiting(world) == []
    shard.general("form", A)
    flush(world, shard)
    assert waiting(world) == [(FORM, A)] and world.schedule.general(1, 10) == []
    assert world.schedule.drafted(0, 10, EpochPolicy()) == []
    ((form, of),) = world.schedule.general(0, 10)
    assert (form.tier, of.tier, form.namespace) == ("draft", "short-term", NAMESPACE)
    generalise(world, shard)
    assert waiting(world) == []


def test_what_members_kept_out_rests_and_what_is_gone_has_none_that_waits(world: World, shard: Shard) -> None:
    shard.general("form", A)
    generalise(world, shard, votes.nobody)
    assert waiting(world) == []
    while shard.rows.strengths[A].rest["generalise"] > shard.rows.state.last_epoch + 1:
        shard.decide([votes.proposal(B, "forget")], votes.nobody)
        flush(world, shard)
    assert waiting(world) == [(FORM, A)]
    shard.decide([votes.proposal(A, "forget")])
    flush(world, shard)
    assert waiting(world) == []


def test_in_experience_it_is_tried_beside_nothing_and_nothing_else_is_voted_on_it(world: World, shard: Shard) -> None:
    shard.general("form", A)
    generalise(world, shard)
    with world.trials.look(10_000) as look:
        assert [one.memory.id for one in look.admitted(NAMESPACE)] == [A]
        assert FORM not in [one.memory_id for _, one in look.named([A, B, FORM])]
    found = world.schedule.twins(0, 0, 10).found
    assert FORM not in [one.candidate.memory_id for one in found]
    assert FORM not in [one.memory_id for one in world.schedule.promotable(0, 0, NOW * 2, 10)]
    assert [one.memory_id for one in world.schedule.candidates(0, [FORM])] == [FORM], "it is forgotten as any other"
    arrived = world.neighbourhoods.changes(0, NAMESPACE, None)
    assert FORM not in [one.memory_id for one in (*arrived.arrived, *arrived.settled)]


def test_a_budget_lets_a_lesson_go_before_its_general_form(world: World, shard: Shard) -> None:
    shard.general("form", A)
    generalise(world, shard)
    found = {one.candidate.memory_id: one for one in world.schedule.weighted(0, NAMESPACE)}
    assert (found[FORM].needs, found[A].links) == ((), 0)


def test_who_was_promoted_and_never_had_a_general_form_is_to_have_one(world: World, shard: Shard) -> None:
    def promoted(policy: ExperiencePolicy = POLICY, behind: tuple[int, str] | None = None) -> list[Promoted]:
        return world.generals.promoted(0, policy, 10, behind)

    (one,) = promoted()
    assert (one.memory_id, one.namespace, one.text, one.commitment) == (A, NAMESPACE, LESSON, b"c" * 32)
    assert promoted(behind=(one.seq, A)) == [] and world.generals.promoted(1, POLICY, 10) == []
    assert promoted(ExperiencePolicy(promote_contexts=4)) == [] == promoted(ExperiencePolicy(promote_ppm=1_000_001))
    shard.general("form", A)
    flush(world, shard)
    assert promoted() == [], "it waits for its vote"
    generalise(world, shard)
    with world.store.transaction({shard.rows.state: RowKeys(admissions=frozenset((A, FORM)))}) as transaction:
        assert transaction.rows[0].admissions == {one: shard.rows.admissions[one] for one in (A, FORM)}
    assert promoted() == [], "neither that, nor of a general form another one"
    shard.task("t", (A,))
    shard.feedback(memory_id("t"), (), (A,))
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([votes.proposal(FORM, "forget")])
    flush(world, shard)
    assert promoted() == [], "what members let go does not come back"


def test_what_did_harm_is_not_promoted(world: World, shard: Shard) -> None:
    shard.task("t", (A,))
    shard.feedback(memory_id("t"), (), (A,))
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([votes.proposal(B, "forget")], votes.nobody)
    flush(world, shard)
    assert world.generals.promoted(0, POLICY, 10) == []
