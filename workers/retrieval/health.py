"""Whether the service lives, and whether it can answer."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from workers.retrieval.service import Service


async def livez(_: Service, __: Request) -> Response:
    """That it answers at all."""
    return JSONResponse({"alive": True})


async def readyz(service: Service, _: Request) -> Response:
    """What it needs, and what is wrong with each; 503 where something is."""
    parts = await service.parts()
    ready = not any(parts.values())
    return JSONResponse({"ready": ready, "encoder": service.encoder.name} | parts, status_code=200 if ready else 503)
