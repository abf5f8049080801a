"""The endpoints of the service, in one table."""

from __future__ import annotations

from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from memquorum.core.access import AUDIT, ERASE, FORGET, NOBODY, PUBLISH, READ, Caller
from memquorum.core.records import EpisodeRecorded
from memquorum.core.retrieval.bounds import Bounds
from memquorum.core.retrieval.context import ContextRequest
from memquorum.core.retrieval.erasing import ErasureRequest
from memquorum.core.retrieval.forgetting import Forget, ForgetRequest
from memquorum.core.retrieval.pinning import GoalRequest, NeedRequest, PinRequest
from memquorum.core.retrieval.query import SearchRequest, read_flag, read_gates_of, read_wait
from memquorum.core.retrieval.requests import RecallRequest, RetrieveRequest
from memquorum.core.retrieval.restoring import Restore, RestoreRequest
from workers.retrieval import (
    context,
    erasures,
    forgets,
    goals,
    health,
    memories,
    pins,
    publishing,
    receipts,
    restores,
    retrieving,
    search,
    shapes,
)
from workers.retrieval.endpoints import Do, Endpoint, Parameter
from workers.retrieval.limits import Late
from workers.retrieval.openapi import describe
from workers.retrieval.ordering import WAIT_MS
from workers.retrieval.service import Service

_CONFIRM = Parameter(
    "confirm", bool, "Wait until Kafka has confirmed that what is given counts as used (default: false).",
    lambda value, _: read_flag("confirm", value),
)  # fmt: skip


def _gate(name: str, kind: type, sentence: str) -> Parameter:
    def read(value: str | None, _: Bounds) -> object:
        return read_gates_of({} if value is None else {name: value})

    return Parameter(name, kind, sentence, read)


_GATES = (
    _gate("sensitivity_max", float, "As sensitive as that at most, in [0, 1]."),
    _gate("purpose", str, "What is read for; without it, only what is for anything."),
    _gate("jurisdictions", str, "Under no law but these, with commas between them."),
)


def _waiting(sentence: str) -> Parameter:
    return Parameter("wait_ms", int, sentence, read_wait)


_WAIT = _waiting("Wait for an outcome, so many milliseconds at most (default: 0).")
_ERASED = _waiting(f"Wait until an order is carried out, so many milliseconds at most (default: {WAIT_MS}).")
_DECIDED = _waiting(f"Wait until it is decided on, so many milliseconds at most (default: {WAIT_MS}).")
_HOLDS = _waiting(f"Wait until it holds, so many milliseconds at most (default: {WAIT_MS}).")


def _orders(path: str, do: Do, right: str, asked: type, answer: type, *, wait: Parameter) -> Endpoint:
    """One that orders something, and waits until it is so."""
    return Endpoint("POST", path, do, (right,), asked, answer, query=(wait,), waits=True)


async def openapi(_: Service, __: Request, ___: Caller) -> Response:
    """This description."""
    return JSONResponse(_described())


ENDPOINTS = (
    Endpoint("POST", "/search", search.search, (READ,), SearchRequest, shapes.Found, query=(_CONFIRM,)),
    Endpoint("POST", "/retrieve", retrieving.retrieve, (READ,), RetrieveRequest, shapes.Retrieved, query=(_CONFIRM,)),
    Endpoint("POST", "/recall", retrieving.recall, (READ,), RecallRequest, shapes.Recalled, query=(_CONFIRM,)),
    Endpoint("POST", "/context", context.context, (READ,), ContextRequest, shapes.Context, query=(_CONFIRM,)),
    Endpoint("POST", "/memories", publishing.publish, (PUBLISH,), EpisodeRecorded, shapes.Published, status=202),
    Endpoint("GET", "/memories/{memory_id}", memories.memory, (READ,), answer=shapes.Shown, query=_GATES),
    Endpoint("GET", "/memories/{memory_id}/explain", memories.explain, (READ, AUDIT), answer=shapes.Explained,
             query=_GATES),
    Endpoint(
        "GET", "/events/{namespace}/{event_id:path}", memories.event, (READ, PUBLISH), answer=shapes.Became,
        query=(_WAIT,), waits=True,
    ),
    _orders("/erase", erasures.erase, ERASE, ErasureRequest, shapes.Erasure, wait=_ERASED),
    _orders("/pin", pins.pin, FORGET, PinRequest, shapes.Pinned, wait=_HOLDS),
    _orders("/unpin", pins.unpin, FORGET, PinRequest, shapes.Pinned, wait=_HOLDS),
    _orders("/goals", goals.begin_goal, FORGET, NeedRequest, shapes.Needed, wait=_HOLDS),
    _orders("/goals/end", goals.end_goal, FORGET, GoalRequest, shapes.Needed, wait=_HOLDS),
    Endpoint("GET", "/erasures/{order_id}", erasures.erasure, (ERASE, AUDIT), answer=shapes.Erasure),
    Endpoint("GET", "/receipts/{order_id}", receipts.receipt, (ERASE, AUDIT), answer=shapes.ErasureReceipt),
    _orders("/forget", forgets.forget, FORGET, ForgetRequest, Forget, wait=_DECIDED),
    _orders("/restore", restores.restore, FORGET, RestoreRequest, Restore, wait=_DECIDED),
    Endpoint("GET", "/restores/{order_id}", restores.restored, (FORGET, AUDIT), answer=Restore),
    Endpoint("GET", "/metrics", health.metrics, (AUDIT,)),
    Endpoint("GET", "/livez", health.livez, (), answer=shapes.Alive),
    Endpoint("GET", "/readyz", health.readyz, (), answer=shapes.Ready),
    Endpoint("GET", "/openapi.json", openapi, ()),
)  # fmt: skip


@cache
def _described() -> dict[str, Any]:
    return describe(ENDPOINTS)


def routes(service: Service) -> list[Route]:
    """The table, for one service."""
    return [Route(e.path, _Bound(e, service), methods=[e.method], name=e.name) for e in ENDPOINTS]


class _Bound:
    """An endpoint of one service, as ASGI: its answer has its place among the requests until it is taken."""

    def __init__(self, endpoint: Endpoint, service: Service) -> None:
        self.__name__ = endpoint.name
        self._endpoint, self._service = endpoint, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint, service, request = self._endpoint, self._service, Request(scope, receive, send)
        if not endpoint.rights:
            endpoint.check(request, service.bounds)
            await (await endpoint.do(service, request, NOBODY))(scope, receive, send)
            return
        caller = service.door.enter(request.headers.get("authorization"))
        caller.sight(*endpoint.rights)
        endpoint.check(request, service.bounds)
        answer = None
        try:
            async with service.limits.turn(caller, endpoint.limit_s(service.bounds), endpoint.waits):
                answer = await endpoint.do(service, request, caller)
                await answer(scope, receive, send)
        except Late:
            # Nothing else can be said in the middle of an answer; the server ends the connection.
            if answer is None:
                raise
