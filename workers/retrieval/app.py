"""The ASGI application: the table's routes and what is around them."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect

from memquorum.core.access import Denied, NoEntry
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.cache import CAPACITY
from memquorum.core.retrieval.query import BadRequest
from memquorum.ports import Encoder, StoreUnavailable
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.metrics import Meters
from workers.retrieval import answers
from workers.retrieval.door import Door, Locked
from workers.retrieval.limits import Busy, Late
from workers.retrieval.middleware import Measured
from workers.retrieval.routes import routes
from workers.retrieval.service import KafkaUnavailable, Service

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def app(
    *,
    memory_dsn: str,
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    encoder: Encoder,
    before: Encoder | None = None,
    door: Door | None = None,
    hosts: Sequence[str] = LOOPBACK,
    telemetry: Telemetry | None = None,
    erasure_seed: bytes | None = None,
    cache_memories: int = CAPACITY,
    bounds: Bounds = DEFAULTS,
) -> Starlette:
    """The application. `door`: asks for keys; without one everybody comes in. `hosts`: that requests may address.

    `erasure_seed`: of service:erasure; without it erasures can be looked at, not ordered. `cache_memories`: of a
    namespace, at most; 0 for no cache."""
    shown = (telemetry or Telemetry()).stage("retrieval")
    service = Service(
        memory_dsn, bootstrap, genesis, codec,
        encoder=encoder, before=before, door=door or Door(None), shown=shown, erasure_seed=erasure_seed,
        cache_memories=cache_memories, bounds=bounds,
    )  # fmt: skip
    return around(service, hosts, shown.meters)


def around(service: Service, hosts: Sequence[str], meters: Meters) -> Starlette:
    """The application of one service."""
    served = routes(service)
    return Starlette(
        routes=served,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(Measured, meters=meters, paths={route.name: route.path for route in served}),
        ],
        exception_handlers={
            BadRequest: answers.bad_request,
            NoEntry: answers.no_entry,
            Denied: answers.denied,
            Busy: answers.busy,
            Late: answers.late,
            Locked: answers.unavailable,
            KafkaUnavailable: answers.unavailable,
            ClientDisconnect: answers.gone,
            HTTPException: answers.other,
            StoreUnavailable: answers.unavailable,
        },
        lifespan=service.lifespan,
    )
