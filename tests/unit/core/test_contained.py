"""A rule that raises spoils its own answer alone, and what is away is no rule's fault."""

from __future__ import annotations

import logging

import pytest

from memquorum.core.contained import KEPT_MOST, Failed, Failures, attempt
from memquorum.ports import StoreUnavailable, VaultUnavailable
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.health import Health


def raising(error: BaseException) -> str:
    raise error


@pytest.mark.parametrize(
    "error", [ValueError("secret"), RecursionError(), AssertionError(), UnicodeError(), KeyError()]
)
def test_what_a_rule_raises_becomes_its_answer(error: Exception) -> None:
    found = attempt("agreement", ["m1", "m2"], raising, error)
    assert found == Failed("agreement", ("m1", "m2"), type(error).__name__)
    failures = Failures()
    assert failures.answer("agreement", ["m1"], "default", raising, error) == "default"
    assert failures.told() == {Failed("agreement", ("m1",), type(error).__name__): 1}
    assert not failures.told()


@pytest.mark.parametrize(
    "error", [MemoryError(), KeyboardInterrupt(), SystemExit(), VaultUnavailable("away"), StoreUnavailable("away")]
)
def test_what_is_no_rules_fault_is_raised(error: BaseException) -> None:
    failures = Failures()
    with pytest.raises(type(error)):
        failures.answer("agreement", ["m1"], None, raising, error)
    assert not failures.told()


def test_a_rule_that_does_not_fail_answers() -> None:
    assert Failures().answer("agreement", ["m1"], 0, len, "text") == 4


def test_failures_are_counted_and_bounded() -> None:
    failures = Failures()
    for at in range(KEPT_MOST):
        failures.answer("agreement", [f"m{at % 2}"], None, raising, ValueError())
    failures.answer("agreement", ["m0"], None, raising, ValueError())
    assert failures.told() == {
        Failed("agreement", ("m0",), "ValueError"): KEPT_MOST // 2,
        Failed("agreement", ("m1",), "ValueError"): KEPT_MOST // 2,
    }


def test_each_is_counted_logged_once_and_named_in_an_alarm(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry()
    stage = telemetry.stage("salience")
    failures = Failures()
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            failures.answer("agreement", ["bad", "good"], None, raising, ValueError("the words of a text"))
            stage.contained(failures.told())
    assert [record.getMessage() for record in caplog.records] == [
        "salience: rule agreement failed on memory bad: ValueError",
        "salience: rule agreement failed on memory good: ValueError",
    ]
    assert telemetry.meters.failed_rules.labels("salience", "agreement")._value.get() == 3
    _, told = telemetry.health.able()
    (alarm,) = told["alarms"].values()  # type: ignore[attr-defined]
    assert "memory bad (agreement: ValueError)" in alarm
    assert "words" not in alarm


def test_an_alarm_is_over_some_time_after_it_was_raised_last() -> None:
    now = [0.0]
    health = Health(lambda: now[0])
    health.alarm("rules", "memory m", lasts_s=60)
    now[0] += 59
    assert "alarms" in health.able()[1]
    health.alarm("rules", "memory m", lasts_s=60)
    now[0] += 59
    assert "alarms" in health.able()[1]
    now[0] += 2
    assert "alarms" not in health.able()[1]
