"""Requests of retrieve and recall: what is refused names the field, defaults are within the limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memquorum.core.retrieval import requests
from memquorum.core.retrieval.query import BadRequest, Filters
from memquorum.core.retrieval.requests import Reader, Recall, Retrieve

GOOD = {"query": "where is the key?", "agent": "planner"}
ID = "5f0c8f0e-0000-5000-8000-000000000001"


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_defaults() -> None:
    reader = Reader("default", "planner", False)
    assert requests.read_retrieve(body(GOOD)) == Retrieve(reader, "where is the key?", 2_000, 20, Filters())
    assert requests.read_recall(body({"memory_id": ID.upper(), "peek": True})) == Recall(
        Reader("default", None, True), ID, None, 3, 5, 0, 2_000
    )


def test_filters() -> None:
    asked = GOOD | {"agents": ["ann", "bob"], "sessions": ["s1"], "tiers": ["long-term"], "since": 1, "until": 9}
    assert requests.read_retrieve(body(asked)).filters == Filters(("long-term",), ("ann", "bob"), ("s1",), 1, 9)


@pytest.mark.parametrize(
    ("value", "code", "field"),
    [
        ({"query": "q"}, "missing_field", "agent"),
        (GOOD | {"query": " "}, "empty_value", "query"),
        (GOOD | {"budget_tokens": 0}, "out_of_range", "budget_tokens"),
        (GOOD | {"budget_tokens": 100_001}, "out_of_range", "budget_tokens"),
        (GOOD | {"k_max": 101}, "out_of_range", "k_max"),
        (GOOD | {"k": 3}, "unknown_field", "k"),
        (GOOD | {"agents": "ann"}, "wrong_type", "agents"),
        (GOOD | {"agents": ["ann", 3]}, "wrong_type", "agents"),
        (GOOD | {"agents": []}, "out_of_range", "agents"),
        (GOOD | {"agents": [""]}, "bad_name", "agents"),
        (GOOD | {"sessions": ["s"] * 101}, "out_of_range", "sessions"),
        (GOOD | {"tiers": ["sealed"]}, "out_of_range", "tiers"),
        (GOOD | {"tiers": []}, "out_of_range", "tiers"),
        (GOOD | {"since": 5, "until": 5}, "out_of_range", "until"),
        (GOOD | {"namespace": "a/b"}, "bad_name", "namespace"),
    ],
)
def test_a_retrieval_that_is_refused_names_the_field(value: Any, code: str, field: str) -> None:
    with pytest.raises(BadRequest) as caught:
        requests.read_retrieve(body(value))
    assert (caught.value.code, caught.value.field) == (code, field)


@pytest.mark.parametrize(
    ("value", "code", "field"),
    [
        ({"peek": True}, "missing_field", "memory_id"),
        (GOOD | {"memory_id": ID}, "missing_field", "memory_id"),
        ({"memory_id": "x", "peek": True}, "bad_id", "memory_id"),
        (GOOD | {"steps": 51}, "out_of_range", "steps"),
        (GOOD | {"anchors": 0}, "out_of_range", "anchors"),
        (GOOD | {"within_ms": -1}, "out_of_range", "within_ms"),
    ],
)
def test_a_recall_that_is_refused_names_the_field(value: Any, code: str, field: str) -> None:
    with pytest.raises(BadRequest) as caught:
        requests.read_recall(body(value))
    assert (caught.value.code, caught.value.field) == (code, field)
