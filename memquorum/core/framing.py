"""Tells the format of an outside record by its first byte: JSON, Avro, or Avro in a registry's framing.

`{`         a JSON object, or a CloudEvent in structured mode that carries one (`core.enveloped`)
`C3 01`     Avro in single-object encoding
`00`, `01`  a schema registry's framing, as Confluent's serializers write it: after the first byte the schema's id, 4
            bytes, or its GUID, 16 bytes, and then the value. Read where the installation names a registry.

A registry's schema says how the bytes are read, and nothing of what the record means: what it reads is resolved against
our own schema, by Avro's rules, and held to the same limits as any other.
"""

from __future__ import annotations

import json
import uuid
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import enveloped, jsontext
from memquorum.core.avro import Codec, DecodeError, WrongRecord, writer_of
from memquorum.core.records.episodes import OBJECTS

T = TypeVar("T", bound=Struct)

ID, GUID = 0, 1
"""First bytes of the two framings."""
_ENDS = {ID: 5, GUID: 17}
_TIMES = ("occurred_at", "accessed_at", "asked_at", "ended_at", "finished_at", "given_at")
OFF = "no schema registry is named here: its operator can name one as registry_url"
_TAKEN = "send a JSON object ('{') or single-object Avro (0xc3 0x01)"


class Unread(ValueError):
    """Bytes in none of these formats; `code` is one of intake's reason codes."""

    def __init__(self, code: str, field: str | None, detail: str) -> None:
        super().__init__(detail)
        self.code, self.field, self.detail = code, field, detail


class Written(Struct, frozen=True):
    """A registry's answer for a framing: the `writer`'s schema as `avro.writer_of` reads it, or that JSON follows; or
    else the `fault` and its `code`, one of intake's reason codes."""

    writer: Any = None
    json: bool = False
    code: str = ""
    fault: str = ""


def schema_id(data: bytes | None) -> int | uuid.UUID | None:
    """Returns the schema that a registry's framing names; None if the bytes are in no such framing, or too few."""
    end = _ENDS.get(data[0], 0) if data else 0
    if not end or data is None or len(data) < end:
        return None
    return int.from_bytes(data[1:end], "big") if data[0] == ID else uuid.UUID(bytes=data[1:end])


def understood(schema_type: str, text: str, references: bool) -> Written:
    """Reads a registry's schema as the description of a framing. `schema_type`: AVRO, JSON or PROTOBUF; `references`:
    whether it is made of other schemas of the registry."""
    if schema_type == "JSON":
        return Written(json=True)
    if schema_type != "AVRO":
        return Written(code="unknown_framing", fault=f"a schema of type {schema_type[:20]!r}; AVRO and JSON are read")
    if references:
        return Written(code="bad_avro", fault="the schema refers to others of the registry; register it as one")
    try:
        return Written(writer=writer_of(json.loads(text)))
    except (DecodeError, ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, DecodeError) else "it is no JSON"
        return Written(code="bad_avro", fault=f"the registry's schema cannot be read with: {said}")


Named = tuple[str, str]
"""The source and the id of a CloudEvent."""


def read(
    codec: Codec, data: bytes, expected: type[T], written: Written | None = None
) -> tuple[T, Named | None]:  # fmt: skip
    """The record that the bytes are, as the schema types it; its values are not yet checked. Raises Unread.

    With it the source and the id of the CloudEvent that it came in, if it did. `written`: what the registry says, where
    the bytes are in its framing; None: there is no registry.
    """
    if data[:2] == b"\xc3\x01":
        return _from_avro(codec, data, expected), None
    if data[0] in _ENDS:
        return _from_registry(codec, data, expected, written), None
    first = data.lstrip(b" \t\r\n")[:1]
    if first == b"{":
        return _from_json(codec, data, expected)
    many = " (a list: a batch is not taken, each event is a record of its own)" if first == b"[" else ""
    raise Unread("unknown_framing", None, f"the first byte is {data[0]:#04x}{many}; {_TAKEN}")


def _from_json(codec: Codec, data: bytes, expected: type[T], *, plain: bool = False) -> tuple[T, Named | None]:
    """`plain`: what came in an envelope, or in a framing, has no envelope of its own."""
    try:
        value = jsontext.load(data)
        if plain or not enveloped.is_event(value):
            return jsontext.read(value, expected, OBJECTS), None
        event = enveloped.opened(value)
        return _carried(codec, event, expected), (event.source, event.id)
    except jsontext.JsonRefused as wrong:
        raise Unread(wrong.code, wrong.field, wrong.detail) from None


def _carried(codec: Codec, event: enveloped.Event, expected: type[T]) -> T:
    named = event.names(set(codec.names()))
    if named not in (None, expected.__name__):
        raise Unread("wrong_record", "type", f"a {named}, but this topic takes {expected.__name__}")
    data = event.data
    if isinstance(data, dict):
        record = jsontext.read(data, expected, OBJECTS)
    elif data[:2] == b"\xc3\x01":
        record = _from_avro(codec, data, expected)
    elif data.lstrip(b" \t\r\n")[:1] == b"{":
        record, _ = _from_json(codec, data, expected, plain=True)
    else:
        raise Unread("unknown_framing", "data_base64", f"bytes that are no record; {_TAKEN}")
    if event.at is None:
        return record
    changes: dict[str, Any] = {name: event.at for name in _TIMES if getattr(record, name, "") is None}
    return replace(record, **changes)


def _from_registry(codec: Codec, data: bytes, expected: type[T], written: Written | None) -> T:
    framing = f"the first byte is {data[0]:#04x}, a schema registry's framing"
    if written is None:
        raise Unread("unknown_framing", None, f"{framing}, and {OFF}; or {_TAKEN}")
    if schema_id(data) is None:
        raise Unread("bad_avro", None, f"{framing}, and the record ends within the schema's id")
    if written.fault:
        raise Unread(written.code, None, f"{framing}: {written.fault}")
    value = data[_ENDS[data[0]] :]
    if written.json:
        return _from_json(codec, value, expected, plain=True)[0]
    try:
        return codec.resolve(written.writer, expected, value)
    except WrongRecord as error:
        raise Unread("wrong_record", None, str(error)) from None
    except DecodeError as error:
        raise Unread("bad_avro", None, str(error)) from None


def _from_avro(codec: Codec, data: bytes, expected: type[T]) -> T:
    try:
        record = codec.decode(data)
    except DecodeError as error:
        raise Unread("bad_avro", None, str(error)) from None
    if not isinstance(record, expected):
        told = f"a {type(record).__name__}, but this topic takes {expected.__name__}"
        raise Unread("wrong_record", None, told)
    return record
