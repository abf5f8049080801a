"""The endpoints of the service, in one table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from workers.retrieval import health, memories, search
from workers.retrieval.service import Service

Do = Callable[[Service, Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is answered at one address: `do`, a function whose name no other endpoint's has."""

    method: str
    path: str
    do: Do


ENDPOINTS = (
    Endpoint("POST", "/search", search.search),
    Endpoint("GET", "/memories/{memory_id}", memories.memory),
    Endpoint("GET", "/memories/{memory_id}/explain", memories.explain),
    Endpoint("GET", "/events/{namespace}/{event_id:path}", memories.event),
    Endpoint("GET", "/livez", health.livez),
    Endpoint("GET", "/readyz", health.readyz),
)


def routes(service: Service) -> list[Route]:
    """The table, for one service."""
    return [Route(e.path, _bound(e.do, service), methods=[e.method], name=e.do.__name__) for e in ENDPOINTS]


def _bound(do: Do, service: Service) -> Callable[[Request], Awaitable[Response]]:
    @wraps(do)
    async def endpoint(request: Request) -> Response:
        return await do(service, request)

    return endpoint
