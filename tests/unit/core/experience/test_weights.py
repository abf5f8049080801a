"""A weight moves with what came of use, in whatever order that was told, and stays within its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.experience.weights import (
    DEMOTED,
    PROMOTED,
    REMOVED,
    SERVED,
    Evidence,
    Use,
    Weight,
    all_evidence,
    general,
    merged,
    moved,
    rolled_back,
    standing,
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
    assert all_evidence([first, later]) == later.evidence


def test_an_epoch_in_two_parts_is_the_same_where_no_bound_is_met() -> None:
    uses = [use(1, PPM), use(2, 0), use(3, -PPM // 2), use(4, PPM // 3)]
    first = moved(weight(), uses[:2], POLICY)
    halves = moved(first, uses[2:], POLICY)
    whole = moved(weight(), uses, POLICY)
    assert (halves.weight_ppm, halves.gains, halves.losses) == (whole.weight_ppm, whole.gains, whole.losses)
    assert all_evidence([first, halves]) == whole.evidence


def test_what_becomes_of_it_follows_from_its_weight_and_its_gains() -> None:
    gains = [Evidence(bytes([at]), PPM, 1) for at in range(3)]
    assert standing(weight(500_000, *gains), POLICY) == PROMOTED
    assert standing(weight(499_999, *gains), POLICY) == SERVED
    assert standing(weight(500_000, *gains[:2]), POLICY) == SERVED
    assert standing(weight(500_000, *gains, Evidence(b"x", -1, 1)), POLICY) == SERVED
    assert standing(weight(99_999, *gains), POLICY) == DEMOTED
    assert standing(weight(50_000, *gains), POLICY) == REMOVED


EVIDENCE = st.lists(
    st.builds(Evidence, st.binary(min_size=1, max_size=1), st.integers(-PPM, PPM), st.integers(1, 5)),
    max_size=4, unique_by=lambda one: one.context,
)  # fmt: skip
WEIGHTS = st.builds(
    lambda ppm, seen, version, name: weight(ppm, *seen, version=version, name=name),
    st.integers(50_000, 2 * PPM), EVIDENCE, st.integers(1, 9), st.sampled_from("abcdef"),
)  # fmt: skip


@given(st.lists(WEIGHTS, min_size=1, max_size=5, unique_by=lambda one: one.memory_id), st.integers(1, 4))
def test_whatever_is_merged_first_the_same_evidence_is_left(parts: list[Weight], cut: int) -> None:
    whole = merged("m", parts, POLICY)
    assert merged("m", parts[::-1], POLICY) == whole
    if cut < len(parts):
        steps = merged("m", [merged("x", parts[:cut], POLICY), *parts[cut:]], POLICY)
        assert steps.evidence == whole.evidence


def test_a_context_that_both_saw_counts_once() -> None:
    both = [weight(300_000, Evidence(b"c", PPM, 1)), weight(300_000, Evidence(b"c", 0, 1), Evidence(b"d", 0, 2))]
    one = merged("m", both, POLICY)
    assert one.evidence == (Evidence(b"c", PPM, 2), Evidence(b"d", 0, 2))
    assert one.weight_ppm == PPM // 4


def test_what_nothing_speaks_for_has_the_least_weight_of_all() -> None:
    assert merged("m", [weight(300_000), weight(200_000, version=7)], POLICY) == weight(200_000, version=8)
    with pytest.raises(ValueError, match="nothing"):
        merged("m", [], POLICY)


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
