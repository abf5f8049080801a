"""Decay: its test vectors, its laws, and that the schedule nominates exactly what the paper's full scan would."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core import decay
from memquorum.core.policy import MAX_SPAN_MS, PPM, DecayPolicy, Policy, PolicyError
from memquorum.core.tiers import SHORT_TERM
from memquorum.ports import DueMemory
from tests import examples
from tests.builders.policies import by_the_paper

DEFAULT = by_the_paper()
HOUR_MS = 3_600_000
NOW = 1_700_000_000_000


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Scales from milliseconds to years, weights in hundredths that sum to 1, any threshold."""
    n = draw(st.integers(1, 4))
    scales = draw(st.lists(st.floats(0.001, 1e8), min_size=n, max_size=n))
    cuts = sorted(draw(st.lists(st.integers(0, 100), min_size=n - 1, max_size=n - 1)))
    parts = [b - a for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]
    delta = draw(st.floats(0.001, 0.999))
    return Policy(decay=DecayPolicy(tuple(scales), tuple(p / 100 for p in parts), delta))


ages = st.integers(0, 10**12)


def test_the_papers_scales_give_known_values() -> None:
    # exp(-1), exp(-6), exp(-1/60) and so on, to six digits, rounded down.
    after_a_minute = decay.profile(NOW, NOW + 60_000, DEFAULT)
    assert after_a_minute.scales_ppm == (2_478, 367_879, 983_471)
    assert after_a_minute.decay_ppm == 602_595
    assert decay.profile(NOW, NOW + 10_000, DEFAULT).scales_ppm == (367_879, 846_481, 997_226)
    assert decay.decay_ppm(NOW, NOW + HOUR_MS, DEFAULT) == 183_939  # e^-1 / 2
    assert decay.decay_ppm(NOW, NOW, DEFAULT) == PPM


def test_the_default_threshold_is_crossed_after_half_an_hour() -> None:
    # By then only the hour is left: 0.5·exp(-t/3600) < 0.3 from t = 3600·ln(5/3) s on.
    assert decay.span_ms(DEFAULT) == 1_838_973
    assert decay.span_ms(DEFAULT) == math.ceil(3_600_000 * math.log(5 / 3))
    assert decay.due_at(NOW, DEFAULT) == NOW + 1_838_973


def test_high_variance_is_called_ambiguous() -> None:
    # After a minute the ten seconds are over and the hour has hardly begun.
    assert decay.profile(NOW, NOW + 60_000, DEFAULT).variance_ppm == 186_766
    assert decay.profile(NOW, NOW + 60_000, DEFAULT).ambiguous
    assert not decay.profile(NOW, NOW, DEFAULT).ambiguous
    assert decay.variance(NOW, NOW, DEFAULT) == 0
    # With these scales they agree about every memory that decay alone brings under δ: a vote may be about others.
    assert not decay.ambiguous(NOW, NOW + decay.span_ms(DEFAULT), DEFAULT)


@given(policies(), ages)
def test_ambiguous_is_what_the_exact_variance_says(policy: Policy, age: int) -> None:
    spread = decay.variance(0, age, policy)
    for limit in (policy.decay.variance_warning, float(spread), float(spread) + 1e-12):
        bounded = replace(policy, decay=replace(policy.decay, variance_warning=limit))
        assert decay.ambiguous(0, age, bounded) == (spread > Decimal(repr(limit)))


def test_an_access_in_the_future_counts_as_now() -> None:
    assert decay.decay(NOW + 5, NOW, DEFAULT) == 1
    assert not decay.crossed(NOW + 10 * HOUR_MS, NOW, DEFAULT)


def test_a_threshold_that_is_never_crossed_is_refused_with_the_policy() -> None:
    with pytest.raises(PolicyError, match=r"decay\.delta = 0\.3 is never crossed"):
        Policy(decay=DecayPolicy(scales_s=(1e12,), weights=(1.0,)))
    with pytest.raises(PolicyError, match=r"decay\.delta"):
        Policy(decay=DecayPolicy(scales_s=(10.0, math.inf), weights=(0.6, 0.4)))


def test_the_longest_decay_that_is_allowed_is_solved() -> None:
    slow = Policy(decay=DecayPolicy(scales_s=(2e10,), weights=(1.0,), long_term=1.0))
    assert MAX_SPAN_MS / 2 < decay.span_ms(slow) < MAX_SPAN_MS


def test_weights_that_sum_to_one_only_almost_never_exceed_it() -> None:
    almost = Policy(decay=DecayPolicy(scales_s=(1.0, 1.0), weights=(0.5, 0.5000000004)))
    assert decay.decay(0, 0, almost) == 1


def test_a_wake_up_judges_again() -> None:
    span = decay.span_ms(DEFAULT)
    due = [DueMemory("a", "n", NOW), DueMemory("b", "n", NOW + 1)]
    assert [c.memory_id for c in decay.crossings(due, NOW + span, DEFAULT)] == ["a"]
    crossing = decay.crossings(due, NOW + span, DEFAULT)[0]
    assert (crossing.last_access, crossing.decay_ppm) == (NOW, 299_999)


@given(policies(), ages, ages)
def test_decay_never_rises_with_age(policy: Policy, one: int, other: int) -> None:
    young, old = sorted((one, other))
    assert 0 <= decay.decay(0, old, policy) <= decay.decay(0, young, policy) <= 1
    assert 0 <= decay.variance(0, old, policy) <= 1


@given(policies(), ages)
def test_the_formula_in_floating_point_agrees(policy: Policy, age: int) -> None:
    singles = [math.exp(-(age / 1000) / scale) for scale in policy.decay.scales_s]
    combined = sum(w * d for w, d in zip(policy.decay.weights, singles, strict=True))
    spread = sum((d - combined) ** 2 for d in singles) / len(singles)
    assert float(decay.decay(0, age, policy)) == pytest.approx(combined, abs=1e-9)
    assert float(decay.variance(0, age, policy)) == pytest.approx(spread, abs=1e-9)


@given(policies(), ages)
def test_millionths_say_the_same_as_the_decimal(policy: Policy, age: int) -> None:
    exact, ppm = decay.decay(0, age, policy), decay.decay_ppm(0, age, policy)
    assert ppm <= exact * PPM < ppm + 1
    # Whole millionths of δ: the rounded number lies on the same side of it as the exact one.
    rounded = Decimal(repr(policy.decay.delta)).quantize(Decimal("0.000001"))
    assert (ppm < rounded * PPM) == (exact < rounded)


@given(policies(), st.lists(ages, max_size=20), ages)
def test_the_decay_of_many_is_that_of_each(policy: Policy, last_accesses: list[int], as_of: int) -> None:
    together = decay.decays_ppm(np.array(last_accesses, np.int64), as_of, policy)
    assert together.tolist() == [decay.decay_ppm(last_access, as_of, policy) for last_access in last_accesses]


@given(policies())
def test_the_span_is_the_first_age_under_the_threshold(policy: Policy) -> None:
    span = decay.span_ms(policy)
    assert decay.crossed(0, span, policy)
    assert not decay.crossed(0, span - 1, policy)


@dataclass
class Step:
    """Store or touch memory `which` at a time, or tick so near its due time that an off-by-one shows."""

    what: str
    which: int
    amount: int


steps = st.builds(
    Step,
    st.sampled_from(["touch", "touch", "tick", "tick_at_due"]),
    st.integers(0, 7),
    st.one_of(st.integers(-2, 2), st.integers(-(10**10), 10**10)),
)


@settings(max_examples=examples(300))
@given(policies(), st.lists(steps, max_size=40))
@example(DEFAULT, [Step("touch", 0, 0), Step("tick_at_due", 0, -1), Step("tick_at_due", 0, 0)])
def test_the_schedule_nominates_exactly_what_the_full_scan_would(policy: Policy, history: list[Step]) -> None:
    """Times come in any order: agents' clocks differ, and the last access is the latest of them."""
    last_access: dict[str, int] = {}
    for step in history:
        name, anchor = f"m{step.which}", NOW + step.which * 1000
        if step.what == "touch":
            last_access[name] = max(last_access.get(name, 0), anchor + step.amount)
            continue
        near = decay.due_at(last_access.get(name, anchor), policy) if step.what == "tick_at_due" else anchor
        as_of = near + (max(-2, min(2, step.amount)) if step.what == "tick_at_due" else step.amount)
        since = decay.unused_since(as_of, policy)[SHORT_TERM]
        due = sorted((at, name) for name, at in last_access.items() if at <= since)
        scanned = decay.scan(last_access.items(), as_of, policy)
        assert sorted(name for _, name in due) == sorted(scanned)
        # And the wake-up's second look takes nothing away from what is due.
        rows = [DueMemory(name, "n", at) for at, name in due]
        assert [c.memory_id for c in decay.crossings(rows, as_of, policy)] == [name for _, name in due]
