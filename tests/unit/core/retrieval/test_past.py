"""The best hits in the order of the time that a question asks about."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.api.answers import Hit
from memquorum.core.moments import read
from memquorum.core.reading.times import AFTER, AT, BEFORE, DURING, FIRST, TURN, WAS, AskedTime, Span
from memquorum.core.retrieval.past import HEAD, in_time

ANCHOR, REST = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


def ms(day: str) -> int:
    found = read(f"{day}T12:00:00.000Z")
    assert found is not None
    return found


def hit(name: str, day: str, score: float = 0.5) -> Hit:
    return Hit(name, name, "short-term", "a", ms(day), 0, 0, 0.5, score)


# Statements about the door's code, about the move, and about the code again.
FIRST_CODE, SECOND_CODE = hit("first", "2024-01-10"), hit("second", "2024-03-18")
MOVE, LAST_CODE = hit("move", "2024-06-01"), hit("last", "2024-07-02", 0.6)
HITS = [LAST_CODE, MOVE, FIRST_CODE, SECOND_CODE]
VECTORS = {name: np.array([0.3, 0.9], np.float32) for name in ("first", "second", "last")} | {
    "move": np.array([0.95, 0.2], np.float32)
}


def ordered(asked: AskedTime) -> list[str]:
    anchor, rest = ANCHOR if asked.anchor else None, REST if asked.rest else None
    return [one.memory_id for one in in_time(asked, HITS, VECTORS, anchor, rest)]


@pytest.mark.parametrize(("asked", "expected"), [
    (AskedTime(BEFORE, "the move", "code"), ["second", "first", "last", "move"]),
    (AskedTime(AFTER, "the move", "code"), ["last", "move", "first", "second"]),
    (AskedTime(DURING, "we moved", "code"), ["second", "first", "last", "move"]),
    (AskedTime(AT, rest="code", span=Span(2024, 2, 2)), ["first", "last", "move", "second"]),
    (AskedTime(AT, rest="code", span=Span(None, 3, 3, 18)), ["second", "first", "last", "move"]),
    (AskedTime(BEFORE, rest="code", span=Span(2024, 3, 3)), ["first", "last", "move", "second"]),
    (AskedTime(AFTER, rest="code", span=Span(2024, 1, 1)), ["second", "last", "move", "first"]),
    (AskedTime(WAS, rest="code"), ["second", "first", "last", "move"]),
    (AskedTime(FIRST, rest="code"), ["first", "second", "last", "move"]),
    (AskedTime(TURN, rest="code"), ["second", "last", "first", "move"]),
])  # fmt: skip
def test_what_was_said_by_then_comes_first(asked: AskedTime, expected: list[str]) -> None:
    assert ordered(asked) == expected


@pytest.mark.parametrize("span", [Span(2019), Span(2030, 5, 5), Span(2024, 2, 2, 31)])
def test_a_date_before_or_behind_all_that_was_said_orders_nothing(span: Span) -> None:
    assert ordered(AskedTime(AT, rest="code", span=span)) == ["last", "move", "first", "second"]


def test_a_month_without_a_year_is_the_last_one_that_has_begun() -> None:
    old, new = hit("old", "2023-11-05"), hit("new", "2024-02-05", 0.6)
    found = in_time(AskedTime(AT, span=Span(None, 12, 12)), [new, old], {}, None, None)
    assert [one.memory_id for one in found] == ["old", "new"]


def test_one_hit_and_what_stands_behind_the_head_stay() -> None:
    assert in_time(AskedTime(WAS), HITS[:1], {}, None, None) == HITS[:1]
    many = [hit(str(n), f"2024-01-{n + 1:02}") for n in range(HEAD + 3)]
    assert in_time(AskedTime(FIRST), many, {}, None, None)[HEAD:] == many[HEAD:]


@given(
    st.sampled_from([BEFORE, AFTER, DURING, AT, WAS, FIRST, TURN]),
    st.builds(
        Span, st.none() | st.integers(1900, 2099), st.none() | st.integers(1, 12), st.none() | st.integers(1, 14)
    ),
    st.lists(st.integers(0, 2_000_000_000_000), max_size=12),
)
def test_no_hit_is_lost(sort: str, span: Span, times: list[int]) -> None:
    hits = [Hit(str(n), "", "short-term", "a", at, 0, 0, 0.5, 0.5) for n, at in enumerate(times)]
    found = in_time(AskedTime(sort, span=span if sort in (BEFORE, AFTER, AT) else None), hits, {}, None, None)
    assert sorted(one.memory_id for one in found) == sorted(one.memory_id for one in hits)


def test_what_was_replaced_is_put_in_order_and_of_another_matter_left_out() -> None:
    many = [hit(f"other{n}", "2024-02-02", 0.4) for n in range(HEAD)]
    away = hit("away", "2024-05-05", 0.1)
    hits = [LAST_CODE, MOVE, *many, FIRST_CODE, SECOND_CODE, away]
    vectors = VECTORS | {"away": np.array([-0.9, 0.1], np.float32)}
    vectors |= {one.memory_id: np.array([0.5, 0.3], np.float32) for one in many}
    replaced = {"first", "second", "away"}
    found = in_time(AskedTime(WAS, rest="code"), hits, vectors, None, REST, replaced=replaced)
    assert [one.memory_id for one in found[:3]] == ["second", "first", "last"]
    assert {one.memory_id for one in found} == {one.memory_id for one in hits} - {"away"}
    event = AskedTime(BEFORE, "the move", "code")
    moved = in_time(event, [LAST_CODE, FIRST_CODE, MOVE], VECTORS, ANCHOR, REST, replaced={"move", "first"})
    assert [one.memory_id for one in moved] == ["first", "last", "move"], "the event itself was replaced"


def test_where_the_latest_was_replaced_it_is_what_was_before() -> None:
    both = [FIRST_CODE, SECOND_CODE]
    found = in_time(AskedTime(WAS, rest="code"), both, VECTORS, None, REST, replaced={"first", "second"})
    assert [one.memory_id for one in found] == ["second", "first"]


def test_one_that_was_replaced_is_given_alone() -> None:
    alone = in_time(AskedTime(WAS, rest="code"), [FIRST_CODE], VECTORS, None, REST, replaced={"first"})
    assert alone == [FIRST_CODE]
