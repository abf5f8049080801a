"""Finished tasks in the journal: what is said first stands, what was never given has not helped."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import redo
from memquorum.core.journal.naming import Kin
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import Event, FeedbackRow, Memory, Provenance, Rows, TaskRow
from memquorum.core.journal.workset import Workset
from memquorum.core.records import Assessed, Task
from memquorum.core.tiers import FINISHED, GONE
from tests.builders import erasures
from tests.builders.published import GENESIS
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id

A, B, T = (memory_id(name) for name in "abt")
ELSEWHERE = "attic-1"  # of the same shard


@pytest.fixture
def shard(codec: Codec) -> Shard:
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("b")
    return made


def test_a_task_is_kept_and_is_not_alive(shard: Shard) -> None:
    alive = shard.rows.state.alive
    change = shard.task("t", [B, A])
    memory = change.one(Memory)
    assert memory is not None and (memory.tier, memory.type, memory.agent) == (FINISHED, "task", "planner")
    assert change.one(TaskRow) == TaskRow(T, 0, 3, NAMESPACE, "succeeded", "planner", b"h" * 32, 7, (B, A), 2)
    assert change.revealed == T and T not in shard.rows.strengths and shard.rows.state.alive == alive
    event = change.one(Event)
    assert event is not None and event.outcome == "finished_succeeded"
    assert {(p.parent, p.child, p.follows, p.echo) for p in change.of(Provenance)} == {
        (A, T, True, False),
        (B, T, True, False),
    }


def test_a_task_is_no_freer_than_what_it_was_given(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", sensitivity_ppm=800_000, purposes=("support",), jurisdiction="DE")
    memory = shard.task("t", [A]).one(Memory)
    assert memory is not None
    assert (memory.sensitivity_ppm, memory.purposes, memory.jurisdictions) == (800_000, "support", "DE")


@pytest.mark.parametrize(("first", "second", "effect"), [
    ("succeeded", "failed", "contradicted"), ("unknown", "succeeded", "contradicted"), ("failed", "failed", "repeated"),
])  # fmt: skip
def test_what_is_said_first_of_an_outcome_stands(shard: Shard, first: str, second: str, effect: str) -> None:
    shard.task("t", [A], first)
    again = shard.task("t", [B], second)
    assert again.entry.effect == effect
    assert not again.rows and again.revealed is None, "it changes nothing"


def test_an_episode_under_the_id_of_a_task_is_a_repetition(shard: Shard) -> None:
    shard.task("t", [A])
    assert shard.episode("t").entry.effect == "repeated"
    shard.episode("e")
    assert shard.task("e").entry.effect == "repeated", "an episode has not ended in any way"


def test_feedback_counts_for_what_the_task_was_given(shard: Shard) -> None:
    shard.task("t", [A, B])
    change = shard.feedback(T, [A], [B])
    assert change.entry.effect == "assessed"
    assert [(one.task, one.memory_id, one.helped) for one in change.of(FeedbackRow)] == [(T, A, True), (T, B, False)]
    assert shard.feedback(T, [A], event_id="f").entry.effect == "assessed", "others may say it, too"
    assert shard.feedback(T, [A], event_id="f").entry.effect == "repeated"


def test_feedback_for_what_never_was_retrieved_does_not_count(shard: Shard, codec: Codec) -> None:
    shard.task("t", [A])
    shard.task("elsewhere", [A], namespace=ELSEWHERE)
    told = {
        T: f"never retrieved in the task: {B}",
        A: "no finished task of this namespace has the id",
        memory_id("nobody"): "no finished task of this namespace has the id",
        memory_id("elsewhere", ELSEWHERE): "no finished task of this namespace has the id",
    }
    for task, why in told.items():
        change = shard.feedback(task, [A], [B])
        assert change.entry.effect == "unfounded" and not change.of(FeedbackRow)
        assert codec.decode_as(Assessed, change.entry.detail).why == why


def test_a_task_goes_with_what_it_was_given(shard: Shard) -> None:
    shard.task("t", [A])
    shard.task("other", [B])
    kin = Kin()
    for change in shard.changes:
        for made in change.of(Provenance):
            kin.add(made)
    assert kin.taken("memory", [A], shard.rows.memories, ()) == {A, T}


def test_an_erased_task_takes_no_feedback_any_more(shard: Shard, codec: Codec) -> None:
    shard.task("t", [A])
    said = erasures.ordered(GENESIS, "memory", T)
    order = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 2_000)
    shard.erase(order, erasures.among(NAMESPACE, {"t": FINISHED}))
    assert shard.rows.memories[T].tier == GONE
    assert T not in shard.work.net().revealed, "what came and went within a batch would be in the store"
    change = shard.feedback(T, [A])
    assert codec.decode_as(Assessed, change.entry.detail).why == "what has the id is gone: it was erased"
    assert shard.task("t", [A], "failed").entry.effect == "contradicted"


def test_the_journal_makes_the_same_rows_again(shard: Shard, codec: Codec) -> None:
    shard.task("t", [A, memory_id("never")])
    shard.task("t", [A], "failed")
    shard.feedback(T, [A])
    shard.feedback(T, [B])
    replay = Replay(shard.rules, 0)
    reads = [replay.read(codec.encode(change.appended)) for change in shard.changes]
    step = replay.take(reads)
    written = shard.work.net()
    assert {kind: rows for kind, rows in step.net.new.items() if rows} == {
        kind: rows for kind, rows in written.new.items() if rows
    }
    assert [one.memory_id for one in step.sealed] == [A, B, T]
    one_by_one = Replay(shard.rules, 0)
    for read in reads:
        one_by_one.take([read])
    assert one_by_one.state == replay.state
    work = Workset(Rows(hash_chain.beginning(GENESIS.cluster, 0)))
    for change in shard.changes:
        work.absorb(redo(shard.rules, work.rows, change.appended))
    assert work.rows.state == shard.rows.state


@pytest.mark.parametrize(("said", "wrong"), [
    ({"task": Task("won", "ann", b"h" * 32, 7)}, "an unknown outcome"),
    ({"task": Task("failed", "ann", b"h", 7)}, "a configuration that is no digest"),
    ({"task": Task("failed", "ann", b"h" * 32, -1)}, "an unknown outcome"),
    ({"task": Task("failed", "a\0", b"h" * 32, 7)}, "NUL in said_by"),
    ({"task": Task("failed", "ann", b"h" * 32, 7), "explicit": True}, "must not clear"),
])  # fmt: skip
def test_what_strangers_write_does_not_stop_the_shard(said: dict[str, object], wrong: str) -> None:
    assert wrong in (applying.storable(accepted("t", 1_000, **said)) or "")
    sound = accepted("t", 1_000, task=Task("failed", "ann", b"h" * 32, 7))
    assert applying.storable(sound) is None
    assert "not a UUID" in (applying.storable(replace(sound, derives_from=("x",))) or "")
