"""A lead and its bounds: as wide as Student's t says, and never beyond what there was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.whatif.leads import WINDOWS_LEAST, _student, lead


@pytest.mark.parametrize(
    ("beyond", "freedom", "tabled"),
    [(0.025, 5, 2.5706), (0.025, 10, 2.2281), (0.025, 47, 2.0117), (0.005, 5, 4.0321), (0.005, 20, 2.8453)],
)
def test_bounds_are_as_wide_as_tables_of_students_t_say(beyond: float, freedom: int, tabled: float) -> None:
    assert _student(beyond, freedom) == pytest.approx(tabled, rel=0.01)


def test_what_is_ahead_in_every_window_is_ahead_beyond_chance_and_what_wavers_is_not() -> None:
    steady = lead([1.0, 2.0, 1.0, 2.0, 1.0, 2.0], 60)
    assert steady.more == 9 and steady.certain and 0 < steady.low < 9 < steady.high < 60
    assert not lead([5.0, -4.0, 5.0, -4.0, 5.0, -4.0], 60).certain
    assert not lead([-2.0] * 10, 60).certain


def test_who_was_chosen_of_many_has_to_be_ahead_by_more() -> None:
    differences = [1.0, 0.0, 2.0, 0.0, 1.0, 1.0]
    assert lead(differences, 30).certain and not lead(differences, 30, choices=5).certain


@given(st.lists(st.floats(-9, 9), max_size=60), st.integers(1, 5))
def test_no_bound_lies_beyond_what_was_read_and_few_windows_tell_nothing(told: list[float], choices: int) -> None:
    reads = 9 * len(told)
    found = lead(told, reads, choices)
    assert -reads <= found.low <= found.more + 1e-9 and found.more - 1e-9 <= found.high <= reads
    if len(told) < WINDOWS_LEAST:
        assert not found.certain
