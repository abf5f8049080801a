"""Conditions on path and attributes: what may be asked, and what of a memory at hand holds."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.core.retrieval import filing
from tests.builders.filed import CASES, RED


@pytest.mark.parametrize(("where", "expected"), CASES, ids=map(str, range(len(CASES))))
def test_scalars_are_compared_with_their_own_kind_alone(where: dict[str, Any], expected: bool) -> None:
    assert filing.passes(None, filing.read(where), filed=None, attributes=RED) is expected


def test_a_path_has_what_is_below_it_by_whole_segments() -> None:
    for filed, expected in (("users/ada", True), ("users/ada/notes", True), ("users/adam", False), ("users", False)):
        assert filing.below("users/ada", filed) is expected
    assert not filing.below("users/ad", "users/ada") and not filing.below("users/ada", None)


def test_what_is_filed_elsewhere_does_not_pass() -> None:
    assert filing.passes("users/ada", (), filed="users/ada/notes", attributes=None)
    assert not filing.passes("users/ada", (), filed="users/adam", attributes=None)
    assert not filing.passes("users/ada", filing.read({"a": 1}), filed="users/ada", attributes=None)


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ({"a": {"$like": "b"}}, "out_of_range"),
        ({"a": {"b": 1}}, "out_of_range"),
        ({"a": {}}, "empty_value"),
        ({"a": []}, "wrong_type"),
        ({"a": {"$in": 1}}, "wrong_type"),
        ({"a": {"$in": []}}, "wrong_type"),
        ({"a": {"$in": [[1]]}}, "wrong_type"),
        ({"a": {"$gt": None}}, "wrong_type"),
        ({"a": {"$gt": True}}, "wrong_type"),
        ({"a": float("inf")}, "out_of_range"),
        ({"a": "\0"}, "forbidden_character"),
        ({"a": "x" * 4_097}, "too_long"),
        ({"": 1}, "bad_name"),
        ({f"a{n}": n for n in range(33)}, "too_many"),
    ],
)
def test_what_no_condition_can_be_is_refused_and_says_why(where: dict[str, Any], code: str) -> None:
    with pytest.raises(filing.BadCondition) as caught:
        filing.read(where)
    assert caught.value.code == code and caught.value.detail
