"""The time of a memory in reads: when it was said last, by whom, and never after it came in."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import needs, redo
from memquorum.core.journal.rows import Conflict, Memory, Rows
from memquorum.core.journal.workset import Workset
from memquorum.core.records import Stored
from tests.builders import genesis
from tests.builders.shard import NAMESPACE, Shard, memory_id

A, B = memory_id("a"), memory_id("b")
LATE = 900_000


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return Shard(codec, genesis.make())


def time_of(shard: Shard, one: str = A) -> tuple[int, int]:
    memory = shard.rows.memories[one]
    return memory.said, memory.said_offset


def add_episode(shard: Shard, event: str, at: int, accepted_at: int | None = LATE, **more: Any) -> None:
    shard.episode(event, at, accepted_at=accepted_at, **more)


def again(shard: Shard, event: str, at: int, accepted_at: int | None = LATE, **more: Any) -> None:
    add_episode(shard, event, at, accepted_at, outcome="reinforced", reinforces=A, **more)
    assert shard.changes[-1].entry.effect == "reinforced"


def test_who_says_it_again_moves_its_time(shard: Shard) -> None:
    add_episode(shard, "a", 1_000)
    assert time_of(shard) == (1_000, 0)
    add_episode(shard, "b", 2_000)
    again(shard, "c", 3_000)
    assert time_of(shard) == (3_000, 2) > time_of(shard, B)
    memory = shard.rows.memories[A]
    assert (memory.created, memory.seq) == (1_000, 1)  # when it was first said, and what else hangs on it, stay


def test_of_sayings_that_come_out_of_order_the_latest_counts(shard: Shard) -> None:
    add_episode(shard, "a", 2_000)
    again(shard, "b", 1_000)
    assert time_of(shard) == (2_000, 0)
    again(shard, "c", 2_000)  # of two of one moment, the one that came in later
    assert time_of(shard) == (2_000, 2)


@pytest.mark.parametrize("event", ["a", "c"])
def test_what_is_delivered_again_moves_nothing(shard: Shard, event: str) -> None:
    add_episode(shard, "a", 1_000)
    again(shard, "c", 2_000)
    add_episode(shard, event, 5_000, outcome="reinforced", reinforces=A)
    assert shard.changes[-1].entry.effect == "repeated"
    assert time_of(shard) == (2_000, 1)


def test_nothing_is_said_after_it_came_in(shard: Shard) -> None:
    add_episode(shard, "a", 50_000, accepted_at=1_500)
    assert time_of(shard) == (1_500, 0)
    again(shard, "b", 80_000, accepted_at=1_600)
    assert time_of(shard) == (1_600, 1)


@pytest.mark.parametrize(
    ("first", "second", "moves"),
    [
        ({}, {"agent": "stranger", "subject": "planner"}, False),
        ({"role": "user"}, {"role": "assistant"}, False),
        ({"role": "user"}, {"role": "user"}, True),
        ({"role": "user"}, {"role": None}, True),
        ({"role": None}, {"role": "user"}, True),
    ],
)
def test_only_its_own_speaker_moves_it(
    shard: Shard, first: dict[str, Any], second: dict[str, Any], moves: bool
) -> None:
    add_episode(shard, "a", 1_000, **first)
    again(shard, "b", 2_000, **second)
    assert time_of(shard) == ((2_000, 1) if moves else (1_000, 0))
    assert shard.rows.strengths[A].reinforced == 1  # it bears the memory out all the same


@pytest.mark.parametrize("other", [{"subject": "ada"}, {"source": "mail"}])
def test_what_is_said_of_another_or_from_elsewhere_is_a_memory_of_its_own(shard: Shard, other: dict[str, Any]) -> None:
    add_episode(shard, "a", 1_000)
    add_episode(shard, "b", 2_000, outcome="reinforced", reinforces=A, **other)
    assert shard.changes[-1].entry.effect == "stored"
    assert (time_of(shard), time_of(shard, B)) == ((1_000, 0), (2_000, 1))


def test_entries_of_before_keep_the_time_of_before(shard: Shard) -> None:
    add_episode(shard, "a", 1_000, accepted_at=None)
    again(shard, "b", 2_000, accepted_at=None)
    assert time_of(shard) == (1_000, 0)
    again(shard, "c", 3_000)
    assert time_of(shard) == (3_000, 2)


def test_a_rebuild_reaches_the_same_times(shard: Shard) -> None:
    add_episode(shard, "a", 1_000)
    add_episode(shard, "b", 2_000)
    again(shard, "c", 3_000)
    again(shard, "d", 2_500)
    work = Workset(Rows(hash_chain.beginning(shard.rules.genesis.cluster, 0)))
    for change in shard.changes:
        work.absorb(redo(shard.rules, work.rows, change.appended))
    assert work.rows.memories == shard.rows.memories


def test_in_a_slot_what_was_said_earlier_takes_no_place_of_what_is_said_since(shard: Shard) -> None:
    slot: dict[str, Any] = {"explicit": True, "slot": "door"}
    add_episode(shard, "a", 1_000, **slot)
    again(shard, "c", 3_000, **slot)
    add_episode(shard, "b", 2_000, **slot)  # imported, between the two
    detail = shard.rules.codec.decode(shard.changes[-1].entry.detail)
    assert isinstance(detail, Stored) and (detail.superseded, detail.contradicts) == ((), (A,))
    assert [(one.newer, one.older) for one in shard.changes[-1].of(Conflict)] == [(B, A)]
    add_episode(shard, "d", 4_000, **slot)
    assert {one.id for one in shard.changes[-1].of(Memory) if one.tier == "superseded"} == {A, B}


def test_the_row_that_moves_is_loaded(shard: Shard) -> None:
    add_episode(shard, "a", 1_000)
    again(shard, "b", 2_000)
    entry = shard.changes[-1].entry
    assert A in needs(shard.rules.codec, entry, shard.rules.codec.decode(entry.detail)).memories
    assert (NAMESPACE, "b") in needs(shard.rules.codec, entry, shard.rules.codec.decode(entry.detail)).events
