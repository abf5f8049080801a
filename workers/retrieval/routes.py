"""The endpoints of the service, in one table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memquorum.core.access import AUDIT, NOBODY, PUBLISH, READ, Caller
from workers.retrieval import health, memories, search
from workers.retrieval.service import Service

Do = Callable[[Service, Request, Caller], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is answered at one address: `do`, a function whose name no other endpoint's has.

    `rights`: one of them is needed to come in; none where nobody is asked for a key. `do` asks the caller for the
    namespaces that it may see (`Caller.at`, `Caller.sight`), and can ask the store nothing without them.
    """

    method: str
    path: str
    do: Do
    rights: tuple[str, ...]


ENDPOINTS = (
    Endpoint("POST", "/search", search.search, (READ,)),
    Endpoint("GET", "/memories/{memory_id}", memories.memory, (READ,)),
    Endpoint("GET", "/memories/{memory_id}/explain", memories.explain, (READ, AUDIT)),
    Endpoint("GET", "/events/{namespace}/{event_id:path}", memories.event, (READ, PUBLISH)),
    Endpoint("GET", "/livez", health.livez, ()),
    Endpoint("GET", "/readyz", health.readyz, ()),
)


def routes(service: Service) -> list[Route]:
    """The table, for one service."""
    return [Route(e.path, _bound(e, service), methods=[e.method], name=e.do.__name__) for e in ENDPOINTS]


def _bound(endpoint: Endpoint, service: Service) -> Callable[[Request], Awaitable[Response]]:
    @wraps(endpoint.do)
    async def bound(request: Request) -> Response:
        caller = NOBODY
        if endpoint.rights:
            caller = service.door.enter(request.headers.get("authorization"))
            caller.sight(*endpoint.rights)
        return await endpoint.do(service, request, caller)

    return bound
