"""Findings that verifiers agree on count; a liar is outvoted and shown."""

from __future__ import annotations

from itertools import permutations

import pytest
from msgspec.structs import replace

from memquorum.core.experience.admission import (
    ADMITTED,
    PROVISIONAL,
    REJECTED,
    agreed,
    first_weight_ppm,
    most_asked,
    verdict,
)
from memquorum.core.experience.draw import drawn, sample
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.trial import Case, Statistics, score_ppm, tried
from memquorum.core.experience.view import Experience
from memquorum.core.policy import PPM, ExperiencePolicy
from tests.builders.experience import held, tasks

POLICY = ExperiencePolicy()
DRAWN = ("v1", "v2", "v3", "v4", "v5")


def trial_statistics(text: str = "The gateway uses port 8443.") -> Statistics:
    told = tried(Case(held("m", text), tasks(4), Experience("mini", 2)), Reach(), POLICY)
    assert told is not None
    return told


HONEST = trial_statistics()
LIE = replace(HONEST, judged=tuple(replace(one, reward_with=0) for one in HONEST.judged))
WORSE = replace(LIE, position=99)


def after(faults: int = 1, *, reproducible: bool = True, **told: Statistics) -> tuple[object, ...]:
    one = agreed(DRAWN, told, faults, POLICY, reproducible=reproducible)
    return one.told, one.asks, one.differ


def test_two_that_tell_the_same_are_enough() -> None:
    assert after() == (None, ("v1", "v2"), ())
    assert after(v1=HONEST) == (None, ("v2",), ())
    assert after(v1=HONEST, v2=HONEST) == (HONEST, (), ())


def test_where_two_differ_a_third_is_asked_and_the_liar_is_shown() -> None:
    assert after(v1=LIE, v2=HONEST) == (None, ("v3",), ())
    assert after(v1=LIE, v2=HONEST, v3=HONEST) == (HONEST, (), ("v1",))


def test_with_two_faults_three_have_to_tell_the_same() -> None:
    assert after(2, v1=LIE, v2=LIE) == (None, ("v3",), ())
    assert after(2, v1=LIE, v2=LIE, v3=HONEST) == (None, ("v4", "v5"), ())
    assert after(2, v1=LIE, v2=LIE, v3=HONEST, v4=HONEST, v5=HONEST) == (HONEST, (), ("v1", "v2"))


def test_where_all_differ_nothing_follows() -> None:
    assert after(v1=LIE, v2=HONEST, v3=WORSE) == (None, (), ())


@pytest.mark.parametrize("faults", [1, 2])
def test_liars_in_whatever_places_change_nothing(faults: int) -> None:
    order = DRAWN[: most_asked(faults)]
    for places in permutations(order, faults):
        told = {who: LIE if who in places else HONEST for who in order}
        one = agreed(DRAWN, told, faults, POLICY, reproducible=True)
        assert one.told == HONEST
        assert set(one.differ) == set(places)


def test_who_was_not_drawn_counts_for_nothing() -> None:
    assert after(v1=HONEST, v4=HONEST, v5=HONEST) == (None, ("v2",), ())


def test_where_there_are_too_few_all_of_them_have_to() -> None:
    assert agreed(("v1",), {"v1": HONEST}, 1, POLICY, reproducible=True).told == HONEST
    assert agreed((), {"v1": HONEST}, 1, POLICY, reproducible=True).told is None


def test_a_models_word_is_nobodys_lie() -> None:
    assert after(reproducible=False, v1=LIE) == (None, ("v2",), ())
    told, asks, differ = after(reproducible=False, v1=LIE, v2=HONEST)
    assert (told, asks, differ) == (LIE, (), ())  # the lower of two


def test_what_scores_enough_is_admitted_with_its_score() -> None:
    assert verdict(HONEST, POLICY) == ADMITTED
    assert verdict(LIE, POLICY) == REJECTED
    assert verdict(None, POLICY) == PROVISIONAL
    assert verdict(replace(HONEST, judged=HONEST.judged[:2]), POLICY) == PROVISIONAL


def test_it_begins_with_the_weight_that_it_was_tried_with() -> None:
    assert first_weight_ppm(HONEST, POLICY) == held().weight_ppm
    source = replace(POLICY, first_ppm=0)
    assert first_weight_ppm(HONEST, source) == score_ppm(HONEST, source) == PPM - 100_000 * held().tokens // 500


def test_the_threshold_is_a_hair() -> None:
    score = score_ppm(HONEST, POLICY)
    assert verdict(HONEST, replace(POLICY, eta_ppm=score)) == ADMITTED
    assert verdict(HONEST, replace(POLICY, eta_ppm=score + 1)) == REJECTED


def test_who_publishes_does_not_choose_who_verifies() -> None:
    firsts = {drawn("m-d", bytes([at]), DRAWN, 2)[0] for at in range(64)}
    assert firsts == set(DRAWN)
    assert drawn("m-d", b"d", DRAWN, 5) != drawn("m-c", b"d", DRAWN, 5)


def test_a_verifier_that_goes_moves_no_others_place() -> None:
    order = drawn("m-d", b"d", DRAWN, 5)
    assert drawn("m-d", b"d", reversed(DRAWN), 5) == order
    assert drawn("m-d", b"d", order[:2] + order[3:], 5) == order[:2] + order[3:]
    assert drawn("m-d", b"d", [*DRAWN, *DRAWN], 9) == order


def test_each_member_recomputes_a_context_of_its_own() -> None:
    assert {sample(HONEST.digest, f"r{at}", 4) for at in range(40)} == {0, 1, 2, 3}
    with pytest.raises(ValueError, match="nothing to recompute"):
        sample(HONEST.digest, "r1", 0)
