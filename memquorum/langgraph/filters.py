"""Splits a filter of LangGraph in two: conditions on attributes, which the service evaluates, and conditions evaluated
here, item by item.

The service compares scalars. Objects, lists, long texts and fields that are in no attribute are compared here, by the
same rules: only values of one kind are comparable, and a missing value equals nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from memquorum.client import items
from memquorum.client.errors import Invalid
from memquorum.core.retrieval.filing import OPERATORS, ORDERS, kind

_ABSENT = object()


class Halves(NamedTuple):
    """`where`: the conditions for the service. `here`: field → conditions, each as operator and value."""

    where: dict[str, dict[str, Any]]
    here: dict[str, list[tuple[str, Any]]]

    def holds(self, value: Mapping[str, Any]) -> bool:
        """True if the conditions evaluated here hold for a value."""
        return all(
            _holds(value.get(name, _ABSENT), how, other)
            for name, conditions in self.here.items()
            for how, other in conditions
        )


def halves(asked: Mapping[str, Any] | None, filterable: Collection[str] | None = None) -> Halves:
    """Splits a filter. `filterable`: the fields that are in attributes; None: all scalar fields. Raises Invalid."""
    found = Halves({}, {})
    for name, said in (asked or {}).items():
        there = filterable is None or name in filterable
        for how, value in _conditions(name, said):
            each = value if how == "$in" else [value]
            if there and all(items.filterable(name, one) for one in each):
                found.where.setdefault(name, {})[how] = value
            else:
                found.here.setdefault(name, []).append((how, value))
    return found


def _conditions(name: str, said: object) -> list[tuple[str, Any]]:
    if not isinstance(said, Mapping) or not any(str(how).startswith("$") for how in said):
        return [("$eq", said)]
    for how, value in said.items():
        if how not in OPERATORS:
            raise Invalid("out_of_range", "filter", f"{name}: an operator must be one of {', '.join(OPERATORS)}")
        if how == "$in" and not isinstance(value, list | tuple):
            raise Invalid("wrong_type", "filter", f"{name}: $in takes a list")
        if how in ORDERS and (isinstance(value, bool) or not isinstance(value, str | int | float)):
            raise Invalid("wrong_type", "filter", f"{name}: {how} takes a number or a text")
    return [(how, list(value) if how == "$in" else value) for how, value in said.items()]


def _holds(value: object, how: str, other: Any) -> bool:
    if how == "$ne":
        return not _equal(value, other)
    if how == "$in":
        return any(_equal(value, one) for one in other)
    if how == "$eq":
        return _equal(value, other)
    return kind(value) == kind(other) and ORDERS[how][1](value, other)


def _equal(value: object, other: object) -> bool:
    if isinstance(value, list) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_equal, value, other))
    if isinstance(value, dict) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(_equal(value[name], one) for name, one in other.items())
    return kind(value) == kind(other) and value == other
