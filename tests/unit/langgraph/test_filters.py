"""A filter's two halves: what the service is asked, and what is compared here."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.client.errors import Invalid
from memquorum.core.retrieval import filing
from memquorum.langgraph.filters import halves

VALUE = {"text": "long " * 100, "n": 3, "tags": ["a", 1], "deep": {"x": 1}, "on": True, "none": None}


def test_scalars_are_asked_of_the_service() -> None:
    found = halves({"n": 3, "kind": {"$ne": "a"}, "size": {"$gte": 1, "$lt": 5}, "on": {"$in": [True, None]}})
    assert found.here == {}
    assert found.where == {
        "n": {"$eq": 3}, "kind": {"$ne": "a"}, "size": {"$gte": 1, "$lt": 5}, "on": {"$in": [True, None]},
    }  # fmt: skip
    assert filing.read(found.where)


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ({"tags": ["a", 1]}, True),
        ({"tags": ["a", True]}, False),
        ({"tags": {"$ne": ["a"]}}, True),
        ({"deep": {"x": 1}}, True),
        ({"deep": {"x": 1, "y": 2}}, False),
        ({"text": "long " * 100}, True),
        ({"text": {"$gt": "k" * 300}}, True),
        ({"text": {"$in": ["a", "long " * 100]}}, True),
        ({" odd": 1}, False),
        ({"missing": {"$ne": [1]}}, True),
        ({"$": 1}, False),
    ],
)
def test_what_is_in_no_attribute_is_compared_here(asked: dict[str, Any], holds: bool) -> None:
    found = halves(asked)
    assert (found.where, found.holds(VALUE)) == ({}, holds)


def test_what_is_not_among_the_fields_that_are_named_is_compared_here() -> None:
    found = halves({"n": {"$gt": 2}, "on": True}, ["on"])
    assert (found.where, found.holds(VALUE)) == ({"on": {"$eq": True}}, True)
    assert not halves({"n": {"$gt": 3}}, []).holds(VALUE)
    assert not halves({"n": {"$gt": "2"}}, []).holds(VALUE)
    assert halves({"n": {"$lte": 3.0}}, []).holds(VALUE)


@pytest.mark.parametrize(
    "asked", [{"n": {"$like": 1}}, {"n": {"$gt": None}}, {"n": {"$in": 3}}, {"n": {"$gt": 1, "x": 2}}]
)
def test_what_is_no_condition_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        halves(asked)
