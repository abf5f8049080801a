"""The decay score: SPEC B's numbers, exactness, and that its span is where the predicate flips."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.policy import Policy, PolicyError, TriagePolicy
from memquorum.core.triage import HOUR_MS, decay_score, decay_score_ppm, expired, rate_ppm, span_ms

POLICY = Policy()
SALIENCES, REPLAYS = st.integers(0, 1_000_000), st.integers(0, 2_000)


def hours(count: float) -> int:
    return round(count * HOUR_MS)


def test_its_half_lives_are_the_papers() -> None:
    """λ = 0.10 an hour halves it in 6.93 h, λ = 0.01 in 69.3 h."""
    assert decay_score_ppm(500_000, 0, hours(6.9315), POLICY) == pytest.approx(250_000, abs=10)
    assert decay_score_ppm(800_000, 0, hours(69.315), POLICY) == pytest.approx(400_000, abs=10)
    assert (rate_ppm(699_999, POLICY), rate_ppm(700_000, POLICY)) == (100_000, 10_000)


@pytest.mark.parametrize(
    ("salience", "replays", "age", "score"),
    [
        (350_000, 0, 0.0, 350_000),
        (739_000, 0, 0.0, 739_000),  # the worked example of SPEC B, 4.2
        (500_000, 0, 10.0, 183_939),  # one S of the Ebbinghaus form: 1/e
        (700_000, 0, 100.0, 257_515),  # and of the slow class
        (500_000, 9, 10.0, 367_879),  # nine rehearsals double it: 1 + log₁₀ 10
        (1_000_000, 1000, 0.0, 4_000_434),  # the paper's bound for practical counts: 1 + log₁₀ 1001
    ],
)
def test_it_is_the_papers_formula(salience: int, replays: int, age: float, score: int) -> None:
    assert decay_score_ppm(salience, replays, hours(age), POLICY) == score


def test_what_expires_when() -> None:
    """θ_expire 0.05: ln(s / θ) / λ hours after the last use."""
    assert span_ms(350_000, 0, POLICY) == pytest.approx(hours(10 * math.log(7)), abs=1)  # 19 h 28 min
    assert span_ms(690_000, 0, POLICY) == pytest.approx(hours(10 * math.log(13.8)), abs=1)  # 26 h 15 min
    assert span_ms(700_000, 0, POLICY) == pytest.approx(hours(100 * math.log(14)), abs=1)  # 11 d
    assert span_ms(49_999, 0, POLICY) == 0
    assert span_ms(50_000, 0, POLICY) == 1
    assert span_ms(0, 5, POLICY) == 0


def test_a_rate_or_a_threshold_of_zero_lets_nothing_expire() -> None:
    still = replace(POLICY, triage=TriagePolicy(rate_ppm=0, slow_rate_ppm=0))
    assert span_ms(60_000, 0, still) is None and not expired(60_000, 0, 10**15, still)
    off = replace(POLICY, triage=TriagePolicy(expire_ppm=0))
    assert span_ms(0, 0, off) is None and not expired(0, 0, 10**15, off)


@given(SALIENCES, REPLAYS)
def test_the_span_is_where_it_flips(salience: int, replays: int) -> None:
    span = span_ms(salience, replays, POLICY)
    assert span is not None
    assert expired(salience, replays, span, POLICY)
    assert span == 0 or not expired(salience, replays, span - 1, POLICY)


@given(SALIENCES, REPLAYS, st.integers(-5, 10**11), st.integers(0, 10**9))
def test_it_never_rises_with_age_and_never_falls_with_replays(s: int, replays: int, age: int, more: int) -> None:
    score = decay_score(s, replays, age, POLICY)
    assert decay_score(s, replays, age + more, POLICY) <= score <= decay_score(s, replays + 1, age, POLICY)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"slow_rate_ppm": 200_000}, "slow_rate_ppm must not be above"),
        ({"slow_ppm": 705_000}, "whole hundredths"),
        ({"every_ms": 0}, "triage.every_ms"),
        ({"expire_ppm": 1_000_001}, "triage.expire_ppm"),
        ({"rate_ppm": -1}, "triage.rate_ppm"),
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(settings: dict[str, int], complaint: str) -> None:
    with pytest.raises(PolicyError, match=complaint):
        Policy(triage=TriagePolicy(**settings))
