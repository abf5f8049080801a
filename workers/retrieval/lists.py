"""Lists that people look at: goals, pins, holds, orders, epochs and members. To look at them is no use of a memory."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import AUDIT, Caller
from memquorum.core.api import answers as a
from memquorum.core.api import endpoints as e
from memquorum.core.orders.protect import GOAL
from memquorum.core.retrieval import pages
from memquorum.core.retrieval.bounds import Bounds
from memquorum.core.retrieval.pages import Standing, cursor, cut
from memquorum.core.retrieval.seats import seats
from workers.retrieval.answers import Told, body
from workers.retrieval.service import Service


async def goals(service: Service, request: Request, caller: Caller) -> Response:
    """The goals of a namespace that are active."""
    page = pages.read_goals(await body(request, service.bounds), service.bounds)
    sight = caller.at(page.namespace, *e.GOALS.rights)
    found, more = cut(await service.reads.goals(sight, page), page.limit)
    lapses = service.configurations.policy(page.namespace).protection.lapse_ms
    told = tuple(
        a.Goal(kind.removeprefix(GOAL), count, named, said_at, said_at + lapses, by)
        for kind, count, named, said_at, by in found
    )
    return Told(a.Goals(page.namespace, told, cursor(pages.GOALS, page.namespace, told[-1].goal) if more else None))


async def pins(service: Service, request: Request, caller: Caller) -> Response:
    """The pins of a namespace that stand."""
    found, behind, page = await _protectors(service, request, caller, e.PINS, pages.read_pins)
    return Told(a.Pins(page.namespace, found, behind))


async def holds(service: Service, request: Request, caller: Caller) -> Response:
    """The holds of a namespace that stand."""
    found, behind, page = await _protectors(service, request, caller, e.HOLDS, pages.read_holds)
    return Told(a.Holds(page.namespace, found, behind))


async def _protectors(
    service: Service,
    request: Request,
    caller: Caller,
    of: e.Endpoint[a.Pins] | e.Endpoint[a.Holds],
    read: Callable[[bytes, Bounds], Standing],
) -> tuple[tuple[a.Protector, ...], str | None, Standing]:
    page = read(await body(request, service.bounds), service.bounds)
    sight = caller.at(page.namespace, *of.rights)
    found, more = cut(await service.reads.protections(sight, page), page.limit)
    return tuple(one for one, _ in found), cursor(of.name, page.namespace, found[-1][1]) if more else None, page


async def orders(service: Service, request: Request, caller: Caller) -> Response:
    """The orders of a namespace that were answered, of the kinds that the caller may give, or audit."""
    page = pages.read_orders(await body(request, service.bounds), caller, service.bounds)
    sight = caller.at(page.namespace, *e.ORDERS_GIVEN.rights)
    found, more = cut(await service.reads.orders_given(sight, service.codec, page), page.limit)
    behind = cursor(pages.ORDERS, page.namespace, found[-1][1]) if more else None
    return Told(a.Orders(page.namespace, tuple(one for one, _ in found), behind))


async def epochs(service: Service, request: Request, caller: Caller) -> Response:
    """The epochs in which something of a namespace was voted on; all of a shard for who audits all namespaces."""
    page = pages.read_epochs(await body(request, service.bounds), service.genesis.shards, service.bounds)
    sight = caller.everywhere(AUDIT) if page.namespace is None else caller.at(page.namespace, *e.EPOCHS.rights)
    found, more = cut(await service.reads.epochs(sight, page), page.limit)
    where = page.shard if page.namespace is None else page.namespace
    behind = cursor(pages.EPOCHS, where, found[-1].epoch) if more else None
    return Told(a.Epochs(page.shard, found, page.namespace, behind))


async def members(service: Service, request: Request, caller: Caller) -> Response:
    """Who votes in a namespace's shard, and who did; in any shard for who audits all namespaces."""
    page = pages.read_members(await body(request, service.bounds), service.genesis.shards, service.bounds)
    if page.namespace is None:
        caller.everywhere(AUDIT)
    else:
        caller.at(page.namespace, *e.MEMBERS.rights)
    now = service.configurations.of(page.shard)
    everyone = seats(now, await service.reads.configured_at(page.shard))
    found, more = cut([one for one in everyone if pages.sits(one, page)], page.limit)
    where = page.shard if page.namespace is None else page.namespace
    behind = cursor(pages.MEMBERS, where, found[-1].id) if more else None
    return Told(a.Members(page.shard, now.config, now.quorum, now.f, found, behind))
