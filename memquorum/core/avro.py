"""Avro in single-object encoding: `C3 01`, the schema's CRC-64-AVRO fingerprint, the value (infra/decisions/0015).

That needs no registry: a fingerprint names its schema, and every schema that was ever released lies in `schemas/`. The
schemas are data that the caller hands in, so that this module reads no files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import fastavro
import msgspec
from fastavro.schema import to_parsing_canonical_form

from memquorum.core import records

T = TypeVar("T")

_SINGLE_OBJECT = b"\xc3\x01"
_PREFIX_BYTES = 10
_CLASSES = vars(records)
# What Avro has a type for beside those of JSON.
_TYPES = (bytes,)


class DecodeError(ValueError):
    """Bytes that are no record: the message says what was found at the start and what was expected."""


class UnknownSchema(DecodeError):
    """Bytes under a fingerprint that this codec does not have: a later release may have written them."""


class Codec:
    """Encodes and decodes the records of `memquorum.core.records` against a set of schemas."""

    def __init__(
        self,
        schemas: Iterable[dict[str, Any]],
        older: Iterable[dict[str, Any]] = (),
    ) -> None:
        """A codec that writes today's schemas and reads every version that was ever released.

        `schemas`: the parsed `.avsc` files; `older`: released versions, from `schemas/golden`.
        """
        self._given = tuple(schemas), tuple(older)
        schemas, older = self._given
        self._schema: dict[str, Any] = {}
        self._prefix: dict[str, bytes] = {}
        # By the first bytes of a record.
        self._reader: dict[bytes, _Reader] = {}
        for schema in schemas:
            name, mark, parsed = _parse(schema)
            self._schema[name] = parsed
            self._prefix[name] = prefix = _SINGLE_OBJECT + mark
            self._reader[prefix] = _Reader(parsed, None, _CLASSES[name])
        for schema in older:
            name, mark, parsed = _parse(schema)
            newest = self._reader[self._prefix[name]]
            self._reader.setdefault(_SINGLE_OBJECT + mark, _Reader(parsed, newest.writer, newest.kind))

    def __reduce__(self) -> tuple[type[Codec], tuple[Any, ...]]:
        """Another process makes it again from the schemas."""
        return Codec, self._given

    def names(self) -> list[str]:
        """The record names that this codec knows, sorted."""
        return sorted(self._schema)

    def encode(self, record: Any) -> bytes:
        """A record in single-object encoding."""
        name = type(record).__name__
        out = io.BytesIO()
        out.write(self._prefix[name])
        fastavro.schemaless_writer(out, self._schema[name], msgspec.to_builtins(record, builtin_types=_TYPES))
        return out.getvalue()

    def decode(self, data: bytes) -> Any:
        """The record that the bytes hold. Raises DecodeError."""
        known = self._reader.get(data[:_PREFIX_BYTES])
        if known is None:
            raise _unknown(data)
        stream = io.BytesIO(data)
        stream.seek(_PREFIX_BYTES)
        try:
            record = msgspec.convert(fastavro.schemaless_reader(stream, known.writer, known.reader), known.kind)
        except Exception as error:  # fastavro raises whatever the bytes led it to
            raise DecodeError(f"not a {known.kind.__name__}: {type(error).__name__}") from None
        if stream.tell() != len(data):
            raise DecodeError(f"{len(data) - stream.tell()} bytes after the end of a {known.kind.__name__}")
        return record

    def decode_as(self, kind: type[T], data: bytes) -> T:
        """Decodes in a place where only one kind of record belongs. Raises DecodeError."""
        record = self.decode(data)
        if not isinstance(record, kind):
            raise DecodeError(f"a {type(record).__name__} where a {kind.__name__} belongs")
        return record


class _Reader(NamedTuple):
    """How records with one fingerprint are read: by the schema they were written with, and into which (None: the same),
    and the class of the record."""

    writer: Any
    reader: Any
    kind: type[Any]


def _unknown(data: bytes) -> DecodeError:
    if data[:2] == _SINGLE_OBJECT and len(data) >= _PREFIX_BYTES:
        return UnknownSchema(f"unknown schema fingerprint {data[2:10].hex()}")
    return DecodeError(f"no single-object Avro: the first bytes are {data[:4].hex() or 'none'}")


def _parse(schema: dict[str, Any]) -> tuple[str, bytes, Any]:
    """A schema's record name, fingerprint and parsed form; the input stays as it is."""
    mark = _fingerprint(to_parsing_canonical_form(schema).encode())
    return schema["name"], mark, fastavro.parse_schema(json.loads(json.dumps(schema)))


def _fingerprint(data: bytes) -> bytes:
    """CRC-64-AVRO of the Avro specification, the lowest byte first.

    That of fastavro makes its table anew for each schema, which was two thirds of what a codec takes.
    """
    found = _EMPTY
    for byte in data:
        found = (found >> 8) ^ _TABLE[(found ^ byte) & 0xFF]
    return found.to_bytes(8, "little")


def _entry(at: int) -> int:
    for _ in range(8):
        at = (at >> 1) ^ (_EMPTY if at & 1 else 0)
    return at


_EMPTY = 0xC15D213AA4D7A795
_TABLE = tuple(map(_entry, range(256)))
