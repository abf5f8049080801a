"""Plain JSON read as strictly as Avro: one object, the schema's fields with the schema's types, nothing twice.

Python's reader takes more than JSON allows (NaN, doubled names, numbers of any length), and msgspec's takes the last of
doubled names; what they would let pass is refused here, because two readers that understand the same bytes differently
are how walls are climbed. The types are msgspec's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Hashable
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct, structs

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


def tellable(name: str) -> str | None:
    """The name, if it can be told back as it is; a stranger chose it."""
    return name if _TELLABLE.match(name) else None


def parse(data: bytes, kind: type[T], objects: Collection[str] = ()) -> T:
    """The record that the bytes hold as a JSON object. `kind`: a flat struct. `objects`: fields that are objects here
    and hold their text in the record. Raises JsonRefused."""
    return read(load(data), kind, objects)


def parse_object(data: bytes) -> dict[str, Any]:
    """The JSON object that the bytes are, for who has no schema for it: at any depth its numbers are finite and fit 64
    bits, and its texts can be written as UTF-8. Raises JsonRefused and names the field."""
    found = load(data)
    if not isinstance(found, dict):
        raise JsonRefused("wrong_type", None, "the body must be a JSON object")
    for name, value in found.items():
        _check_plain(tellable(name), [name, value])
    return found


def _check_plain(field: str | None, value: object) -> None:
    if isinstance(value, dict | list):
        for one in (*value.keys(), *value.values()) if isinstance(value, dict) else value:
            _check_plain(field, one)
    elif isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise JsonRefused("forbidden_character", field, "half of a surrogate pair, which is no character")
    elif isinstance(value, float) and not math.isfinite(value):
        raise JsonRefused("out_of_range", field, "is not a finite number")
    elif isinstance(value, int) and not _LONG_MIN <= value <= _LONG_MAX:
        raise JsonRefused("out_of_range", field, "does not fit 64 bits")


def read(value: object, kind: type[T], objects: Collection[str] = ()) -> T:
    """The record that a loaded JSON value is, as of `parse`. Raises JsonRefused."""
    if not isinstance(value, dict):
        raise JsonRefused("bad_json", None, "not a JSON object")
    value = {**value}
    for name in value.keys() & objects:
        if value[name] is not None and not isinstance(value[name], dict):
            raise JsonRefused("wrong_type", name, "must be an object")
        value[name] = None if value[name] is None else _text(name, value[name])
    return from_plain(value, kind)


def _text(name: str, value: object) -> str:
    try:
        # As ASCII, so that half a surrogate pair gets as far as who refuses it.
        return json.dumps(value, allow_nan=False)
    except ValueError:
        raise JsonRefused("out_of_range", name, "holds a number that is not a finite one") from None


def from_plain(value: dict[str, Any], kind: type[T]) -> T:
    """The record that plain JSON values make. Raises JsonRefused and names the field."""
    known = _fields(cast(Hashable, kind))
    for name in value:
        if name not in known:
            said = tellable(name)
            strange = "" if said else f"a name of {len(name)} characters is "
            raise JsonRefused(
                "unknown_field", said, f"{strange}no field of {kind.__name__}; its fields are {', '.join(known)}"
            )
    # A null field counts as absent; its default takes its place, unless that is null.
    found = {name: one for name, one in value.items() if one is not None}
    for name, required in known.items():
        if required and name not in found:
            what = "null" if name in value else "missing"
            raise JsonRefused("missing_field", name, f"{what}, but {kind.__name__} requires it")
    for name, one in found.items():
        if type(one) is int and not _LONG_MIN <= one <= _LONG_MAX:
            raise JsonRefused("out_of_range", name, "does not fit 64 bits")
        if type(one) is float and not math.isfinite(one):
            raise JsonRefused("out_of_range", name, "is not a finite number")
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as wrong:
        raise _refused(str(wrong)) from None
    except UnicodeEncodeError:  # half of a surrogate pair where the schema has no text
        field = next(name for name, one in found.items() if not is_text(one))
        raise JsonRefused("wrong_type", field, "half of a surrogate pair, which is no character") from None


def is_text(value: object) -> bool:
    """Whether all text in a JSON value consists of characters."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@cache
def _fields(kind: Hashable) -> dict[str, bool]:
    """A record's fields, and which of them it requires."""
    return {each.name: each.required for each in structs.fields(cast(type[Struct], kind))}


_TYPES = {
    "str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false", "null": "null",
    "array": "an array", "object": "an object",
}  # fmt: skip
# As msgspec says it: Expected `int | null`, got `str` - at `$.k`; of an item of an array, `$.agents[...]`.
_SAID = re.compile(r"Expected `(?P<wanted>\w++)[^`]*+`, got `(?P<found>\w+)` - at `\$\.(?P<field>\w+)")


# Matches the place of an error in a nested record: Object missing required field `by` - at `$.summary`.
_WITHIN = re.compile(r"`\$\.(?P<field>\w+)")


def _refused(said: str) -> JsonRefused:
    match = _SAID.match(said)
    if match is None:
        within = _WITHIN.search(said)
        assert within is not None, said
        return JsonRefused("wrong_type", within["field"], "is not what the schema has there")
    # If a number is wanted, msgspec's `float` means a fraction.
    found = "a fraction" if match["found"] == "float" else _TYPES[match["found"]]
    return JsonRefused("wrong_type", match["field"], f"must be {_TYPES[match['wanted']]}, not {found}")


def load(data: bytes) -> Any:
    """The JSON value that the bytes are, read strictly. Raises JsonRefused."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonRefused("bad_utf8", None, f"not UTF-8 from byte {error.start} on") from None
    _check_depth(text)
    strange: list[_Constant] = []

    def constant(name: str) -> _Constant:
        strange.append(_Constant(name))
        return strange[-1]

    try:
        found = json.loads(
            text, object_pairs_hook=_object, parse_constant=constant, parse_int=_whole, parse_float=_fraction
        )
    except json.JSONDecodeError as error:
        raise JsonRefused("bad_json", None, f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    if strange:
        raise JsonRefused("bad_json", _holder(found, strange[0]), f"{strange[0].name} is not JSON")
    return found


_BRACKETS = re.compile(r"[\[\]{}]")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def _check_depth(text: str) -> None:
    """Refuses deep nesting before the recursive reader meets it; brackets within strings do not count."""
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub("", text)):
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


class _Constant:
    """A number that Python's reader takes and JSON does not have: NaN, Infinity, -Infinity."""

    def __init__(self, name: str) -> None:
        self.name = name


def _holder(found: object, strange: _Constant) -> str | None:
    """The field of the object that has it, at whatever depth."""
    fields = found.items() if isinstance(found, dict) else ()
    return next((tellable(name) for name, value in fields if _within(value, strange)), None)


def _within(value: object, strange: _Constant) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return any(_within(one, strange) for one in inner)
    return value is strange


def _whole(text: str) -> int:
    if len(text) > _DIGITS_MAX:
        raise JsonRefused("bad_json", None, f"a number of {len(text)} digits")
    return int(text)


def _fraction(text: str) -> float:
    if len(text) > 10 * _DIGITS_MAX:
        raise JsonRefused("bad_json", None, f"a number of {len(text)} digits")
    return float(text)
