"""CloudEvents in structured mode: the whole event in the record's value, as JSON (CloudEvents 1.0, JSON format).

A JSON object with a `specversion` is one, whatever a header says: headers are not signed and not kept with a dead
letter, and no record of ours has a field of that name. The record itself stands in `data`, as an object, or in
`data_base64`, as JSON or Avro. Three fields of the envelope count: `type`, if it names another record; `source` with
`id`, from which a record without an event id has one; `time`, for a record without a time.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from memquorum.core import moments
from memquorum.core.jsontext import JsonRefused

VERSION = "1.0"
_MARK = "specversion"


class Event(Struct, frozen=True):
    """A CloudEvent that was taken out of its envelope. `data`: the object or the bytes that it carries; `at`: its time
    in milliseconds since the epoch, if it says one."""

    type: str
    source: str
    id: str
    at: int | None
    data: dict[str, Any] | bytes

    def names(self, known: Collection[str]) -> str | None:
        """Returns which of these records its type names, if it does: `AccessRecorded`, or anything that ends on a dot
        and that."""
        last = self.type.rpartition(".")[2]
        return last if last in known else None


def is_event(value: object) -> bool:
    """Whether a JSON value is a CloudEvent in structured mode."""
    return isinstance(value, dict) and _MARK in value


def opened(value: Mapping[str, Any]) -> Event:
    """The event that a JSON object is. Raises JsonRefused and names the attribute."""
    if value[_MARK] != VERSION:
        raise JsonRefused("out_of_range", _MARK, f"CloudEvents of version {VERSION} are taken")
    kind, source, event_id = (_text(value, name) for name in ("type", "source", "id"))
    at = None if value.get("time") is None else _time(value["time"])
    return Event(kind, source, event_id, at, _data(value))


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    if found is None or found == "":
        raise JsonRefused("missing_field", name, "every CloudEvent has it, and it is not empty")
    if not isinstance(found, str):
        raise JsonRefused("wrong_type", name, "must be a string")
    try:
        found.encode()
    except UnicodeEncodeError:
        told = "half of a surrogate pair, which is no character"
        raise JsonRefused("forbidden_character", name, told) from None
    return found


def _time(said: object) -> int:
    at = moments.read_rfc_3339(said) if isinstance(said, str) else None
    if at is None:
        raise JsonRefused("wrong_type", "time", "must be a time as RFC 3339 has it: 2026-11-25T14:43:53Z")
    return at


def _data(value: Mapping[str, Any]) -> dict[str, Any] | bytes:
    data, packed = value.get("data"), value.get("data_base64")
    if (data is None) == (packed is None):
        code, told = ("missing_field", "the event carries no record") if data is None else ("too_many", "send one")
        raise JsonRefused(code, "data", f"{told}: data, an object, or data_base64")
    if packed is None:
        if not isinstance(data, dict):
            raise JsonRefused("wrong_type", "data", "must be an object; what is no JSON goes as data_base64")
        return data
    try:
        if not isinstance(packed, str):
            raise ValueError
        return base64.b64decode(packed, validate=True)
    except (ValueError, binascii.Error):
        raise JsonRefused("wrong_type", "data_base64", "must be a string of base64") from None
