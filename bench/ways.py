"""The cost of interfaces beside the client: a search over MCP, over HTTP and stdio; a read and a write by the store of
LangGraph, where `make langgraph` has installed it; and a thousand clients of MCP at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bench import kept
from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.parts import WHOLE, Parts, parts
from bench.reference import quantile
from bench.texts import sentences
from memquorum.client import AsyncMemory, Receipt

_SPACE, _K, _SEED = "ways", 5, 9
_LANGGRAPH = kept.ROOT / ".tools" / "langgraph" / "bin" / "python"
_PATIENCE_S = 300
# Half of a call's time is a context of its own for a connection that has no TLS.
_TLS = httpx2.create_ssl_context()

Ask = Callable[[str], Awaitable[Any]]


def measure(quick: bool) -> Row:
    """Searches by the client and over MCP in turn, so that what else the machine does falls on each alike."""
    row = Row("ways", "ways in, beside the client: one call after the other")
    memories, tries = (100, 40) if quick else (500, 400)
    with parts(*WHOLE, policy=STORE_ALL) as running:
        taken = asyncio.run(_searches(running, memories, tries))
        stores = _langgraph(running, tries // 4)
    mine = quantile(taken["client"], 0.5)
    for way in ("MCP over HTTP", "MCP over stdio"):
        row.figure(f"{way}: search, p50", quantile(taken[way], 0.5), "ms")
        row.figure(f"{way}: over the client's, p50", quantile(taken[way], 0.5) - mine, "ms")
        row.at_most(f"{way}: over the client's, p50", 3)
    for name, (ours, client) in stores.items():
        row.figure(f"LangGraph's {name}: p50", ours, "ms")
        row.figure(f"LangGraph's {name}: over the client's, p50", ours - client, "ms")
        row.at_most(f"LangGraph's {name}: over the client's, p50", 3)
    if not stores:
        row.note("the store of LangGraph was not measured: `make langgraph` installs what it needs")
    row.compare("MCP over HTTP: search, p50", "a search by the client", mine, "ms")
    row.note(f"{memories} memories of one namespace; {tries} searches of {_K} by each way, in turn, as `peek`")
    return row


async def _searches(running: Parts, memories: int, tries: int) -> dict[str, list[float]]:
    """Milliseconds of each search, by way."""
    texts, url = sentences(memories, _SEED), running.settings.retrieval_url
    child = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memquorum", "mcp", "-n", _SPACE, "-a", "ada"],
        env={"MEMQUORUM_RUN_DIR": str(running.settings.run_dir)},
        cwd=kept.ROOT,
    )
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(
            AsyncMemory(namespace=_SPACE, agent="ada", kafka=running.bootstrap, url=url)
        )
        for one in await memory.add_all({"content": text} for text in texts):
            await memory.outcome(one)
        http = await stack.enter_async_context(Client(f"{url}/mcp/{_SPACE}?agent=ada"))
        stdio = await stack.enter_async_context(Client(stdio_client(child)))
        ways: dict[str, Ask] = {
            "client": lambda text: memory.search(text, k=_K, peek=True),
            "MCP over HTTP": lambda text: _over(http, text),
            "MCP over stdio": lambda text: _over(stdio, text),
        }
        taken: dict[str, list[float]] = {way: [] for way in ways}
        for i in range(tries + 20):
            for j, (way, ask) in enumerate(ways.items()):
                # Another text for each: what was asked just now is encoded already.
                text = texts[(len(ways) * i + j) % memories]
                began = time.perf_counter()
                await ask(text)
                if i >= 20:  # what is asked first is slow: connections, plans, what is loaded then
                    taken[way].append((time.perf_counter() - began) * 1000)
    return taken


async def _over(tools: Client, text: str) -> None:
    done = await tools.call_tool("search_memories", {"query": text, "top_k": _K, "peek": True})
    assert not done.is_error and len(cast(Any, done.structured_content)["hits"]) == _K, done.content


def _langgraph(running: Parts, tries: int) -> dict[str, list[float]]:
    """Name of an operation → medians of the store's and of the client's milliseconds, from a process of its own."""
    if not _LANGGRAPH.is_file():
        return {}
    known = {name: value for name, value in os.environ.items() if not name.startswith("MEMQUORUM_")}
    known |= {"PYTHONPATH": str(kept.ROOT), "MEMQUORUM_RUN_DIR": str(running.settings.run_dir)}
    command = [_LANGGRAPH, kept.ROOT / "tests" / "langgraph" / "cost.py", str(tries)]
    ran = subprocess.run(command, env=known, capture_output=True, text=True, check=True)
    told: dict[str, list[float]] = json.loads(ran.stdout.splitlines()[-1])
    return told


def clients(quick: bool) -> Row:
    """Each client writes a memory and searches, all at once; who is refused tries again a second later."""
    count = 100 if quick else 1_000
    row = Row("clients", f"{count:,} clients of MCP at once")
    with parts(*WHOLE, policy=STORE_ALL) as running:
        told, lost, spent = asyncio.run(_crowd(running, count))
        alone = asyncio.run(_alone(running))
    answered, refused = told.pop("answered"), told.pop("refused")
    row.figure("answered", answered, "calls")
    row.figure("refused with 429 or 503 and Retry-After", refused, "calls")
    row.figure("neither answered nor refused", told.total(), "calls")
    row.figure("written and lost", lost, "memories")
    row.figure("answered a second", answered / spent, "1/s")
    row.at_most("neither answered nor refused", 0)
    row.at_most("written and lost", 0)
    row.compare("answered a second", "calls of one client, one after the other", alone, "1/s")
    row.note(f"{count:,} clients, each with a connection of its own, run on the same processors in one process")
    if told:
        row.note(f"neither answered nor refused: {dict(told)}")
    return row


async def _crowd(running: Parts, count: int) -> tuple[Counter[str], int, float]:
    """Returns how the calls ended, how many memories that were reported as written are missing, and the seconds that it
    took.
    """
    url, texts = running.settings.retrieval_url, sentences(count, _SEED)
    told: Counter[str] = Counter(answered=0, refused=0)
    began = time.perf_counter()
    written = await asyncio.gather(*(_client(f"{url}/mcp/crowd?agent=a{i}", texts[i], told) for i in range(count)))
    spent = time.perf_counter() - began
    async with AsyncMemory(namespace="crowd", agent="ada", url=url) as memory:
        lost = 0
        for one in filter(None, written):
            # A client without an answer sent it again: then another memory holds it than the one that was reported at
            # once.
            held = await memory.outcome(Receipt(one["namespace"], one["event_id"], one["memory_id"]))
            found = await memory.get(held.memory_id)
            lost += found.text is None
    return told, lost, spent


async def _alone(running: Parts) -> float:
    """Calls a second of one client that asks one after the other, each on a connection of its own."""
    url, tries = f"{running.settings.retrieval_url}/mcp/crowd?agent=alone", 50
    began = time.perf_counter()
    for _ in range(tries):
        answer, ended = await _once(url, "search_memories", {"query": "a boiler", "peek": True})
        assert answer is not None, ended
    return tries / (time.perf_counter() - began)


async def _client(url: str, text: str, told: Counter[str]) -> dict[str, Any] | None:
    """One client's life. Returns what it was told of its write."""
    tools = (("add_memory", {"content": text}), ("search_memories", {"query": text, "peek": True}))
    answers = []
    for tool, arguments in tools:
        deadline, answer = time.monotonic() + _PATIENCE_S, None
        while answer is None and time.monotonic() < deadline:
            answer, ended = await _once(url, tool, arguments)
            told[ended] += 1
            if answer is None:
                await asyncio.sleep(1)
        answers.append(answer)
    return answers[0]


async def _once(url: str, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """A call on a connection of its own: its answer, if it was answered, and how it ended."""
    refused = False

    async def heard(response: httpx2.Response) -> None:
        nonlocal refused
        refused = refused or (response.status_code in (429, 503) and "retry-after" in response.headers)

    try:
        async with (
            httpx2.AsyncClient(timeout=_PATIENCE_S, event_hooks={"response": [heard]}, verify=_TLS) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            done = await client.call_tool(tool, arguments)
    except Exception as error:
        return None, "refused" if refused else type(error).__name__
    if done.is_error:
        return None, cast(Any, done.content[0]).text
    return cast("dict[str, Any]", done.structured_content), "answered"
