"""The functions that answer at the endpoints, by the names of the table in `core.api`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from memquorum.core.access import NOBODY, RIGHTS, Caller
from memquorum.core.api.answers import Access
from memquorum.core.api.endpoints import ENDPOINTS, Endpoint
from workers.retrieval import (
    chained,
    context,
    ending,
    erasures,
    experience,
    granting,
    health,
    journal_pages,
    listing,
    lists,
    memories,
    orders,
    overview,
    profile_setting,
    publishing,
    reports,
    retrieving,
    rewards,
    rollups,
    search,
    surroundings,
    tasks,
    using,
)
from workers.retrieval.after import seen
from workers.retrieval.answers import StructResponse
from workers.retrieval.endpoints import Do, check, limit_s
from workers.retrieval.limits import Late
from workers.retrieval.openapi import describe
from workers.retrieval.service import Service

BAD = 400


async def access(_: Service, __: Request, caller: Caller) -> Response:
    """Answers with the namespaces, rights, slots and subjects of the key."""
    return StructResponse(
        Access(
            caller.namespaces, tuple(right for right in RIGHTS if right in caller.rights), caller.slots, caller.subjects
        )
    )


async def openapi(_: Service, __: Request, ___: Caller) -> Response:
    """This description."""
    return JSONResponse(_described())


_DO: dict[str, Do] = orders.GIVING | {
    do.__name__: do
    for do in (
        search.search, retrieving.retrieve, surroundings.recall, context.context, publishing.publish, publishing.clear,
        ending.end_session, publishing.session,
        tasks.finish_task, tasks.feedback, tasks.tasks, tasks.task, experience.experiences, experience.experience,
        listing.memories, listing.slot, listing.paths, reports.report, using.uses, memories.memory,
        memories.explain, memories.event, lists.decisions, lists.goals, lists.pins, lists.holds,
        lists.orders, lists.epochs, overview.open_epoch, overview.open_epoch_of_shard,
        lists.members, lists.conflicts, lists.sessions, profile_setting.profile, profile_setting.set_profile,
        rewards.rewards, rollups.rollups, rollups.rollup, orders.order, erasures.receipt,
        journal_pages.journal, journal_pages.journal_feed, chained.verify_journal,
        overview.namespaces, overview.namespace, overview.policy, overview.fleet, overview.trace,
        overview.dead_letters, overview.evidence,
        granting.keys, granting.make_key, granting.revoke_key,
        health.metrics, health.livez, health.readyz, access, openapi,
    )
}  # fmt: skip


@cache
def _described() -> dict[str, Any]:
    return describe(ENDPOINTS)


def routes(service: Service) -> list[Route]:
    """The table, for one service."""
    return [Route(e.path, Bound(e, service), methods=[e.method], name=e.name) for e in ENDPOINTS]


def _cut(endpoint: Endpoint[Any], answer: Response, caller: Caller) -> Response:
    """The answer as far as the caller's rights show it. Raises TypeError for one that nothing can be cut of."""
    if isinstance(answer, StructResponse):
        return answer.cut(caller.rights)
    if endpoint.answer is not None and answer.status_code < BAD:
        raise TypeError(f"{endpoint.name} does not answer with a struct of core.api.answers (Told)")
    return answer


class Bound:
    """An endpoint of one service, as ASGI: its answer has its place among the requests until it is taken."""

    def __init__(self, endpoint: Endpoint[Any], service: Service) -> None:
        self.__name__ = endpoint.name
        self._endpoint, self._do, self._service = endpoint, _DO[endpoint.name], service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers over HTTP."""

        async def take(answer: Response) -> None:
            await answer(scope, receive, send)

        await self.answer(Request(scope, receive, send), take)

    async def answer(self, request: Request, take: Callable[[Response], Awaitable[None]]) -> None:
        """Answers a request as far as its key may ask, and within the limits. `take`: takes the answer; it is called
        at most once. Raises the errors that the application answers."""
        endpoint, service = self._endpoint, self._service
        if not endpoint.rights:
            check(endpoint, request, service.bounds)
            await take(await self._do(service, request, NOBODY))
            return
        caller = service.door.enter(request.headers.get("authorization"))
        caller.sight(*endpoint.rights)
        check(endpoint, request, service.bounds)
        await seen(service, request, caller)
        answer = None
        try:
            async with service.limits.turn(caller, limit_s(endpoint, service.bounds), endpoint.waits):
                async with service.desk.serving(caller.id, request):
                    answer = _cut(endpoint, await self._do(service, request, caller), caller)
                await take(answer)
        except Late:
            # In the middle of an answer no error can be sent; the server ends the connection.
            if answer is None:
                raise
