"""Ids are stable for ever, shards are where Kafka's own partitioner would put them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.ids import is_uuid, memory_id, murmur2, place_uuid, sha256, shard_of


# From Kafka's own UtilsTest, as unsigned numbers.
@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536),
     (b"a-little-bit-longer-string", -1486304829), (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
     (b"abc", 479470107)],
)  # fmt: skip
def test_murmur2_is_kafkas(data: bytes, expected: int) -> None:
    assert murmur2(data) == expected & 0xFFFFFFFF


def test_a_memory_id_never_changes() -> None:
    assert memory_id("default", "e1") == "466cab4a-fa20-565c-815a-6f0d87d37c6d"


@given(st.text(), st.text(), st.text(), st.text())
def test_two_events_never_share_a_memory(a: str, b: str, c: str, d: str) -> None:
    assert (memory_id(a, b) == memory_id(c, d)) == ((a, b) == (c, d))


@given(st.text(), st.integers(1, 64))
def test_a_shard_is_a_partition(namespace: str, shards: int) -> None:
    assert 0 <= shard_of(namespace, shards) < shards


def test_uuids_have_one_spelling() -> None:
    assert is_uuid(place_uuid("t", 0, 1))
    assert not is_uuid(place_uuid("t", 0, 1).upper())
    assert not is_uuid("x")
    assert not is_uuid(place_uuid("t", 0, 1) + "\n")
    assert not is_uuid(place_uuid("t", 0, 1).replace("-", ""))


def test_parts_do_not_run_together() -> None:
    assert sha256(b"ab", b"c") != sha256(b"a", b"bc") != sha256(b"abc")
