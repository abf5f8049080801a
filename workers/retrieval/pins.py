"""Pins over HTTP: a memory is not to be forgotten until it is unpinned; and what answers an erasure of what is held.

The service signs as `service:erasure` for whoever has the right `forget` in the namespace. The order goes the way of
all records, and the answer waits until it holds.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import FORGET, Caller, Sight
from memquorum.core.api.answers import Pinned, Protector
from memquorum.core.orders.envelope import SERVICE
from memquorum.core.orders.protect import HOLD, PIN, PROTECTION, UNPIN, may_end
from memquorum.core.records import ProtectionOrdered
from memquorum.core.retrieval.forgetting import shield
from memquorum.core.retrieval.pinning import read_pin
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval import ordering
from workers.retrieval.answers import Told, body, unknown
from workers.retrieval.service import Service

_RELEASES = "`python -m infra hold --release`"
_DONE = {PIN: "pinned", UNPIN: "unpinned"}


async def pin(service: Service, request: Request, caller: Caller) -> Response:
    """Protects a memory from being forgotten until it is unpinned; an erasure goes over it."""
    return await _order(service, request, caller, PIN)


async def unpin(service: Service, request: Request, caller: Caller) -> Response:
    """Protects a memory no longer by a pin; what holds it, holds it still."""
    return await _order(service, request, caller, UNPIN)


async def _order(service: Service, request: Request, caller: Caller, action: str) -> Response:
    genesis, order_id = service.genesis, str(uuid.uuid4())
    asked = read_pin(await body(request, service.bounds), genesis.cluster, order_id)
    seconds = ordering.wait_s(service, request)
    sight = caller.at(asked.namespace, FORGET)
    found = await service.reads.memory(sight, asked.memory_id)
    if found is None or found["namespace"] != asked.namespace or found["tier"] not in ("short-term", "long-term"):
        return unknown("memory_id", f"no memory {asked.memory_id} is alive in {asked.namespace!r}")
    seed = ordering.seed(service, "order", None)
    by_whom = await protectors(service, sight, [asked.memory_id])
    stands = next((one for one in by_whom if one.kind == PIN), None)
    if (stands is not None) == (action == PIN):  # nothing to begin, or to end
        return _stood(asked, by_whom, stands)
    if action == PIN:
        most = service.configurations.policy(asked.namespace).protection.pins_max
        if (await service.reads.guarded(sight, asked.namespace)).pins >= most:
            told = f"{asked.namespace!r} has {most} pins, the most that there may be: unpin what need not be kept,"
            raise BadRequest(
                "too_many", "memory_id", f"{told} or let the operator pin it: `python -m infra hold --pin`"
            )
    order = replace(asked, ordered_by=ordering.by(caller), ordered_at=ordering.now_ms())
    if action == UNPIN and stands is not None:
        if not may_end(SERVICE, stands.signer):
            told = f"the operator pinned it ({stands.ordered_by}), and ends it alone: `python -m infra hold --unpin`"
            raise BadRequest("not_entitled", "memory_id", told)
        order = replace(order, action=UNPIN, ends=stands.order_id)
    await ordering.publish(service, PROTECTION, seed, order)

    def holds(protecting: list[Protector]) -> bool:
        return any(one.kind == PIN for one in protecting) == (action == PIN)

    by_whom = await ordering.until(seconds, lambda: protectors(service, sight, [order.memory_id]), holds)
    stands = next((one for one in by_whom if one.kind == PIN), None)
    if action == PIN and stands is not None and stands.order_id != order_id:  # another came first
        return _stood(order, by_whom, stands)
    return _told(order, _DONE[action] if holds(by_whom) else "ordered", by_whom, order_id)


def _stood(order: ProtectionOrdered, by_whom: list[Protector], stands: Protector | None) -> Response:
    """Where there is nothing to begin, because another's pin stands, or none to end."""
    if stands is None:
        return _told(order, "nothing to unpin", by_whom, None, f"no pin stands of {order.memory_id}")
    ends = "whoever unpins it ends it for all" if may_end(SERVICE, stands.signer) else "the operator alone ends it"
    told = f"{shield(PIN, stands.ordered_by, stands.reference, stands.order_id)}: no other pin was made, and {ends}"
    return _told(order, "pinned already", by_whom, stands.order_id, told)


def _told(
    order: ProtectionOrdered, status: str, by_whom: list[Protector], order_id: str | None, detail: str | None = None
) -> Response:
    told = Pinned(order.namespace, order.memory_id, status, order_id, tuple(by_whom), detail)
    return Told(told, 202 if status == "ordered" else 200)


async def protectors(service: Service, sight: Sight, memory_ids: Sequence[str]) -> list[Protector]:
    """The orders that protect memories."""
    return [Protector(*row) for row in await service.reads.protectors(sight, memory_ids)]


async def refuse_held(service: Service, sight: Sight, memory_ids: Sequence[str]) -> None:
    """Raises BadRequest for an erasure that names what is held, and says which holds."""
    held = [one for one in await protectors(service, sight, memory_ids) if one.kind == HOLD]
    if not held:
        return
    named = "; ".join(f"{one.memory_id} by {one.ordered_by}, {one.reference or 'no reference'}" for one in held[:5])
    more = f"; and {len(held) - 5} more" if len(held) > 5 else ""
    told = f"nothing of it is erased: a legal hold keeps {named}{more}. The operator releases: {_RELEASES}"
    raise BadRequest("held", None, told)
