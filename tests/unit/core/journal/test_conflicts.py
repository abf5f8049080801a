"""Which contradictions were stated on purpose, and which were inferred from words."""

from __future__ import annotations

import pytest

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import Change, Conflict
from tests.builders import genesis
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
