"""Declares the answers and the requests of the API in TypeScript, made of its description, for the console's JSDoc.

`Api.NAME` is an answer, a part of one, or the body of a request. `Api.Get<PATH>` and `Api.Post<PATH>` are the answers
of endpoints by the path that the console asks for, and `Api.Asked<PATH>` what it may send there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_KINDS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_VARIABLE = re.compile(r"\{\w+\}")
_JSON = "application/json"

Schema = Mapping[str, Any]


def declared(description: Schema) -> str:
    """Returns the declarations of a description of the API."""
    shapes = description["components"]["schemas"]
    lines = ["declare namespace Api {"]
    lines += [f"  type {name} = {kind(shape)};" for name, shape in shapes.items()]
    lines += _chosen("Get", _routes(description, "get", _answered))
    lines += _chosen("Post", _routes(description, "post", _answered))
    lines += _chosen("Body", _routes(description, "post", _asked))
    lines.append('  type Asked<P extends string> = {[K in keyof Body<P>]?: Body<P>[K] | "" | null};')
    return "\n".join([*lines, "}", ""])


def kind(schema: Schema) -> str:
    """Returns the type of a schema."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(kind(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(f'"{one}"' for one in schema["enum"])
    told = schema.get("type")
    if told == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(kind(one) for one in schema['prefixItems'])}]"
        return f"Array<{kind(schema.get('items', {}))}>"
    if told == "object":
        return _object(schema)
    return _KINDS.get(str(told), "any")


def _object(schema: Schema) -> str:
    if "properties" not in schema:
        within = schema.get("additionalProperties")
        return f"Record<string, {kind(within) if isinstance(within, Mapping) else 'any'}>"
    required = set(schema.get("required", ()))
    # What has a default is always in an answer; of a request, `Body` makes every field optional.
    fields = (
        f"{name}{'' if name in required or 'default' in one else '?'}: {kind(one)}"
        for name, one in schema["properties"].items()
    )
    return f"{{{'; '.join(fields)}}}"


def _routes(description: Schema, method: str, of: Any) -> Iterator[tuple[str, str]]:
    """Path, as a template of types, and the type of what `of` finds there. The most specific come first: those with
    most parts, and of these those with most fixed ones."""
    for path, methods in sorted(
        description["paths"].items(), key=lambda one: (-one[0].count("/"), len(_VARIABLE.findall(one[0])), one[0])
    ):
        if method in methods and (found := of(methods[method])):
            yield _VARIABLE.sub("${string}", path.lstrip("/")), found


def _answered(operation: Schema) -> str:
    for status, answer in operation["responses"].items():
        if status.startswith("2") and "content" in answer:
            return kind(answer["content"][_JSON]["schema"])
    return ""


def _asked(operation: Schema) -> str:
    return kind(operation["requestBody"]["content"][_JSON]["schema"]) if "requestBody" in operation else ""


def _chosen(name: str, routes: Iterator[tuple[str, str]]) -> Iterator[str]:
    """A type that chooses by a path."""
    yield f"  type {name}<P extends string> ="
    yield from (f"    P extends `{path}` ? {found} :" for path, found in routes)
    yield "    unknown;"
