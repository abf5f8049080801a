"""Avro in single-object encoding: `C3 01`, the schema's CRC-64-AVRO fingerprint, the value (infra/decisions/0015).

That needs no registry: a fingerprint names its schema, and every schema that was ever released lies in `schemas/`. The
schemas are data that the caller hands in, so that this module reads no files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import fastavro
from fastavro.schema import fingerprint, to_parsing_canonical_form

from memquorum.core import records
from memquorum.core.quick import filler

T = TypeVar("T")

_SINGLE_OBJECT = b"\xc3\x01"
_PREFIX_BYTES = 10
_MODULE = vars(records)


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
            self._reader[prefix] = _Reader(name, parsed, None, _builder(_MODULE[name]))
        for schema in older:
            name, mark, parsed = _parse(schema)
            newest = self._reader[self._prefix[name]]
            self._reader.setdefault(_SINGLE_OBJECT + mark, _Reader(name, parsed, newest.writer, newest.build))

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
        fastavro.schemaless_writer(out, self._schema[name], _plain(record))
        return out.getvalue()

    def decode(self, data: bytes) -> Any:
        """The record that the bytes hold. Raises DecodeError."""
        known = self._reader.get(data[:_PREFIX_BYTES])
        if known is None:
            raise _unknown(data)
        stream = io.BytesIO(data)
        stream.seek(_PREFIX_BYTES)
        try:
            value = fastavro.schemaless_reader(stream, known.writer, known.reader)
        except Exception as error:  # fastavro raises whatever the bytes led it to
            raise DecodeError(f"not a {known.name}: {type(error).__name__}") from None
        if stream.tell() != len(data):
            raise DecodeError(f"{len(data) - stream.tell()} bytes after the end of a {known.name}")
        return known.build(value)

    def decode_as(self, kind: type[T], data: bytes) -> T:
        """As `decode`, for a place where only one kind of record belongs. Raises DecodeError."""
        record = self.decode(data)
        if not isinstance(record, kind):
            raise DecodeError(f"a {type(record).__name__} where a {kind.__name__} belongs")
        return record


class _Reader(NamedTuple):
    """How records with one fingerprint are read: by the schema they were written with, and into which (None: the same),
    and what makes the dataclass."""

    name: str
    writer: Any
    reader: Any
    build: Callable[[Any], Any]


def _unknown(data: bytes) -> DecodeError:
    if data[:2] == _SINGLE_OBJECT and len(data) >= _PREFIX_BYTES:
        return UnknownSchema(f"unknown schema fingerprint {data[2:10].hex()}")
    return DecodeError(f"no single-object Avro: the first bytes are {data[:4].hex() or 'none'}")


def _parse(schema: dict[str, Any]) -> tuple[str, bytes, Any]:
    """A schema's record name, fingerprint and parsed form; the input stays as it is."""
    mark = bytes.fromhex(fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO"))
    return schema["name"], mark, fastavro.parse_schema(json.loads(json.dumps(schema)))


def _plain(record: Any) -> dict[str, Any]:
    """fastavro's dict of a record; tuples become lists, nested records dicts."""
    kind = type(record)
    plan = _PLANS.get(kind) or _PLANS.setdefault(kind, _plan(kind))
    value = dict(zip(plan.names, plan.take(record), strict=True))
    for name, of in plan.arrays:
        value[name] = [_plain(item) for item in value[name]] if of else list(value[name])
    for name, _ in plan.records:
        value[name] = None if value[name] is None else _plain(value[name])
    return value


class _Plan(NamedTuple):
    """A record's fields, and what takes their values; those that are arrays, of records of a class or of anything else;
    and those that are a record of a class, or null. Asked once: looking costs more than encoding.
    """

    names: tuple[str, ...]
    take: Callable[[Any], tuple[Any, ...]]
    arrays: tuple[tuple[str, type | None], ...]
    records: tuple[tuple[str, type], ...]


_PLANS: dict[type, _Plan] = {}


def _plan(kind: type) -> _Plan:
    arrays: list[tuple[str, type | None]] = []
    records: list[tuple[str, type]] = []
    for name, hint in get_type_hints(kind).items():
        parts = get_args(hint)
        if getattr(hint, "__origin__", None) is tuple:
            item: type = parts[0]
            arrays.append((name, item if is_dataclass(item) else None))
        else:
            records += [(name, part) for part in (hint, *parts) if isinstance(part, type) and is_dataclass(part)]
    names = tuple(f.name for f in fields(kind))
    take = attrgetter(*names)
    return _Plan(names, take if len(names) > 1 else lambda record: (take(record),), tuple(arrays), tuple(records))


def _builder(kind: type) -> Callable[[dict[str, Any]], Any]:
    """A function from fastavro's dict to the dataclass; arrays become tuples, nested records dataclasses."""
    plan = _plan(kind)
    arrays = [(name, _builder(of) if of else None) for name, of in plan.arrays]
    records = [(name, _builder(of)) for name, of in plan.records]
    make: Callable[[dict[str, Any]], Any] = filler(kind)
    if not (arrays or records):
        return make

    def build(value: dict[str, Any]) -> Any:
        for name, inner in arrays:
            items = value[name]
            value[name] = tuple(inner(v) for v in items) if inner else tuple(items)
        for name, whole in records:
            value[name] = None if value[name] is None else whole(value[name])
        return make(value)

    return build
