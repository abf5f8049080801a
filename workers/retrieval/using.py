"""Publishes the uses that an agent without Kafka reports, and its reads by key, counted behind the answer."""

from __future__ import annotations

import time
import uuid

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.api.answers import Used
from memquorum.core.reasons import Reason
from memquorum.core.retrieval import query, using
from memquorum.core.retrieval.query import BadRequest
from memquorum.core.retrieval.using import ReportedUse as Uses
from memquorum.telemetry import tracing
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.limits import Busy
from workers.retrieval.service import Service

_UNSIGNED = "this namespace takes signed uses alone, which the agent itself publishes to Kafka"


async def uses(service: Service, request: Request, caller: Caller) -> Response:
    """Says that memories were used: each counts once a minute for an agent, and keeps the memory alive."""
    told = using.read_uses(await body(request, service.bounds))
    caller.at(told.namespace, READ)
    if told.namespace in service.genesis.signed:
        raise BadRequest(Reason.UNSIGNED, "namespace", _UNSIGNED)
    now_s = time.monotonic()
    if not service.lately.spend(caller.id or "", len(told.memory_ids), now_s):
        raise Busy(True, f"{service.bounds.uses_most} uses a minute are the most of one key; try again later")
    event_id = told.event_id or str(uuid.uuid4())
    # A client that repeats a request does not know if it came in, so its memories are not taken for used already.
    new = told.memory_ids if told.event_id else service.lately.new(told.namespace, told.agent, told.memory_ids, now_s)
    confirm = query.read_flag("confirm", request.query_params.get("confirm"))
    found = using.accesses(replace(told, memory_ids=new), event_id)
    count, warning = await service.count(found, request.headers.get(tracing.HEADER), "POST /memories/uses", confirm)
    if found and not count and not confirm:
        raise Busy(False, warning or "try again")
    return StructResponse(Used(told.namespace, event_id, count, warning), 202)


def user(request: Request) -> str | None:
    """Returns the agent that uses the memory read by its id, as the query string says; None if it only looks. Raises
    BadRequest."""
    agent = query.read_agent(request.query_params.get("agent"))
    if not query.read_flag("use", request.query_params.get("use")):
        return None
    if agent is None:
        raise BadRequest("missing_field", "agent", "who uses it? Send agent with use=true")
    return query.read_speaker(agent)


async def read(service: Service, caller: Caller, told: Uses, parent: str | None, way: str) -> None:
    """Counts a memory that was read by its key or id as used, behind the answer: no client hears of a failure, or of a
    key that may use no more in this minute. `way`: of the request, for its trace."""
    now_s = time.monotonic()
    if told.namespace in service.genesis.signed or not service.lately.spend(
        caller.id or "", len(told.memory_ids), now_s
    ):
        return
    new = service.lately.new(told.namespace, told.agent, told.memory_ids, now_s)
    found = using.accesses(replace(told, memory_ids=new), str(uuid.uuid4()))
    if found:
        await service.count(found, parent, way, confirm=False)
