"""Requests for a context: what is refused names the field, defaults are within the limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memquorum.core.retrieval.context import ContextAsked, read_context
from memquorum.core.retrieval.query import BadRequest, Filters
from memquorum.core.retrieval.requests import Reader
from memquorum.core.retrieval.working import Frame

GOOD = {"agent": "planner", "query": "where is the key?"}


def read(value: Any) -> ContextAsked:
    return read_context(json.dumps(value).encode())


def test_defaults() -> None:
    reader = Reader("default", "planner", False)
    frame = Frame(2_000, 0.5, 20, session=False)
    assert read(GOOD) == ContextAsked(reader, "planner", None, "where is the key?", frame)


def test_hops() -> None:
    assert (read(GOOD).hops, read(GOOD | {"hops": 2}).hops) == (1, 2)


def test_what_may_be_read() -> None:
    found = read(GOOD | {"sensitivity_max": 0.29, "purpose": "billing", "jurisdictions": ["DE"]})
    assert found.filters == Filters(sensitivity_max=290_000, purpose="billing", jurisdictions=("DE",))


def test_without_a_query_the_buffer_has_the_whole_budget() -> None:
    found = read({"agent": "planner", "session": "s1", "peek": True, "budget_tokens": 9, "buffer_share": 0.1})
    assert found == ContextAsked(
        Reader("default", "planner", True), "planner", "s1", None, Frame(9, 1.0, 20, session=True)
    )


@pytest.mark.parametrize(
    ("value", "code", "field"),
    [
        ({"query": "q", "peek": True}, "missing_field", "agent"),
        (GOOD | {"agent": ""}, "bad_name", "agent"),
        (GOOD | {"query": " "}, "empty_value", "query"),
        (GOOD | {"session": ""}, "bad_name", "session"),
        (GOOD | {"budget_tokens": 0}, "out_of_range", "budget_tokens"),
        (GOOD | {"buffer_share": 1.01}, "out_of_range", "buffer_share"),
        (GOOD | {"buffer_share": -0.01}, "out_of_range", "buffer_share"),
        (GOOD | {"k_max": 101}, "out_of_range", "k_max"),
        (GOOD | {"hops": 0}, "out_of_range", "hops"),
        (GOOD | {"namespace": "a/b"}, "bad_name", "namespace"),
        (GOOD | {"sensitivity_max": 2}, "out_of_range", "sensitivity_max"),
        (GOOD | {"purpose": "a b"}, "bad_name", "purpose"),
        (GOOD | {"jurisdictions": ["Germany"]}, "bad_name", "jurisdictions"),
    ],
)
def test_what_is_refused_names_the_field(value: Any, code: str, field: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read(value)
    assert (caught.value.code, caught.value.field) == (code, field)
