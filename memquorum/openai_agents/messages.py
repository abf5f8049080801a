"""Stores an item of a conversation as memories and restores it exactly.

Its text is the content, if it has only one, and the rest is in the attributes; else the content is the item as JSON,
after its texts. An item that is too long for one memory is stored in several.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memquorum.client import Invalid, items
from memquorum.core import names
from memquorum.core.api.answers import Listed
from memquorum.core.intake import CONTENT_BYTES_MAX

Item = dict[str, Any]
_PART = CONTENT_BYTES_MAX - 1_024
_WORDS, _FILTERED = ("content", "output"), ("role", "type")
_PARTS = "content_parts"
"""The field that keeps the parts of a message whose text is the content."""
_ROLES = frozenset({"user", "assistant"})


def written(item: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Content, attributes and role of an item, by the suffix of its key: several if it is too long. Raises Invalid if
    it is no JSON object."""
    if not isinstance(item, Mapping):
        raise Invalid("wrong_type", "items", f"an item is a mapping of its fields, not {item!r:.80}")
    content, attributes = _told(item)
    role = item.get("role")
    # A system's message keeps its role only in the item: as a memory's role it would have to be signed.
    told = isinstance(role, str) and names.name_fault(role) is None and not names.above(role)
    said = {"role": role} if told else {}
    if len(content.encode()) <= CONTENT_BYTES_MAX:
        return {"": said | {"content": content, "attributes": attributes}}
    content, attributes = items.written(item, [], asked=_FILTERED)
    mark, parts = attributes.pop(items.MARK), list(_parts(content))
    return {
        f".{at:04d}": said
        | {
            "content": f"Part {at + 1} of {len(parts)}:\n{part}",
            "attributes": attributes | {items.MARK: {"is": mark["is"], "part": at, "of": len(parts)}},
        }
        for at, part in enumerate(parts)
    }


def _told(item: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Content and attributes: if the item has only one text, that is the content."""
    flat = _flat(item)
    field = next((name for name in _WORDS if isinstance(flat.get(name), str)), None)
    if field is not None and (_PARTS not in item):
        content, attributes = items.written(flat, [flat[field]], field, asked=_FILTERED)
        if "text" in attributes[items.MARK]:
            return content, attributes
    said = item.get("content")
    return items.written(item, [said] if isinstance(said, str) else list(_texts(said)), asked=_FILTERED)


def _flat(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replaces the parts of a message with its text, if only one part has words, and keeps the parts in a field beside
    it."""
    parts: Any = item.get("content")
    spoken = [at for at, part in enumerate(parts) if list(_texts([part]))] if isinstance(parts, list) else []
    if len(spoken) != 1 or not isinstance(parts[spoken[0]].get("text"), str):
        return item
    at = spoken[0]
    rest = [{name: one for name, one in parts[at].items() if name != "text"}]
    return {**item, "content": parts[at]["text"], _PARTS: {"at": at, "of": parts[:at] + rest + parts[at + 1 :]}}


def _unflat(item: Item) -> Item:
    """Reverses `_flat`."""
    beside = item.pop(_PARTS, None)
    if beside is None:
        return item
    parts = beside["of"]
    parts[beside["at"]]["text"] = item["content"]
    return {**item, "content": parts}


def _parts(text: str) -> Iterator[str]:
    """A text in pieces that a content has room for."""
    begin = 0
    while begin < len(text):
        # A character has four bytes at most.
        size, most = _PART // 4, len(text) - begin
        while size < most and len(text[begin : begin + 2 * size].encode()) <= _PART:
            size *= 2
        yield text[begin : begin + size]
        begin += size


def _texts(said: object) -> Iterator[str]:
    """Yields the texts of a message's parts."""
    for part in said if isinstance(said, list) else ():
        text = part.get("text", part.get("refusal")) if isinstance(part, Mapping) else None
        if isinstance(text, str) and text.strip():
            yield text


def read(parts: Sequence[Listed]) -> Item | None:
    """Restores an item from its memories; a memory that was not written as an item becomes a message. None if a part is
    missing, or masked so that it is no item any more."""
    one = parts[0]
    mark = (one.attributes or {}).get(items.MARK)
    if not isinstance(mark, Mapping):
        return {"role": one.role if one.role in _ROLES else "user", "content": one.text}
    if isinstance(mark.get("json"), int):
        return _parsed((one.text or "")[mark["json"] :])
    if "of" not in mark:
        return _unflat(items.read(one.text or "", one.attributes))
    complete = len(parts) == mark["of"]
    return _parsed("".join((part.text or "").partition("\n")[2] for part in parts)) if complete else None


def _parsed(told: str) -> Item | None:
    """Parses an item's JSON; None if masking has made it invalid."""
    try:
        found = json.loads(told)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
