"""The memory over MCP, at `/mcp/{namespace}`: a tool that is called asks the endpoints of this service, by the key that
the call came with. `?agent=` says in whose name (default: mcp).

The MCP library is loaded with the first call.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from memquorum.core.access import Denied, NoEntry
from memquorum.core.jsontext import tellable
from memquorum.core.retrieval import query
from memquorum.core.retrieval.query import BadRequest
from memquorum.mcp.calls import Call, Last
from memquorum.telemetry import tracing
from workers.retrieval.answers import AGAIN
from workers.retrieval.door import Locked
from workers.retrieval.inside import Inside
from workers.retrieval.service import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_AGENT = "mcp"
_CALL = "memquorum.call"
_WRITERS = 10_000
# As JSON-RPC has them for a server's own errors.
_REFUSED, _BUSY = -32001, -32002


class Mounted:
    """The endpoint of one service, as ASGI. Every request stands for itself: there are no sessions."""

    __name__ = "mcp"

    def __init__(self, service: Service, inside: Inside) -> None:
        """`inside`: asks the service's endpoints for the tools."""
        self._service, self._inside = service, inside
        self._written: OrderedDict[tuple[str | None, str, str], Last] = OrderedDict()
        self._manager: StreamableHTTPSessionManager | None = None

    @property
    def route(self) -> Route:
        """Returns the route of the protocol."""
        return Route("/mcp/{namespace}", self, methods=["POST"], name=self.__name__)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves for as long as the service lives."""
        self._starting, self._ended = asyncio.Lock(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._manager = None
        yield
        self._ended.set()
        if self._task is not None:
            await self._task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, in JSON-RPC also where the caller is refused."""
        request = Request(scope, receive, send)
        try:
            call = scope[_CALL] = self._call(request)
        except (NoEntry, Denied, BadRequest, Locked) as error:
            await _refused(error)(scope, receive, send)
            return
        held: list[Message] = []

        async def hold(message: Message) -> None:
            held.append(message)

        with tracing.joined(request.headers.get(tracing.HEADER)):
            await (await self._started()).handle_request(scope, receive, hold)
        if call.busy is not None:
            status = 429 if call.busy.own else 503
            await _told(status, _BUSY, str(call.busy), {"error": "busy", "field": None}, AGAIN)(scope, receive, send)
            return
        for message in held:
            await send(message)

    def _call(self, request: Request) -> Call:
        """Returns the caller's call, with its namespace and agent. Raises NoEntry, Locked, Denied, BadRequest."""
        entered = self._inside.enter(request, request.headers.get("authorization"))
        strange = next((name for name in request.query_params if name != "agent"), None)
        if strange is not None:
            raise BadRequest("unknown_field", tellable(strange), "it takes agent in the query string")
        agent = query.read_speaker(request.query_params.get("agent", _AGENT))
        last = self._last((entered.caller.id, entered.namespace, agent))
        return Call(entered.speaker(agent), entered.caller.rights, last)

    def _last(self, writer: tuple[str | None, str, str]) -> Last:
        """Returns the last writes of this writer; the most recent writers are remembered."""
        last = self._written.setdefault(writer, Last())
        self._written.move_to_end(writer)
        if len(self._written) > _WRITERS:
            self._written.popitem(last=False)
        return last

    async def _started(self) -> StreamableHTTPSessionManager:
        async with self._starting:
            if self._manager is None:
                manager = await asyncio.to_thread(self._made)
                ready = asyncio.Event()
                self._task = asyncio.create_task(self._run(manager, ready))
                await ready.wait()
                self._manager = manager
        return self._manager

    def _made(self) -> StreamableHTTPSessionManager:
        """Returns the manager of MCP sessions. To load it takes a second."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from memquorum.mcp.server import server

        # It tells of every request.
        logging.getLogger("mcp").setLevel(logging.WARNING)
        return StreamableHTTPSessionManager(
            server(_calling, lambda tool, error: self._service.failed(f"mcp.{tool}", error)),
            json_response=True,
            stateless=True,
            max_request_body_size=self._service.bounds.body_bytes,
        )

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._ended.wait()


async def _calling(context: Any) -> Call:
    call: Call = context.request.scope[_CALL]
    return call


def _refused(error: NoEntry | Denied | BadRequest | Locked) -> Response:
    if isinstance(error, NoEntry):
        data = {"error": error.code, "field": "authorization"}
        return _told(401, _REFUSED, error.detail, data, {"WWW-Authenticate": "Bearer"})
    if isinstance(error, Denied):
        return _told(403, _REFUSED, error.detail, {"error": "forbidden", "field": error.field})
    if isinstance(error, BadRequest):
        return _told(400, _REFUSED, error.detail, {"error": error.code, "field": error.field})
    return _told(503, _BUSY, f"{error}; try again", {"error": "unavailable", "field": None}, AGAIN)


def _told(status: int, code: int, detail: str, data: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """Builds an error of the service in the envelope of MCP."""
    told = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": detail, "data": data}}
    return JSONResponse(told, status, headers=headers)
