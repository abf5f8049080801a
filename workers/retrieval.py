"""Retrieval: a small HTTP service that searches, shows, explains, and waits for what becomes of an event.

    POST /search                            {namespace, query, k, agent, peek} → hits by exact cosine, both tiers
    GET  /memories/{id}                     one memory; its text only while it is alive
    GET  /memories/{id}/explain             why it is where it is, in structure and in words
    GET  /events/{namespace}/{event_id}     what became of an event; ?wait_ms= waits until it has an outcome
    GET  /livez, /readyz

Hits count as used unless the search peeks: for each, an access is published, and the answer says how many. If Kafka
does not take them in time the hits are answered all the same, with a warning. To look at one memory or its account is
no use.

The service has no accounts of its own and listens on the loopback interface; who reaches it reads everything. Requests
must name a host that it was told of and send JSON as such, so that no web page can speak to it through a browser.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import uvicorn
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as ASGIMessage

from db.reads import Outcomes, Reads
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.membership import Genesis
from memquorum.core.records import AccessRecorded
from memquorum.core.retrieval import explain, query, telling
from memquorum.core.retrieval.query import BadRequest, Hit, Search
from memquorum.ports import Encoder, StoreUnavailable
from memquorum.telemetry.bundle import Stage, Telemetry
from memquorum.telemetry.metrics import Meters
from memquorum.telemetry.tracing import HEADER, Hop
from workers import loop

_LOG = logging.getLogger("memquorum.retrieval")
_SOURCE = "memquorum/retrieval"
_PUBLISH_S = 2.0
_LOOK_S = 2.0
# As many encodings at once as there are cores to share with the rest of the line.
_ENCODINGS = 2
_UNSIGNED = (
    "this namespace takes signed accesses alone, which only the agent itself can publish: these hits do not count as "
    "used. A client that was given the agent's seed does so by itself"
)
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def run(
    *,
    memory_dsn: str,
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    encoder: Encoder,
    host: str,
    port: int,
    before: Encoder | None = None,
    hosts: Sequence[str] | None = None,
    ready: Callable[[], None] = lambda: None,
    telemetry: Telemetry | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT. `ready` is called once it does.

    `before`: the encoder of memories that are still to be encoded anew, which are found through it.

    `hosts`: the names that requests may address; by default those of the loopback interface, and any name where it
    listens on another one, for then something else must decide who reaches it.
    """
    if hosts is None:
        hosts = LOOPBACK if host in LOOPBACK else ("*",)
    built = app(
        memory_dsn=memory_dsn,
        bootstrap=bootstrap,
        genesis=genesis,
        codec=codec,
        encoder=encoder,
        before=before,
        hosts=hosts,
        telemetry=telemetry,
    )
    config = uvicorn.Config(
        built, host=host, port=port, log_level="warning", access_log=False, timeout_graceful_shutdown=2, ws="none"
    )
    try:
        _Server(config, ready).run()
    except SystemExit as end:
        # uvicorn ends with status 3 where a part could not be reached, which a supervisor takes for a halt for good.
        if end.code:
            raise NotStarted(f"{host}:{port} is not served: the log says why") from None


class NotStarted(RuntimeError):
    """Kafka or the store was not there when the service started, or its address was taken. Starting again may help."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def app(
    *,
    memory_dsn: str,
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    encoder: Encoder,
    before: Encoder | None = None,
    hosts: Sequence[str] = LOOPBACK,
    telemetry: Telemetry | None = None,
) -> Starlette:
    """The ASGI application."""
    shown = (telemetry or Telemetry()).stage("retrieval")
    service = _Service(memory_dsn, bootstrap, genesis, codec, encoder=encoder, before=before, shown=shown)
    routes = [
        Route("/search", service.search, methods=["POST"]),
        Route("/memories/{memory_id}", service.memory),
        Route("/memories/{memory_id}/explain", service.explain),
        Route("/events/{namespace}/{event_id:path}", service.event),
        Route("/livez", service.livez),
        Route("/readyz", service.readyz),
    ]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)),
            Middleware(_Measured, meters=shown.meters, paths={route.name: route.path for route in routes}),
        ],
        exception_handlers={BadRequest: _bad_request, StoreUnavailable: _unavailable},
        lifespan=service.lifespan,
    )


class _Measured:
    """Notes how long each answer took, by route."""

    def __init__(self, app: ASGIApp, meters: Meters, paths: Mapping[str, str]) -> None:
        self._app, self._requests, self._paths = app, meters.requests, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 500

        async def noting(message: ASGIMessage) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            # Unknown paths share one name: they are for strangers to choose.
            route = self._paths.get(getattr(scope.get("endpoint"), "__name__", ""), "unknown")
            self._requests.labels(route, str(status)).observe(time.monotonic() - began)


class _Service:
    def __init__(
        self,
        memory_dsn: str,
        bootstrap: str,
        genesis: Genesis,
        codec: Codec,
        *,
        encoder: Encoder,
        before: Encoder | None,
        shown: Stage,
    ) -> None:
        self._genesis, self._codec, self._shown = genesis, codec, shown
        self._encoder, self._before = encoder, before
        # Threads of their own: what waits for the store in others must not hold up a search.
        self._encodings = ThreadPoolExecutor(_ENCODINGS, thread_name_prefix="encode")
        self._dsn, self._bootstrap = memory_dsn, bootstrap

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        # Made here, for all of it belongs to the loop that runs it.
        self._reads = Reads(self._dsn)
        self._outcomes = Outcomes(self._dsn, self._reads)
        self._kafka_fails = ""
        self._producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap, enable_idempotence=True, acks="all", client_id="memquorum-retrieval"
        )
        await self._reads.open()
        try:
            await self._producer.start()
            async with self._outcomes.running():
                watching = asyncio.create_task(self._watch())
                yield
                watching.cancel()
        finally:
            await self._producer.stop()
            await self._reads.close()

    async def search(self, request: Request) -> Response:
        search = query.read_search(await _body(request))
        hits = await self._find(search)
        answer: dict[str, Any] = {"namespace": search.namespace, "hits": [asdict(hit) for hit in hits]}
        answer["used"], warning = await self._use(search, hits, request.headers.get(HEADER))
        if warning:
            answer["warning"] = warning
        return JSONResponse(answer)

    async def _find(self, search: query.Search) -> list[query.Hit]:
        """The nearest memories; where two encoders' are there, merged by rank, for their scores cannot be compared."""
        # First those that wait to be encoded anew: what changes sides meanwhile is found twice, not never.
        before = await self._nearest(self._before, search) if self._before else []
        hits = await self._nearest(self._encoder, search)
        if self._before is None or not before:
            return hits
        counts = await self._reads.encoded(search.namespace)
        lists = [(hits, counts.get(self._encoder.name, 0)), (before, counts.get(self._before.name, 0))]
        return query.merge(lists, search.k)

    async def _nearest(self, encoder: Encoder, search: query.Search) -> list[query.Hit]:
        encoding = asyncio.get_running_loop().run_in_executor(self._encodings, encoder.encode, [search.query])
        vectors = await encoding
        return await self._reads.search(search.namespace, encoder.name, vectors[0], search.k)

    async def memory(self, request: Request) -> Response:
        memory_id = query.read_memory_id(request.path_params["memory_id"])
        found = await self._reads.memory(memory_id)
        return JSONResponse(found) if found else _unknown("memory_id", f"no memory {memory_id}")

    async def explain(self, request: Request) -> Response:
        memory_id = query.read_memory_id(request.path_params["memory_id"])
        facts = await self._reads.facts(self._codec, memory_id)
        if facts is None:
            return _unknown("memory_id", f"no memory {memory_id}, nor an episode of that id that was dropped")
        account = await asyncio.to_thread(explain.explain, self._codec, self._genesis, facts)
        return JSONResponse({"account": explain.plain(account), "lines": telling.lines(account, self._genesis)})

    async def event(self, request: Request) -> Response:
        namespace = query.read_namespace(request.path_params["namespace"])
        event_id = query.read_event_id(request.path_params["event_id"])
        wait_ms = query.read_wait(request.query_params.get("wait_ms"))
        event = (namespace, event_id)
        if wait_ms:
            found = await self._outcomes.wait(event, wait_ms / 1000)
        else:
            found = (await self._reads.outcomes([event])).get(event)
        nothing = {"outcome": None, "memory_id": None, "shard": None, "journal_seq": None}
        return JSONResponse({"namespace": namespace, "event_id": event_id, **(found or nothing)})

    async def livez(self, _: Request) -> Response:
        return JSONResponse({"alive": True})

    async def readyz(self, _: Request) -> Response:
        parts = await self._parts()
        ready = not any(parts.values())
        return JSONResponse({"ready": ready, "encoder": self._encoder.name} | parts, status_code=200 if ready else 503)

    async def _parts(self) -> dict[str, str]:
        """What it needs, and what is wrong with each; empty where nothing is."""
        parts = {
            "store": "",
            "journal": "" if self._outcomes.listening else "not listening",
            "kafka": self._kafka_fails,
        }
        try:
            await self._reads.ping()
        except StoreUnavailable as error:
            parts["store"] = str(error)
        return parts

    async def _watch(self) -> None:
        """Tells the process's health that the loop turns, and whether it could answer."""
        health = self._shown.health
        while True:
            for part, wrong in (await self._parts()).items():
                if wrong:
                    health.wait(part, wrong)
                else:
                    health.go(part)
            health.turn()
            await asyncio.sleep(_LOOK_S)

    async def _use(self, search: Search, hits: Sequence[Hit], parent: str | None) -> tuple[int, str | None]:
        """Publishes the hits' accesses; how many Kafka has, and a warning if that is not all."""
        accesses = query.uses(search, hits, [str(uuid.uuid4()) for _ in hits])
        if not accesses:
            return 0, None
        if search.namespace in self._genesis.signed:
            return 0, _UNSIGNED
        hop = self._shown.tracing.serve("POST /search", parent)
        hop.tell(hits=len(hits))
        try:
            async with asyncio.timeout(_PUBLISH_S):
                sent = [await self._send(access, hop) for access in accesses]
                await asyncio.gather(*sent)
        except (TimeoutError, KafkaError) as error:
            self._kafka_fails = f"accesses were not published: {error or type(error).__name__}"
            _LOG.warning("%s", self._kafka_fails)
            return 0, "Kafka did not confirm the accesses in time; these hits may not count as used"
        self._kafka_fails = ""
        hop.end()
        self._shown.sent(topics.ACCESSES, len(accesses))
        return len(accesses), None

    async def _send(self, access: AccessRecorded, hop: Hop) -> asyncio.Future[Any]:
        value, key = self._codec.encode(access), (access.namespace or "").encode()
        headers = _headers(access, hop.send(topics.ACCESSES, None, access.event_id))
        sent: asyncio.Future[Any] = await self._producer.send(topics.ACCESSES, value, key=key, headers=headers)
        return sent


def _headers(access: AccessRecorded, parent: str | None) -> list[tuple[str, bytes]]:
    found = loop.headers("AccessRecorded", _SOURCE, access.event_id or "", parent)
    return [(name, value.encode() if isinstance(value, str) else value or b"") for name, value in found]


async def _body(request: Request) -> bytes:
    """The JSON body, as long as it is one and not too long. Raises BadRequest."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":
        raise BadRequest("wrong_type", None, "send Content-Type: application/json")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > query.BODY_BYTES_MAX:
            raise BadRequest("too_long", None, f"more than {query.BODY_BYTES_MAX} bytes")
    return bytes(body)


async def _bad_request(_: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequest)
    told = {"error": error.code, "field": error.field, "detail": error.detail}
    # What is left of a body that is too long is not read.
    return JSONResponse(told, 413 if error.code == "too_long" and error.field is None else 400)


async def _unavailable(_: Request, error: Exception) -> Response:
    told = {"error": "unavailable", "field": None, "detail": f"{error}; try again"}
    return JSONResponse(told, 503, headers={"Retry-After": "1"})


def _unknown(field: str, detail: str) -> Response:
    return JSONResponse({"error": "not_found", "field": field, "detail": detail}, 404)
