"""What a tool takes and gives, made of the description of the API: its requests, its parameters, its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import NODEFAULT, Struct, structs

from memquorum.client.errors import Invalid
from memquorum.core import jsontext
from memquorum.core.api.endpoints import Endpoint
from memquorum.core.api.fields import sentence
from memquorum.core.api.requests import Filtered, ListRequest
from memquorum.core.records.episodes import OBJECTS

Schema = dict[str, Any]
_REFERENCE = "#/$defs/{name}"
_NULL = {"type": "null"}
# Of a filter's fields, those that are no filter.
_ASKING = ("namespace", "agent", "peek", "cursor", "limit")


@dataclass(frozen=True, slots=True)
class Field:
    """An argument of a tool's: its type, what it is in a sentence, and what it is called in the API."""

    name: str
    kind: Any
    told: str
    required: bool = False
    api: str = ""


@dataclass(frozen=True, slots=True)
class Takes:
    """The arguments of a tool. `within`: those that stand in the argument `filters`."""

    tool: str
    fields: tuple[Field, ...]
    within: tuple[Field, ...] = ()

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by their names in the API, without those that are not there; their values are judged where they
        are asked for. Raises Invalid and names the argument."""
        said = _read(self.tool, self.fields, arguments)
        if self.within and (filters := said.pop("filters", None)) is not None:
            said |= _read("filters", self.within, filters)
        return said

    def named(self, wrong: Invalid) -> Invalid:
        """What is wrong, by the names that the tool has for what the API calls otherwise."""
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
    """Fields of an endpoint's request, and parameters of its query string, as a tool takes them.

    `required`: of which it needs more than the API does; `renamed`: what is called otherwise here, by the name in the
    API; `filters`: it takes those of a list or of a search; `own`: what the API has not.
    """
    called = renamed or {}
    fields = [_field(endpoint, name, called.get(name, name), name in required) for name in names]
    if filters:
        fields.append(Field("filters", dict[str, Any] | None, ""))
    kind = ListRequest if endpoint.body is ListRequest else Filtered
    # What a tool takes itself stands there alone.
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
    """The schema with how many items an array has said by their number alone: hosts refuse a `false` in the place of
    a schema."""
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
    return Field(here, found.kind, found.told, required or found.required, name)


def _of(body: type[Struct], name: str) -> Field:
    found = next(one for one in structs.fields(body) if one.name == name)
    kind = dict[str, Any] | None if name in OBJECTS else found.type
    return Field(name, kind, sentence(body.__name__, name), found.required, name)


def _read(tool: str, fields: tuple[Field, ...], arguments: Mapping[str, Any]) -> dict[str, Any]:
    kind = _struct(tool, fields)
    try:
        found = jsontext.from_plain(dict(arguments), kind)
    except jsontext.JsonRefused as wrong:
        raise Invalid(wrong.code, wrong.field, wrong.detail + _meant(wrong, fields)) from None
    said = {one.api or one.name: getattr(found, one.name) for one in fields}
    return {name: value for name, value in said.items() if value is not None}


def _meant(wrong: jsontext.JsonRefused, fields: tuple[Field, ...]) -> str:
    """What is called otherwise here than in the API."""
    here = next((one.name for one in fields if one.api == wrong.field), None) if wrong.code == "unknown_field" else None
    return "" if here is None else f" ({wrong.field} is called {here} here)"


_MADE: dict[tuple[str, tuple[Field, ...]], type[Struct]] = {}


def _struct(name: str, fields: tuple[Field, ...]) -> type[Struct]:
    """A struct of the fields, in which what is not required may be absent."""
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
        properties[one.name]["description"] = one.told
    defined = {"$defs": found} if found else {}
    return {
        "type": "object", "properties": properties, "required": schema["required"], "additionalProperties": False,
    } | defined  # fmt: skip


def _lean(schema: Schema) -> Schema:
    """The schema without the null that stands for what is not there."""
    kinds = [one for one in schema.get("anyOf", ()) if one != _NULL]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {})
