"""The checks of a store before a worker goes on from it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.journal import hash_chain
from memquorum.ports import StoreLost
from workers.kafka.published import Last, check

STATE = replace(hash_chain.beginning(b"c" * 32, 3), seq=5, hash=b"5" * 32)


def ours(seq: int) -> bytes:
    return str(seq).encode() * 32


@pytest.mark.parametrize("last", [None, Last(5, b"5" * 32), Last(2, b"2" * 32)])
def test_a_topic_that_lacks_something_is_no_loss(last: Last | None) -> None:
    """It is published by the start: an empty topic is what a fleet begins with."""
    check(STATE, 0 if last is None else last.seq, last, ours)


@pytest.mark.parametrize(("published", "last"), [(0, Last(6, b"6" * 32)), (6, Last(5, b"5" * 32)), (6, None)])
def test_a_store_that_stands_before_its_topic_has_lost_something(published: int, last: Last | None) -> None:
    with pytest.raises(StoreLost, match="stands at sequence 5 in Postgres, but 6 is published"):
        check(STATE, published, last, ours)


@pytest.mark.parametrize("seq", [4, 5])
def test_a_store_with_another_entry_has_gone_another_way(seq: int) -> None:
    with pytest.raises(StoreLost, match=rf"entry {seq} with the hash .* another history"):
        check(STATE, 0, Last(seq, b"x" * 32), ours)
