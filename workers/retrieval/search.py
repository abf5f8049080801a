"""The search. Hits count as used unless it peeks: for each, an access is published, and the answer says how many.

If Kafka does not take them in time the hits are answered all the same, with a warning.
"""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memquorum.core.access import READ, Caller, Sight
from memquorum.core.retrieval import query
from memquorum.ports import Encoder
from memquorum.telemetry.tracing import HEADER
from workers.retrieval.answers import body
from workers.retrieval.service import Service
from workers.retrieval.shapes import Found


async def search(service: Service, request: Request, caller: Caller) -> Response:
    """The memories nearest in meaning."""
    wanted = query.read_search(await body(request))
    hits = await find(service, caller.at(wanted.namespace, READ), wanted)
    used, warning = await service.use(wanted, hits, request.headers.get(HEADER))
    answer = asdict(Found(wanted.namespace, tuple(hits), used, warning))
    if warning is None:
        del answer["warning"]
    return JSONResponse(answer)


async def find(service: Service, sight: Sight, wanted: query.Search) -> list[query.Hit]:
    """The nearest memories; where two encoders' are there, merged by rank, for their scores cannot be compared."""
    # First those that wait to be encoded anew: what changes sides meanwhile is found twice, not never.
    before = await _nearest(service, sight, service.before, wanted) if service.before else []
    hits = await _nearest(service, sight, service.encoder, wanted)
    if service.before is None or not before:
        return hits
    counts = await service.reads.encoded(sight, wanted.namespace)
    lists = [(hits, counts.get(service.encoder.name, 0)), (before, counts.get(service.before.name, 0))]
    return query.merge(lists, wanted.k)


async def _nearest(service: Service, sight: Sight, encoder: Encoder, wanted: query.Search) -> list[query.Hit]:
    vector = await service.encode(encoder, wanted.query)
    return await service.reads.search(sight, wanted.namespace, encoder.name, vector, wanted.k)
