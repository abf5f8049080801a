"""Derives the input and output schemas of tools from the description of the API: its requests, parameters and
answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct, structs

from memquorum.client.errors import Invalid
from memquorum.core import jsontext
from memquorum.core.api.endpoints import Endpoint
from memquorum.core.api.fields import Number, numbers, sentences
from memquorum.core.api.requests import Filtered, ListRequest
from memquorum.core.records.episodes import OBJECTS

Schema = dict[str, Any]
_REFERENCE = "#/$defs/{name}"
_NULL = {"type": "null"}
# The fields of a filtered request that are no filters.
_ASKING = ("namespace", "agent", "peek", "cursor", "limit")


@dataclass(frozen=True, slots=True)
class Field:
    """An argument of a tool: its type, its description, its name in the API, and a number's bounds."""

    name: str
    kind: Any
    told: str
    required: bool = False
    api: str = ""
    bounds: Number | None = None


@dataclass(frozen=True, slots=True)
class Takes:
    """The arguments of a tool. `within`: those inside the argument `filters`."""

    tool: str
    fields: tuple[Field, ...]
    within: tuple[Field, ...] = ()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Converts arguments to their names in the API, without missing ones; the API checks the values. Raises Invalid
        and names the argument."""
        said = _read(self.tool, self.fields, arguments)
        if self.within and (filters := said.pop("filters", None)) is not None:
            said |= _read("filters", self.within, filters)
        return said

    def named(self, wrong: Invalid) -> Invalid:
        """Renames the field of an error from the API's name to the tool's."""
        here = next((one.name for one in self.fields if one.api == wrong.field), wrong.field)
        return Invalid(wrong.reason, here, wrong.detail)

    @property
    def schema(self) -> Schema:
        """The JSON schema of the arguments."""
        schema = _object(self.fields)
        if self.within:
            told = "Which memories are asked at all; of what is not named, all."
            schema["properties"]["filters"] = _object(self.within) | {"description": told}
        return schema


def takes(
    tool: str,
    endpoint: Endpoint[Any],
    *names: str,
    required: tuple[str, ...] = (),
    renamed: Mapping[str, str] | None = None,
    filters: bool = False,
    own: tuple[Field, ...] = (),
) -> Takes:
    """Selects fields of an endpoint's request, and parameters of its query string, as a tool's arguments.

    `required`: fields that the tool requires and the API does not; `renamed`: names that differ, by the name in the
    API; `filters`: takes those of a list or of a search; `own`: arguments that the API lacks.
    """
    called = renamed or {}
    fields = [_field(endpoint, name, called.get(name, name), name in required) for name in names]
    if filters:
        fields.append(Field("filters", dict[str, Any] | None, ""))
    kind = ListRequest if endpoint.body is ListRequest else Filtered
    # An argument of the tool itself is not repeated among the filters.
    rest = [name for name in kind.__struct_fields__ if name not in (*_ASKING, *names)] if filters else []
    within = tuple(_of(kind, name) for name in rest)
    return Takes(tool, (*fields, *own), within)


def gives(answer: type[Struct]) -> Schema:
    """The JSON schema of an answer, as one object."""
    _, found = msgspec.json.schema_components([answer], ref_template=_REFERENCE)
    root: Schema = found.pop(answer.__name__)
    told: Schema = _closed(root | {"$defs": found} if found else root)
    return told


def _closed(schema: Any) -> Any:
    """Replaces a `false` schema after an array's items by the number of items: hosts refuse a `false` in the place of a
    schema."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    counted = schema.get("items") is False and schema.get("maxItems") == len(schema.get("prefixItems", ()))
    return {name: _closed(one) for name, one in schema.items() if not (counted and name == "items")}


def _field(endpoint: Endpoint[Any], name: str, here: str, required: bool) -> Field:
    for one in endpoint.query:
        if one.name == name:
            return Field(here, one.kind | None, one.sentence, api=name)
    assert endpoint.body is not None, name
    found = _of(endpoint.body, name)
    return Field(here, found.kind, found.told, required or found.required, name, found.bounds)


def _of(body: type[Struct], name: str) -> Field:
    found = next(one for one in structs.fields(body) if one.name == name)
    kind = dict[str, Any] | None if name in OBJECTS else get_type_hints(body)[name]
    return Field(name, kind, sentences(body)[name], found.required, name, numbers(body).get(name))


def _read(tool: str, fields: tuple[Field, ...], arguments: Mapping[str, Any]) -> dict[str, Any]:
    kind = _struct(tool, fields)
    try:
        found = jsontext.from_plain(dict(arguments), kind)
    except jsontext.JsonRefused as wrong:
        raise Invalid(wrong.code, wrong.field, wrong.detail + _meant(wrong, fields)) from None
    said = {one.api or one.name: getattr(found, one.name) for one in fields}
    return {name: value for name, value in said.items() if value is not None}


def _meant(wrong: jsontext.JsonRefused, fields: tuple[Field, ...]) -> str:
    """A remark on a field whose name in the API differs from the tool's."""
    here = next((one.name for one in fields if one.api == wrong.field), None) if wrong.code == "unknown_field" else None
    return "" if here is None else f" ({wrong.field} is called {here} here)"


_MADE: dict[tuple[str, tuple[Field, ...]], type[Struct]] = {}


def _struct(name: str, fields: tuple[Field, ...]) -> type[Struct]:
    """A struct of the fields, in which optional ones may be absent."""
    if (name, fields) not in _MADE:
        told = [
            (one.name, one.kind, NODEFAULT) if one.required else (one.name, one.kind | None, None) for one in fields
        ]
        _MADE[name, fields] = msgspec.defstruct(name, told, kw_only=True)
    return _MADE[name, fields]


def _object(fields: tuple[Field, ...]) -> Schema:
    _, found = msgspec.json.schema_components([_struct("arguments", fields)], ref_template=_REFERENCE)
    schema = found.pop("arguments")
    properties = {name: _lean(one) for name, one in schema["properties"].items()}
    for one in fields:
        properties[one.name] |= {"description": one.told} | ({} if one.bounds is None else one.bounds.schema)
    defined = {"$defs": found} if found else {}
    return {
        "type": "object", "properties": properties, "required": schema["required"], "additionalProperties": False,
    } | defined  # fmt: skip


def _lean(schema: Schema) -> Schema:
    """The schema without the null that stands for a missing value."""
    kinds = [one for one in schema.get("anyOf", ()) if one != _NULL]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {})
