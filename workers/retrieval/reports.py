"""All that concerns a person over HTTP, page by page: what the person may ask to see. To look at it is no use of a
memory, as of a list."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller, Sight
from memquorum.core.accounts import reporting
from memquorum.core.accounts.reporting import Asked, Found, Reporter
from memquorum.core.api.answers import Report, Reported
from memquorum.core.audit.person_receipts import Statement, part
from memquorum.core.ids import shard_of
from memquorum.core.retrieval.paging import cursor
from memquorum.core.retrieval.query import BadRequest
from memquorum.core.retrieval.redaction import Redactor
from memquorum.core.tiers import FINISHED
from workers.retrieval import tasks
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.memories import due
from workers.retrieval.ordering import NO_KEY
from workers.retrieval.retrieving import overtaken_in
from workers.retrieval.service import Service


async def report(service: Service, request: Request, caller: Caller) -> Response:
    """A page of all that concerns a person, or another thing that an erasure can name."""
    asked = reporting.read_report(await body(request, service.bounds), service.bounds)
    sight, now = caller.at(asked.namespace, READ).reading_for(asked.gates.purpose), service.configurations
    mask = await service.mask(sight, asked.namespace, asked=asked.redact)
    shard = shard_of(asked.namespace, service.genesis.shards)
    found = await service.reads.report(sight, service.codec, asked, shard, lambda one: now.of(one).policy)
    shown = await service.desk.read(_reported, service, asked, found, mask)
    shown = [await _with_task(service, sight, asked, one, found, mask) for one in await _marked(service, sight, shown)]
    behind = None if found.behind is None else cursor(asked.what, asked.where, f"{found.behind[0]}/{found.behind[1]}")
    receipt = await service.desk.read(_signed, service, asked, found, shard) if asked.receipt else None
    return StructResponse(
        Report(
            asked.namespace, asked.selector, asked.value, found.as_of, found.records, found.kept_back, tuple(shown),
            found.orders, behind, receipt,
        )
    )  # fmt: skip


def _reported(service: Service, asked: Asked, found: Found, mask: Redactor) -> list[Reported]:
    policy = service.configurations.policy(asked.namespace)

    def due_at(shown: Mapping[str, Any]) -> int | None:
        return due(shown, policy)

    reporter = Reporter(service.codec, service.genesis, found, due_at, mask.text)
    return [reporter.record(one) for one in found.told]


def _signed(service: Service, asked: Asked, found: Found, shard: int) -> dict[str, Any]:
    """Returns the page of a receipt. Raises BadRequest where this service has no key to sign with."""
    if service.erasure_seed is None:
        raise BadRequest("not_entitled", "receipt", f"this service cannot sign: {NO_KEY}")
    reporter = Reporter(service.codec, service.genesis, found, lambda _: None, lambda text, *_: text)
    statement = Statement(
        cluster=service.genesis.cluster.hex(), namespace=asked.namespace, shard=shard, selector=asked.selector,
        value=asked.value, issued_at=time.time_ns() // 1_000_000, ends=found.ends, records=found.records,
        kept_back=found.kept_back, after=asked.behind, through=found.behind,
        each=tuple(reporter.stated(one) for one in found.told),
    )  # fmt: skip
    return part(service.genesis, service.erasure_seed, statement, found.configured)


async def _marked(service: Service, sight: Sight, shown: list[Reported]) -> list[Reported]:
    """Returns the records, each memory with the newer ones that contradict it."""
    texts = {one.memory_id: one.memory.text for one in shown if one.memory is not None and one.event_id is not None}
    marks = await overtaken_in(service, sight, texts)
    return [
        replace(one, memory=replace(one.memory, overtaken=marks.get(one.memory_id, ())))
        if one.memory is not None
        else one
        for one in shown
    ]


async def _with_task(  # noqa: PLR0917
    service: Service, sight: Sight, asked: Asked, one: Reported, found: Found, mask: Redactor
) -> Reported:
    """Returns a record with its texts, if it is a finished task about the person."""
    if one.state != FINISHED or one.memory_id not in found.own:
        return one
    task = await service.reads.task(sight, one.memory_id, asked.gates)
    if task is not None and mask.on:
        task = await service.desk.read(tasks.masked, task, mask)
    return replace(one, task=task)
