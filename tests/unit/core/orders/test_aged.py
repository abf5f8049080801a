"""Orders by age: one writing, what a rule asks for and when, and whether an order says what its rule says."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.identity.membership import CONSOLIDATOR, GenesisError
from memquorum.core.orders import aged
from memquorum.core.orders.aged import CLOCKS_MS, Aged, BadAge
from memquorum.core.policy import ErasePolicy, Policy, PolicyError, age_ms, retention
from tests.builders import genesis
from tests.builders.erasures import entitled

DAY = 86_400_000
NOW = 1_750_000_000_000


def ruled(erase: str, every_ms: int = DAY) -> Policy:
    return Policy(erase=ErasePolicy(erase, every_ms))


@pytest.mark.parametrize(
    ("types", "before", "value"),
    [
        (("task", "episodic"), 1_756_252_800_000, "episodic,task before 2025-08-27T00:00:00.000Z"),
        ((), 7, "episodic,semantic,social,task before 1970-01-01T00:00:00.007Z"),
        (("social", "social"), 1_756_252_800_123, "social before 2025-08-27T00:00:00.123Z"),
    ],
)
def test_an_age_has_one_writing(types: tuple[str, ...], before: int, value: str) -> None:
    assert aged.written(types, before) == value
    assert aged.read(value).before == before
    assert set(aged.read(value).types) == set(types or aged.read(value).types)


@given(st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_000)))
def test_a_moment_is_written_as_the_calendar_has_it(at: datetime) -> None:
    ms = (at - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
    value = aged.written(("task",), ms)
    assert value == f"task before {at.isoformat(timespec='milliseconds')}Z"
    assert aged.read(value) == Aged(("task",), ms)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("", "before"),
        ("episodic", "before"),
        ("episodic before", "before"),
        ("episodic before yesterday", "before"),
        ("episodic before 2025-08-27T00:00:00", "before"),
        (" before 2025-08-27T00:00:00.000Z", "types"),
        ("dreams before 2025-08-27T00:00:00.000Z", "types"),
        ("task,episodic before 2025-08-27T00:00:00.000Z", "types"),
        ("episodic,episodic before 2025-08-27T00:00:00.000Z", "types"),
        ("episodic before 2025-08-27T02:00:00.000+02:00", "before"),
        ("episodic before 2025-02-30T00:00:00.000Z", "before"),
        ("episodic before 2025-00-10T00:00:00.000Z", "before"),
        ("episodic before 2025-13-10T00:00:00.000Z", "before"),
        ("episodic before 2025-01-10T24:00:00.000Z", "before"),
        ("episodic before 2025-08-27", "before"),
        ("episodic before 1969-08-27T00:00:00.000Z", "before"),
    ],
)
def test_what_is_written_otherwise_is_refused_by_its_field(value: str, field: str) -> None:
    with pytest.raises(BadAge) as wrong:
        aged.read(value)
    assert wrong.value.field == field


@pytest.mark.parametrize(
    ("types", "before", "field"), [(("dreams",), 5, "types"), ((), -1, "before"), ((), 2**60, "before")]
)
def test_what_is_no_age_is_not_written(types: tuple[str, ...], before: int, field: str) -> None:
    with pytest.raises(BadAge) as wrong:
        aged.written(types, before)
    assert wrong.value.field == field


def test_a_summary_has_no_age_of_its_own() -> None:
    named = Aged(("episodic",), NOW)
    assert named.covers("ada", "episodic", NOW - 1)
    assert not named.covers("ada", "episodic", NOW)
    assert not named.covers("ada", "task", 0)
    assert not named.covers("ada", None, 0) and not named.covers("ada", "episodic", None)
    assert not named.covers(CONSOLIDATOR, "episodic", NOW - 1)


def test_a_rule_asks_for_what_was_too_old_at_the_last_whole_turn() -> None:
    policy = ruled("team-*=episodic:2d,social:2d,task:3d *=semantic:1h")
    at = 20_000 * DAY
    for now in (at, at + DAY - 1):
        assert aged.due(policy, "team-a", now) == [
            Aged(("episodic", "social"), at - 2 * DAY), Aged(("task",), at - 3 * DAY),
        ]  # fmt: skip
    assert aged.due(policy, "elsewhere", at + 5) == [Aged(("semantic",), at - 3_600_000)]
    assert aged.due(ruled("team-*=episodic:2d"), "elsewhere", at) == []
    assert aged.due(policy, "team-a", DAY) == [], "before any time there is"


def test_an_order_says_no_more_than_its_rule() -> None:
    policy = ruled("team-*=episodic:2d,task:3d")
    of = ("episodic",)
    assert aged.borne_out(policy, "team-a", Aged(of, NOW - 2 * DAY), NOW)
    assert aged.borne_out(policy, "team-a", Aged(of, NOW - 2 * DAY), NOW - CLOCKS_MS)
    assert not aged.borne_out(policy, "team-a", Aged(of, NOW - 2 * DAY), NOW - CLOCKS_MS - 1)
    assert not aged.borne_out(policy, "team-a", Aged(("episodic", "task"), NOW - 2 * DAY), NOW)
    assert not aged.borne_out(policy, "team-a", Aged(("social",), 0), NOW)
    assert not aged.borne_out(policy, "elsewhere", Aged(of, 0), NOW)


@pytest.mark.parametrize(("text", "ms"), [("30m", 1_800_000), ("12h", 12 * 3_600_000), ("90d", 90 * DAY)])
def test_an_age_is_read_as_people_write_it(text: str, ms: int) -> None:
    assert age_ms(text) == ms


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1.5d", "90 d", "1y", "9999999999d", "\u0661d"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no age"):
        age_ms(text)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("greenhouse", "is not NAMESPACE=TYPE:AGE"),
        ("greenhouse=", "is not NAMESPACE=TYPE:AGE"),
        ("=episodic:1d", "is not NAMESPACE=TYPE:AGE"),
        ("te*am=episodic:1d", "is not NAMESPACE=TYPE:AGE"),
        ("a/b=episodic:1d", "is not NAMESPACE=TYPE:AGE"),
        ("greenhouse=dreams:1d", "names no type with 'dreams'"),
        ("greenhouse=episodic", "is no age"),
        ("greenhouse=episodic:-1d", "is no age"),
        ("greenhouse=episodic:1d,episodic:2d", "names episodic twice"),
        ("greenhouse=episodic:0d", "between one minute and a thousand years"),
        ("greenhouse=episodic:365001d", "between one minute and a thousand years"),
        ("greenhouse=episodic:1d,", "names no type with ''"),
    ],
)
def test_a_rule_that_is_none_is_refused_and_named(told: str, why: str) -> None:
    with pytest.raises(PolicyError, match=r"erase\.after: .*" + why):
        ruled(f"team-*=task:1d {told}")


def test_a_policy_that_looks_without_end_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"erase\.every_ms"):
        ruled("team-*=task:1d", every_ms=59_999)


def test_without_a_rule_nothing_has_an_age() -> None:
    assert retention(Policy().erase) == ()


def test_a_rule_whose_orders_nobody_could_give_is_refused() -> None:
    policy = ruled("*=task:1d")
    assert genesis.make(policy=policy, **entitled()).policy.erase == policy.erase
    with pytest.raises(GenesisError, match=r"erase\.after: the rule needs the service erasure"):
        genesis.make(policy=policy)
