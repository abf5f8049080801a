"""Orders to reclassify memories over HTTP: by a key with the right to forget, or whose grant names their subjects."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import FORGET, READ, Caller, Denied, Sight, covers
from memquorum.core.api.answers import Classed, Reclassified
from memquorum.core.api.endpoints import WAIT_MS
from memquorum.core.api.requests import ReclassifyRequest
from memquorum.core.orders import reclassify as rules
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.policy import PPM
from memquorum.core.records import ReclassificationOrdered
from memquorum.core.retrieval.query import NOBODY, BadRequest, read_body, read_memory_id, read_namespace
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.ordering import Asking, wait_s
from workers.retrieval.service import Service

_MOST = 100  # memories of one request
DONE, ORDERED, NOTHING = "reclassified", "ordered", "changed nothing"


async def reclassify(service: Service, request: Request, caller: Caller) -> Response:
    """Changes what memories state of their use, and answers with what holds for each once that is in force."""
    orders = _read(await body(request, service.bounds))
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
    """Returns what is shown of each memory. Raises BadRequest for one that its namespace does not have, or that a
    profile hides."""
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


def _read(body: bytes) -> list[ReclassificationOrdered]:
    """Returns the orders that a JSON body asks for; their names, who gives them and when are not said yet. Raises
    BadRequest."""
    asked = read_body(body, ReclassifyRequest)
    ids = tuple(dict.fromkeys(map(read_memory_id, asked.memory_ids)))
    if not 0 < len(ids) <= _MOST:
        raise BadRequest("out_of_range", "memory_ids", f"{len(ids)} memories; name 1 to {_MOST}")
    ppm = None if asked.sensitivity is None else round(asked.sensitivity * PPM)
    namespace, purposes = read_namespace(asked.namespace), tuple(dict.fromkeys(asked.purposes or ()))
    orders = [
        ReclassificationOrdered(
            b"", NOBODY, namespace, memory_id, "x", 0, ppm, asked.purposes is not None, purposes, asked.jurisdiction,
            asked.reference,
        )
        for memory_id in ids
    ]  # fmt: skip
    try:
        rules.check(orders[0])
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None
    return orders
