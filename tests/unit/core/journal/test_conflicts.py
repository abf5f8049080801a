"""Contradictions that were stated explicitly, and those that were inferred from words."""

from __future__ import annotations

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal.grounds import NOTHING
from memquorum.core.journal.rows import Change, Conflict
from memquorum.core.records import Comparison
from tests.builders import genesis
from tests.builders.published import kinds, publish
from tests.builders.shard import Shard, memory_id

A, B, C = memory_id("a"), memory_id("b"), memory_id("c")
SLOT = "5f" * 16


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A fills a slot for another agent, B and C fill none."""
    made = Shard(codec, genesis.make())
    made.episode("a", explicit=True, slot=SLOT, agent="reviewer")
    for name in "bc":
        made.episode(name)
    return made


def noted(change: Change) -> dict[str, bool]:
    return {one.older: one.stated for one in change.of(Conflict)}


def test_a_row_says_whether_it_was_stated_on_purpose(shard: Shard) -> None:
    assert noted(shard.episode("d", contradicts=(A, B))) == {A: False, B: False}
    named = shard.episode("e", explicit=True, supersedes=(B,), contradicts=(C, B))
    assert noted(named) == {B: True, C: False}
    filled = shard.episode("f", explicit=True, slot=SLOT, contradicts=(C,))
    assert noted(filled) == {A: True, C: False}
    other = shard.episode("g", explicit=True, slot="6a" * 16, contradicts=(A,))
    assert noted(other) == {A: False}, "of another slot"


def test_what_is_inferred_crowds_out_nothing_that_is_stated(shard: Shard) -> None:
    others = [memory_id(f"o{at}") for at in range(9)]
    for at in range(9):
        shard.episode(f"o{at}")
    found = noted(shard.episode("d", explicit=True, supersedes=(B,), contradicts=tuple(others)))
    assert len(found) == 8 and found[B] and sum(found.values()) == 1


def test_a_row_says_which_statements_are_denied_and_what_is_said_again(shard: Shard) -> None:
    change = shard.episode("d", contradicts=(A, B), denies=(Comparison(B, (1, 3)),), again=(C,))
    rows = {one.older: (one.statements, one.again, one.compared) for one in change.of(Conflict)}
    assert rows == {A: (None, (C,), False), B: ((1, 3), (C,), False)}
    assert shard.rows.grounds.get(B, NOTHING).newer == {memory_id("d")}, "numbers make it no word of a model"
    assert kinds(publish(shard).audit(store=True, accepted=True)) == []


@pytest.mark.parametrize("numbers", [(), (0,), (-1,), (2, 1), (1, 1), (1_001,), (2**62,)])
def test_what_is_no_number_of_a_statement_is_left_out(shard: Shard, numbers: tuple[int, ...]) -> None:
    """A writer to the topic of scores must not be able to stop the shard."""
    (row,) = shard.episode("d", contradicts=(A,), denies=(Comparison(A, numbers),), again=("x\0",)).of(Conflict)
    assert (row.statements, row.again) == (None, ())


def test_so_many_are_said_again_and_no_more(shard: Shard) -> None:
    (row,) = shard.episode("d", contradicts=(A,), again=tuple(memory_id(f"o{at}") for at in range(99))).of(Conflict)
    assert len(row.again) == 8


def test_numbers_of_what_is_not_contradicted_make_no_row(shard: Shard) -> None:
    (row,) = shard.episode("d", contradicts=(A,), denies=(Comparison(B, (1,)),)).of(Conflict)
    assert (row.older, row.statements) == (A, None)
