"""The ASGI application: the table's routes and what is around them."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from memquorum.core.avro import Codec
from memquorum.core.consensus.membership import Genesis
from memquorum.core.retrieval.query import BadRequest
from memquorum.ports import Encoder, StoreUnavailable
from memquorum.telemetry.bundle import Telemetry
from workers.retrieval import answers
from workers.retrieval.middleware import Measured
from workers.retrieval.routes import routes
from workers.retrieval.service import Service

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def app(
    *,
    memory_dsn: str,
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    encoder: Encoder,
    before: Encoder | None = None,
    hosts: Sequence[str] = LOOPBACK,
    telemetry: Telemetry | None = None,
) -> Starlette:
    """The application. `hosts`: the names that requests may address."""
    shown = (telemetry or Telemetry()).stage("retrieval")
    service = Service(memory_dsn, bootstrap, genesis, codec, encoder=encoder, before=before, shown=shown)
    served = routes(service)
    return Starlette(
        routes=served,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(Measured, meters=shown.meters, paths={route.name: route.path for route in served}),
        ],
        exception_handlers={BadRequest: answers.bad_request, StoreUnavailable: answers.unavailable},
        lifespan=service.lifespan,
    )
