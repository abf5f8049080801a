"""Translates mem0's filters: users are subjects, runs are sessions, and other fields are attributes.

{"user_id": "ada", "metadata": {"kind": "taste"}, "created_at": {"gte": "2026-01-01"}}
{"AND": [{"user_id": "ada"}, {"run_id": "r1"}]}    {"OR": [{"user_id": "ada"}, {"user_id": "bob"}]}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from memquorum.client.errors import Invalid
from memquorum.client.values import Only

APP = "app_id"
_WHOSE = {"user_id": "subjects", "agent_id": "agents", "run_id": "sessions"}
ENTITIES = (*_WHOSE, APP)
_HOW = {"eq": "$eq", "ne": "$ne", "gt": "$gt", "gte": "$gte", "lt": "$lt", "lte": "$lte", "in": "$in"}
_ANY = "*"


def read(filters: Any) -> Only:
    """Converts filters to those of a search or a list. Raises Invalid for a filter that cannot be expressed here."""
    if filters is None:
        filters = {}
    if not isinstance(filters, Mapping):
        raise Invalid("wrong_type", "filters", "must be an object, as in {'user_id': 'ada'}")
    only: dict[str, Any] = {}
    where: dict[str, dict[str, Any]] = {}
    named = False
    for name, value in _conditions(filters):
        named = named or name in ENTITIES
        if name in _WHOSE:
            _narrow(only, _WHOSE[name], _names(name, value))
        elif name == "created_at":
            only |= _times(value)
        elif name == "metadata":
            for inner, one in _object("metadata", value).items():
                where.setdefault(inner, {}).update(_compared(inner, one))
        elif value != _ANY:
            where.setdefault(name, {}).update(_compared(name, value))
    if not named:
        raise Invalid(
            "missing_field", "filters", f"must name at least one of {', '.join(ENTITIES)}; '*' is any of them"
        )
    if where:
        only["where"] = where
    return cast(Only, only)


def whose(asked: Mapping[str, Any]) -> dict[str, str]:
    """The user, agent, run and app that a call names, as its own fields or as filters. Raises Invalid."""
    inner = asked.get("filters") or {}
    found = {name: asked.get(name, _object("filters", inner).get(name)) for name in ENTITIES}
    for name, value in found.items():
        if value is not None and not isinstance(value, str):
            raise Invalid("wrong_type", name, "must be a text")
    return {name: value for name, value in found.items() if value is not None}


def _conditions(filters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields all conditions that have to hold, as name and value."""
    for name, value in filters.items():
        if name == "AND":
            for one in _list(name, value):
                yield from _conditions(_object(name, one))
        elif name == "OR":
            yield _either(_list(name, value))
        elif name == "NOT":
            raise Invalid("unknown_field", "filters", "NOT is not supported; use {'ne': …} on an attribute")
        elif value is not None:
            yield name, value


def _either(branches: list[Any]) -> tuple[str, Any]:
    """Joins alternatives of one name to one condition of many values."""
    pairs = [pair for one in branches for pair in _object("OR", one).items()]
    names = {name for name, _ in pairs}
    if len(names) != 1 or len(pairs) != len(branches) or not all(isinstance(value, str) for _, value in pairs):
        told = "OR takes alternatives of one name, as [{'user_id': 'ada'}, {'user_id': 'bob'}]; ask twice for others"
        raise Invalid("unknown_field", "filters", told)
    return names.pop(), {"in": [value for _, value in pairs]}


def _names(name: str, value: Any) -> list[str] | None:
    """The requested names; None: any."""
    if value == _ANY:
        return None
    if isinstance(value, Mapping) and set(value) <= {"eq", "in"} and len(value) == 1:
        (value,) = value.values()
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(one, str) for one in found):
        raise Invalid("wrong_type", name, "must be a text, {'in': [texts]} or '*'")
    return found


def _narrow(only: dict[str, Any], field: str, names: list[str] | None) -> None:
    if names is not None:
        there = only.get(field)
        only[field] = names if there is None else [one for one in there if one in names]
        if not only[field]:
            raise Invalid("out_of_range", "filters", "a memory has only one user, agent and run; use OR")


def _compared(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {"$eq": value}
    strange = next((how for how in value if how not in _HOW), None)
    if strange is not None:
        raise Invalid("unknown_field", "filters", f"{name}: {strange} is not supported; {', '.join(_HOW)} are")
    return {_HOW[how]: one for how, one in value.items()}


def _times(value: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for how, one in _object("created_at", value).items():
        if how not in ("gt", "gte", "lt", "lte"):
            raise Invalid("unknown_field", "filters", f"created_at: {how} is not supported; gt, gte, lt, lte are")
        at = _milliseconds(one)
        field, ms = ("since", at + (how == "gt")) if how.startswith("g") else ("until", at + (how == "lte"))
        found[field] = ms
    return found


def _milliseconds(value: Any) -> int:
    try:
        if isinstance(value, int | float):
            return int(value * 1_000)
        at = datetime.fromisoformat(value)
    except (OverflowError, TypeError, ValueError):
        raise Invalid("wrong_type", "filters", "created_at: a time is ISO 8601, as in 2026-01-31") from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1_000)


def _object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Invalid("wrong_type", name, "must be an object")
    return value


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise Invalid("wrong_type", name, "must be a list of filters")
    return value
