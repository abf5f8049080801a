"""Numbers of any length are compared as texts, and no reading of one raises."""

from __future__ import annotations

import pytest

from memquorum.core.experience.abstract import abstracted
from memquorum.core.reading import claims, conflict, digits
from memquorum.core.reading.agreement import marks
from memquorum.core.reading.stated import readings, stated

LONG = "9" * 4_400


@pytest.mark.parametrize(
    ("written", "by", "product"),
    [("5", 10**6, "5000000"), ("007", 1000, "7000"), ("000", 12, "0"), ("٣", 1000, "3000")],
)
def test_a_short_number_is_multiplied(written: str, by: int, product: str) -> None:
    assert digits.times(written, by) == product


def test_long_numbers_are_the_same_where_they_are_written_the_same() -> None:
    assert digits.times(LONG, 1000) == digits.times("0" + LONG, 1000)
    assert digits.times(LONG, 1000) != digits.times(LONG, 10**6)
    assert digits.times(LONG, 1000) != digits.times(LONG[1:], 1000)


@pytest.mark.parametrize("number", [LONG, "two " + "hundred " * 3_000, "nine thousand million " * 500])
@pytest.mark.parametrize("magnitude", ["million", "thousand", "dozen", ""])
def test_a_number_too_long_to_calculate_with_raises_nothing(number: str, magnitude: str) -> None:
    text = f"The hall has {number} {magnitude} seats."
    assert marks(text[:4_700]).numbers
    assert stated(text).numbers
    assert readings(text)


def test_long_numbers_of_two_magnitudes_are_not_the_same() -> None:
    assert marks(f"It has {LONG} thousand seats.").numbers.isdisjoint(marks(f"It has {LONG} million seats.").numbers)
    one, other = (stated(f"It has {LONG} {many} seats.").numbers for many in ("thousand", "million"))
    assert one and other and one != other


@pytest.mark.parametrize(
    "text",
    [
        f"It opens at {'9' * 400} pm.",
        "The meeting is at ².",
        f"The trip takes {'7' * 3_000} hours.",
        "The trip takes ² hours.",
    ],
)
def test_a_time_that_is_none_raises_nothing(text: str) -> None:
    plain = claims.read("The trip takes 90 minutes.")
    assert conflict.between(plain, claims.read(text), same_agent=True) is None or "7" in text


def test_quantities_too_long_to_calculate_with_are_as_much_where_they_are_written_the_same() -> None:
    said = claims.read(f"The trip takes {'7' * 3_000} hours.")
    assert conflict.between(said, said, same_agent=True) is None


def test_a_placeholder_with_a_long_number_is_none() -> None:
    assert abstracted(f"Please call [name {LONG}] before Ada Lovelace leaves the pump.") is not None
