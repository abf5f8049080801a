"""The memories of a namespace, page by page in the order of time; the paths that they are filed at; and what fills a
slot. To list them, or to look one up, is no use of them, unless who looks a slot up says so."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.api.answers import Listed, Page, Paths, Shown
from memquorum.core.retrieval.listing import read_list, read_paths, read_slot
from memquorum.core.retrieval.using import ReportedUse as Uses
from memquorum.telemetry import tracing
from workers.retrieval import using
from workers.retrieval.answers import StructResponse, body, unknown
from workers.retrieval.memories import due
from workers.retrieval.retrieving import overtaken_in
from workers.retrieval.service import Service


async def memories(service: Service, request: Request, caller: Caller) -> Response:
    """The memories that pass, each with what it is linked with."""
    wanted = read_list(await body(request, service.bounds), service.bounds)
    sight = caller.at(wanted.namespace, READ).reading_for(wanted.gates.purpose)
    found, behind = wanted.cut(
        await service.reads.memories(sight, wanted), lambda row: f"{row['occurred_at']}/{row['memory_id']}"
    )
    policy = service.configurations.policy(wanted.namespace)
    mask = await service.mask(sight, wanted.namespace, asked=wanted.redact)

    def page() -> tuple[Listed, ...]:
        def listed(one: dict[str, Any]) -> Listed:
            text = None if one["text"] is None else mask.text(one["text"], one["memory_id"], one["subject"])
            return Listed(**one | {"text": text, "due_at": due(one, policy)})

        return tuple(listed(one) for one in found)

    shown = await service.desk.read(page)
    marks = await overtaken_in(service, sight, {one.memory_id: one.text for one in shown})
    shown = tuple(replace(one, overtaken=marks.get(one.memory_id, ())) for one in shown)
    return StructResponse(Page(wanted.namespace, shown, behind))


async def slot(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the memory that fills a slot. A memory that a search would keep back is answered as unknown."""
    wanted = read_slot(await body(request, service.bounds))
    sight = caller.at(wanted.namespace, READ).reading_for(wanted.filters.purpose)
    found = await service.reads.slot(sight, wanted)
    if found is None:
        return unknown("key", f"nothing fills this slot in {wanted.namespace!r}")
    if wanted.user is not None:
        used = Uses(wanted.namespace, wanted.user, (found["memory_id"],))
        await using.read(service, caller, used, request.headers.get(tracing.HEADER), "POST /memories/slot")
    mask = await service.mask(sight, wanted.namespace, asked=wanted.redact)
    if mask.on:
        found |= {"text": await service.desk.read(mask.text, found["text"], found["memory_id"], found["subject"])}
    return StructResponse(Shown(**found, due_at=due(found, service.configurations.policy(wanted.namespace))))


async def paths(service: Service, request: Request, caller: Caller) -> Response:
    """The paths that something is filed at."""
    wanted = read_paths(await body(request, service.bounds), service.bounds)
    found, behind = wanted.cut(await service.reads.paths(caller.at(wanted.namespace, READ), wanted), str)
    return StructResponse(Paths(wanted.namespace, found, behind))
