"""The endpoints of orders: what each that gives one reads and does, and what became of one of any kind."""

from __future__ import annotations

import time

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from db.order_rows import ASKED
from memquorum.core.access import AUDIT, Caller
from memquorum.core.accounts.erasing import read_erasure
from memquorum.core.accounts.forgetting import read_forget
from memquorum.core.accounts.pinning import read_goal, read_need, read_pin
from memquorum.core.accounts.restoring import read_restore
from memquorum.core.accounts.rolling_back import read_rollback
from memquorum.core.api import endpoints as e
from memquorum.core.orders.table import ORDERS
from memquorum.core.retrieval import query
from workers.retrieval import erasures, protections, reclassifying, restores
from workers.retrieval.answers import StructResponse, unknown
from workers.retrieval.endpoints import Do
from workers.retrieval.ordering import Asking, giving, wait_s
from workers.retrieval.service import Service

GIVING: dict[str, Do] = {
    e.ERASE.name: giving(
        e.ERASE, lambda data, on: read_erasure(data, time.time_ns() // 1_000_000, on.bounds), erasures.erase
    ),
    e.FORGET.name: giving(e.FORGET, lambda data, on: read_forget(data, on.genesis.policy), restores.forget),
    e.RESTORE.name: giving(e.RESTORE, lambda data, on: read_restore(data, on.genesis.policy), restores.restore),
    e.ROLLBACK.name: giving(e.ROLLBACK, lambda data, on: read_rollback(data, on.genesis.policy), restores.rollback),
    e.PIN.name: giving(e.PIN, lambda data, _: read_pin(data), protections.pin),
    e.UNPIN.name: giving(e.UNPIN, lambda data, _: read_pin(data), protections.unpin),
    e.BEGIN_GOAL.name: giving(e.BEGIN_GOAL, lambda data, _: read_need(data), protections.begin_goal),
    e.END_GOAL.name: giving(e.END_GOAL, lambda data, _: read_goal(data), protections.end_goal),
    e.RECLASSIFY.name: reclassifying.reclassify,
}
"""By the endpoint's name: who gives orders there."""


async def order(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the outcome of an order of any kind; needs the right to give such an order, or to audit."""
    order_id = query.read_order_id(request.path_params["order_id"])
    sight = caller.sight(*e.ORDER.rights)
    found = await Asking(service, sight, "", wait_s(service, request)).answered(order_id)
    if found is None:
        return unknown("order_id", f"no order {order_id} was answered: its id is another, or it is on its way")
    caller.sight(ORDERS[found.kind].right, AUDIT)
    if found.status == ASKED:
        found = replace(found, memories=await restores.standing(service, sight, found))
    return StructResponse(await restores.reasoned(service, sight, found))
