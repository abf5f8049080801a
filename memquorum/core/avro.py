"""Avro in single-object encoding: `C3 01`, the schema's CRC-64-AVRO fingerprint, the value (infra/decisions/0015).

No registry is needed: a fingerprint names its schema, and `schemas/` holds every schema that was ever released. The
schemas are data that the caller hands in, so that this module reads no files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import msgspec

from memquorum.core import records
from memquorum.core.prepared import prepare

T = TypeVar("T")

_SINGLE_OBJECT = b"\xc3\x01"
_PREFIX_BYTES = 10
_CLASSES = vars(records)
prepare(_CLASSES)
# The types that Avro has beside those of JSON.
_TYPES = (bytes,)


class DecodeError(ValueError):
    """Bytes that are no record: the message says what was found at the start and what was expected."""


class UnknownSchema(DecodeError):
    """Bytes under a fingerprint that this codec does not have: a later release may have written them."""


def later_record(place: str) -> str:
    """Says that a record is of a later version. `place`: its topic, partition and offset."""
    return (
        f"{place}: a later version of this installation wrote the record. This version cannot read it and passes over "
        "none: start the later version again"
    )


class WrongRecord(DecodeError):
    """Bytes of a sound record where another kind of record belongs."""


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

    def released(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Yields each schema that the codec reads, with the bytes that records of it begin with."""
        for schema in chain(*self._given):
            yield _SINGLE_OBJECT + _parse(schema)[1], schema

    def encode(self, record: Any) -> bytes:
        """A record in single-object encoding."""
        name = type(record).__name__
        out = io.BytesIO()
        out.write(self._prefix[name])
        _fastavro().schemaless_writer(out, self._schema[name], msgspec.to_builtins(record, builtin_types=_TYPES))
        return out.getvalue()

    def decode(self, data: bytes) -> Any:
        """The record that the bytes hold. Raises DecodeError."""
        known = self._reader.get(data[:_PREFIX_BYTES])
        if known is None:
            raise _unknown(data)
        return _read(known, data, _PREFIX_BYTES)

    def resolve(self, writer: Any, kind: type[T], data: bytes) -> T:
        """Decodes a record without a framing that was written with a foreign schema (`writer_of`), resolved into our
        own schema by Avro's rules. Raises DecodeError, and WrongRecord where the schema is of a record of another
        name."""
        known = self._reader[self._prefix[kind.__name__]]
        if writer["name"].rpartition(".")[2] != kind.__name__:
            raise WrongRecord(f"a {writer['name'][:64]}, but this topic takes {kind.__name__}")
        record = _read(_Reader(writer, known.writer, kind), data, 0)
        assert isinstance(record, kind)
        return record

    def later(self, data: bytes) -> bool:
        """True if bytes have the framing of a record, and a schema that this codec does not have: a later release may
        have written them."""
        prefix = data[:_PREFIX_BYTES]
        return prefix not in self._reader and isinstance(_unknown(prefix), UnknownSchema)

    def decode_as(self, kind: type[T], data: bytes) -> T:
        """Decodes in a place where only one kind of record belongs. Raises DecodeError."""
        record = self.decode(data)
        if not isinstance(record, kind):
            raise DecodeError(f"a {type(record).__name__} where a {kind.__name__} belongs")
        return record


class _Reader(NamedTuple):
    """The schemas for records with one fingerprint: the writer's, the reader's (None: the same), and the class of the
    record."""

    writer: Any
    reader: Any
    kind: type[Any]


def writer_of(schema: Any) -> Any:
    """A stranger's schema of a record, parsed for `Codec.resolve`. Raises DecodeError.

    Its logical types are left out, so that a time stays the number that it is. Refused is a schema by which few bytes
    make work without an end: by what takes no bytes, or by records within themselves.
    """
    try:
        parsed = _fastavro().parse_schema(_without_logic(schema))
        fault = _endless(parsed, ()) if isinstance(parsed, dict) and parsed["type"] == "record" else "no record's"
    except Exception as error:  # fastavro raises whatever the schema led it to
        raise DecodeError(f"no schema of Avro ({type(error).__name__})") from None
    if fault:
        raise DecodeError(fault)
    return parsed


def _without_logic(schema: Any) -> Any:
    """The schema without logical types, and without what would tell fastavro that it was parsed."""
    if isinstance(schema, list):
        return [_without_logic(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: one for name, one in schema.items() if name != "logicalType" and not name.startswith("__")}
    # The value of a default or an alias is no schema.
    return kept | {name: _without_logic(kept[name]) for name in ("type", "items", "values", "fields") if name in kept}


def _endless(schema: Any, within: tuple[str, ...]) -> str:
    """Returns why few bytes of a parsed schema could cause endless work; empty if they cannot. `within`: the records
    that enclose it."""
    if isinstance(schema, list):
        return next(filter(None, (_endless(one, within) for one in schema)), "")
    if not isinstance(schema, dict):
        return "a record within itself" if schema in within else ""
    kind = schema["type"]
    if not isinstance(kind, str):
        return _endless(kind, within)
    parts = [schema[name] for name in ("items", "values") if name in schema]
    if kind in ("record", "error"):
        within = (*within, schema["name"])
        parts = [one["type"] for one in schema["fields"]]
    # Each field and each item must take a byte, so that the bytes bound the work.
    if (kind == "fixed" and schema["size"] == 0) or (kind not in _LEAVES and (not parts or any(map(_nothing, parts)))):
        return "a field, or items of a list, that take no bytes"
    return _endless(parts, within) or (_endless(kind, within) if kind not in _KINDS else "")


_LEAVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string", "fixed", "enum")
_KINDS = (*_LEAVES, "record", "error", "array", "map")


def _nothing(schema: Any) -> bool:
    return schema == "null" or (isinstance(schema, dict) and schema["type"] == "null")


def _read(known: _Reader, data: bytes, start: int) -> Any:
    stream = io.BytesIO(data)
    stream.seek(start)
    try:
        record = msgspec.convert(_fastavro().schemaless_reader(stream, known.writer, known.reader), known.kind)
    except Exception as error:  # fastavro raises whatever the bytes led it to
        raise DecodeError(f"not a {known.kind.__name__}: {type(error).__name__}") from None
    if stream.tell() != len(data):
        raise DecodeError(f"{len(data) - stream.tell()} bytes after the end of a {known.kind.__name__}")
    return record


def _unknown(data: bytes) -> DecodeError:
    if data[:2] == _SINGLE_OBJECT and len(data) >= _PREFIX_BYTES:
        return UnknownSchema(f"unknown schema fingerprint {data[2:10].hex()}")
    return DecodeError(f"no single-object Avro: the first bytes are {data[:4].hex() or 'none'}")


def _parse(schema: dict[str, Any]) -> tuple[str, bytes, Any]:
    """A schema's record name, fingerprint and parsed form; the input stays as it is."""
    mark = _fingerprint(_fastavro().schema.to_parsing_canonical_form(schema).encode())
    return schema["name"], mark, _fastavro().parse_schema(json.loads(json.dumps(schema)))


@cache
def _fastavro() -> Any:
    """The library, imported once a schema or a record needs it: a client over HTTP has none (infra/decisions/0170)."""
    import fastavro

    return fastavro


def _fingerprint(data: bytes) -> bytes:
    """CRC-64-AVRO of the Avro specification, the lowest byte first.

    The one of fastavro builds its table for each schema, which took two thirds of the time of making a codec.
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
