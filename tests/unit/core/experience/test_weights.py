"""A weight moves with what came of use, in whatever order that was told, and stays within its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.experience.weights import (
    DEMOTED,
    PROMOTED,
    REMOVED,
    SERVED,
    Evidence,
    Use,
    Weight,
    faded_ppm,
    general,
    merged,
    moved,
    rolled_back,
    standing,
    united,
)
from memquorum.core.policy import PPM, ExperiencePolicy

POLICY = ExperiencePolicy()


def weight(ppm: int = 400_000, *evidence: Evidence, version: int = 1, name: str = "m") -> Weight:
    gains, losses = sum(one.mean_ppm > 0 for one in evidence), sum(one.mean_ppm < 0 for one in evidence)
    return Weight(name, ppm, version, gains, losses, tuple(sorted(evidence)))


def use(context: int, gain: int, before: int | None = None) -> Use:
    return Use(str(context), gain, before)


USES = st.lists(
    st.builds(use, st.integers(0, 30), st.integers(-2 * PPM, 2 * PPM), st.none() | st.integers(-PPM, PPM)),
    max_size=30, unique_by=lambda one: one.context,
)  # fmt: skip


def test_a_gain_lifts_and_a_use_without_one_lowers() -> None:
    assert moved(weight(), [use(1, PPM)], POLICY).weight_ppm == 500_000
    assert moved(weight(), [use(1, 0)], POLICY).weight_ppm == 350_000
    assert moved(weight(), [use(1, -PPM)], POLICY).weight_ppm == 250_000
    assert moved(weight(), [], POLICY) == weight()


def test_what_never_helps_is_below_retrieval_within_twenty_uses() -> None:
    now = weight(PPM)  # the highest S there is
    for at in range(20):
        now = moved(now, [use(at, 0)], POLICY)
    assert now.weight_ppm < POLICY.floor_ppm
    assert standing(now, POLICY) == REMOVED


@given(USES, st.randoms(use_true_random=False))
def test_the_order_in_which_uses_are_told_changes_nothing(uses: list[Use], lot: object) -> None:
    first = moved(weight(), uses, POLICY)
    lot.shuffle(uses)  # type: ignore[attr-defined]
    assert moved(weight(), uses, POLICY) == first


@given(st.integers(50_000, 2 * PPM), USES)
def test_a_weight_stays_within_its_bounds(ppm: int, uses: list[Use]) -> None:
    assert POLICY.weight_least_ppm <= moved(weight(ppm), uses, POLICY).weight_ppm <= POLICY.weight_most_ppm


def test_what_is_said_later_of_a_task_takes_the_place_of_what_was_counted() -> None:
    first = moved(weight(), [use(1, PPM // 5)], POLICY)
    assert (first.weight_ppm, first.gains, first.losses) == (420_000, 1, 0)
    later = moved(first, [use(1, -PPM, before=PPM // 5)], POLICY)
    assert later == Weight("m", 250_000, 3, 0, 1, (Evidence("1", -PPM, 1),))
    assert later.weight_ppm == moved(weight(), [use(1, -PPM)], POLICY).weight_ppm


def test_an_epoch_in_two_parts_is_the_same_where_no_bound_is_met() -> None:
    uses = [use(1, PPM), use(2, 0), use(3, -PPM // 2), use(4, PPM // 3)]
    first = moved(weight(), uses[:2], POLICY)
    halves = moved(first, uses[2:], POLICY)
    whole = moved(weight(), uses, POLICY)
    assert (halves.weight_ppm, halves.gains, halves.losses) == (whole.weight_ppm, whole.gains, whole.losses)
    assert {*first.evidence, *halves.evidence} == {*whole.evidence}


def test_what_becomes_of_it_follows_from_its_weight_and_its_gains() -> None:
    gains = [Evidence(bytes([at]), PPM, 1) for at in range(3)]
    assert standing(weight(500_000, *gains), POLICY) == PROMOTED
    assert standing(weight(499_999, *gains), POLICY) == SERVED
    assert standing(weight(500_000, *gains[:2]), POLICY) == SERVED
    assert standing(weight(500_000, *gains, Evidence(b"x", -1, 1)), POLICY) == SERVED
    assert standing(weight(99_999, *gains), POLICY) == DEMOTED
    assert standing(weight(50_000, *gains), POLICY) == REMOVED


EVIDENCE = st.lists(
    st.builds(Evidence, st.binary(min_size=1, max_size=1), st.integers(-PPM, PPM), st.just(1)),
    max_size=4, unique_by=lambda one: one.context,
)  # fmt: skip


@given(EVIDENCE, st.lists(EVIDENCE, max_size=4))
def test_what_stays_weighs_as_if_every_use_had_been_its_own(seen: list[Evidence], others: list[list[Evidence]]) -> None:
    wide = replace(POLICY, weight_least_ppm=1, weight_most_ppm=20 * PPM)
    begun = weight(10 * PPM)
    kept = moved(begun, [Use(one.context, one.sum_ppm) for one in seen], wide)
    found = merged(kept, seen, others, wide)
    means = {one.context: one.mean_ppm for one in united(others)} | {one.context: one.mean_ppm for one in seen}
    alone = moved(begun, [Use(context, mean) for context, mean in means.items()], wide)
    assert (found.weight_ppm, found.gains, found.losses) == (alone.weight_ppm, alone.gains, alone.losses)
    assert found.version == kept.version + 1
    assert merged(kept, seen, others[::-1], wide) == found
    assert not {one.context for one in seen} & {one.context for one in found.evidence}
    again = merged(found, [*seen, *found.evidence], others, wide)
    assert again.weight_ppm == found.weight_ppm and not again.evidence, "none counts twice"


def test_a_task_that_both_were_given_counts_once() -> None:
    kept = weight(300_000, Evidence(b"c", PPM, 1))
    found = merged(kept, [Evidence(b"c", PPM, 1)], [[Evidence(b"c", 0, 1), Evidence(b"d", 0, 1)]], POLICY)
    assert found.evidence == (Evidence(b"d", 0, 1),)
    assert found.weight_ppm == 300_000 - POLICY.beta_ppm, "as it came out for the one itself"


def test_twins_that_nobody_used_leave_the_weight_as_it_is() -> None:
    assert merged(weight(300_000, version=7), [], [[], []], POLICY) == weight(300_000, version=8)


def test_a_general_form_begins_with_half() -> None:
    assert general("g", weight(400_000, Evidence(b"c", 1, 1)), POLICY) == weight(200_000, name="g")


def test_a_version_is_rolled_back_by_a_new_one() -> None:
    first = weight(400_000, Evidence(b"c", PPM, 1))
    second = moved(first, [use(1, -PPM)], POLICY)
    back = rolled_back(second, {1: first, 2: second}, 1)
    assert back == Weight("m", 400_000, 3, 1, 0), "with the gains of then, and nothing new"
    with pytest.raises(ValueError, match="not older"):
        rolled_back(second, {1: first, 2: second}, 2)
    with pytest.raises(KeyError):
        rolled_back(back, {2: second}, 1)


HALF = POLICY.idle_half_ms


@pytest.mark.parametrize(("ppm", "idle", "counts"), [
    (PPM, 0, PPM), (PPM, -HALF, PPM), (PPM, HALF // 2, 750_000), (PPM, HALF, 500_000), (PPM, 2 * HALF, 250_000),
    (2 * PPM, HALF, PPM), (PPM, 100 * HALF, POLICY.floor_ppm), (90_000, HALF, 90_000),
])  # fmt: skip
def test_what_nobody_uses_counts_half_after_each_half_life_and_stays_given(ppm: int, idle: int, counts: int) -> None:
    assert faded_ppm(ppm, idle, POLICY) == counts
    assert faded_ppm(ppm, idle, replace(POLICY, idle_half_ms=0)) == ppm, "it may be switched off"


@given(st.integers(0, 2 * PPM), st.integers(0, 20 * HALF), st.integers(0, HALF))
def test_no_weight_rises_by_waiting_or_falls_below_what_is_given(ppm: int, idle: int, more: int) -> None:
    now, later = faded_ppm(ppm, idle, POLICY), faded_ppm(ppm, idle + more, POLICY)
    assert later <= now <= ppm and later >= min(ppm, POLICY.floor_ppm)


@given(st.integers(0, 2 * PPM), st.integers(0, 2 * PPM), st.integers(0, 20 * HALF))
def test_what_fades_alike_keeps_its_order(one: int, other: int, idle: int) -> None:
    if one <= other:
        assert faded_ppm(one, idle, POLICY) <= faded_ppm(other, idle, POLICY)
