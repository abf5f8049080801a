"""A tool asks the endpoints inside the process: it gets the answers and refusals that it would get over HTTP."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest

from memquorum.client.memory import AsyncMemory
from memquorum.client.within import Within
from memquorum.core.access import RIGHTS
from memquorum.core.avro import Codec
from memquorum.mcp.calls import Call, Last
from memquorum.mcp.tools import TOOLS
from memquorum.ports import StoreUnavailable
from tests.builders.served import HERS, ORDER, THEIRS, Journal, Served, bearer, make, stored
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.limits import Busy, Late

_URL = "http://127.0.0.1"
_NOBODYS = "5f0c8f0e-0000-5000-8000-00000000ffff"
READS, ALL, NO_KEY = 1, 2, 9


@pytest.fixture
def service(codec: Codec, tmp_path: Path) -> Served:
    keys = tmp_path / "api-keys.json"
    stored(keys, (READS, ("read",), ("greenhouse",)), (ALL, RIGHTS, ("greenhouse",)))
    found = make(codec, Door(keys))
    found.outcomes = cast(Any, Journal(("greenhouse", "e1")))
    return found


async def told(memory: AsyncMemory, tool: str, arguments: dict[str, Any]) -> tuple[str, Any]:
    """Calls a tool. Returns its answer as plain JSON, or its error in words."""
    called = next(one for one in TOOLS if one.name == tool)
    try:
        # As if the key had all rights: the endpoint has to refuse.
        found = await called.do(Call(memory, frozenset(RIGHTS), Last()), **called.takes.read(arguments))
    except Exception as error:
        return type(error).__name__, str(error)
    return "answer", msgspec.json.decode(msgspec.json.encode(found))


@asynccontextmanager
async def ways(service: Served, key: int) -> AsyncIterator[tuple[AsyncMemory, AsyncMemory]]:
    """The client inside the service, and one over HTTP."""
    app = around(service, LOOPBACK, service.meters)
    (mounted,) = (cast(Any, route).endpoint for route in app.routes if cast(Any, route).name == "mcp")
    token = bearer(key)["Authorization"].removeprefix("Bearer ")
    who: dict[str, Any] = {"url": _URL, "namespace": "greenhouse", "agent": "ada", "api_key": token}
    within, over_http = Within(mounted._inside.ask, **who), AsyncMemory(**who)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=_URL) as http:
        over_http._connections.http = http
        yield within, over_http


CALLS: list[tuple[int, str, dict[str, Any], str]] = [
    (READS, "search_memories", {"query": "q", "top_k": 3}, "answer"),
    (READS, "search_memories", {"query": "q", "after": "greenhouse/e1"}, "answer"),
    (READS, "retrieve_context", {"query": "q"}, "answer"),
    (READS, "get_memory", {"memory_id": HERS}, "answer"),
    (READS, "explain_memory", {"memory_id": HERS}, "NotFound"),
    (READS, "get_memories", {}, "answer"),
    (READS, "get_experience", {"limit": 1}, "answer"),
    (READS, "get_event_status", {"event_id": "e1"}, "answer"),
    (ALL, "add_memory", {"content": "Valve 3 opens at 4 bar.", "event_id": "e1"}, "answer"),
    (ALL, "erase_memories", {"memory_id": HERS}, "answer"),
    # Refused for what it says.
    (READS, "search_memories", {"query": ""}, "Invalid"),
    (READS, "search_memories", {"query": "q", "top_k": 0}, "Invalid"),
    (READS, "search_memories", {"query": "q", "after": "e1"}, "Invalid"),
    (READS, "search_memories", {"query": "\ud800"}, "Invalid"),
    (READS, "search_memories", {"query": "x" * 200_000}, "Invalid"),
    (READS, "get_memories", {"cursor": "\ud800"}, "Invalid"),
    (READS, "get_memory", {"memory_id": "a/../b"}, "NotFound"),
    (READS, "get_memory", {"memory_id": "a/explain"}, "Invalid"),
    (READS, "get_memory", {"memory_id": "ä b?c#d%20"}, "Invalid"),
    # A memory of another namespace is refused like an unknown one.
    (READS, "get_memory", {"memory_id": THEIRS}, "NotFound"),
    (READS, "get_memory", {"memory_id": _NOBODYS}, "NotFound"),
    (ALL, "get_order", {"order_id": ORDER}, "answer"),
    # Refused for the key's rights, or for the key.
    (READS, "add_memory", {"content": "Valve 3 opens at 4 bar."}, "NotAllowed"),
    (READS, "erase_memories", {"memory_id": HERS, "dry_run": False}, "NotAllowed"),
    (NO_KEY, "search_memories", {"query": "q"}, "NotAllowed"),
    # The write that it names is not there in time.
    (READS, "search_memories", {"query": "q", "after": "greenhouse/e2"}, "NotYet"),
]


@pytest.mark.parametrize(("key", "tool", "arguments", "kind"), CALLS)
async def test_a_tool_is_answered_and_refused_as_over_http(
    service: Served, key: int, tool: str, arguments: dict[str, Any], kind: str
) -> None:
    async with ways(service, key) as (within, over_http):
        here, there = [await told(memory, tool, arguments) for memory in (within, over_http)]
    assert here == there
    assert here[0] == kind, here


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Busy(True, "this key has 32 requests under way"), "Busy"),
        (Busy(False, "64 requests are under way"), "Busy"),
        (Late("no answer in 15 s"), "Unreachable"),
        (StoreUnavailable("no connection"), "Busy"),
        (RuntimeError("a fault of the service"), "RuntimeError"),
    ],
)
async def test_an_endpoint_that_fails_fails_as_over_http(
    service: Served, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str
) -> None:
    async def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(service.reads, "memory", fails)
    async with ways(service, READS) as (within, over_http):
        here, there = [await told(memory, "get_memory", {"memory_id": HERS}) for memory in (within, over_http)]
    assert here == there
    assert here[0] == kind


async def test_an_answer_that_is_late_inside_is_refused(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "bounds", dataclasses.replace(service.bounds, answer_ms=50, store_ms=10, kafka_ms=10))

    async def never(*_: Any, **__: Any) -> None:
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(service.reads, "memory", never)
    async with ways(service, READS) as (within, over_http):
        here, there = [await told(memory, "get_memory", {"memory_id": HERS}) for memory in (within, over_http)]
    assert here == there == ("Unreachable", "the retrieval service says 504: no answer in 0.05 s; try again")
