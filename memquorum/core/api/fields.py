"""The sentence on each field of a body, and the bounds and default of a number, as its declaration has them.

A field is declared once, as `Annotated[…, Meta(description=…)]`, a number with `counted` (`core.api.requests`,
`core.records`). The service checks numbers by that (`retrieval.query.read_number`); the description of the API and the
tools derive from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Meta, Struct, structs

Kind = type[Struct]


class Number(Struct, frozen=True):
    """The bounds of a number in a request, both included, and its default. `most`: a number, or the name of a bound
    that the operator sets (`retrieval.bounds`)."""

    least: int
    most: int | str
    default: int

    @property
    def schema(self) -> dict[str, int]:
        """The bounds that do not depend on the operator, and the default, as in a JSON schema."""
        most = {"maximum": self.most} if isinstance(self.most, int) else {}
        return {"minimum": self.least, "default": self.default} | most


def counted(text: str, least: int, most: int | str, default: int) -> Meta:
    """Describes a number: what it is, its bounds, and its default."""
    bounds = Number(least, most, default)
    sentence = f"{text.rstrip('.')} (default: {default})."
    return Meta(description=sentence, extra_json_schema=bounds.schema, extra={"bounds": bounds})


@cache
def sentences(kind: Kind) -> Mapping[str, str]:
    """Returns the sentence on each field of a body that has one."""
    return {name: meta.description for name, meta in _declared(kind).items() if meta.description is not None}


@cache
def numbers(kind: Kind) -> Mapping[str, Number]:
    """Returns the bounds of a body's numbers."""
    return {name: meta.extra["bounds"] for name, meta in _declared(kind).items() if meta.extra is not None}


def described(kind: Kind, schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON schema of a body, whose numbers have the defaults that count."""
    defaults = {name: {"default": one.default} for name, one in numbers(kind).items()}
    return schema | {"properties": {name: one | defaults.get(name, {}) for name, one in schema["properties"].items()}}


def _declared(kind: Kind) -> dict[str, Meta]:
    return {one.name: one.type.__metadata__[0] for one in structs.fields(kind) if hasattr(one.type, "__metadata__")}
