"""What is known of a memory's way into experience, over HTTP. To look at it is no use of the memory."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.retrieval import query
from workers.retrieval.answers import Told, unknown
from workers.retrieval.service import Service


async def experience(service: Service, request: Request, caller: Caller) -> Response:
    """Where a memory stands on its way into experience, and why. What a search would keep back is not there."""
    memory_id = query.read_memory_id(request.path_params["memory_id"])
    gates = query.read_gates_of(request.query_params)

    def policy(namespace: str) -> ExperiencePolicy:
        return service.configurations.policy(namespace).experience

    found = await service.reads.admission(caller.sight(READ), memory_id, gates, policy)
    within = query.read_within(request.query_params.get("namespace"))
    if found is None or within not in (None, found.namespace):
        return unknown("memory_id", f"no memory {memory_id}{'' if within is None else f' in {within!r}'}")
    return Told(found)
