"""Episodes that are near in time and in meaning are one group, within the distortion that the policy allows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.consolidation.condensing import SLICE, distortion_ppm, gated, groups
from memquorum.core.facets import SENSITIVE_PPM, summary_fits
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.records import Quote, Summary
from memquorum.ports import Placed, SessionMemory, Vector

DAY = 24 * 3600 * 1000
HALF = PPM // 2


def vector(*degrees: float) -> Vector:
    """A vector of length 3 in a plane; a further angle turns it out of that."""
    first, up = math.radians(degrees[0]), math.radians(degrees[1] if len(degrees) > 1 else 0)
    flat = math.cos(up)
    return np.array([3 * flat * math.cos(first), 3 * flat * math.sin(first), 3 * math.sin(up)], np.float32)


def episode(name: str, degrees: float, at: int = 0, **said: Any) -> Placed:
    one = SessionMemory(name, f"text of {name}", at, said.pop("agent", "anna"), "anna", b"c" * 32)
    return Placed(replace(one, **said), "mini", vector(degrees))


def found(*episodes: Placed, most_ppm: int = HALF) -> list[list[str]]:
    return [[one.memory.memory_id for one in group] for group in groups(episodes, most_ppm)]


def test_the_distortion_is_the_mean_distance_of_unit_vectors() -> None:
    assert distortion_ppm(vector(0), [vector(0)] * 3) == 0
    assert abs(distortion_ppm(vector(0), [vector(60), vector(-60), vector(180)]) - 4 * PPM // 3) <= 2
    mean = 2 * math.sin(math.radians(5))
    assert abs(distortion_ppm(vector(0), [vector(10), vector(10)]) - PPM * mean) <= 2


@pytest.mark.parametrize("sources", [[], [vector(0), np.zeros(3, np.float32)], [np.ones(4, np.float32)]], ids=len)
def test_what_cannot_be_compared_is_as_far_as_can_be(sources: list[Vector]) -> None:
    assert distortion_ppm(vector(0), sources) == 2 * PPM


def test_it_bounds_the_distance_of_the_means() -> None:
    """Proposition A 2: ‖μ − μ'‖ ≤ D, which makes it a bound of the utility."""
    drawn = np.random.default_rng(7)
    for _ in range(50):
        rows = drawn.normal(size=(6, 8)).astype(np.float32)
        units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        apart = float(np.linalg.norm(units[1:].mean(axis=0) - units[0]))
        assert apart * PPM <= distortion_ppm(rows[0], list(rows[1:]))


def test_what_is_near_is_one_group_and_what_says_something_else_is_in_none() -> None:
    near = [episode(f"a{at}", 5 * at, at) for at in range(4)]
    other = [episode(f"b{at}", 120 + 5 * at, at + 10) for at in range(3)]
    alone = episode("c", 240, 5)
    assert found(*other, alone, *near) == [["a0", "a1", "a2", "a3"], ["b0", "b1", "b2"]]
    assert found(*near[:2], alone) == [], "fewer than three"


def test_a_group_ends_where_its_distortion_would_be_more_than_the_policys() -> None:
    row = [episode(f"m{at:02}", 20 * at, at) for at in range(12)]
    for most_ppm in (PPM // 10, PPM // 4, HALF, PPM):
        for group in groups(row, most_ppm):
            units = np.stack([one.vector for one in group]) / 3
            middle = np.asarray(units.mean(axis=0), np.float32)
            assert distortion_ppm(middle, [one.vector for one in group]) <= most_ppm + 2
    assert found(*row, most_ppm=PPM // 10) == []
    wide, narrow = (max(map(len, found(*row, most_ppm=most))) for most in (HALF, PPM // 4))
    assert wide > narrow >= 3


def test_what_is_far_in_time_is_of_another_group() -> None:
    early = [episode(f"a{at}", 0, at) for at in range(3)]
    late = [episode(f"b{at}", 0, 2 + DAY + at) for at in range(1, 4)]
    assert found(*late, *early) == [["a0", "a1", "a2"], ["b1", "b2", "b3"]]
    assert len(found(*early, *(replace(one, memory=replace(one.memory, created=9)) for one in late))) == 1


@pytest.mark.parametrize(
    "other",
    [{"agent": "bert"}, {"sensitivity_ppm": 150_000}, {"purposes": "billing"}, {"jurisdictions": "DE"}],
    ids=lambda one: next(iter(one)),
)
def test_who_says_it_and_what_binds_it_divides_groups(other: dict[str, Any]) -> None:
    three = [episode(f"a{at}", 0, at) for at in range(3)]
    assert found(*three[:2], episode("x", 0, 3, **other)) == []
    assert found(*three, *(episode(f"x{at}", 0, 3, **other) for at in range(3))) == [
        ["a0", "a1", "a2"], ["x0", "x1", "x2"],
    ]  # fmt: skip


def test_what_is_sensitive_is_left_to_the_order_of_the_policy() -> None:
    """A summary inherits the sensitivity of its sources, so none would be less sensitive than they."""
    some = [episode(f"a{at}", 0, at, sensitivity_ppm=SENSITIVE_PPM) for at in range(3)]
    assert found(*some) == []
    assert found(*(replace(one, memory=replace(one.memory, sensitivity_ppm=SENSITIVE_PPM - 1)) for one in some))


def test_the_same_episodes_give_the_same_groups_in_any_order() -> None:
    drawn = np.random.default_rng(3)
    some = [episode(f"m{at:02}", float(drawn.integers(0, 360)), int(drawn.integers(0, 2 * DAY))) for at in range(60)]
    first = found(*some)
    assert first and found(*reversed(some)) == first
    named = [one for group in first for one in group]
    assert len(named) == len(set(named)), "one is in two groups"


def test_no_more_than_a_slice_is_looked_at_and_no_group_is_larger_than_a_summary() -> None:
    many = [episode(f"m{at:04}", 0, at) for at in range(SLICE + 40)]
    sizes = [len(group) for group in found(*many)]
    assert max(sizes) == 16 and sum(sizes) <= SLICE


def test_gates_are_those_of_the_policy_of_budgets() -> None:
    policy = BudgetPolicy(distortion_ppm=400_000, relief_ppm=100_000)
    assert summary_fits(policy, 400_000, 0, 0) and not summary_fits(policy, 400_001, 0, 0)
    assert summary_fits(policy, 0, 200_000, 300_000) and not summary_fits(policy, 0, 200_001, 300_000)
    assert summary_fits(policy, 0, 299_999, 299_999) and not summary_fits(policy, 0, 300_000, 299_999)


def test_summaries_of_no_session_are_gated_and_those_in_the_place_of_an_erased_one_are_not() -> None:
    made = Summary("extractive/1", "", 0, b"c" * 32, (Quote("a", 0, 1, "facts", 0),))
    assert gated(made)
    assert not gated(replace(made, session="shift-1")) and not gated(replace(made, renews="s"))
    assert not gated(replace(made, quotes=())), "a general form quotes nothing"
