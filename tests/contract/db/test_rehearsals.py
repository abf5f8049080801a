"""The memories that a rehearsal may draw and what it sees, on both adapters."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.experience.texts import Texts
from memquorum.core.journal import rehearsals as journalled
from memquorum.core.journal.rows import RowKeys
from memquorum.core.journal.workset import Workset
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.ports import Drawable, Seen
from tests.builders import genesis, protections, rehearsals, votes
from tests.builders.rehearsals import denied, doubt, groundless, rehearse
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, clear

GENESIS = genesis.make(**rehearsals.entitled())
NOW = 10_000_000
A, B, C, D, E = (memory_id(name) for name in "abcde")


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """A to C are in short-term memory, the least salient first; D and E in long-term memory, D used before E."""
    made = world.shard(codec, GENESIS)
    for at, name in enumerate("abcde"):
        made.episode(name, NOW - 9_000, salience=600_000 + at * 10_000)
    made.access(D, NOW - 5_000)
    made.access(E, NOW - 4_000)
    made.tick(NOW)
    made.decide([votes.proposal(D, "promote"), votes.proposal(E, "promote")])
    return made


def seen(world: World, *ids: str) -> list[Seen]:
    with world.rehearsals.look(10_000) as look:
        return [one for _, one in look.seen(ids)]


def test_the_salient_and_the_long_unused_may_be_drawn(world: World, shard: Shard) -> None:
    shard.episode("elsewhere", NOW, namespace="elsewhere")
    world.flush(shard)
    with world.rehearsals.look(10_000) as look:
        assert look.shards()[0] == (0, NOW, shard.offset + 1) if world.dsn is None else look.shards()[0][:2] == (0, NOW)
        assert look.recent(0, NOW, 2, NAMESPACE) == [Drawable(C, 620_000), Drawable(B, 610_000)]
        assert [one.memory_id for one in look.old(0, NOW, 9)] == [D, E]
        assert [one.memory_id for one in look.old(0, NOW, 1)] == [D]
        assert [one.memory_id for one in look.recent(0, NOW, 9, "elsewhere")] == [memory_id("elsewhere", "elsewhere")]
        assert look.recent(1, NOW, 9) == look.old(0, NOW, 9, "elsewhere") == []


def test_what_was_rehearsed_lately_may_not(world: World, shard: Shard) -> None:
    rehearse(shard, D)
    doubt(shard, A, offset=1)
    world.flush(shard)
    with world.rehearsals.look(10_000) as look:
        assert [one.memory_id for one in look.old(0, NOW - 1, 9)] == [E]
        assert A not in [one.memory_id for one in look.recent(0, NOW - 1, 9)]
        assert [one.memory_id for one in look.old(0, NOW, 9)] == [D, E]


def test_a_memory_is_seen_as_it_is(world: World, shard: Shard) -> None:
    rehearse(shard, D)
    shard.protect(protections.accepted(shard.rules.codec, "pin", A, cluster=GENESIS.cluster))
    world.flush(shard)
    seq = shard.rows.memories[D].seq
    expected = Seen(
        D, NAMESPACE, LONG_TERM, 693_000, NOW - 9_000, NOW - 5_000, 1, 1, 0, NOW, None, 0, 0, protected=False, seq=seq
    )
    assert seen(world, D, memory_id("nobody")) == [expected]
    (pinned,) = seen(world, A)
    assert (pinned.tier, pinned.uses, pinned.rehearsed, pinned.protected) == (SHORT_TERM, 0, 0, True)


def test_what_is_left_of_its_sources_is_told(world: World, shard: Shard) -> None:
    shard.episode("made", NOW, derives_from=(A, B))
    world.flush(shard)
    shard.decide([votes.proposal(A, "forget")])
    world.flush(shard)
    (found,) = seen(world, memory_id("made"))
    assert (found.sources, found.sources_left) == (2, 1)


def test_what_a_summary_says_is_ground_and_what_nobody_knows_is_none(world: World, shard: Shard) -> None:
    summary = memory_id("sum")
    shard.episode("made", NOW, derives_from=(A, memory_id("nobody")))
    shard.episode("elsewhere", NOW, namespace="elsewhere")
    shard.episode("borrowed", NOW, derives_from=(memory_id("elsewhere", "elsewhere"),))
    shard.summary("sum", [A, B], at=NOW)
    shard.consolidate(summary, [A, B])
    lost = groundless(shard, "lost", NOW)
    world.flush(shard)
    found = {one.memory_id: (one.sources, one.sources_left) for one in
             seen(world, memory_id("made"), memory_id("borrowed"), summary, lost)}  # fmt: skip
    assert found == {memory_id("made"): (1, 1), memory_id("borrowed"): (0, 0), summary: (2, 2), lost: (1, 0)}


def test_a_finished_task_is_ground_for_what_was_learned_of_it(world: World, shard: Shard) -> None:
    shard.task("t1", [A])
    shard.episode("lesson", NOW, derives_from=(memory_id("t1"),))
    shard.tick(shard.rows.state.as_of)
    shard.decide([votes.proposal(A, "forget")])
    lesson, task = memory_id("lesson"), memory_id("t1")
    world.flush(shard, {lesson: clear(lesson), task: replace(clear(task), text=Texts("Open valve 3.").content)})
    (found,) = seen(world, lesson)
    assert (found.sources, found.sources_left) == (1, 1)
    named = frozenset({lesson})
    with world.store.transaction({shard.rows.state: RowKeys(named, grounds=named)}) as transaction:
        rows = Workset(transaction.rows[0]).rows
        with pytest.raises(journalled.NotBorneOut, match="there is ground"):
            journalled.check(rows, rehearsals.rehearsal_record(shard, lesson, "groundless"), GENESIS.policy)


def test_a_verdict_is_held_against_the_rows_that_are_there(world: World, shard: Shard) -> None:
    """As the store loads them for the commit worker; each adapter alike."""
    lost, denial = groundless(shard, "lost", NOW), denied(shard, B)
    shard.summary("sum", [A, C], at=NOW)
    shard.consolidate(memory_id("sum"), [A, C])
    world.flush(shard)
    named = frozenset({lost, B, memory_id("sum"), denial})
    with world.store.transaction({shard.rows.state: RowKeys(named, grounds=named)}) as transaction:
        rows = Workset(transaction.rows[0]).rows
        for memory, verdict, witness, wrong in (
            (lost, "groundless", "", None),
            (lost, "held", "", "nothing that it was made of is left"),
            (B, "contested", denial, None),
            (B, "groundless", "", f"{denial} says otherwise"),
            (memory_id("sum"), "groundless", "", "there is ground for the memory"),
        ):
            made = rehearsals.rehearsal_record(shard, memory, verdict, witness=witness)
            if wrong is None:
                journalled.check(rows, made, GENESIS.policy)
                continue
            with pytest.raises(journalled.NotBorneOut, match=wrong):
                journalled.check(rows, made, GENESIS.policy)


@pytest.mark.parametrize(
    ("older", "agent", "contested"),
    [
        # The newer memory is served first, and the one that it denies is in doubt.
        (A, "another", A),
        (A, "planner", A),
        # Unless the older one is long-term memory, and another agent's.
        (D, "another", memory_id("denial")),
        (D, "planner", D),
    ],
)
def test_of_two_that_contradict_the_one_that_is_served_later_is_in_doubt(
    world: World, shard: Shard, older: str, agent: str, contested: str
) -> None:
    denial = memory_id("denial")
    shard.episode("seems", NOW, agent=agent, contradicts=(C,))
    shard.episode("denial", NOW, agent=agent, explicit=True, supersedes=(older,))
    world.flush(shard)
    found = {one.memory_id: one.contested for one in seen(world, older, denial)}
    assert found == {older: None, denial: None} | {contested: older if contested == denial else denial}
    assert found == {one.memory_id: one.stated for one in seen(world, older, denial)}, "it says so on purpose"
    (inferred,) = seen(world, C)
    assert (inferred.contested, inferred.stated) == (memory_id("seems"), None)
    shard.decide([votes.proposal(older, "demote" if older == D else "forget")])
    if older == A:
        world.flush(shard)
        assert [one.contested for one in seen(world, denial)] == [None], "what is forgotten denies nothing"


def test_what_was_said_again_since_is_not_in_doubt(world: World, shard: Shard) -> None:
    """A, then B in its place, then A once more: A is what holds, as in reads."""
    denial = denied(shard, A)
    shard.episode("again", NOW + 1, outcome="reinforced", reinforces=A, accepted_at=NOW + 2)
    world.flush(shard)
    assert {one.memory_id: one.stated for one in seen(world, A, denial)} == {A: None, denial: A}
    named = frozenset({A, denial})
    with world.store.transaction({shard.rows.state: RowKeys(named, grounds=named)}) as transaction:
        rows = Workset(transaction.rows[0]).rows
        made = rehearsals.rehearsal_record(shard, A, "contested", witness=denial)
        with pytest.raises(journalled.NotBorneOut, match="served later"):
            journalled.check(rows, made, GENESIS.policy)
        # As an earlier release journalled it, which went by arrival.
        journalled.check(rows, made, GENESIS.policy, entered=True)
        journalled.check(rows, rehearsals.rehearsal_record(shard, denial, "contested", witness=A), GENESIS.policy)


def test_a_summary_is_in_doubt_for_one_sentence(world: World, shard: Shard) -> None:
    summary = memory_id("sum")
    shard.summary("sum", [A, B], at=NOW)
    shard.consolidate(summary, [A, B])
    shard.episode("denial", NOW, explicit=True, supersedes=(summary,))
    world.flush(shard)
    assert [one.contested for one in seen(world, summary, memory_id("denial"))] == [memory_id("denial"), None]


def test_by_whose_keys_a_shard_goes_on_is_told(world: World, shard: Shard, codec: Codec) -> None:
    world.flush(shard)
    with world.rehearsals.look(10_000) as look:
        decided = look.configured(GENESIS.shards)
    assert decided.keys() == set(range(GENESIS.shards))
    assert follow(codec, GENESIS, decided[0]) == GENESIS
