"""Plain JSON read as strictly as Avro: one object, the schema's fields with the schema's types, nothing twice.

Python's reader takes more than JSON allows (NaN, doubled names, numbers of any length); what it would let pass is
refused here, because two readers that understand the same bytes differently are how walls are climbed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable
from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

DEPTH_MAX = 16
_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1
_DIGITS_MAX = 40
_TELLABLE = re.compile(r"[A-Za-z0-9_.$-]{1,64}\Z")


class JsonRefused(ValueError):
    """JSON that is not one of the record; `code` is one of intake's reason codes."""

    def __init__(self, code: str, field: str | None, detail: str) -> None:
        super().__init__(detail)
        self.code, self.field, self.detail = code, field, detail


@dataclass(frozen=True, slots=True)
class _Field:
    """`many`: an array of that kind."""

    kind: Any
    required: bool
    many: bool


@cache
def _schema(kind: Any) -> dict[str, _Field]:
    """A record's fields, of plain values and arrays of them; the dataclass is held equal to the `.avsc` by a test."""
    hints = get_type_hints(kind)
    found = {}
    for each in fields(kind):
        hint = hints[each.name]
        options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        value = next(o for o in options if o is not type(None))
        many = get_origin(value) is tuple
        value = get_args(value)[0] if many else value
        if value not in _NAMES:
            raise TypeError(f"{kind.__name__}.{each.name}: JSON is read for flat records only, not {value}")
        found[each.name] = _Field(value, each.default is MISSING, many)
    return found


def tellable(name: str) -> str | None:
    """The name, if it can be told back as it is; a stranger chose it."""
    return name if _TELLABLE.match(name) else None


def parse(data: bytes, kind: type[T]) -> T:
    """The record that the bytes hold as a JSON object. `kind`: a dataclass of plain values and arrays of them. Raises
    JsonRefused."""
    value = _load(data)
    if not isinstance(value, dict):
        raise JsonRefused("bad_json", None, "not a JSON object")
    return from_plain(value, kind)


def from_plain(value: dict[str, Any], kind: type[T]) -> T:
    """The record that plain JSON values make. Raises JsonRefused and names the field."""
    schema = _schema(cast(Hashable, kind))
    for name in value:
        if name not in schema:
            said = tellable(name)
            strange = "" if said else f"a name of {len(name)} characters is "
            raise JsonRefused(
                "unknown_field", said, f"{strange}no field of {kind.__name__}; its fields are {', '.join(schema)}"
            )
    found = {}
    for name, field in schema.items():
        if value.get(name) is None:
            if field.required:
                what = "null" if name in value else "missing"
                raise JsonRefused("missing_field", name, f"{what}, but {kind.__name__} requires it")
            continue
        found[name] = _many(name, field.kind, value[name]) if field.many else _typed(name, field.kind, value[name])
    return kind(**found)


def _many(name: str, kind: Any, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise JsonRefused("wrong_type", name, f"must be an array, not {_FOUND.get(type(value), 'null')}")
    return tuple(_typed(name, kind, one) for one in value)


def _typed(name: str, kind: Any, value: Any) -> Any:
    # In Python True is an int; in the schema it is not.
    if isinstance(value, str | bool) and type(value) is kind:
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        if not _LONG_MIN <= value <= _LONG_MAX:
            raise JsonRefused("out_of_range", name, "does not fit 64 bits")
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise JsonRefused("out_of_range", name, "is not a finite number")
        return number
    raise JsonRefused("wrong_type", name, f"must be {_NAMES[kind]}, not {_FOUND.get(type(value), 'null')}")


_NAMES: dict[Any, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_FOUND = _NAMES | {float: "a fraction", list: "an array", dict: "an object"}


def _load(data: bytes) -> Any:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonRefused("bad_utf8", None, f"not UTF-8 from byte {error.start} on") from None
    _check_depth(text)
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_whole, parse_float=_fraction
        )
    except json.JSONDecodeError as error:
        raise JsonRefused("bad_json", None, f"{error.msg} at line {error.lineno}, column {error.colno}") from None


_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def _check_depth(text: str) -> None:
    """Refuses deep nesting before the recursive reader meets it; brackets within strings do not count."""
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", _STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > DEPTH_MAX:
            raise JsonRefused("too_deep", None, f"nested deeper than {DEPTH_MAX}; the record is flat")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        said = tellable(twice)
        raise JsonRefused("duplicate_field", said, "a field occurs twice; send it once")
    return found


def _constant(name: str) -> Any:
    raise JsonRefused("bad_json", None, f"{name} is not JSON")


def _whole(text: str) -> int:
    if len(text) > _DIGITS_MAX:
        raise JsonRefused("bad_json", None, f"a number of {len(text)} digits")
    return int(text)


def _fraction(text: str) -> float:
    if len(text) > 10 * _DIGITS_MAX:
        raise JsonRefused("bad_json", None, f"a number of {len(text)} digits")
    return float(text)
