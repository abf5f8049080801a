"""Erasures over HTTP: first everything that would go, then the order if that was asked for, and at last its receipt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import asdict, replace
from starlette.requests import Request
from starlette.responses import Response

from db import erasure_rows
from db.erasure_rows import Named, Naming
from memquorum.core import names
from memquorum.core.access import AUDIT, ERASE, Caller, Sight
from memquorum.core.accounts.erasing import ErasureAsked
from memquorum.core.api.answers import Erasure, ErasureReceipt, Going, Ordered, Staying
from memquorum.core.audit import receipts
from memquorum.core.audit.receipts import recipients
from memquorum.core.journal.anew import ANEW
from memquorum.core.orders.erase import AGENT, ERASURE, SUBJECT
from memquorum.core.orders.protect import HOLD
from memquorum.core.records import ErasureOrdered
from memquorum.core.retrieval import query
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.answers import StructResponse, unknown
from workers.retrieval.ordering import Asking
from workers.retrieval.protections import protectors
from workers.retrieval.service import Service

_RELEASES = "`memquorum admin memories hold --release`"


async def erase(asking: Asking, asked: ErasureAsked) -> Erasure:
    """Everything that an erasure takes; with dry_run: false it is ordered, and the answer waits until it is done."""
    reads, sight, order = asking.service.reads, asking.sight, asked.order
    found = [*await reads.taken(sight, order.namespace, order.selector, order.value)]
    older = list[ErasureOrdered]()
    for one in asked.otherwise:
        if more := await reads.taken(sight, one.namespace, one.selector, one.value):
            found += more
            older.append(one)
    taken = [one.episode.memory_id for one in found]
    await _refuse_held(asking.service, sight, taken)
    stays = await reads.staying(sight, order.namespace, order.selector, order.value, taken)
    left = await _naming(asking, asked, [*taken, *(one.memory_id for one in stays)])
    if asked.dry_run:
        return left(_beside(_would(asked, found), stays, asked.listed))
    order_id, *also = await asking.give(ERASURE, [order, *older])
    done = await asking.answered(order_id)
    told = Erasure(order.namespace, order.selector, order.value, False, "ordered", order_id=order_id, also=tuple(also))
    if done is not None:
        told = _became(told, done)
    for further in also:
        told = _with(told, await asking.answered(further))
    return told if told.status == "withheld" else left(_beside(told, stays, asked.listed))


async def receipt(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the proof of an erasure, which also says if the members have not decided on it yet."""
    order_id = query.read_order_id(request.path_params["order_id"])
    proof = await service.reads.receipt(caller.sight(ERASE, AUDIT), order_id)
    if proof is None:
        return unknown("order_id", f"no erasure {order_id} was carried out")
    made = await asyncio.to_thread(receipts.make, service.codec, service.genesis, proof)
    return StructResponse(ErasureReceipt(**made))


def _became(told: Erasure, done: Ordered) -> Erasure:
    """The same, with what became of the order."""
    told = replace(
        told, status=done.status, why=done.why, ordered_by=done.ordered_by, reference=done.reference,
        ordered_at=done.ordered_at, accepted_at=done.accepted_at, shard=done.shard, last_seq=done.journal_seq,
        attested_epoch=done.epoch,
    )  # fmt: skip
    return told if done.took is None else replace(told, **asdict(done.took))


def _with(told: Erasure, done: Ordered | None) -> Erasure:
    """The same, with what became of an order for another spelling of the name: it is as far as the last of them."""
    if done is None or done.took is None or told.memories is None:
        return replace(told, status=told.status if done is None else done.status)
    took = done.took
    return replace(
        told, status=told.status if done.status == "erased" else done.status, why=told.why or done.why,
        memories=told.memories + took.memories, episodes=(told.episodes or 0) + took.episodes,
        summaries=(told.summaries or 0) + took.summaries, anew=(told.anew or 0) + took.anew,
        recipients=tuple(sorted({*told.recipients, *took.recipients})),
    )  # fmt: skip


def _beside(told: Erasure, stays: Sequence[erasure_rows.Staying], listed: int) -> Erasure:
    """The same, with what says the same as what goes and stays."""
    some = tuple(Staying(one.memory_id, one.agent, one.created, one.why) for one in stays[:listed])
    return replace(told, staying=some, staying_more=len(stays) - len(some))


async def _naming(asking: Asking, asked: ErasureAsked, but: list[str]) -> Callable[[Erasure], Erasure]:
    """Finds what stays and names the erased person, as far as the caller may read it, and returns what adds it to the
    answer."""
    name, service = asked.order.value, asking.service
    if asked.order.selector not in (SUBJECT, AGENT) or not asking.reads:
        return lambda told: told
    found = await service.reads.mentions(asking.sight, asked.namespace, name, but)
    mask = await service.mask(asking.sight, asked.namespace, asked=False)

    def said() -> list[Naming]:
        return [one for one in found if names.said_in(mask.text(one.told, one.memory_id), name)]

    naming = await service.desk.read(said)
    some = tuple(Staying(one.memory_id, one.agent, one.created, f"it names {name}") for one in naming[: asked.listed])
    return lambda told: replace(told, naming=some, naming_count=len(naming))


def _would(asked: ErasureAsked, found: Sequence[Named]) -> Erasure:
    going = tuple(_going(one) for one in found[: asked.listed])
    summaries = [one.episode.summary for one in found if one.episode.summary is not None]
    remembered = sum(one.episode.commitment is not None for one in found)
    return Erasure(
        asked.namespace, asked.order.selector, asked.order.value, True, "nothing ordered",
        memories=remembered, episodes=len(found), summaries=len(summaries), anew=summaries.count(ANEW),
        recipients=tuple(recipients([one.episode for one in found])),
        going=going, more=len(found) - len(going),
    )  # fmt: skip


def _going(one: Named) -> Going:
    of = one.episode
    return Going(of.memory_id, of.was, one.agent, one.created, one.because, of.summary, of.recipients)


async def _refuse_held(service: Service, sight: Sight, memory_ids: Sequence[str]) -> None:
    """Raises BadRequest for an erasure that names what is held, and says which holds."""
    held = [one for one in await protectors(service, sight, memory_ids) if one.kind == HOLD]
    if not held:
        return
    named = "; ".join(f"{one.memory_id} by {one.ordered_by}, {one.reference or 'no reference'}" for one in held[:5])
    more = f"; and {len(held) - 5} more" if len(held) > 5 else ""
    told = f"nothing of it is erased: a legal hold keeps {named}{more}. The operator releases: {_RELEASES}"
    raise BadRequest("held", None, told)
