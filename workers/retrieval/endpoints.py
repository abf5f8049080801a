"""The query strings of the endpoints: what each may hold, and how it is read; and how long an answer may take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import Caller
from memquorum.core.api.endpoints import Endpoint
from memquorum.core.jsontext import tellable
from memquorum.core.retrieval.bounds import Bounds
from memquorum.core.retrieval.query import (
    BadRequest,
    read_after,
    read_agent,
    read_as_of,
    read_flag,
    read_gates_of,
    read_persona,
    read_place,
    read_place_in_feed,
    read_said,
    read_wait,
    read_within,
)
from workers.retrieval.service import Service

Do = Callable[[Service, Request, Caller], Awaitable[Response]]


def _gate(name: str) -> Callable[[str | None, Bounds], object]:
    return lambda value, _: read_gates_of({} if value is None else {name: value})


# By a parameter's name; each takes what stands there, None where it does not stand there.
_READ: Mapping[str, Callable[[str | None, Bounds], object]] = {
    "cursor": lambda value, _: read_place_in_feed(value),
    "confirm": lambda value, _: read_flag("confirm", value),
    "wait_ms": read_wait,
    "after": lambda value, _: read_after(value),
    "namespace": lambda value, _: read_within(value),
    "agent": lambda value, _: read_agent(value),
    "place": lambda value, _: read_place(value),
    "said": lambda value, _: read_said(value),
    "as_of": lambda value, _: read_as_of(value),
    "persona": lambda value, _: read_persona(value),
    "redact": lambda value, _: read_flag("redact", value),
    "history": lambda value, _: read_flag("history", value),
    "use": lambda value, _: read_flag("use", value),
    **{name: _gate(name) for name in ("sensitivity_max", "purpose", "jurisdictions")},
}


def check(endpoint: Endpoint[Any], request: Request, bounds: Bounds) -> None:
    """Reads the query string, before anything is asked or published for the request. Raises BadRequest, also for a
    name that no parameter has: a gate that was mistyped would keep nothing back."""
    known = [parameter.name for parameter in endpoint.query]
    found = [name for name, _ in request.query_params.multi_items()]
    for name in found:
        if name not in known:
            raise BadRequest("unknown_field", tellable(name), _strange(endpoint, known))
        if found.count(name) > 1:
            raise BadRequest("duplicate_field", name, "it is there twice in the query string; send it once")
    for name in known:
        _READ[name](request.query_params.get(name), bounds)


def limit_s(endpoint: Endpoint[Any], bounds: Bounds) -> float:
    """Returns the longest time for an answer, in seconds."""
    return (bounds.waits_ms if endpoint.waits else bounds.answer_ms) / 1000


def _strange(endpoint: Endpoint[Any], known: list[str]) -> str:
    takes = f"in the query string {', '.join(known)}" if known else "nothing in the query string"
    rest = "; the rest stands in the body" if endpoint.body else ""
    return f"{endpoint.method} {endpoint.path} takes {takes}{rest}"
