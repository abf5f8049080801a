"""Filters memories by path and attributes: `{"colour": "red", "size": {"$gte": 3}}`, all of which must hold.

Operators are `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte` and `$in`; a value alone means `$eq`. Scalars are compared, and
with their own kind alone: numbers by value, texts by their characters' numbers. A missing attribute, an object or an
array equals no value: only `$ne` matches it. `jsonpath` builds the store's filter, and `passes` applies it to a loaded
memory; a test holds the two equal.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core import labelling, names

CONDITIONS_MOST = 32
VALUES_MOST = 100
TEXT_MOST = 4096
Scalar = str | int | float | bool | None
ORDERS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "$gt": (">", operator.gt), "$gte": (">=", operator.ge), "$lt": ("<", operator.lt), "$lte": ("<=", operator.le),
}  # fmt: skip
OPERATORS = ("$eq", "$ne", *ORDERS, "$in")


class BadCondition(ValueError):
    """Raised for an invalid condition, with a reason code of intake and advice."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


class Condition(Struct, frozen=True):
    """A condition on an attribute. `values`: one, or of `$in` several."""

    name: str
    operator: str
    values: tuple[Scalar, ...]


def read(where: Mapping[str, Any]) -> tuple[Condition, ...]:
    """The conditions that a request names. Raises BadCondition."""
    found = list[Condition]()
    for name, said in where.items():
        if (fault := names.name_fault(name)) is not None:
            raise BadCondition(fault.code, f"the name of an attribute: {fault.detail}")
        asked = said if isinstance(said, dict) else {"$eq": said}
        if not asked:
            raise BadCondition("empty_value", "an attribute with no condition; send a value, or operators")
        found += [_condition(names.normal(name), how, value) for how, value in asked.items()]
    if len(found) > CONDITIONS_MOST:
        raise BadCondition("too_many", f"{len(found)} conditions; {CONDITIONS_MOST} are the most")
    return tuple(found)


def _condition(name: str, how: str, value: object) -> Condition:
    if how not in OPERATORS:
        raise BadCondition("out_of_range", f"an operator must be one of {', '.join(OPERATORS)}")
    values: Sequence[object] = (value,)
    if how == "$in":
        if not isinstance(value, list) or not 1 <= len(value) <= VALUES_MOST:
            raise BadCondition("wrong_type", f"$in takes an array of 1 to {VALUES_MOST} values")
        values = value
    said = tuple(_scalar(how, one) for one in values)
    if how in ORDERS:
        return Condition(name, how, tuple(names.normal(one) if isinstance(one, str) else one for one in said))
    # An earlier release stored texts as they came.
    spelled = (spelling for one in said for spelling in (names.spellings(one) if isinstance(one, str) else (one,)))
    return Condition(name, how, tuple(spelled))


def _scalar(how: str, value: object) -> Scalar:
    if value is not None and not isinstance(value, str | int | float | bool):
        raise BadCondition("wrong_type", "attributes are compared with texts, numbers, true, false and null")
    if how in ORDERS and (value is None or isinstance(value, bool)):
        raise BadCondition("wrong_type", f"{how} takes a number or a text")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadCondition("out_of_range", "a number must be a finite one")
    if isinstance(value, str):
        if len(value) > TEXT_MOST:
            raise BadCondition("too_long", f"{len(value)} characters; {TEXT_MOST} are the most")
        if labelling.attributes_fault({"of": value}) is not None:
            raise BadCondition("forbidden_character", "a text with a NUL, or half of a surrogate pair")
    return value


def jsonpath(conditions: Sequence[Condition]) -> tuple[str | None, str]:
    """Returns the conditions as a JSON path predicate (None if there are no conditions), and its variables as a JSON
    object."""
    told, variables = list[str](), dict[str, Scalar]()
    for one in conditions:
        field, each = f"$.{json.dumps(one.name)}", list[str]()
        for value in one.values:
            variables[f"v{len(variables)}"] = value
            each.append(f"{field} {ORDERS[one.operator][0] if one.operator in ORDERS else '=='} $v{len(variables) - 1}")
        said = " || ".join(each)
        # A value of another kind and a missing value are unknown to JSON path; `$ne` matches them.
        told.append(f"(!({said}) || ({said}) is unknown)" if one.operator == "$ne" else f"({said})")
    return (f"strict {' && '.join(told)}" if told else None), json.dumps(variables)


def passes(
    path: str | None,
    conditions: Sequence[Condition],
    *,
    filed: str | None,
    attributes: Mapping[str, Any] | None,
    older: str | None = None,
) -> bool:
    """True if a memory of this path and attributes meets the conditions. `older`: another spelling of the path."""
    if path is not None and not below(path, filed) and (older is None or not below(older, filed)):
        return False
    return all(_holds(one, (attributes or {}).get(one.name, _ABSENT)) for one in conditions)


def below(path: str, filed: str | None) -> bool:
    """Whether what is filed there is at the path or below it, by whole segments."""
    return filed is not None and (filed == path or filed.startswith(f"{path}/"))


class _Absent:
    """The value of an attribute that is not there."""


_ABSENT = _Absent()


def _holds(one: Condition, value: object) -> bool:
    if one.operator in ORDERS:
        return any(kind(value) == kind(other) and ORDERS[one.operator][1](value, other) for other in one.values)
    equal = any(kind(value) == kind(other) and value == other for other in one.values)
    return not equal if one.operator == "$ne" else equal


def kind(value: object) -> type | None:
    """Returns the type as which a value is compared; `_Absent` for a value that cannot be compared."""
    if isinstance(value, bool) or value is None:
        return type(value)
    if isinstance(value, int | float):
        return float
    return str if isinstance(value, str) else _Absent
