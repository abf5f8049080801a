"""The verifiers' view of candidates, tasks, decisions and experience, on both adapters; and their findings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from db.standing import Clear
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.consolidation.twins import groups
from memquorum.core.experience.ports import News, Standing, TrialLook
from memquorum.core.experience.rounds import Round
from memquorum.core.experience.trial import read as read_statistics
from memquorum.core.experience.trial import score_ppm
from memquorum.core.experience.uses import UseFeedback
from memquorum.core.identity.messages import unsigned
from memquorum.core.journal.rows import AdmissionRow, Change, TrialRow
from memquorum.core.records import ErasedEpisode, Proposal, Restored, TrialMade
from memquorum.core.tiers import FINISHED
from memquorum.ports import Peers
from tests.builders import erasures, genesis, tried, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, proposal
from tests.builders.tried import clear, lie, tell
from tests.support.stores import World
from workers.verifier.verifier_turn import FEW, OTHERS, TRIED, WAITS, Made, Trying

GENESIS = genesis.make(**tried.entitled())
NOW = 10_000_000
A, B, C = (memory_id(name) for name in "abc")
TASKS = tuple(memory_id(f"t{at}") for at in range(4))
SAYS = "The gateway uses port 8443."
CONTENTS = {
    A: clear(SAYS),
    B: clear("The orchard's fence is green.", 0.61, 0.79),
    C: clear("Nobody asks for this.", -0.8, 0.6),
    **{task: clear(SAYS, 0.6 + at / 100, 0.8, goal="Which port?") for at, task in enumerate(TASKS)},
}


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """Three memories, A and B near to what four tasks asked, of which A answers it."""
    made = world.shard(codec, GENESIS)
    for at, name in enumerate("abc"):
        made.episode(name, NOW - 9_000 + at)
    for at in range(4):
        made.task(f"t{at}", (), at=NOW - 5_000)
    made.tick(NOW)
    return made


def flush(world: World, shard: Shard, more: dict[str, Clear] | None = None) -> None:
    """Writes what happened, with the texts of what came."""
    net = shard.work.net()
    texts = CONTENTS | (more or {})
    world.flush(shard, {one: texts[one] for one in net.revealed})


def seen(world: World, ask: Callable[[TrialLook], object]) -> object:
    with world.trials.look(10_000) as look:
        return ask(look)


def decide(shard: Shard) -> None:
    """An epoch in which members keep what nobody wanted to go."""
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([votes.proposal(C, "forget")], votes.nobody)


def trying(codec: Codec, *mine: str) -> Trying:
    return Trying(codec, GENESIS, mine or tried.VERIFIERS, budget_ms=60_000)


def verifiers_by_candidate(made: tuple[Made, ...]) -> dict[str, set[str]]:
    """By candidates, who told."""
    by: dict[str, set[str]] = {}
    for one in made:
        by.setdefault(one.statistics.candidate, set()).add(one.verifier)
    return by


def test_a_namespace_has_its_tasks_that_succeeded_and_stand(world: World, shard: Shard, codec: Codec) -> None:
    shard.task("failed", (), ended="failed")
    flush(world, shard, {memory_id("failed"): clear(SAYS, goal="Which port?")})
    offsets = [3, 4, 5, 6]
    assert seen(world, lambda look: look.standing(NAMESPACE)) == (4, 6)
    assert seen(world, lambda look: look.standing("elsewhere")) == (0, -1)
    assert seen(world, lambda look: [(one.id, one.accepted_offset) for one in look.places(NAMESPACE)]) == list(
        zip(TASKS, offsets, strict=True)
    )
    assert seen(world, lambda look: look.namespaces(0, 4)) == [NAMESPACE]
    assert seen(world, lambda look: [look.namespaces(0, 5), look.namespaces(1, 1)]) == [[], []]
    with world.trials.look(10_000) as look:
        (context,) = look.contexts([TASKS[1], memory_id("nobody")])
        (place,) = [one for one in look.places(NAMESPACE) if one.id == TASKS[1]]
    assert (context.id, context.goal, context.outputs, context.outcome) == (TASKS[1], "Which port?", SAYS, "succeeded")
    assert (context.vector, context.encoder) == (place.vector, place.encoder)
    order = erasures.ordered(GENESIS, "memory", TASKS[3], order_id=memory_id("order", "orders"))
    shard.erase(
        erasures.accepted(order, erasures.signed(codec, GENESIS, order), NOW),
        [ErasedEpisode(TASKS[3], FINISHED, b"c" * 32)],
    )
    flush(world, shard)
    assert seen(world, lambda look: look.standing(NAMESPACE)) == (3, 5)
    assert seen(world, lambda look: look.contexts([TASKS[3]])) == []


def test_verifiers_are_told_what_agents_say_of_what_tasks_were_given(world: World, shard: Shard) -> None:
    shard.task("used", (A, B))
    used = memory_id("used")
    first = shard.feedback(used, [A], [B]).entry.source_offset
    second = shard.feedback(used, [], [A]).entry.source_offset
    shard.feedback(used, [C])  # never given
    flush(world, shard, {used: clear("Done.", 0.6, 0.8, goal="Which port?")})
    assert seen(world, lambda look: look.feedback([used, TASKS[0]])) == {
        used: {
            A: [UseFeedback(first, "reviewer", True), UseFeedback(second, "reviewer", False)],
            B: [UseFeedback(first, "reviewer", False)],
        }
    }
    assert seen(world, lambda look: look.feedback([TASKS[0]])) == {}


@pytest.mark.parametrize("said", [None, True, False])
def test_what_agents_said_did_not_help_is_rejected_where_tasks_state_nothing(
    world: World, codec: Codec, said: bool | None
) -> None:
    shard = world.shard(codec, GENESIS)
    shard.episode("a", NOW - 9_000)
    done = {memory_id(f"d{at}"): clear("Done.", 0.6 + at / 100, 0.8, goal="Which port?") for at in range(3)}
    for at, task in enumerate(done):
        shard.task(f"d{at}", (A,), at=NOW - 5_000)
        if said is not None:
            shard.feedback(task, [A] if said else [], [] if said else [A])
    shard.tick(NOW)
    flush(world, shard, done)
    decide(shard)
    for task in done:  # what is said after the decision judges nothing any more
        shard.feedback(task, [] if said else [A], [A] if said else [])
    flush(world, shard)
    made = trying(codec).turn(world.trials).made
    assert {one.statistics.candidate for one in made} == {A}
    score = {score_ppm(one.statistics, GENESIS.policy.experience) for one in made}
    assert score == {-1_001_400 if said is False else 998_600}


def test_candidates_are_told_the_oldest_first_with_what_they_were_made_of(world: World, shard: Shard) -> None:
    shard.episode("lesson", NOW - 9_500, derives_from=(TASKS[2], A, TASKS[0]))
    shard.episode("elsewhere", NOW, namespace="elsewhere")
    lesson, other = memory_id("lesson"), memory_id("elsewhere", "elsewhere")
    flush(world, shard, {lesson: clear("Ask the gateway."), other: clear("Something.")})
    with world.trials.look(10_000) as look:
        told = look.untried(NAMESPACE, None, 9)
        assert [one.memory_id for one in told] == [lesson, A, B, C]
        assert [one.accepted_offset for one in told] == [8, 0, 1, 2]
        assert told[0].sources == tuple(sorted((TASKS[0], TASKS[2]))) and told[1].sources == ()
        assert look.untried(NAMESPACE, None, 1) == told[:1]
        assert look.untried(NAMESPACE, (told[1].created, A), 9) == told[2:]
        since = shard.rows.memories[lesson].seq
        assert look.untried(NAMESPACE, None, 9, News(since - 1)) == told[:1]
        assert look.untried(NAMESPACE, None, 9, News(since, frozenset({B}))) == [told[2]]
        assert look.untried(NAMESPACE, (told[3].created, C), 9, News(0)) == []
        assert look.named([B, other, memory_id("nobody"), TASKS[0]]) == [
            (NAMESPACE, told[2]), ("elsewhere", look.untried("elsewhere", None, 1)[0])
        ]  # fmt: skip
        assert look.texts([A, TASKS[0]]) == {A: SAYS}


def test_decisions_are_told_by_what_was_nominated(world: World, shard: Shard, codec: Codec) -> None:
    flush(world, shard)
    assert seen(world, lambda look: look.shards()[0].epoch) == 0
    decide(shard)
    first = shard.offset
    decide(shard)
    flush(world, shard)
    with world.trials.look(10_000) as look:
        assert look.shards()[0] == Standing(0, 2, shard.rows.state.seq, 0)
        rounds = look.rounds(0, 0)
        assert [(one.epoch, one.accepted_offset) for one in rounds] == [(1, first), (2, shard.offset)]
        assert len({one.nomination for one in rounds}) == 2 and isinstance(rounds[0], Round)
        assert look.rounds(0, 1) == rounds[1:]
        assert follow(codec, GENESIS, look.configured(GENESIS.shards)[0]) == GENESIS


def test_nothing_is_tried_before_a_decision_and_then_everything_once(world: World, shard: Shard, codec: Codec) -> None:
    flush(world, shard)
    worker = trying(codec)
    assert worker.turn(world.trials).made == ()
    decide(shard)
    flush(world, shard)
    turned = worker.turn(world.trials)
    assert turned.looked == {TRIED: 2, FEW: 1} and not turned.more
    by = verifiers_by_candidate(turned.made)
    assert by.keys() == {A, B} and all(len(who) == 2 for who in by.values())
    assert {one.statistics.position for one in turned.made} == {1}
    assert worker.turn(world.trials).made == () == trying(codec, "verifier-9").turn(world.trials).made
    again = trying(codec).turn(world.trials)
    assert again.made == turned.made, "who starts anew finds the same, byte for byte"


def heard(shard: Shard, *made: Made) -> list[str]:
    """The trials come to the journal; the status of the candidate after each."""
    told = list[str]()
    for one in made:
        change = tell(shard, one)
        assert isinstance(change, Change), change
        (row,) = change.of(AdmissionRow)
        told.append(row.status)
    return told


def test_what_verifiers_agree_in_is_tried_no_more(world: World, shard: Shard, codec: Codec) -> None:
    decide(shard)
    flush(world, shard)
    made = trying(codec).turn(world.trials).made
    of = {memory: [one for one in made if one.statistics.candidate == memory] for memory in (A, B)}
    assert heard(shard, of[A][0]) == ["provisional"]
    flush(world, shard)
    with world.trials.look(10_000) as look:
        (told,) = look.told([A, B])
        assert (told.memory_id, told.position, told.verifier) == (A, 1, of[A][0].verifier)
        assert read_statistics(told.statistics) == of[A][0].statistics
        assert look.shards()[0].told == shard.rows.state.seq and look.differing(0, 0, 9) == []
    left = trying(codec).turn(world.trials)
    assert verifiers_by_candidate(left.made)[A] == {of[A][1].verifier}, "who told is not asked again"
    assert heard(shard, of[A][1], *of[B]) == ["agreed", "provisional", "rejected"]
    flush(world, shard)
    with world.trials.look(10_000) as look:
        assert [(one.memory_id, one.rejections, one.rejected) for one in look.untried(NAMESPACE, None, 9)] == [
            (B, 1, 1), (C, 0, 0)
        ]  # fmt: skip
        for until, expected in (((), [C]), ((0,), [C]), ((1,), [B, C]), ((1, 0), [B, C])):
            assert [one.memory_id for one in look.untried(NAMESPACE, None, 9, None, until)] == expected
    ((offered, signed),) = world.schedule.tried(0, 9)
    assert (offered.memory_id, offered.namespace, offered.tier) == (A, NAMESPACE, "short-term")
    assert [unsigned(codec, one, TrialMade).verifier for one in signed] == [one.verifier for one in of[A]]
    assert world.schedule.tried(1, 9) == world.schedule.tried(0, 0) == []
    assert trying(codec).turn(world.trials).made == ()
    admit = Proposal((A,), NAMESPACE, "admit", "tried", 0, 0, 0, tried=signed)
    shard.decide([admit], votes.nobody)
    flush(world, shard)
    assert world.schedule.tried(0, 9) == []
    with world.trials.look(10_000) as look:
        assert [(one.memory_id, one.after) for one in look.untried(NAMESPACE, None, 9)] == [
            (A, 3), (B, 1), (C, 0)
        ]  # fmt: skip
        news = News(shard.rows.state.seq - 1)
        assert [one.memory_id for one in look.untried(NAMESPACE, None, 9, news)] == [A], "it stands otherwise now"
    worker = trying(codec)
    for epoch in (2, 3):
        turned = worker.turn(world.trials)
        assert turned.made == () and turned.looked[WAITS] == 1, f"it rests in epoch {epoch}"
        decide(shard)
        flush(world, shard)
    again = worker.turn(world.trials).made
    assert {(one.statistics.candidate, one.statistics.position) for one in again} == {(A, 4)}, (
        "what members do not admit is tried anew later, and what was rejected waits for tasks"
    )


def judged(made: tuple[Made, ...], candidate: str) -> set[tuple[int, frozenset[str]]]:
    """Returns the decisions as of which a candidate is tried, with its contexts."""
    told = (one.statistics for one in made if one.statistics.candidate == candidate)
    return {(one.position, frozenset(each.context for each in one.judged)) for one in told}


def test_what_corrects_a_memory_is_judged_by_tasks_that_came_after_it(world: World, shard: Shard, codec: Codec) -> None:
    admitted(world, shard, codec, A)
    now, plain = memory_id("now"), memory_id("plain")
    shard.episode("now", NOW, contradicts=(A,))
    shard.episode("plain", NOW)
    decide(shard)
    flush(world, shard, dict.fromkeys((now, plain), clear("The gateway uses port 9443.")))
    made = trying(codec).turn(world.trials).made
    assert judged(made, plain) == {(3, frozenset(TASKS))} and not judged(made, now)
    with world.trials.look(10_000) as look:
        assert {one.memory_id: one.corrects for one in look.untried(NAMESPACE, None, 9)} == {
            B: False, C: False, now: True, plain: False
        }  # fmt: skip
    later = {memory_id(name): clear("The gateway uses port 9443.", goal="Which port?") for name in ("t4", "t5", "t6")}
    for name in ("t4", "t5", "t6"):
        shard.task(name, ())
    decide(shard)
    flush(world, shard, later)
    made = trying(codec).turn(world.trials).made
    assert judged(made, now) == {(4, frozenset(later))}
    told = [one for one in made if one.statistics.candidate == now]
    assert heard(shard, *told) == ["provisional", "agreed"], "it helps in what came after it"


def test_what_takes_a_place_in_a_slot_corrects_and_what_fills_it_first_does_not(
    world: World, shard: Shard, codec: Codec
) -> None:
    for name in ("first", "second"):
        shard.episode(name, NOW, explicit=True, slot="s" * 32, label="l" * 32)
    shard.episode("other", NOW, explicit=True, slot="o" * 32, label="l" * 32)
    first, second, other = (memory_id(name) for name in ("first", "second", "other"))
    assert shard.rows.memories[first].tier == "superseded"
    flush(world, shard, dict.fromkeys((first, second, other), clear(SAYS)))
    with world.trials.look(10_000) as look:
        told = {one.memory_id: one.corrects for one in look.untried(NAMESPACE, None, 9)}
    assert told == {A: False, B: False, C: False, second: True, other: False}


def test_what_corrects_does_so_whatever_becomes_of_what_gave_way(world: World, shard: Shard, codec: Codec) -> None:
    """Verifiers before and after its erasure ask the same judges."""

    def corrects() -> bool:
        with world.trials.look(10_000) as look:
            return {one.memory_id: one.corrects for one in look.untried(NAMESPACE, None, 9)}[memory_id("second")]

    for name in ("first", "second"):
        shard.episode(name, NOW, explicit=True, slot="s" * 32, label="l" * 32)
    first = memory_id("first")
    flush(world, shard, dict.fromkeys((first, memory_id("second")), clear(SAYS)))
    assert corrects()
    order = erasures.ordered(GENESIS, "memory", first, order_id=memory_id("order", "orders"))
    shard.erase(
        erasures.accepted(order, erasures.signed(codec, GENESIS, order), NOW),
        [ErasedEpisode(first, "superseded", b"c" * 32)],
    )
    flush(world, shard)
    assert shard.rows.memories[first].tier == "gone" and corrects()


def test_a_memory_is_not_judged_by_the_task_that_its_session_was(world: World, shard: Shard, codec: Codec) -> None:
    """Neither are memories made of it; an agent's part of a session counts for what that agent said."""
    said = {"session": "früh", "agent": "ann"}
    shard.episode("in it", NOW, **said)
    shard.episode("of another agent", NOW, **(said | {"agent": "bob"}))
    shard.episode("of another session", NOW, **(said | {"session": "late"}))
    shard.episode("made of it", NOW, session=None, derives_from=(memory_id("in it"),))
    part = ids.session_event_id("ann", NAMESPACE, "ann", "früh")
    whole = ids.session_event_id("host", NAMESPACE, None, "früh")
    shard.task(part, ())
    shard.task(whole, ())
    decide(shard)
    both, alone = {memory_id(part), memory_id(whole)}, {memory_id(whole)}
    texts = {memory_id(name): clear(SAYS) for name in ("in it", "of another agent", "of another session", "made of it")}
    tasks = {one: clear(SAYS, 0.6, 0.8, goal="Which port?") for one in both}
    flush(world, shard, {**texts, **tasks})
    with world.trials.look(10_000) as look:
        own = {one.memory_id: set(one.own) for one in look.untried(NAMESPACE, None, 9)}
        (of_a,) = [one for _, one in look.named([memory_id("in it")])]
    expected = {"in it": both, "of another agent": alone, "of another session": set(), "made of it": both}
    assert {name: own[memory_id(name)] for name in expected} == expected and set(of_a.own) == both
    made = trying(codec).turn(world.trials).made
    for name, tasks_of in expected.items():
        ((_, judges),) = judged(made, memory_id(name))
        assert judges & both == both - tasks_of, f"{name}: the nearest judge it, but for its own"


def test_what_was_rejected_is_tried_again_on_the_tasks_that_came_since(
    world: World, shard: Shard, codec: Codec
) -> None:
    def turned() -> set[tuple[int, frozenset[str]]]:
        return judged(trying(codec).turn(world.trials).made, B)

    def later(*names: str) -> frozenset[str]:
        """Tasks that came to what B says, and a decision behind them."""
        for name in names:
            shard.task(name, ())
        ids = [memory_id(name) for name in names]
        said = clear(CONTENTS[B].text, 0.6, 0.8, goal="What colour has the orchard's fence?")
        decide(shard)
        flush(world, shard, dict.fromkeys(ids, said))
        return frozenset(ids)

    decide(shard)
    flush(world, shard)
    assert turned() == {(1, frozenset(TASKS))}
    assert heard(shard, *(one for one in trying(codec).turn(world.trials).made if one.statistics.candidate == B))[
        -1:
    ] == ["rejected"]
    flush(world, shard)
    some = later("t4", "t5")
    assert turned() == set(), "two tasks say nothing yet"
    some |= later("t6")
    assert turned() == {(3, some)}, "those that came since are three, and judge alone"
    again = [one for one in trying(codec).turn(world.trials).made if one.statistics.candidate == B]
    assert heard(shard, *again) == ["provisional", "agreed"]
    row = shard.rows.admissions[B]
    assert (row.rejections, row.rejected, row.position) == (1, 1, 3)


def test_who_goes_on_finds_what_was_rejected_once_enough_tasks_came_and_does_not_even_read_it_before(
    world: World, shard: Shard, codec: Codec
) -> None:
    decide(shard)
    flush(world, shard)
    worker = trying(codec)
    heard(shard, *(one for one in worker.turn(world.trials).made if one.statistics.candidate == B))
    texts: dict[str, Clear] = {}
    looked = list[int]()
    for name in ("", "t4", "t5", "t6"):
        if name:
            shard.task(name, ())
            texts = {memory_id(name): clear(SAYS, 0.6, 0.8, goal="Which port?")}
        decide(shard)
        flush(world, shard, texts)
        turned = worker.turn(world.trials)
        looked.append(sum(turned.looked.values()))
    # A, of which nothing came to the journal, each time; C, of which too few tasks are near, where there are others; B
    # once after it was rejected, since it stands otherwise then.
    assert looked == [2, 2, 2, 3]
    assert {position for position, _ in judged(turned.made, B)} == {5}


def admitted(world: World, shard: Shard, codec: Codec, memory: str, *, decides: bool = True) -> None:
    """A memory is tried, and voted for."""
    if decides:
        decide(shard)
        flush(world, shard)
    made = [one for one in trying(codec).turn(world.trials).made if one.statistics.candidate == memory]
    heard(shard, *made)
    flush(world, shard)
    (signed,) = [signed for one, signed in world.schedule.tried(0, 9) if one.memory_id == memory]
    shard.decide([Proposal((memory,), NAMESPACE, "admit", "tried", 0, 0, 0, tried=signed)])
    flush(world, shard)


def test_experience_is_told_with_its_weights_and_further_candidates_are_tried_beside_it(
    world: World, shard: Shard, codec: Codec
) -> None:
    admitted(world, shard, codec, A)
    weight = shard.rows.admissions[A].weight_ppm
    with world.trials.look(10_000) as look:
        (found,) = look.admitted(NAMESPACE)
        assert (found.memory.id, found.memory.text, found.epoch, found.memory.weight_ppm) == (A, SAYS, 2, weight)
        assert look.admitted("elsewhere") == []
    twin = memory_id("twin")
    shard.episode("twin", NOW)
    decide(shard)
    flush(world, shard, {twin: clear(SAYS)})
    told = next(one.statistics for one in trying(codec).turn(world.trials).made if one.statistics.candidate == twin)
    assert told.position == 3 and sum(one.reward_without for one in told.judged) > 0, "the other one is there already"


def test_what_was_admitted_is_told_as_far_as_it_stands_with_its_first_weight_whatever_it_weighs_now(
    world: World, shard: Shard, codec: Codec
) -> None:
    """As members know it (tests/unit/db/test_view_experience.py): who differs denies whatever is tried."""
    admitted(world, shard, codec, A)
    shard.task("astray", (A,), ended="failed")
    shard.feedback(memory_id("astray"), (), (A,))
    decide(shard)
    more = {memory_id("astray"): clear("Not there.", goal="Which port?")}
    flush(world, shard, more)
    stands = shard.rows.admissions[A]
    assert (stands.version, stands.weight_ppm) == (2, 850_000)
    told = seen(world, lambda look: look.admitted(NAMESPACE))
    assert [(one.memory.weight_ppm, one.epoch) for one in told] == [(1_000_000, 2)]  # type: ignore[attr-defined]
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([votes.proposal(A, "forget")])
    flush(world, shard)
    assert seen(world, lambda look: look.admitted(NAMESPACE)) == [] and shard.rows.admissions[A] == stands
    order = votes.restore(GENESIS, A)
    shard.ask(order, NOW)
    shard.restore(order, Restored(A, 600_000, 0, 0, 0, 0))
    flush(world, shard)
    assert seen(world, lambda look: look.admitted(NAMESPACE)) == told and shard.rows.admissions[A] == stands


def test_whoever_comes_late_finds_what_was_there_at_the_decision(world: World, shard: Shard, codec: Codec) -> None:
    """Neither tasks that were finished since nor what was admitted since count."""
    decide(shard)
    flush(world, shard)
    early = [one for one in trying(codec).turn(world.trials).made if one.statistics.candidate == B]
    admitted(world, shard, codec, A, decides=False)
    shard.task("later", ())
    decide(shard)
    flush(world, shard, {memory_id("later"): clear("Green.", 0.61, 0.79, goal="What colour has the fence?")})
    late = [one for one in trying(codec).turn(world.trials).made if one.statistics.candidate == B]
    assert {one.statistics for one in late} == {one.statistics for one in early} and early[0].statistics.position == 1


def test_where_two_differ_the_third_is_asked_at_once_and_the_liar_is_outvoted(
    world: World, shard: Shard, codec: Codec
) -> None:
    decide(shard)
    flush(world, shard)
    worker = trying(codec)
    first, second = [one for one in worker.turn(world.trials).made if one.statistics.candidate == B]
    assert heard(shard, lie(first), second) == ["provisional", "provisional"]
    flush(world, shard)
    assert seen(world, lambda look: look.differing(0, 0, 9)) == [B]
    assert seen(world, lambda look: look.differing(0, shard.rows.state.seq, 9)) == []
    # No decision has come since.
    (third,) = worker.turn(world.trials).made
    assert third.verifier not in {first.verifier, second.verifier} and third.statistics == second.statistics
    assert heard(shard, third) == ["rejected"]
    told = [row.digest for change in shard.changes for row in change.of(TrialRow)]
    assert [one == second.statistics.digest.hex() for one in told] == [False, True, True], "it is shown who lied"


def test_who_is_silent_is_passed_over_after_two_decisions(world: World, shard: Shard, codec: Codec) -> None:
    decide(shard)
    flush(world, shard)
    (one, other) = (each.verifier for each in trying(codec).turn(world.trials).made if each.statistics.candidate == A)
    (spare,) = set(tried.VERIFIERS) - {one, other}
    worker = trying(codec, spare, one)
    assert spare not in verifiers_by_candidate(worker.turn(world.trials).made)[A]
    decide(shard)
    flush(world, shard)
    assert A not in verifiers_by_candidate(worker.turn(world.trials).made)
    decide(shard)
    flush(world, shard)
    assert verifiers_by_candidate(worker.turn(world.trials).made)[A] == {spare, one}, (
        "what the journal did not take is told again"
    )


def test_a_candidate_that_comes_later_waits_for_a_later_decision(world: World, shard: Shard, codec: Codec) -> None:
    decide(shard)
    flush(world, shard)
    worker = trying(codec)
    worker.turn(world.trials)
    late = memory_id("late")
    shard.episode("late", NOW)
    flush(world, shard, {late: clear(SAYS)})
    assert worker.turn(world.trials).looked == {}, "no decision, no look"
    assert trying(codec).turn(world.trials).looked[WAITS] == 1
    decide(shard)
    flush(world, shard)
    turned = worker.turn(world.trials)
    assert [one.statistics.position for one in turned.made if one.statistics.candidate == late] == [2, 2]
    assert turned.looked == {TRIED: 1, OTHERS: 2}, "of the same tasks too few are near to the third"


# United memories -----------------------------------------------------------------------------------------------------


def twins(world: World, shard: Shard) -> list[str]:
    """Those that a vote would let become one, as the nomination service is told of them."""
    policy = GENESIS.policy.experience
    found = world.schedule.twins(0, policy.merge_ppm, 10).found
    assert all(one.weight_ppm == shard.rows.admissions[one.candidate.memory_id].weight_ppm for one in found)
    assert all(one.text and one.vector.any() for one in found)
    return [one.candidate.memory_id for one in found]


def unite(world: World, shard: Shard, *names: str, vote: votes.Vote = votes.everybody) -> None:
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([Proposal(names, NAMESPACE, "unite", "twins", 0, 0, 0)], vote)
    flush(world, shard)


@pytest.fixture
def twin(world: World, shard: Shard, codec: Codec) -> str:
    """Another memory that says what A says: both were admitted, with agreeing trials of a test's own."""
    made = memory_id("twin")
    shard.episode("twin", NOW)
    decide(shard)
    for at, name in enumerate((A, made)):
        shard.decide([proposal(name, agree(shard, name, offset=9 * at))])
    flush(world, shard, {made: clear(SAYS)})
    return made


def test_one_stands_for_another_as_of_its_epoch_and_while_it_is_alive(world: World, shard: Shard, twin: str) -> None:
    assert twins(world, shard) == sorted((A, twin))
    unite(world, shard, A, twin)

    def united() -> object:
        return seen(world, lambda look: {one.memory.id: (one.epoch, one.united) for one in look.admitted(NAMESPACE)})

    assert united() == {A: (2, None), twin: (3, 4)} and twins(world, shard) == []
    shard.decide([votes.proposal(A, "forget")])
    flush(world, shard)
    assert united() == {twin: (3, None)}, "it is back"


def test_a_candidate_is_tried_beside_the_one_that_stands_for_others(
    world: World, shard: Shard, codec: Codec, twin: str
) -> None:
    """A third one that says the same is tried beside both before the vote, and beside the one after it."""
    third = memory_id("third")
    shard.episode("third", NOW)
    decide(shard)
    flush(world, shard, {third: clear(SAYS)})

    def given(position: int) -> int:
        made = (one.statistics for one in trying(codec).turn(world.trials).made)
        told = next(one for one in made if (one.candidate, one.position) == (third, position))
        return max(one.given_without for one in told.judged)

    beside_two = given(4)
    shard.decide([proposal(third, agree(shard, third, position=4, offset=50))], votes.nobody)
    unite(world, shard, A, twin)
    decide(shard)
    flush(world, shard)
    assert given(7) < beside_two


def test_what_is_far_or_disputed_or_kept_apart_is_no_twin(world: World, shard: Shard, twin: str) -> None:
    shard.decide([proposal(C, agree(shard, C, offset=30))])
    flush(world, shard)
    assert twins(world, shard) == sorted((A, twin)), "another one is too far away"
    assert world.schedule.twins(1, 0, 10).found == () == world.schedule.twins(0, 999_999, 10, max(A, twin)).found
    unite(world, shard, A, twin, vote=votes.nobody)
    assert twins(world, shard) == [], "what members kept apart rests"
    decide(shard)
    flush(world, shard)
    while shard.rows.strengths[A].rest["unite"] > shard.rows.state.last_epoch + 1:
        decide(shard)
        flush(world, shard)
    assert twins(world, shard) == sorted((A, twin))
    shard.episode("otherwise", contradicts=(A,))
    flush(world, shard, {memory_id("otherwise"): clear("It uses port 22.")})
    assert twins(world, shard) == []


def test_two_agents_that_name_no_subject_may_say_the_same(world: World, shard: Shard) -> None:
    """A memory about another subject than its agent is a twin of one that names the same subject alone."""
    bens, others = memory_id("bens"), {"of hall 3": ("ben", "hall-3"), "of ben": ("cid", "ben")}
    for name, (agent, subject) in {"bens": ("ben", "ben"), **others}.items():
        shard.episode(name, NOW, agent=agent, subject=subject)
        flush(world, shard, {memory_id(name): clear(SAYS)})
    decide(shard)
    for at, name in enumerate((A, bens, *map(memory_id, others))):
        shard.decide([proposal(name, agree(shard, name, offset=9 * at))])
    flush(world, shard)
    assert twins(world, shard) == sorted((A, bens))
    found = world.schedule.twins(0, 900_000, 9).found
    assert {one.candidate.memory_id: (one.agent, one.marks.subject) for one in found} == {
        A: (shard.rows.memories[A].agent, shard.rows.memories[A].subject), bens: ("ben", "ben"),
    }  # fmt: skip
    (group,) = groups(found, GENESIS.policy, 8, NOW)
    assert [one.candidate.memory_id for one in group] == sorted((A, bens))


def test_a_page_of_twins_goes_on_behind_the_last(world: World, shard: Shard, twin: str) -> None:
    first, last = sorted((A, twin))
    found = world.schedule.twins(0, 900_000, 1)
    assert [one.candidate.memory_id for one in found.found] == [first, last] and found.after == first
    assert world.schedule.twins(0, 900_000, 2, last) == Peers()
