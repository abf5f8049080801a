"""Requests of retrieve and recall: what is refused names the field, defaults are within the limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memquorum.core.retrieval import requests
from memquorum.core.retrieval.query import BadRequest, Filters, passes, read_search
from memquorum.core.retrieval.requests import Reader, Recall, Retrieve

GOOD = {"query": "where is the key?", "agent": "planner"}
ID = "5f0c8f0e-0000-5000-8000-000000000001"


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_defaults() -> None:
    reader = Reader("default", "planner", False)
    assert requests.read_retrieve(body(GOOD)) == Retrieve(reader, "where is the key?", 2_000, 20, Filters())
    assert requests.read_recall(body({"memory_id": ID.upper(), "peek": True})) == Recall(
        Reader("default", None, True), ID, None, None, None, 3, 5, 2, 2, 0, 2_000, Filters()
    )


def test_hops() -> None:
    assert (requests.read_retrieve(body(GOOD)).hops, requests.read_retrieve(body(GOOD | {"hops": 2})).hops) == (1, 2)


def test_a_recall_from_a_goal_or_an_entity_begins_at_more_memories() -> None:
    for asked, anchors in (
        (GOOD, 3),
        ({"goal": "sow", "peek": True}, 20),
        ({"goal": "s", "peek": True, "anchors": 2}, 2),
        ({"entity": "Grace Hopper", "peek": True}, 20),
    ):
        assert requests.read_recall(body(asked)).anchors == anchors


def test_filters() -> None:
    few = {"agents": ["ann", "bob"], "subjects": ["eve"], "sessions": ["s1"], "tiers": ["long-term"]}
    asked = GOOD | few | {"since": 1, "until": 9}
    wanted = Filters(("long-term",), ("ann", "bob"), ("eve",), ("s1",), 1, 9)
    assert requests.read_retrieve(body(asked)).filters == wanted


def test_filters_of_what_a_memory_may_be_used_for() -> None:
    named = {"types": ["task"], "sensitivity_max": 0.3, "purpose": "billing", "jurisdictions": ["DE", "US-CA"]}
    expected = Filters(types=("task",), sensitivity_max=300_000, purpose="billing", jurisdictions=("DE", "US-CA"))
    assert requests.read_retrieve(body(GOOD | named)).filters == expected
    assert requests.read_recall(body(GOOD | named)).filters == expected
    assert read_search(body(GOOD | named)).filters == expected


@pytest.mark.parametrize("read", [requests.read_retrieve, requests.read_recall, read_search])
@pytest.mark.parametrize(
    ("named", "code", "field"),
    [
        ({"types": ["dream"]}, "out_of_range", "types"),
        ({"types": []}, "out_of_range", "types"),
        ({"sensitivity_max": 1.01}, "out_of_range", "sensitivity_max"),
        ({"sensitivity_max": -0.01}, "out_of_range", "sensitivity_max"),
        ({"sensitivity_max": "0.5"}, "wrong_type", "sensitivity_max"),
        ({"purpose": "a,b"}, "bad_name", "purpose"),
        ({"purpose": ""}, "bad_name", "purpose"),
        ({"jurisdictions": ["de"]}, "bad_name", "jurisdictions"),
        ({"jurisdictions": ["DE"] * 101}, "out_of_range", "jurisdictions"),
        ({"agents": [""]}, "bad_name", "agents"),
        ({"since": 5, "until": 5}, "out_of_range", "until"),
    ],
)
def test_a_filter_that_is_refused_is_named(read: Callable[[bytes], Any], named: Any, code: str, field: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read(body(GOOD | named))
    assert (caught.value.code, caught.value.field) == (code, field)


@pytest.mark.parametrize(
    ("value", "code", "field"),
    [
        ({"query": "q"}, "missing_field", "agent"),
        (GOOD | {"query": " "}, "empty_value", "query"),
        (GOOD | {"budget_tokens": 0}, "out_of_range", "budget_tokens"),
        (GOOD | {"budget_tokens": 100_001}, "out_of_range", "budget_tokens"),
        (GOOD | {"k_max": 101}, "out_of_range", "k_max"),
        (GOOD | {"hops": 3}, "out_of_range", "hops"),
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
        (GOOD | {"memory_id": ID}, "too_many", "memory_id"),
        (GOOD | {"entity": "Ada"}, "too_many", "memory_id"),
        ({"agent": "ann", "entity": " "}, "bad_name", "entity"),
        ({"memory_id": "x", "peek": True}, "bad_id", "memory_id"),
        (GOOD | {"steps": 51}, "out_of_range", "steps"),
        (GOOD | {"links": 11}, "out_of_range", "links"),
        (GOOD | {"hops": 5}, "out_of_range", "hops"),
        (GOOD | {"anchors": 0}, "out_of_range", "anchors"),
        (GOOD | {"within_ms": -1}, "out_of_range", "within_ms"),
    ],
)
def test_a_recall_that_is_refused_names_the_field(value: Any, code: str, field: str) -> None:
    with pytest.raises(BadRequest) as caught:
        requests.read_recall(body(value))
    assert (caught.value.code, caught.value.field) == (code, field)


@pytest.mark.parametrize(
    ("gates", "memory", "given"),
    [
        (Filters(), {}, True),
        (Filters(), {"sensitivity": 1.0, "jurisdictions": ("DE",)}, True),
        (Filters(), {"purposes": ("billing",)}, False),
        (Filters(purpose="billing"), {"purposes": ("audits", "billing")}, True),
        (Filters(purpose="bill"), {"purposes": ("billing",)}, False),
        (Filters(purpose="billing"), {"purposes": ()}, False),
        (Filters(sensitivity_max=300_000), {"sensitivity": 0.3}, True),
        (Filters(sensitivity_max=300_000), {"sensitivity": 0.300001}, False),
        (Filters(sensitivity_max=0), {"sensitivity": 0.000001}, False),
        (Filters(jurisdictions=("FR", "DE")), {"jurisdictions": ("DE",)}, True),
        (Filters(jurisdictions=("DE",)), {"jurisdictions": ("DE", "FR")}, False),
        (Filters(jurisdictions=("DE",)), {}, True),
    ],
)
def test_what_is_asked_for_by_id_passes_or_does_not(gates: Filters, memory: dict[str, Any], given: bool) -> None:
    plain: dict[str, Any] = {"sensitivity": 0.0, "purposes": None, "jurisdictions": ()}
    assert passes(gates, **(plain | memory)) is given
