"""A question is given what is near and has shown that it helps, within its budget."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from memquorum.core.experience.similarity import units
from memquorum.core.experience.view import Experience, packed, scored
from memquorum.core.policy import PPM, ExperiencePolicy
from tests.builders.experience import held, vector

POLICY = ExperiencePolicy()
QUESTION = units(vector(1, 0))


def experience(*memories: object) -> Experience:
    return Experience("mini", 2, memories)  # type: ignore[arg-type]


def given(*memories: object, policy: ExperiencePolicy = POLICY) -> list[str]:
    return [one.id for one in experience(*memories).given(QUESTION, policy)]


def test_what_is_nearer_comes_first_unless_it_weighs_much_less() -> None:
    """As near by a fifth: 0.8⁴ ≈ 0.41 of the weight makes up for that, and 0.8 of it where the source's rule holds."""
    near, far = held("near", "a", 1, 0), held("far", "b", 0.8, 0.6)
    assert given(near, far) == ["near", "far"]
    assert given(held("near", "a", 1, 0, weight_ppm=450_000), far) == ["near", "far"]
    assert given(held("near", "a", 1, 0, weight_ppm=380_000), far) == ["far", "near"]
    source = replace(POLICY, weight_roots=0)
    assert given(held("near", "a", 1, 0, weight_ppm=810_000), far, policy=source) == ["near", "far"]
    assert given(held("near", "a", 1, 0, weight_ppm=700_000), far, policy=source) == ["far", "near"]


def test_a_root_is_the_whole_number_below() -> None:
    weights = np.array([1, 2, 249_999, 250_000, 999_999, 10**6, 2 * 10**6, 10**8], np.int64)
    found = scored(np.ones(len(weights), np.int64), weights, replace(POLICY, weight_roots=1, floor_ppm=1))
    assert found.tolist() == [math.isqrt(weight * PPM) for weight in weights.tolist()]


def test_ties_go_by_id() -> None:
    assert given(held("b", "x", 1, 0), held("a", "x", 1, 0)) == ["a", "b"]


def test_what_weighs_less_than_the_floor_is_not_given() -> None:
    assert given(held("a", "x", 1, 0, weight_ppm=POLICY.floor_ppm)) == ["a"]
    assert given(held("a", "x", 1, 0, weight_ppm=POLICY.floor_ppm - 1)) == []


def test_what_is_not_near_at_all_is_not_given() -> None:
    assert given(held("a", "x", -1, 0)) == []


def test_what_does_not_fit_is_passed_over() -> None:
    long, short = held("long", "x" * 4 * 400, 1, 0), held("short", "x" * 4 * 200, 0.8, 0.6)
    assert given(held("first", "x" * 4 * 200, 1, 0), long, short) == ["first", "short"]


def test_no_more_than_the_most_are_given() -> None:
    assert len(given(*(held(f"m{at}", "x", 1, 0) for at in range(9)))) == POLICY.memories_most


def test_what_is_far_down_is_not_looked_at() -> None:
    many = [held(f"{at:03}", "x" * 4_000) for at in range(4 * POLICY.memories_most)]
    assert packed([*many, held("last", "x")], POLICY) == []


def test_what_another_encoder_made_is_left_out() -> None:
    assert given(held("a", "x", 1, 0), held("b", "x", 1, 0, encoder="other")) == ["a"]


def test_two_that_hold_the_same_have_the_same_digest() -> None:
    one, other = held("a", "x", 1, 0), held("b", "y", 0, 1)
    assert experience(one, other).digest == experience(other, one).digest
    for change in (held("a", "x", 1, 0, weight_ppm=2), held("a", "x", 1, 0, sources=("c1",)), held("c", "x", 1, 0)):
        assert experience(change, other).digest != experience(one, other).digest


def test_a_digest_says_nothing_of_a_text() -> None:
    """It travels, and outlives an erasure: who guesses the text must find nothing to hold the guess against."""
    assert held("a", "x", 1, 0).digest == held("a", "z", 0, 1).digest


def test_without_a_memory_the_others_are_there() -> None:
    both = experience(held("a", "x", 1, 0), held("b", "y", 0, 1))
    assert [one.id for one in both.without("a").memories] == ["b"]
    assert both.without("nobody") is both
