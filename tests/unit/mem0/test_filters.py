"""mem0's filters as conditions, and those that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.client.errors import Invalid
from memquorum.mem0 import filters

JANUARY = 1_767_225_600_000


@pytest.mark.parametrize(
    ("asked", "only"),
    [
        ({"user_id": "ada"}, {"subjects": ["ada"]}),
        ({"user_id": "*"}, {}),
        ({"user_id": {"in": ["ada", "bob"]}, "agent_id": None}, {"subjects": ["ada", "bob"]}),
        ({"AND": [{"user_id": "ada"}, {"agent_id": "a"}, {"run_id": "r"}]},
         {"subjects": ["ada"], "agents": ["a"], "sessions": ["r"]}),
        ({"OR": [{"user_id": "ada"}, {"user_id": "bob"}]}, {"subjects": ["ada", "bob"]}),
        ({"AND": [{"user_id": "ada"}, {"OR": [{"user_id": "ada"}, {"user_id": "bob"}]}]}, {"subjects": ["ada"]}),
        ({"app_id": "shop"}, {"where": {"app_id": {"$eq": "shop"}}}),
        ({"user_id": "ada", "metadata": {"kind": "taste", "n": {"gte": 2, "lt": 5}}, "colour": {"in": ["red"]}},
         {"subjects": ["ada"],
          "where": {"kind": {"$eq": "taste"}, "n": {"$gte": 2, "$lt": 5}, "colour": {"$in": ["red"]}}}),
        ({"user_id": "ada", "created_at": {"gte": "2026-01-01", "lt": "2026-01-02T00:00:00Z"}},
         {"subjects": ["ada"], "since": JANUARY, "until": JANUARY + 86_400_000}),
        ({"user_id": "ada", "created_at": {"gt": JANUARY / 1_000, "lte": JANUARY / 1_000 + 1}},
         {"subjects": ["ada"], "since": JANUARY + 1, "until": JANUARY + 1_001}),
    ],
)  # fmt: skip
def test_filters_are_read(asked: dict[str, Any], only: dict[str, Any]) -> None:
    assert filters.read(asked) == only


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (None, "at least one of user_id"),
        ({"metadata": {"kind": "x"}}, "at least one of user_id"),
        ("ada", "must be an object"),
        ({"user_id": 3}, "user_id"),
        ({"user_id": []}, "user_id"),
        ({"NOT": [{"user_id": "ada"}]}, "NOT"),
        ({"OR": [{"user_id": "ada"}, {"run_id": "r"}]}, "of one name"),
        ({"OR": [{"user_id": "ada", "run_id": "r"}]}, "of one name"),
        ({"AND": []}, "list of filters"),
        ({"AND": ["ada"]}, "must be an object"),
        ({"AND": [{"user_id": "ada"}, {"user_id": "bob"}]}, "use OR"),
        ({"user_id": "ada", "kind": {"contains": "x"}}, "contains is not supported"),
        ({"user_id": "ada", "created_at": {"gte": "yesterday"}}, "ISO 8601"),
        ({"user_id": "ada", "created_at": {"like": 3}}, "like is not supported"),
        ({"user_id": "ada", "created_at": "2026"}, "must be an object"),
    ],
)
def test_what_cannot_be_asked_is_said(asked: Any, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        filters.read(asked)


def test_who_is_named_beside_the_fields_or_among_the_filters() -> None:
    assert filters.whose({"user_id": "ada", "filters": {"run_id": "r", "user_id": "bob"}}) == {
        "user_id": "ada",
        "run_id": "r",
    }
    with pytest.raises(Invalid, match="agent_id"):
        filters.whose({"agent_id": 3})
