"""The endpoints for liveness and readiness."""

from __future__ import annotations

import asyncio

from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memquorum.core.access import AUDIT, Caller, NoEntry
from workers.retrieval.door import Locked
from workers.retrieval.service import Service


async def livez(_: Service, __: Request, ___: Caller) -> Response:
    """Answers that the process is alive."""
    return JSONResponse({"alive": True})


async def readyz(service: Service, request: Request, _: Caller) -> Response:
    """Answers with the parts that the service needs and their faults; 503 if there is a fault. `access`: whether it
    wants a key."""
    parts = await service.parts()
    ready = not any(parts.values())
    if not _known(service, request):
        parts = {part: wrong and "wrong; with a key it is told what" for part, wrong in parts.items()}
    told = {"ready": ready, "encoder": service.encoder.name, "access": "everyone" if service.door.open else "keys"}
    # Without its caches it answers as well, only later.
    told["cache"] = service.caching.state
    return JSONResponse(told | parts, status_code=200 if ready else 503)


def _known(service: Service, request: Request) -> bool:
    """Whether a key comes with the request, where keys are wanted: what is wrong names hosts, ports and files."""
    try:
        service.door.enter(request.headers.get("authorization"))
    except (NoEntry, Locked):
        return False
    return True


async def metrics(service: Service, request: Request, caller: Caller) -> Response:
    """The metrics of the process, as Prometheus reads them; for a key to all namespaces, since they count all."""
    caller.everywhere(AUDIT)
    encode, kind = choose_encoder(request.headers.get("accept", ""))
    # Some are asked of the broker.
    page = await asyncio.to_thread(encode, service.meters.registry)
    return Response(page, headers={"Content-Type": kind})
