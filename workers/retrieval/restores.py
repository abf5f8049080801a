"""Restores over HTTP: what was forgotten is asked back, and the members vote on it.

The service signs as `service:erasure` for whoever has the right `forget` in the namespace: who may have memories
forgotten may ask for them back. The request goes the way of all records; the answer waits for the decision.
"""

from __future__ import annotations

import uuid

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import AUDIT, FORGET, Caller, Sight
from memquorum.core.api.answers import Restore, Restoring
from memquorum.core.orders.restore import FORGET as TO_FORGET
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval import query, restoring
from workers.retrieval import ordering
from workers.retrieval.answers import Told, body, unknown
from workers.retrieval.leaving import leaving
from workers.retrieval.service import Service

_INSTEAD = ". The operator can: `python -m infra restore`"


async def restore(service: Service, request: Request, caller: Caller) -> Response:
    """Asks for memories back that rest sealed, and waits for the members' decision; the others are told why not."""
    genesis = service.genesis
    wanted = restoring.read_restore(await body(request, service.bounds), genesis.policy)
    seconds = ordering.wait_s(service, request)
    sight = caller.at(wanted.namespace, FORGET)
    rows = await service.reads.resting(sight, wanted.namespace, wanted.memory_ids)
    found = restoring.standing(wanted.memory_ids, rows)
    sealed = tuple(one.memory_id for one in found if one.status == restoring.SEALED)
    if not sealed:
        return Told(Restore(wanted.namespace, "nothing to restore", found))
    asked = replace(wanted, memory_ids=sealed)
    done = await ask(service, caller, sight, asked, seconds)
    told = {one.memory_id: one for one in done.memories} if done.status != "asked" else {}
    memories = tuple(told.get(one.memory_id, one) for one in found)
    return Told(replace(done, memories=memories), 200 if done.status == "decided" else 202)


async def ask(service: Service, caller: Caller, sight: Sight, wanted: RestoreOrdered, seconds: float) -> Restore:
    """Publishes a request and waits for the decision; "asked" where there was none in time. Raises BadRequest."""
    seed = ordering.seed(service, "ask", None, _INSTEAD)
    genesis, order_id = service.genesis, str(uuid.uuid4())
    by, now = ordering.by(caller), ordering.now_ms()
    order = replace(wanted, cluster=genesis.cluster, order_id=order_id, ordered_by=by, ordered_at=now)
    await ordering.publish(service, REQUEST, seed, order)
    done = await _decided(service, sight, order_id, seconds)
    return done or Restore(wanted.namespace, "asked", (), order_id, action=wanted.action)


async def restored(service: Service, request: Request, caller: Caller) -> Response:
    """What became of a request to restore, or to forget."""
    order_id = query.read_order_id(request.path_params["order_id"])
    sight = caller.sight(FORGET, AUDIT)
    found = await service.reads.restore(sight, service.codec, order_id)
    if found is None:
        return unknown("order_id", f"no request {order_id} has come in")
    if found.status == "asked":
        found = replace(found, memories=await _waiting(service, sight, found))
    return Told(found)


async def _waiting(service: Service, sight: Sight, asked: Restore) -> tuple[Restoring, ...]:
    """Where the memories stand of a request that nobody has voted on yet."""
    ids = [one.memory_id for one in asked.memories]
    if asked.action == TO_FORGET:
        now, _ = await leaving(service, sight, asked.namespace, ids)
        return tuple(Restoring(one.memory_id, one.status, one.detail) for one in now)
    return restoring.standing(ids, await service.reads.resting(sight, asked.namespace, ids))


async def _decided(service: Service, sight: Sight, order_id: str, seconds: float) -> Restore | None:
    """The request once it is decided on; what there is of it after so many seconds."""
    return await ordering.until(
        seconds,
        lambda: service.reads.restore(sight, service.codec, order_id),
        lambda found: found is not None and found.status != "asked",
    )
