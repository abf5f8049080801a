"""Attributes, and conditions on them with whether they hold."""

from __future__ import annotations

from typing import Any

RED = {"colour": "red", "size": 3, "new": True, "gone": None, "tags": ["red"]}
CASES: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"colour": "red"}, True),
    ({"colour": "red", "size": 3.0}, True),
    ({"colour": "red", "size": 4}, False),
    ({"colour": "Red"}, False),
    ({"colour": {"$ne": "blue"}}, True),
    ({"colour": {"$ne": "red"}}, False),
    ({"other": {"$ne": "red"}}, True),
    ({"other": "red"}, False),
    ({"other": None}, False),
    ({"gone": None}, True),
    ({"gone": {"$ne": 0}}, True),
    ({"colour": None}, False),
    ({"new": True}, True),
    ({"new": 1}, False),
    ({"size": True}, False),
    ({"size": "3"}, False),
    ({"size": {"$ne": "3"}}, True),
    ({"size": {"$gt": 2, "$lt": 3.5}}, True),
    ({"size": {"$gte": 3, "$lte": 3}}, True),
    ({"size": {"$gt": 3}}, False),
    ({"colour": {"$gt": "green", "$lt": "\u00e4"}}, True),
    ({"colour": {"$gt": 1}}, False),
    ({"new": {"$gte": 0}}, False),
    ({"gone": {"$lt": 1}}, False),
    ({"size": {"$in": [1, "3", 3]}}, True),
    ({"size": {"$in": [1, "3"]}}, False),
    ({"gone": {"$in": [None]}}, True),
    ({"tags": "red"}, False),
    ({"tags": {"$ne": "red"}}, True),
    ({"tags": {"$in": ["red"]}}, False),
    ({'a "quoted" \\ name': {"$ne": 1}}, True),
]
