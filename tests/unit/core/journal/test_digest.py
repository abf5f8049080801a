"""The state digest changes with every durable column, and with nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.journal import digest
from memquorum.core.journal.digest import Kept
from memquorum.core.journal.rows import Memory, Strength
from tests.builders.altered import other

ID = "00000000-0000-0000-0000-000000000001"
MEMORY = Memory(
    id=ID,
    shard=0,
    namespace="n",
    agent="a",
    subject="a",
    session=None,
    role="user",
    event_id="e1",
    tier="short-term",
    created=5,
    characters=4,
    commitment=b"c",
    encoder="hashing",
    early=False,
    confidence_ppm=None,
    changed=5,
    sealed_until=None,
    seq=1,
)
STRENGTH = Strength(ID, 0, "short-term", 700_000, 5, 9, 3, 1, 2, {"forget": 1}, {"forget": 4})
KEPT = Kept(MEMORY, STRENGTH, b"text", b"\x00\x3c")


def _at(shard: int, name: str) -> Kept:
    return replace(KEPT, memory=replace(MEMORY, shard=shard, id=name))


@pytest.mark.parametrize("name", Memory.__struct_fields__)
def test_every_column_of_a_memory_counts(name: str) -> None:
    changed = replace(KEPT, memory=replace(MEMORY, **{name: other(getattr(MEMORY, name))}))
    assert digest.state_digest([changed]).digest != digest.state_digest([KEPT]).digest


@pytest.mark.parametrize("name", Strength.__struct_fields__)
def test_every_column_of_its_strength_counts(name: str) -> None:
    changed = replace(KEPT, strength=replace(STRENGTH, **{name: other(getattr(STRENGTH, name))}))
    assert digest.state_digest([changed]).digest != digest.state_digest([KEPT]).digest


@pytest.mark.parametrize("name", ["strength", "content", "vector"])
def test_what_a_sealed_memory_loses_counts(name: str) -> None:
    lost = replace(KEPT, **{name: None})
    assert digest.state_digest([lost]).digest != digest.state_digest([KEPT]).digest


@pytest.mark.parametrize("name", ["content", "vector"])
def test_altered_content_and_vector_count(name: str) -> None:
    changed = replace(KEPT, **{name: other(getattr(KEPT, name))})
    empty = replace(KEPT, **{name: b""})
    lines = {digest.line(kept) for kept in (KEPT, changed, empty, replace(KEPT, **{name: None}))}
    assert len(lines) == 4


@given(st.lists(st.tuples(st.integers(0, 3), st.uuids()), unique=True, max_size=12), st.data())
def test_one_digest_per_shard_and_the_differing_shard_is_named(places: list[tuple[int, Any]], data: Any) -> None:
    memories = [_at(shard, name) for shard, name in sorted((s, str(u)) for s, u in places)]
    whole = digest.state_digest(iter(memories))
    assert [s.shard for s in whole.shards] == sorted({m.memory.shard for m in memories})
    assert sum(s.memories for s in whole.shards) == len(memories)
    assert digest.compare(whole, digest.state_digest(memories)) == []
    if memories:
        at = data.draw(st.integers(0, len(memories) - 1))
        shard = memories[at].memory.shard
        memories[at] = replace(memories[at], content=b"altered")
        assert [d.shard for d in digest.compare(whole, digest.state_digest(memories))] == [shard]
        del memories[at]
        assert [d.shard for d in digest.compare(whole, digest.state_digest(memories))] == [shard]


@pytest.mark.parametrize("memories", [[KEPT, KEPT], [_at(0, "00000000-2"), KEPT], [_at(1, ID), KEPT]])
def test_memories_out_of_order_are_refused(memories: list[Kept]) -> None:
    with pytest.raises(digest.DigestOrder, match="sort by shard, then by id"):
        digest.state_digest(memories)
