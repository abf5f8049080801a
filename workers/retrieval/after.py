"""Read your write: a read that names a write waits until the store has it, whichever instance answers."""

from __future__ import annotations

from starlette.requests import Request

from memquorum.core.access import PUBLISH, READ, Caller
from memquorum.core.retrieval.query import read_after
from workers.retrieval.service import Service


class NotYet(Exception):
    """The store does not have the write in time."""


async def seen(service: Service, request: Request, caller: Caller) -> None:
    """Waits for the write that the query string names. Raises BadRequest, Denied, Busy and NotYet."""
    after = read_after(request.query_params.get("after"))
    if after is None:
        return
    sight, bounds = caller.at(after[0], READ, PUBLISH), service.bounds
    async with service.limits.turn(caller, bounds.seen_ms / 1000, waits=True):
        # A cache gives no answer that the store has not confirmed, so what the store has is seen.
        if await service.outcomes.wait(sight, after, bounds.after_ms / 1000) is None:
            raise NotYet(
                f"this write has no outcome after {bounds.after_ms / 1000:g} s: the line is behind, or intake has "
                "refused it; /events tells of it. Read again, or without `after` for what is there"
            )
