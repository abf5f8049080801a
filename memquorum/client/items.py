"""Stores an item as a memory and restores it exactly: its namespace as a path, its value as content and attributes.

Search reads the content. If an item is indexed by one text of its value (`fields=["text"]`), that text is the content
and the rest stands in the attributes; else the content is the value as JSON, after the indexed texts, if there are any.
Attributes hold the fields that filters compare, and one of our own, MARK. It says which of the two forms the content
has, and holds a digest of the value: a value that differs in one character is another value, and no repetition.

A memory without the mark was not written as an item; its value is its text with its attributes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memquorum.client.errors import Invalid
from memquorum.core.jsontext import is_text
from memquorum.core.names import CHARACTERS_MAX, name_fault, normal

MARK, HIDDEN, TEXT = "$", "$hidden", "text"
"""Reserved names: the attribute that marks the form of the content, the one that hides an item from queries, and the
field for the text of a memory that was not written as an item."""
FILTERED_CHARACTERS = 256
"""Longer texts are in no attribute; a filter by one is evaluated on each item in the client."""
_FIELDS_MOST, _BYTES_MOST, _DEPTH_MOST = 30, 3_800, 12
_EXACT = 2**53
_ESCAPED = re.compile(r"%[0-9A-F]{2}(?:%[0-9A-F]{2})*")
Scalar = str | int | float | bool | None


def path_of(namespace: Sequence[str]) -> str | None:
    """The path of a namespace in Unicode's composed form, as it is stored; None for the empty one. Characters that a
    segment cannot hold are escaped as in a URL."""
    return normal("/".join(_escaped(label, "%/") for label in namespace)) or None


def namespace_of(path: str | None) -> tuple[str, ...]:
    """The namespace of a path."""
    return () if path is None else tuple(_plain(segment) for segment in path.split("/"))


def key_of(key: str) -> str:
    """Encodes an item's key as a memory's key."""
    return normal(_escaped(key, "%"))


def plain_key(key: str) -> str:
    """Decodes a memory's key to the item's key."""
    return _plain(key)


def _escaped(said: str, more: str) -> str:
    ends = {0, len(said) - 1}
    return "".join(
        "".join(f"%{byte:02X}" for byte in one.encode("utf-8", "surrogatepass"))
        if one in more or not one.isprintable() or (at in ends and one.isspace())
        else one
        for at, one in enumerate(said)
    )


def _plain(said: str) -> str:
    def read(found: re.Match[str]) -> str:
        try:
            return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:  # none of ours
            return found[0]

    return _ESCAPED.sub(read, said)


def written(
    value: Mapping[str, Any],
    texts: Sequence[str],
    field: str | None = None,
    *,
    hidden: bool = False,
    asked: Collection[str] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Encodes a value as content and attributes.

    `texts`: those to find it by; empty: the whole value. `field`: the field that holds the only text, if one does.
    `asked`: the fields that filters compare; None: all scalar fields. Raises Invalid for a value that JSON cannot hold,
    and for more than attributes hold."""
    told = _json(value)
    mark: dict[str, Any] = {"is": hashlib.sha256(told.encode()).hexdigest()[:16]}
    own: dict[str, Any] = {HIDDEN: True} if hidden else {}
    if field is not None and field[:1] != MARK and texts == [value.get(field)] and texts[0].strip():
        rest = {name: one for name, one in value.items() if name != field}
        short = {field: texts[0]} if filterable(field, texts[0]) else {}
        attributes = rest | short | own | {MARK: mark | {"text": field}}
        if "\0" not in texts[0] and _storable(rest) and _size(attributes) <= _BYTES_MOST:
            return texts[0], attributes
    begin = "\n".join(texts) + "\n" if texts else ""
    begin = begin.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    attributes = _asked(value, asked) | own | {MARK: mark | {"json": len(begin)}}
    return begin + told, attributes


def read(text: str, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Decodes the value of a memory as it was stored."""
    rest = {name: one for name, one in (attributes or {}).items() if name not in {MARK, HIDDEN}}
    mark = (attributes or {}).get(MARK)
    if isinstance(mark, Mapping) and isinstance(mark.get("text"), str):
        return rest | {mark["text"]: text}
    if isinstance(mark, Mapping) and isinstance(mark.get("json"), int):
        try:
            found = json.loads(text[mark["json"] :])
        except ValueError:  # masked for this reader in a way that is no JSON any more
            found = None
        if isinstance(found, dict):
            return found
    return {**rest, TEXT: text}


def filterable(name: str, value: object) -> bool:
    """True if an attribute can hold the value so that filters can compare it."""
    return name_fault(name) is None and not name.startswith(MARK) and scalar(value)


def scalar(value: object) -> bool:
    """True if filters can compare attributes with this value."""
    if isinstance(value, str):
        return len(value) <= FILTERED_CHARACTERS and "\0" not in value and is_text(value)
    if isinstance(value, float):
        return value - value == 0
    return value is None or isinstance(value, bool) or (isinstance(value, int) and -_EXACT <= value <= _EXACT)


def _asked(value: Mapping[str, Any], only: Collection[str] | None) -> dict[str, Any]:
    """The fields of a value that filters may compare."""
    found = {name: one for name, one in value.items() if (only is None or name in only) and filterable(name, one)}
    say = "; name those that filters ask for: filterable=[…]"
    if len(found) > _FIELDS_MOST:
        told = f"{len(found)} fields that can be filtered by; {_FIELDS_MOST} are the most{say}"
        raise Invalid("too_many", "value", told)
    if (size := _size(found)) > _BYTES_MOST:
        told = f"{size} bytes of fields that can be filtered by; {_BYTES_MOST} are the most{say}"
        raise Invalid("too_long", "value", told)
    return found


def _json(value: Mapping[str, Any]) -> str:
    try:
        told = json.dumps(dict(value), ensure_ascii=False, allow_nan=False, sort_keys=False)
    except (TypeError, ValueError) as error:
        raise Invalid("wrong_type", "value", f"no JSON object: {error}") from None
    if json.loads(told) != value:
        raise Invalid("wrong_type", "value", "names of fields are texts, and arrays are lists: JSON has nothing else")
    return told if is_text(told) else json.dumps(dict(value), allow_nan=False)


def _storable(value: object, depth: int = 0) -> bool:
    """True if the store's JSON returns the value unchanged."""
    if isinstance(value, str):
        return "\0" not in value and is_text(value) and normal(value) == value
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int):
        return -_EXACT <= value <= _EXACT
    if isinstance(value, float):
        return value - value == 0 and "e" not in repr(value) and repr(value) != "-0.0"
    if depth >= _DEPTH_MOST:
        return False
    if isinstance(value, list):
        return all(_storable(one, depth + 1) for one in value)
    if not isinstance(value, dict) or (depth == 0 and not _named(value)):
        return False
    return all(isinstance(name, str) and _storable(name) and _storable(one, depth + 1) for name, one in value.items())


def _named(value: Mapping[str, Any]) -> bool:
    """True if the field names can name attributes."""
    fit = all(len(name) <= CHARACTERS_MAX and name_fault(name) is None and name[0] != MARK for name in value)
    return fit and len(value) <= _FIELDS_MOST


def _size(value: Mapping[str, Any]) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
