"""The ASGI application: the table's routes and what is around them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Required, TypedDict, Unpack

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send

from memquorum.core.access import Denied, NoEntry
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.retrieval.bounds import Bounds
from memquorum.core.retrieval.query import BadRequest
from memquorum.core.retrieval.redaction import Redaction
from memquorum.ports import Encoder, StoreUnavailable
from memquorum.telemetry import tracing
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.metrics import Meters
from workers.kafka.own_clock import OwnClock
from workers.retrieval import answers, console, mem0
from workers.retrieval.after import NotYet
from workers.retrieval.door import Door, Locked
from workers.retrieval.following import Watch
from workers.retrieval.inside import Inside
from workers.retrieval.limits import Busy, Late
from workers.retrieval.mcp import Mounted
from workers.retrieval.origins import Guarded
from workers.retrieval.routes import routes
from workers.retrieval.service import KafkaUnavailable, Service

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Made(TypedDict, total=False):
    """The parts that a service is made of; see `Service`."""

    memory_dsn: Required[str]
    bootstrap: Required[str]
    genesis: Required[Genesis]
    codec: Required[Codec]
    encoder: Required[Encoder]
    before: Encoder | None
    erasure_seed: bytes | None
    cache_memories: int
    queries: bool
    bounds: Bounds
    redaction: Redaction
    own_clock: OwnClock | None
    stamps: Reader | None
    watch: Watch | None
    past: bool


def app(
    *,
    door: Door | None = None,
    hosts: Sequence[str] = LOOPBACK,
    origins: Sequence[str] = (),
    telemetry: Telemetry | None = None,
    **made: Unpack[Made],
) -> Starlette:
    """The application of a service that is `made` so. `door`: asks for keys; without one everybody comes in. `hosts`:
    that requests may address. `origins`: of web pages that may ask."""
    shown = (telemetry or Telemetry()).stage("retrieval")
    return around(Service(**made, door=door or Door(None), shown=shown), hosts, shown.meters, origins)


def around(service: Service, hosts: Sequence[str], meters: Meters, origins: Sequence[str] = ()) -> Starlette:
    """The application of one service."""
    endpoints = routes(service)
    inside = Inside(service, endpoints, _HANDLERS)
    mounted = Mounted(service, inside)
    served = [*endpoints, *console.routes(), mounted.route, *mem0.routes(service, inside, tuple(_HANDLERS))]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.lifespan(app), mounted.running():
            yield

    return Starlette(
        routes=served,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(Measured, meters=meters, paths={route.name: route.path for route in served}),
            Middleware(Guarded, origins=origins),
            # So that a browser lets those pages read the answers.
            *([Middleware(CORSMiddleware, allow_origins=list(origins), **_CORS)] if origins else []),
        ],
        exception_handlers=_HANDLERS,
        lifespan=lifespan,
    )


_CORS: Mapping[str, Any] = {
    "allow_methods": ["GET", "POST", "PUT", "DELETE"],
    "allow_headers": ["Authorization", "Content-Type", "Mcp-Protocol-Version", tracing.HEADER],
}
_HANDLERS: Mapping[Any, ExceptionHandler] = {
    BadRequest: answers.bad_request,
    NoEntry: answers.no_entry,
    Denied: answers.denied,
    Busy: answers.busy,
    Late: answers.late,
    NotYet: answers.not_yet,
    Locked: answers.unavailable,
    KafkaUnavailable: answers.unavailable,
    ClientDisconnect: answers.gone,
    HTTPException: answers.other,
    StoreUnavailable: answers.unavailable,
}


class Measured:
    """Notes how long each answer took, by route."""

    def __init__(self, app: ASGIApp, meters: Meters, paths: Mapping[str, str]) -> None:
        """`paths`: of each endpoint's name."""
        self._app, self._requests, self._paths = app, meters.requests, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, and notes it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            # Unknown paths share one name: they are for strangers to choose.
            route = self._paths.get(getattr(scope.get("endpoint"), "__name__", ""), "unknown")
            parent = Headers(scope=scope).get(tracing.HEADER)
            self._requests.labels(route, str(status)).observe(time.monotonic() - began, tracing.exemplar(parent))
