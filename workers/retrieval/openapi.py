"""The description of the service as OpenAPI 3.1, made of the table that its routes are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from memquorum import __version__
from memquorum.core.api.answers import Error
from memquorum.core.api.endpoints import Endpoint
from memquorum.core.api.fields import described
from memquorum.core.records.episodes import OBJECTS

_REFERENCE = "#/components/schemas/{name}"
_VARIABLE = re.compile(r"\{(\w+)(:\w+)?\}")
# The answers that are described for any endpoint that wants a key, and for any at all.
_OF_KEYS = {
    401: "No key, or none that opens.",
    403: "The key lacks the right, or is not bound to the namespace.",
    429: "This key has enough requests under way; Retry-After says when to ask again.",
    504: "It took too long.",
}
_OF_ALL = {400: "The request cannot be answered; `field` names what is at fault.", 503: "Not now: try again."}

Schema = dict[str, Any]


def describe(endpoints: Iterable[Endpoint[Any]]) -> Schema:
    """The whole document."""
    endpoints = tuple(endpoints)
    bodies = [one.body for one in endpoints if one.body is not None]
    answers = [one.answer for one in endpoints if one.answer is not None]
    _, shapes = msgspec.json.schema_components([*bodies, *answers, Error], ref_template=_REFERENCE)
    for body in bodies:
        name = body.__name__
        shapes[name] = described(body, shapes[name]) | {"additionalProperties": False}
        for field in OBJECTS & shapes[name]["properties"].keys():
            shapes[name]["properties"][field] |= {"anyOf": [{"type": "object"}, {"type": "null"}]}
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        path = _VARIABLE.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {"title": "memquorum", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": shapes,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "mq_<id>_<secret>"}},
        },
    }


def _operation(endpoint: Endpoint[Any]) -> Schema:
    told: Schema = {"operationId": endpoint.name, "summary": endpoint.sentence}
    told["security"] = [{"key": []}] if endpoint.rights else []
    if endpoint.rights:
        told["description"] = f"Wants the right {' or '.join(endpoint.rights)}."
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name, _ in _VARIABLE.findall(endpoint.path)
    ]
    parameters += [
        {
            "name": p.name,
            "in": "query",
            "required": False,
            "description": p.sentence,
            "schema": msgspec.json.schema(p.kind),
        }
        for p in endpoint.query
    ]
    if parameters:
        told["parameters"] = parameters
    if endpoint.body is not None:
        told["requestBody"] = {"required": True, "content": _json(endpoint.body)}
    content = {} if endpoint.answer is None else {"content": _json(endpoint.answer)}
    told["responses"] = {str(endpoint.status): {"description": endpoint.sentence} | content}
    statuses = _OF_ALL | (_OF_KEYS if endpoint.rights else {})
    if _VARIABLE.search(endpoint.path):
        statuses |= {404: "Nothing has that name, as far as this key can see."}
    if endpoint.body is not None:
        statuses |= {413: "The body is too long."}
    for status, sentence in sorted(statuses.items()):
        told["responses"][str(status)] = {"description": sentence, "content": _json(Error)}
    return told


def _json(kind: type) -> Schema:
    return {"application/json": {"schema": {"$ref": _REFERENCE.format(name=kind.__name__)}}}
