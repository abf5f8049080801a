"""Calls the service's own endpoints for other protocols, with the key of the call, so that no call may do more than its
key. A call takes no connection and is not written as HTTP: the endpoint's function gets a request, and its answer is
taken as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ExceptionHandler, Message

from memquorum.client.within import Endpoints, InnerRequest, Within
from memquorum.core.access import RIGHTS, Caller
from memquorum.core.retrieval import query
from workers.retrieval.answers import StructResponse
from workers.retrieval.routes import Bound
from workers.retrieval.service import Service

_BAD, _NOT_FOUND = 400, 404


@dataclass(frozen=True)
class Entered:
    """The caller of a protocol, and its namespace."""

    caller: Caller
    namespace: str
    _endpoints: Endpoints
    _url: str
    _key: str

    def speaker(self, agent: str) -> Within:
        """The client that speaks in the name of an agent. It need not be closed."""
        return Within(self._endpoints, url=self._url, namespace=self.namespace, agent=agent, api_key=self._key)


class Inside:
    """Checks a caller's key, and asks endpoints with it."""

    def __init__(self, service: Service, routes: Sequence[Route], handlers: Mapping[Any, ExceptionHandler]) -> None:
        """`routes`: of the service's endpoints. `handlers`: by the error that each answers, as the application has
        them."""
        self._service, self._routes, self._handlers = service, routes, handlers
        literal = [(method, route.path) for route in routes if "{" not in route.path for method in route.methods or ()]
        self._literal = {one: self._searched(*one) for one in literal}

    def enter(self, request: Request, authorization: str | None) -> Entered:
        """Returns the caller and the namespace of the path. Raises NoEntry, Locked, Denied, BadRequest."""
        caller = self._service.door.enter(authorization)
        namespace = query.read_namespace(request.path_params["namespace"])
        caller.at(namespace, *RIGHTS)
        key = (authorization or "").strip().partition(" ")[2].strip() if caller.id is not None else ""
        return Entered(caller, namespace, self.ask, str(request.base_url).rstrip("/"), key)

    async def ask(self, asked: InnerRequest) -> Struct | httpx.Response:
        """Answers as the endpoint does over HTTP, refusals included. Raises what no handler answers."""
        request = _request(asked)
        try:
            answer = await self._answer(asked, request)
        except Exception as error:
            handler = next((self._handlers[kind] for kind in type(error).__mro__ if kind in self._handlers), None)
            if handler is None:
                raise
            answer = await handler(request, error)  # type: ignore[misc, arg-type]
        if isinstance(answer, StructResponse) and answer.status_code < _BAD:
            return answer.told
        return httpx.Response(answer.status_code, headers=dict(answer.headers), content=bytes(answer.body))

    async def _answer(self, asked: InnerRequest, request: Request) -> Response:
        bound, parameters = self._literal.get(asked[:2]) or self._searched(*asked[:2])
        request.scope["path_params"] = parameters
        taken: list[Response] = []

        async def take(answer: Response) -> None:
            taken.append(answer)

        await bound.answer(request, take)
        return taken[0]

    def _searched(self, method: str, path: str) -> tuple[Bound, dict[str, Any]]:
        """The endpoint of a path, and the path's parameters. Raises HTTPException if no endpoint has this path."""
        for route in self._routes:
            match, found = route.matches({"type": "http", "method": method, "path": path})
            if match is Match.FULL and isinstance(route.endpoint, Bound):
                return route.endpoint, found["path_params"]
        raise HTTPException(_NOT_FOUND)


def _request(asked: InnerRequest) -> Request:
    content: list[bytes] = [asked.content]

    async def receive() -> Message:
        if not content:
            # The client of the protocol is there until its own request ends.
            await asyncio.get_running_loop().create_future()
        return {"type": "http.request", "body": content.pop(), "more_body": False}

    headers = [(name.lower().encode(), value.encode()) for name, value in asked.headers.items()]
    return Request(
        {
            "type": "http", "method": asked.method, "path": asked.path, "query_string": asked.query, "headers": headers,
        },
        receive,
    )  # fmt: skip
