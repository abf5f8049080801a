"""Erasures over HTTP: first everything that would go, and then, if that was asked for, the order.

The service signs as `service:erasure` for whoever has the right `erase` in the namespace. The order goes the way of all
records, through intake into the accepted stream; the commit worker carries it out, and the answer waits for that.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from db import erasure_rows
from db.erasure_rows import Found
from memquorum.core.access import AUDIT, ERASE, Caller, Sight
from memquorum.core.api.answers import Erasure, Going, Staying
from memquorum.core.orders.erase import ERASURE
from memquorum.core.retrieval import erasing, query
from memquorum.core.retrieval.erasing import Asked
from workers.retrieval import ordering, pins
from workers.retrieval.answers import Told, body, unknown
from workers.retrieval.service import Service

_WITHHELD = (
    "nothing of it was erased: a hold stands in its way. It is not carried out by the release either: after it, order "
    "the erasure anew. The operator sees what is held (`python -m infra hold --help`)"
)
_INSTEAD = ". The operator can: `python -m infra erase`"


async def erase(service: Service, request: Request, caller: Caller) -> Response:
    """Everything that an erasure takes; with dry_run: false it is ordered, and the answer waits until it is done."""
    asked = erasing.read_erasure(await body(request, service.bounds), service.bounds)
    seconds = ordering.wait_s(service, request)
    sight = caller.at(asked.namespace, ERASE)
    found = await service.reads.going(sight, asked.namespace, asked.selector, asked.value)
    await pins.refuse_held(service, sight, [one.episode.memory_id for one in found])
    taken = [one.episode.memory_id for one in found]
    stays = await service.reads.staying(sight, asked.namespace, asked.selector, taken)
    if asked.dry_run:
        return Told(_beside(_would(asked, found), stays, asked.listed))
    seed = ordering.seed(service, "order", "dry_run", _INSTEAD)
    genesis, order_id = service.genesis, str(uuid.uuid4())
    order = erasing.order(asked, genesis.cluster, order_id, ordering.by(caller), ordering.now_ms())
    await ordering.publish(service, ERASURE, seed, order)
    done = await _done(service, sight, order_id, seconds)
    if done is None:
        done = Erasure(asked.namespace, asked.selector, asked.value, False, "ordered", order_id=order_id)
    if done.status != "withheld":
        done = _beside(done, stays, asked.listed)
    return Told(done, 200 if done.status == "erased" else 202)


async def erasure(service: Service, request: Request, caller: Caller) -> Response:
    """What became of an order to erase."""
    order_id = query.read_order_id(request.path_params["order_id"])
    found = await _done(service, caller.sight(ERASE, AUDIT), order_id, 0)
    return (
        Told(found)
        if found
        else unknown("order_id", f"no order {order_id} was answered: its id is another, or it is on its way")
    )


def _beside(told: Erasure, stays: Sequence[erasure_rows.Staying], listed: int) -> Erasure:
    """The same, with what says the same as what goes and stays."""
    some = tuple(Staying(one.memory_id, one.agent, one.created, one.why) for one in stays[:listed])
    return msgspec.structs.replace(told, staying=some, staying_more=len(stays) - len(some))


def _would(asked: Asked, found: Sequence[Found]) -> Erasure:
    going = tuple(
        Going(one.episode.memory_id, one.episode.was, one.agent, one.created, one.because)
        for one in found[: asked.listed]
    )
    remembered = sum(one.episode.commitment is not None for one in found)
    return Erasure(
        asked.namespace, asked.selector, asked.value, True, "nothing ordered",
        memories=remembered, episodes=len(found), going=going, more=len(found) - len(going),
    )  # fmt: skip


async def _done(service: Service, sight: Sight, order_id: str, seconds: float) -> Erasure | None:
    """The order as it was answered, carried out or withheld; None where it was not within so many seconds."""

    async def look() -> Erasure | None:
        if row := await service.reads.erasure(sight, order_id):
            return Erasure(dry_run=False, status="erased", **row)
        if row := await service.reads.withheld(sight, service.codec, order_id):
            return Erasure(dry_run=False, status="withheld", why=_WITHHELD, **row)
        return None

    return await ordering.until(seconds, look, lambda told: told is not None)
