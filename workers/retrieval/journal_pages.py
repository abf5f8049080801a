"""The journal of a namespace for people: pages of it, and a live feed of what is new, as server-sent events."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from memquorum.core.access import AUDIT, READ, Caller, NoEntry
from memquorum.core.accounts import chronicle, pages
from memquorum.core.accounts.chronicle import Line
from memquorum.core.api import parts
from memquorum.core.api.answers import Journal, JournalLine
from memquorum.core.ids import shard_of
from memquorum.core.retrieval.query import read_namespace
from memquorum.ports import StoreUnavailable
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.door import Locked
from workers.retrieval.service import Service

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}


async def journal(service: Service, request: Request, caller: Caller) -> Response:
    """A page of the journal of a namespace, the latest first."""
    cursors, asked = service.cursors, await body(request, service.bounds)

    def place(where: str, cursor: str) -> int:
        return cursors.open(caller, where, cursor)

    page = pages.read_journal(asked, service.genesis.shards, place, service.bounds)
    sight = caller.at(page.namespace, READ, AUDIT)
    latest = await service.reads.journal_latest(sight, page.namespace, page.shard)
    found = await service.reads.journal(sight, page)
    lines = await service.desk.read(_shown, service, caller, page.namespace, found[: page.limit])
    return StructResponse(
        Journal(
            page.namespace,
            lines,
            cursors.seal(caller, page.namespace, latest),
            lines[-1].cursor if len(found) > page.limit else None,
        )
    )


async def journal_feed(service: Service, request: Request, caller: Caller) -> Response:
    """The new entries of a namespace as they come, as server-sent events."""
    namespace = read_namespace(request.path_params["namespace"])
    sight, shard = caller.at(namespace, READ, AUDIT), shard_of(namespace, service.genesis.shards)
    cursor = request.query_params.get("cursor")
    if cursor is None:
        after = await service.reads.journal_latest(sight, namespace, shard)
    else:
        after = service.cursors.open(caller, namespace, cursor)
    service.feed.enter(caller)
    events = _events(service, request, caller, namespace, service.feed.lines(sight, namespace, shard, after))
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


async def _events(
    service: Service, request: Request, caller: Caller, namespace: str, found: AsyncIterator[list[Line]]
) -> AsyncIterator[bytes]:
    ends = time.monotonic() + service.feed.lasts_s
    try:
        yield b"retry: 2000\n\n"
        async for lines in found:
            shown = _shown(service, caller, namespace, lines)
            for one in shown:
                data = json.dumps(msgspec.to_builtins(parts.cut(one, caller.rights)))
                yield f"id: {one.cursor}\ndata: {data}\n\n".encode()
            if time.monotonic() >= ends:
                yield b"event: end\ndata: {}\n\n"
                return
            if not shown:
                if not _still(service, request, caller):
                    return
                yield b": nothing new\n\n"
    except StoreUnavailable:
        # The reader comes again, after the last entry that it has.
        return
    finally:
        service.feed.leave(caller)


def _still(service: Service, request: Request, caller: Caller) -> bool:
    """True if the key still opens: one that was revoked meanwhile hears no more."""
    try:
        return service.door.enter(request.headers.get("authorization")).id == caller.id
    except (NoEntry, Locked):
        return False


def _shown(service: Service, caller: Caller, namespace: str, lines: Sequence[Line]) -> tuple[JournalLine, ...]:
    codec, shard = service.codec, shard_of(namespace, service.genesis.shards)

    def shown(line: Line) -> JournalLine:
        words, agent = chronicle.told(codec, line)
        named, replaced = chronicle.memories(codec, line)
        return JournalLine(
            at=line.as_of,
            effect=line.effect,
            words=words,
            agent=agent,
            memory_ids=named,
            event_id=line.event_id,
            shard=shard,
            epoch=line.epoch,
            outcomes=dict(line.outcomes),
            cursor=service.cursors.seal(caller, namespace, line.seq),
            replaced=replaced,
        )

    return tuple(map(shown, lines))
