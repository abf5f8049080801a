"""The description of the service as OpenAPI 3.1, made of the table that its routes are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from memquorum import __version__
from workers.retrieval.endpoints import Endpoint
from workers.retrieval.shapes import Error

_VARIABLE = re.compile(r"\{(\w+)(:\w+)?\}")
_PLAIN: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
# What is told of any endpoint that wants a key, and what of any at all.
_OF_KEYS = {
    401: "No key, or none that opens.",
    403: "The key lacks the right, or is not bound to the namespace.",
    429: "This key has enough requests under way; Retry-After says when to ask again.",
    504: "It took too long.",
}
_OF_ALL = {400: "The request cannot be answered; `field` names what is at fault.", 503: "Not now: try again."}

Schema = dict[str, Any]


def describe(endpoints: Iterable[Endpoint]) -> Schema:
    """The whole document."""
    shapes: dict[str, Schema] = {}
    error = _schema(Error, shapes)
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        path = _VARIABLE.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, error, shapes)
    return {
        "openapi": "3.1.0",
        "info": {"title": "memquorum", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": shapes,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "mq_<id>_<secret>"}},
        },
    }


def _operation(endpoint: Endpoint, error: Schema, shapes: dict[str, Schema]) -> Schema:
    told: Schema = {"operationId": endpoint.name, "summary": endpoint.sentence}
    told["security"] = [{"key": []}] if endpoint.rights else []
    if endpoint.rights:
        told["description"] = f"Wants the right {' or '.join(endpoint.rights)}."
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name, _ in _VARIABLE.findall(endpoint.path)
    ]
    parameters += [
        {"name": p.name, "in": "query", "required": False, "description": p.sentence, "schema": _schema(p.kind, shapes)}
        for p in endpoint.query
    ]
    if parameters:
        told["parameters"] = parameters
    if endpoint.body is not None:
        told["requestBody"] = {"required": True, "content": _json(_schema(endpoint.body, shapes))}
    content = {} if endpoint.answer is None else {"content": _json(_schema(endpoint.answer, shapes))}
    told["responses"] = {str(endpoint.status): {"description": endpoint.sentence} | content}
    statuses = _OF_ALL | (_OF_KEYS if endpoint.rights else {})
    if _VARIABLE.search(endpoint.path):
        statuses |= {404: "Nothing has that name, as far as this key can see."}
    if endpoint.body is not None:
        statuses |= {413: "The body is too long."}
    for status, sentence in sorted(statuses.items()):
        told["responses"][str(status)] = {"description": sentence, "content": _json(error)}
    return told


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _schema(kind: Any, shapes: dict[str, Schema]) -> Schema:
    """A type's schema; classes go into `shapes` by their name, once."""
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, UnionType):
        return {"anyOf": [_schema(each, shapes) for each in arguments]}
    if origin in (tuple, list):
        return {"type": "array", "items": _schema(arguments[0], shapes)}
    if origin is dict or kind is dict:
        return {"type": "object"}
    if is_dataclass(kind):
        name = getattr(kind, "__name__", "")
        if name not in shapes:
            shapes[name] = {}  # a class may name itself
            shapes[name] = _class(kind, shapes)
        return {"$ref": f"#/components/schemas/{name}"}
    return {}


def _class(kind: Any, shapes: dict[str, Schema]) -> Schema:
    hints = get_type_hints(kind)
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    properties = {f.name: _schema(hints[f.name], shapes) for f in fields(kind)}
    described = " ".join((kind.__doc__ or "").split())
    return {
        "type": "object", "description": described, "properties": properties, "required": needed,
        "additionalProperties": False,
    }  # fmt: skip
