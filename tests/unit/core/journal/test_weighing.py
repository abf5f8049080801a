"""A decision counts what came of using experience: each use once, from where it entered on, in its own namespace."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.experience.weights import LEFT, Evidence, read_evidence
from memquorum.core.journal import weighing
from memquorum.core.journal.loaded import NotLoaded
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Change, FeedbackRow, RowKeys, TaskRow, WeightRow
from memquorum.core.journal.workset import Workset
from memquorum.core.policy import PPM
from memquorum.core.records import ErasedEpisode
from memquorum.core.tiers import FINISHED
from tests.builders import erasures, genesis, trials, votes
from tests.builders.shard import Shard, memory_id
from tests.builders.trials import agree, experienced, proposal, rebuilt

GENESIS = genesis.make(**trials.entitled())
A, B, C = (memory_id(name) for name in "abc")
T, U = memory_id("t"), memory_id("u")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A and B are admitted in epochs 2 and 3; C is not."""
    return experienced(codec, GENESIS, "ab", outside="c")


def decide(into: Shard, **more: Any) -> list[WeightRow]:
    """The versions of weights that an epoch brings of which nothing else comes."""
    return list(trials.idle(into, C, **more).of(WeightRow))


def stands(into: Shard, memory: str = A) -> tuple[Any, ...]:
    return trials.stands(into, memory, "gains", "losses")


def test_what_was_admitted_weighs_one_and_is_counted_from_there_on(shard: Shard) -> None:
    offset = shard.rows.state.weighed_to
    assert offset == shard.offset, "of the decision's nomination"
    assert shard.rows.admissions[A].since == offset and stands(shard) == ("admitted", 1, PPM, 3, 0)
    first = [row for change in shard.changes for row in change.of(WeightRow)]
    assert [(row.cause, row.gains, row.losses) for row in first] == [("admitted", 3, 0)] * 2


def test_a_task_that_succeeded_moves_what_it_was_given_by_its_share(shard: Shard) -> None:
    shard.task("t", (A, B, C))
    (a, b) = decide(shard)
    assert (a.memory_id, b.memory_id) == tuple(sorted((A, B)))
    assert {row.weight_ppm for row in (a, b)} == {PPM + 33_333}
    assert (a.version, a.epoch, a.cause, a.gains, a.losses) == (2, 4, "used", 4, 0)
    assert read_evidence(a.evidence) == (Evidence(T, 333_333, 1),)
    assert stands(shard) == ("admitted", 2, PPM + 33_333, 4, 0)
    assert shard.rows.admissions[A].epoch == 2, "of the vote on it"
    assert decide(shard) == [], "a use counts once"


def test_what_is_said_later_takes_the_place_of_what_was_counted(shard: Shard) -> None:
    shard.task("t", (A,))
    decide(shard)
    shard.feedback(T, (), (A,))
    (row,) = decide(shard)
    assert (row.weight_ppm, row.gains, row.losses) == (PPM - 150_000, 3, 1)
    assert read_evidence(row.evidence) == (Evidence(T, -PPM, 1),)
    shard.feedback(T, (A,), ())
    assert [row.weight_ppm for row in decide(shard)] == [PPM + 100_000]
    shard.feedback(T, (A,), (), event_id="again")
    assert decide(shard) == [], "nothing new is said"


def test_what_stands_behind_the_nomination_waits_for_the_next_decision(shard: Shard) -> None:
    shard.tick(1_000_000_001)
    at = shard.offset
    shard.task("t", (A,))
    assert decide(shard, accepted_offset=at) == []
    assert shard.rows.state.weighed_to == at
    assert len(decide(shard)) == 1


def test_a_decision_about_an_older_place_counts_nothing_twice(shard: Shard) -> None:
    shard.task("t", (A,))
    assert len(decide(shard)) == 1
    counted = shard.rows.state.weighed_to
    assert decide(shard, accepted_offset=counted - 2) == []
    assert shard.rows.state.weighed_to == counted
    shard.task("u", (A,))
    assert [read_evidence(row.evidence)[0].context for row in decide(shard)] == [U]


def test_tasks_of_before_a_memory_was_admitted_do_not_count(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.episode("c")
    shard.task("t", (A,))
    shard.tick(1_000_000_000)
    shard.decide([votes.proposal(C, "promote")], votes.nobody)
    shard.task("u", (A,))
    made = agree(shard, A)
    at = shard.offset
    shard.task("v", (A,))
    shard.decide([proposal(A, made)], accepted_offset=at)
    since = shard.rows.admissions[A].since
    assert since == at, "u stands at the offset itself, and v behind it"
    shard.feedback(T, (), (A,))
    found = {one.context for row in decide(shard) for one in read_evidence(row.evidence)}
    assert found == {U, memory_id("v")}, "of t something is said now, but nobody used experience in it"


def test_a_task_of_another_namespace_moves_nothing(shard: Shard) -> None:
    shard.task("t", (A,), namespace="attic-1")
    assert decide(shard) == []


def test_what_was_not_admitted_has_no_weight_to_move(shard: Shard) -> None:
    shard.task("t", (C, memory_id("nobody"), "no id"))
    assert decide(shard) == []


def test_what_does_harm_is_demoted_then_removed_and_may_rise_again(shard: Shard) -> None:
    shard.task("good", (A, B, C))
    seen = list[Any]()
    for at in range(6):
        shard.task(f"t{at}", (A,))
        shard.feedback(memory_id(f"t{at}"), (), (A,))
        decide(shard)
        seen.append(stands(shard)[:3])
    assert seen[-1] == ("admitted", 7, 133_333)
    shard.task("failed", (A,), ended="failed")
    decide(shard)
    assert stands(shard)[:3] == ("demoted", 8, 83_333)
    shard.feedback(memory_id("failed"), (), (A,))
    decide(shard)
    assert stands(shard)[:3] == ("removed", 9, 50_000)
    for at in range(6):
        shard.feedback(memory_id(f"t{at}"), (A,), (), event_id=f"after all {at}")
    decide(shard)
    assert stands(shard) == ("admitted", 10, 1_550_000, 10, 1)


def test_what_weighs_less_than_the_floor_is_demoted(shard: Shard) -> None:
    for at in range(18):
        shard.task(f"t{at}", (A,), ended="failed")
    decide(shard)
    assert stands(shard) == ("admitted", 2, 100_000, 3, 0)
    shard.task("last", (A,), ended="failed")
    shard.task("one more", (A,), ended="unknown")
    (row,) = decide(shard)
    assert stands(shard)[:3] == ("removed", 3, 50_000)
    assert read_evidence(row.evidence) == (Evidence(memory_id("last"), 0, 1),), "of what is unknown nothing is known"


def test_what_rests_sealed_keeps_its_standing_and_what_is_gone_left(shard: Shard) -> None:
    shard.tick(1_000_000_001)
    shard.decide([votes.proposal(A, "forget")])
    assert stands(shard)[0] == "admitted", "it may come back"
    shard.task("t", (A,))
    assert [row.memory_id for row in decide(shard)] == [A]
    shard.destroy(A)
    assert stands(shard)[:3] == (LEFT, 2, 1_100_000)
    shard.task("u", (A,))
    assert decide(shard) == [] and stands(shard)[:3] == (LEFT, 2, 1_100_000)


def links(shard: Shard) -> tuple[Replay, list[Any]]:
    replay = Replay(shard.rules, 0)
    return replay, [replay.read(shard.rules.codec.encode(change.appended)) for change in shard.changes]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_rebuild_weighs_the_same_however_it_takes_the_journal(shard: Shard, size: int) -> None:
    """Several decisions may lie in one batch, and the uses of one may count in another."""
    for at in range(4):
        shard.task(f"t{at}", (A, B))
        decide(shard)
        shard.feedback(memory_id(f"t{at}"), (A,), (B,))
        shard.feedback(memory_id("t0"), (), (A,), event_id=f"anew {at}")
    decide(shard)
    found, stand, state = rebuilt(shard, size)
    assert found == [row for change in shard.changes for row in change.of(WeightRow)] and len(found) == 12
    assert stand == {i: shard.rows.admissions[i] for i in (A, B)}
    assert state == shard.rows.state


def test_a_rebuild_knows_what_a_task_of_the_same_batch_was_given(shard: Shard) -> None:
    before = len(shard.changes)
    shard.task("t", (A,))
    made = decide(shard)
    replay, read = links(shard)
    replay.take(read[:before])
    assert list(replay.take(read[before:]).net.of(WeightRow)) == made and made


def test_a_use_counts_though_its_task_is_erased_before_the_decision_and_a_rebuild_finds_the_same(
    shard: Shard, codec: Codec
) -> None:
    shard.task("t", (A,))
    order = erasures.ordered(GENESIS, "memory", T)
    record = erasures.accepted(order, erasures.signed(codec, GENESIS, order), 2_000)
    shard.erase(record, [ErasedEpisode(T, FINISHED, b"c" * 32)])
    refused = shard.feedback(T, (), (A,))
    assert refused.entry.effect == "unfounded"
    (row,) = decide(shard)
    assert row.weight_ppm == PPM + 100_000 and read_evidence(row.evidence) == (Evidence(T, PPM, 1),)
    replay, read = links(shard)
    assert row in replay.take(read).net.of(WeightRow) and replay.state == shard.rows.state


def test_whoever_has_not_loaded_the_uses_is_told_so(shard: Shard) -> None:
    rows, change = shard.rows, shard.changes[-1]

    def weigh(keys: RowKeys) -> object:
        before = rows.state.weighed_to + 1
        return weighing.weighed(replace(rows, loaded=keys), change.entry, 9, before, GENESIS.policy.experience)

    with pytest.raises(NotLoaded, match="uses before accepted offset"):
        weigh(RowKeys(uses=rows.state.weighed_to))
    assert weigh(RowKeys(uses=rows.state.weighed_to + 1)) == []


def test_of_a_batch_whose_tasks_were_not_loaded_nobody_is_told_what_there_is(shard: Shard) -> None:
    work = Workset(replace(shard.rows, tasks={}, feedback={}, loaded=RowKeys()))
    with pytest.raises(NotLoaded):
        work.rows.tasks.get(T)


def test_what_is_open_is_asked_for_and_what_was_counted_only_by_its_name(shard: Shard) -> None:
    shard.task("t", (A,))
    shard.task("u", (A,))
    known = weighing.Uses()
    known.note(row for change in shard.changes for row in change.of(TaskRow))
    first, second = shard.rows.tasks[T].accepted_offset, shard.rows.tasks[U].accepted_offset
    assert set(known.uncounted(first)[0]) == {T, U}
    assert known.uncounted(second) == ({U: shard.rows.tasks[U]}, {})
    assert set(known.uncounted(second, (T, A))[0]) == {T, U}
    change: Change = shard.feedback(T, (A,), ())
    known.note(change.of(FeedbackRow))
    tasks, said = known.uncounted(second + 1)
    assert set(tasks) == {T} and [one.helped for one in said[T]] == [True]
