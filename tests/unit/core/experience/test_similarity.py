"""Similarity is the same whole number everywhere."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memquorum.core.experience.similarity import similarities_ppm, stacked, units, whole
from memquorum.core.policy import PPM
from tests.builders.experience import vector

HALVES = arrays(np.float16, 32, elements=st.floats(-4, 4, width=16)).filter(lambda one: np.abs(one).max() > 0.01)


def test_the_same_direction_is_near_and_the_other_one_is_not() -> None:
    rows = stacked([vector(0.6, 0.8), vector(3, 4), vector(0.8, -0.6), vector(-0.6, -0.8)], 2)
    near = similarities_ppm(rows, units(vector(0.6, 0.8))).tolist()
    assert near[0] >= PPM - 5
    assert near[1] >= PPM - 500  # 0.6 and 0.8 are no float16
    assert near[2] <= 500
    assert near[3] == 0


@given(HALVES, HALVES)
def test_it_is_the_cosine(one: np.ndarray, other: np.ndarray) -> None:
    a, b = one.astype(float), other.astype(float)
    cosine = a @ b / math.sqrt((a @ a) * (b @ b))
    found = similarities_ppm(stacked([one.tobytes()], 32), units(other.tobytes()))[0]
    assert abs(found - max(0, cosine) * PPM) < 50


@given(HALVES, HALVES)
def test_a_sum_in_another_order_is_the_same(one: np.ndarray, other: np.ndarray) -> None:
    a, b = units(one.tobytes()), units(other.tobytes())
    exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True))
    assert Fraction(float(a @ b)) == Fraction(float(a[::-1] @ b[::-1])) == exact


LARGE = arrays(np.float16, 8, elements=st.floats(-65_504, 65_504, width=16)).filter(lambda one: one.any())


@given(HALVES | LARGE)
def test_units_are_what_division_of_whole_numbers_gives(one: np.ndarray) -> None:
    numbers = [int(float(each) * 2**24) for each in one.tolist()]
    length = math.isqrt(sum(each * each for each in numbers))
    expected = [(each << 20) // length for each in numbers]
    assert whole(one.tobytes()).tolist() == units(one.tobytes()).tolist() == expected


def test_a_vector_without_a_direction_is_refused() -> None:
    with pytest.raises(ValueError, match="direction"):
        units(bytes(4))


def test_vectors_of_another_encoder_are_refused() -> None:
    with pytest.raises(ValueError, match="another encoder"):
        similarities_ppm(stacked([vector(1, 0)], 2), units(vector(1, 0, 0)))
