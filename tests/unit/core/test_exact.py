"""Exact duplicates: what was taken is found, what left is not, and next to nothing new gets past the filter."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.exact import CELLS, ROWS_MAX, CountingFilter, Exact, digest

KEY = bytes(range(32))


def digest_of(number: int) -> bytes:
    return digest(KEY, f"Valve {number} is tight.")


def test_a_digest_is_keyed_and_of_the_text_as_it_is() -> None:
    text = "Ada's code is 4821."
    assert digest(KEY, text) == digest(KEY, text) != digest(KEY[::-1], text)
    assert digest(KEY, text) != hashlib.sha256(text.encode()).digest()
    assert len({digest(KEY, one) for one in (text, f"{text} ", text.upper(), "ä", "a\u0308", "\ud800")}) == 6


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 40))
def test_a_filter_denies_nothing_that_is_there_and_holds_nothing_of_what_has_left(taken: list[int], cells: int) -> None:
    one = CountingFilter(cells)
    for number in taken:
        one.take(digest_of(number))
    for place, number in enumerate(taken):
        assert all(one.may_hold(digest_of(left)) for left in taken[place:])
        one.leave(digest_of(number))
    assert one.empty


def test_a_full_filter_lets_one_new_text_in_a_hundred_through() -> None:
    held = Exact()
    held.grow(2_000)
    for number in range(2_000):
        held.append(digest_of(number))
    assert [held.find(digest_of(number)) for number in range(2_000)] == [*range(2_000)] and held.astray() == 0
    assert {held.find(digest_of(number)) for number in range(2_000, 22_000)} == {None}
    assert 100 < held.astray() < 240, "0.8 % of 20,000 are 160"
    assert held.astray() == 0, "told once"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=80), st.integers(1, CELLS))
def test_rows_are_found_while_they_stand_there_and_by_their_whole_digest(
    steps: list[tuple[bool, int]], cells: int
) -> None:
    # Half of the digests begin alike, as two whole ones hardly ever would.
    digests = [digest_of(0)[: 8 * (number % 2)] + digest_of(number)[8 * (number % 2) :] for number in range(13)]
    held, rows = Exact(cells), list[int]()
    for comes, number in steps:
        if comes:
            if len(rows) == len(held._digests):
                held.grow(max(1, 2 * len(rows)))
            held.append(digests[number])
            rows.append(number)
        elif rows:
            row = number % len(rows)
            held.remove(row)
            rows[row] = rows[-1]
            rows.pop()
        for sought, one in enumerate(digests):
            found = held.find(one)
            assert rows[found] == sought if found is not None else sought not in rows
    assert len(held) == len(rows)
    while len(held):
        held.remove(0)
    assert held._filter.empty and not held._digests.any(), "something is left of what has gone"


def test_more_rows_than_a_cell_can_count_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 65535 rows"):
        Exact().grow(ROWS_MAX + 1)
    with pytest.raises(ValueError, match="at least one cell"):
        CountingFilter(0)
