"""Lists that people look at: goals, pins, holds, orders, epochs, members and decisions. To look at them is no use of a
memory."""

from __future__ import annotations

import asyncio
from operator import attrgetter, itemgetter
from typing import Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import AUDIT, Caller, Sight
from memquorum.core.accounts import decisions as decided
from memquorum.core.accounts import pages
from memquorum.core.accounts.pages import Standing
from memquorum.core.accounts.seats import seats
from memquorum.core.api import answers as a
from memquorum.core.api import endpoints as e
from memquorum.core.orders.protect import GOAL
from memquorum.core.retrieval.paging import Sharded
from memquorum.core.retrieval.redaction import Redactor
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.service import Service


async def decisions(service: Service, request: Request, caller: Caller) -> Response:
    """The decisions of the members about memories of a namespace that pass, the latest first, each as its certificate
    has it."""
    wanted = decided.read_wanted(await body(request, service.bounds), service.bounds)
    found = await service.reads.decisions(caller.at(wanted.namespace, *e.DECISIONS.rights), wanted)
    made = await asyncio.to_thread(decided.read_decisions, service.codec, service.genesis, found)
    behind = decided.cursor(wanted.namespace, found.behind) if found.behind else None
    return StructResponse(a.Decisions(wanted.namespace, made, behind))


async def goals(service: Service, request: Request, caller: Caller) -> Response:
    """The goals of a namespace that are active."""
    page = pages.read_goals(await body(request, service.bounds), service.bounds)
    sight = caller.at(page.namespace, *e.GOALS.rights)
    found, behind = page.cut(await service.reads.goals(sight, page), lambda row: row[0].removeprefix(GOAL))
    lapses = service.configurations.policy(page.namespace).protection.lapse_ms
    told = tuple(
        a.Goal(kind.removeprefix(GOAL), count, named, said_at, said_at + lapses, by)
        for kind, count, named, said_at, by in found
    )
    return StructResponse(a.Goals(page.namespace, told, behind))


async def pins(service: Service, request: Request, caller: Caller) -> Response:
    """The pins of a namespace that stand."""
    page = pages.read_pins(await body(request, service.bounds), service.bounds)
    return StructResponse(
        a.Pins(page.namespace, *await _protectors(service, caller.at(page.namespace, *e.PINS.rights), page))
    )


async def holds(service: Service, request: Request, caller: Caller) -> Response:
    """The holds of a namespace that stand."""
    page = pages.read_holds(await body(request, service.bounds), service.bounds)
    return StructResponse(
        a.Holds(page.namespace, *await _protectors(service, caller.at(page.namespace, *e.HOLDS.rights), page))
    )


async def _protectors(service: Service, sight: Sight, page: Standing) -> tuple[tuple[a.Protector, ...], str | None]:
    found, behind = page.cut(await service.reads.protections(sight, page), itemgetter(1))
    return tuple(one for one, _ in found), behind


async def orders(service: Service, request: Request, caller: Caller) -> Response:
    """The orders of a namespace that were answered, of the kinds that the caller may give, or audit."""
    page = pages.read_orders(await body(request, service.bounds), caller, service.bounds)
    sight = caller.at(page.namespace, *e.ORDERS_GIVEN.rights)
    found, behind = page.cut(await service.reads.orders_given(sight, service.codec, page), itemgetter(1))
    return StructResponse(a.Orders(page.namespace, tuple(one for one, _ in found), behind))


async def epochs(service: Service, request: Request, caller: Caller) -> Response:
    """The epochs in which something of a namespace was voted on; all of a shard for who audits all namespaces."""
    page = pages.read_epochs(await body(request, service.bounds), service.genesis.shards, service.bounds)
    found, behind = page.cut(await service.reads.epochs(_seen(caller, page, e.EPOCHS), page), attrgetter("epoch"))
    return StructResponse(a.Epochs(page.shard, found, page.namespace, behind))


async def conflicts(service: Service, request: Request, caller: Caller) -> Response:
    """The open contradictions of a namespace, with what both memories say."""
    page = pages.read_conflicts(await body(request, service.bounds), service.bounds)
    sight = caller.at(page.namespace, *e.CONFLICTS.rights)
    rows = await service.reads.contradicted(sight, page)
    found, behind = page.cut(rows, lambda one: f"{one.journal_seq}/{one.older}")
    mask = await service.mask(sight, page.namespace, asked=page.redact)
    told = await service.desk.read(_masked, found, mask) if mask.on else found
    return StructResponse(a.Conflicts(page.namespace, told, behind))


async def sessions(service: Service, request: Request, caller: Caller) -> Response:
    """The sessions of a namespace, the one in which something was said last first."""
    page = pages.read_sessions(await body(request, service.bounds), service.bounds)
    sight = caller.at(page.namespace, *e.SESSIONS.rights)
    found, behind = page.cut(await service.reads.sessions(sight, page), itemgetter(1))
    return StructResponse(a.Sessions(page.namespace, tuple(one for one, _ in found), behind))


def _masked(found: tuple[a.Conflict, ...], mask: Redactor) -> tuple[a.Conflict, ...]:
    def masked(text: str | None) -> str | None:
        return None if text is None else mask.text(text)

    return tuple(replace(one, newer_text=masked(one.newer_text), older_text=masked(one.older_text)) for one in found)


async def members(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the members that vote in a namespace's shard, or did; in any shard for an auditor of all
    namespaces."""
    page = pages.read_members(await body(request, service.bounds), service.genesis.shards, service.bounds)
    _seen(caller, page, e.MEMBERS)
    now = service.configurations.of(page.shard)
    everyone = seats(now, await service.reads.configured_at(page.shard))
    found, behind = page.cut([one for one in everyone if pages.sits(one, page)], attrgetter("id"))
    return StructResponse(a.Members(page.shard, now.config, now.quorum, now.f, found, behind))


def _seen(caller: Caller, page: Sharded, of: e.Endpoint[Any]) -> Sight:
    """What a caller sees of a shard: all of it only who audits all namespaces. Raises Denied."""
    return caller.everywhere(AUDIT) if page.namespace is None else caller.at(page.namespace, *of.rights)
