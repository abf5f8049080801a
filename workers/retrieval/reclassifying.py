"""Orders to reclassify memories over HTTP: by a key with the right to forget, or whose grant names their subjects."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import FORGET, READ, Caller, Denied, Sight, covers
from memquorum.core.accounts.reclassifying import read_reclassify
from memquorum.core.api.answers import Classed, Reclassified
from memquorum.core.api.endpoints import WAIT_MS
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.records import ReclassificationOrdered
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.ordering import Asking, wait_s
from workers.retrieval.service import Service

DONE, ORDERED, NOTHING = "reclassified", "ordered", "changed nothing"


async def reclassify(service: Service, request: Request, caller: Caller) -> Response:
    """Changes what memories state of their use, and answers with what holds for each once that is in force."""
    orders = read_reclassify(await body(request, service.bounds))
    namespace, by = orders[0].namespace, f"key {caller.id}" if caller.id is not None else "whoever is on this machine"
    sight = caller.at(namespace, FORGET, READ)
    _allowed(caller, orders, await _shown(service, sight, orders))
    asking = Asking(service, sight, by, wait_s(service, request, WAIT_MS))
    ids = await asking.give(RECLASSIFICATION, orders)
    answered = await asyncio.gather(*map(asking.answered, ids))
    told = tuple(
        Classed(
            order.memory_id, ORDERED if done is None else done.status, order_id, now["sensitivity"], now["purposes"],
            now["jurisdictions"],
        )
        for order, order_id, done, now in zip(
            orders, ids, answered, await _shown(service, sight, orders), strict=True
        )
    )  # fmt: skip
    found = {one.status for one in told}
    status = next((one for one in (ORDERED, NOTHING) if one in found), DONE)
    return StructResponse(Reclassified(namespace, status, told), 202 if status == ORDERED else 200)


async def _shown(service: Service, sight: Sight, orders: Sequence[ReclassificationOrdered]) -> list[dict[str, Any]]:
    """What is shown of each memory. Raises BadRequest for one that its namespace does not have, or that a profile
    hides."""
    found = []
    for order in orders:
        memory = await service.reads.memory(sight, order.memory_id)
        if memory is None or memory["namespace"] != order.namespace:
            raise BadRequest("not_found", "memory_ids", f"no memory {order.memory_id} in {order.namespace!r}")
        found.append(memory)
    return found


def _allowed(caller: Caller, orders: Sequence[ReclassificationOrdered], shown: Sequence[dict[str, Any]]) -> None:
    """Raises Denied for a key that may not forget, and whose grant does not name the subject of each memory."""
    if FORGET in caller.rights:
        return
    for order, memory in zip(orders, shown, strict=True):
        if not covers(caller.subjects, memory["subject"]):
            told = "this key may not forget, and its grant does not name whom this memory is about"
            raise Denied("subject", f"{told}: {order.memory_id}")
