"""The state digest changes with every durable column, and with nothing else."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core import digest
from memquorum.core.digest import MemoryRow, StrengthRow

STRENGTH = StrengthRow("short-term", 700_000, 5, 9, 99, 3, 1, 2, 1, 4, 0, 0)
ROW = MemoryRow(
    shard=0,
    id="00000000-0000-0000-0000-000000000001",
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
    strength=STRENGTH,
    content=b"text",
    vector=b"\x00\x3c",
)


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, bytes):
        return value + b"x"
    if value is None:
        return 7
    return None


@pytest.mark.parametrize("name", [f.name for f in fields(MemoryRow)])
def test_every_column_of_a_memory_counts(name: str) -> None:
    changed = replace(ROW, **{name: _other(getattr(ROW, name))})
    assert digest.state_digest([changed]).digest != digest.state_digest([ROW]).digest


@pytest.mark.parametrize("name", [f.name for f in fields(StrengthRow)])
def test_every_column_of_its_strength_counts(name: str) -> None:
    changed = replace(ROW, strength=replace(STRENGTH, **{name: _other(getattr(STRENGTH, name))}))
    assert digest.state_digest([changed]).digest != digest.state_digest([ROW]).digest


def test_absent_and_empty_content_differ() -> None:
    assert digest.line(replace(ROW, content=None)) != digest.line(replace(ROW, content=b""))


@given(st.lists(st.tuples(st.integers(0, 3), st.uuids()), unique=True, max_size=12), st.data())
def test_one_digest_per_shard_and_the_differing_shard_is_named(
    places: list[tuple[int, object]], data: st.DataObject
) -> None:
    rows = sorted((replace(ROW, shard=s, id=str(u)) for s, u in places), key=lambda r: (r.shard, r.id))
    whole = digest.state_digest(iter(rows))
    assert [s.shard for s in whole.shards] == sorted({r.shard for r in rows})
    assert sum(s.memories for s in whole.shards) == len(rows)
    assert digest.compare(whole, digest.state_digest(rows)) == []
    if rows:
        at = data.draw(st.integers(0, len(rows) - 1))
        rows[at] = replace(rows[at], changed=6)
        assert [d.shard for d in digest.compare(whole, digest.state_digest(rows))] == [rows[at].shard]
        del rows[at]
        assert len(digest.compare(whole, digest.state_digest(rows))) == 1


@pytest.mark.parametrize(
    "rows",
    [
        [ROW, ROW],
        [replace(ROW, id="00000000-0000-0000-0000-000000000002"), ROW],
        [replace(ROW, shard=1), ROW],
    ],
)
def test_rows_out_of_order_are_refused(rows: list[MemoryRow]) -> None:
    with pytest.raises(digest.DigestOrder, match="sort the rows by shard, then by id"):
        digest.state_digest(rows)


def test_a_database_row_becomes_a_memory_row() -> None:
    columns: dict[str, object] = {f.name: getattr(ROW, f.name) for f in fields(MemoryRow)}
    columns |= {f"strength_{f.name}": getattr(STRENGTH, f.name) for f in fields(StrengthRow)}
    columns["body"] = "text"
    columns["vector"] = memoryview(b"\x00\x3c")
    assert digest.from_mapping(columns) == ROW
    gone = columns | {f"strength_{f.name}": None for f in fields(StrengthRow)} | {"body": None, "vector": None}
    assert digest.from_mapping(gone) == replace(ROW, strength=None, content=None, vector=None)
