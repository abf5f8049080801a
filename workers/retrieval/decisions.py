"""What members decided about the memories of a namespace, the latest first. To look at it is no use of them."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import AUDIT, READ, Caller
from memquorum.core.api.answers import Decisions
from memquorum.core.retrieval.decisions import cursor, read_wanted, told
from workers.retrieval.answers import Told, body
from workers.retrieval.service import Service


async def decisions(service: Service, request: Request, caller: Caller) -> Response:
    """The decisions that pass, each as its certificate has it."""
    wanted = read_wanted(await body(request, service.bounds), service.bounds)
    found = await service.reads.decisions(caller.at(wanted.namespace, READ, AUDIT), wanted)
    made = await asyncio.to_thread(told, service.codec, service.genesis, found)
    return Told(Decisions(wanted.namespace, made, cursor(wanted.namespace, found.behind) if found.behind else None))
