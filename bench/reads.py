"""The processor time of a read in all processes, by way: counted as a use or not, over HTTP and over MCP."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, cast

from mcp import Client

from bench.float_encoder import cost, float_encoder
from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.parts import WHOLE, Parts, difference, parts
from bench.texts import sentences
from memquorum.client import AsyncMemory

_SPACE, _K, _SEED = "reads", 10, 21
# Calls begin so often, so that each block lasts as long as one without any, which is subtracted.
_EVERY_S = 0.1
_IDLE, _PEEK, _COUNTED, _MCP = "nothing", "peek", "counted", "MCP, peek"
_KNOWN, _RETRIEVED, _COMPOSED = "peek, known query", "retrieve", "context"

Ask = Callable[[str], Awaitable[Any]]


def measure(quick: bool) -> Row:
    """Blocks of calls by each way, in turn, so that what else the machine does falls on each alike."""
    row = Row("reads", "processor time of a read in all processes, by way")
    memories, calls, rounds = (100, 20, 1) if quick else (500, 100, 5)
    asked = sentences(calls * rounds * 8, _SEED + 1)
    plain = cost(float_encoder(), asked[: 64 if quick else 400]).ms
    with parts(*WHOLE, policy=STORE_ALL) as running:
        blocks = asyncio.run(_blocks(running, memories, calls, rounds, iter(asked)))
    idle = statistics.median(blocks.pop(_IDLE))
    used = {way: (statistics.median(spent) - idle) / calls * 1e3 for way, spent in blocks.items()}
    for way, ms in used.items():
        row.figure(way, ms, "ms")
    row.figure("(counted - peek) ÷ float32", (used[_COUNTED] - used[_PEEK]) / plain, "")
    row.figure("(MCP - peek) ÷ float32", (used[_MCP] - used[_PEEK]) / plain, "")
    row.at_most("(counted - peek) ÷ float32", 1.5)
    row.at_most("(MCP - peek) ÷ float32", 0.3)
    row.compare(_PEEK, "one sentence through the encoder in float32", plain, "ms")
    row.note(
        f"{memories} memories of one namespace; {rounds} blocks of {calls} calls by each way, one each "
        f"{_EVERY_S * 1e3:.0f} ms, medians, less a block without calls; every text is new but for the known query"
    )
    return row


async def _blocks(
    running: Parts, memories: int, calls: int, rounds: int, asked: Iterator[str]
) -> dict[str, list[float]]:
    """Seconds of processor time of each block, by way."""
    url = running.settings.retrieval_url
    async with (
        AsyncMemory(namespace=_SPACE, agent="ada", kafka=running.bootstrap, url=url) as memory,
        Client(f"{url}/mcp/{_SPACE}?agent=ada") as tools,
    ):
        for one in await memory.add_all({"content": text} for text in sentences(memories, _SEED)):
            await memory.outcome(one)
        known = next(asked)
        ways: dict[str, Ask | None] = {
            _IDLE: None,
            _PEEK: lambda text: memory.search(text, k=_K, peek=True),
            _COUNTED: lambda text: memory.search(text, k=_K),
            _MCP: lambda text: _over(tools, text),
            _KNOWN: lambda _: memory.search(known, k=_K, peek=True),
            _RETRIEVED: lambda text: memory.retrieve(text, budget_tokens=500, peek=True),
            _COMPOSED: lambda text: memory.context(text, peek=True),
        }
        spent: dict[str, list[float]] = {way: [] for way in ways}
        for at in range(rounds + 1):
            for way, ask in ways.items():
                used = await _block(running, ask, calls, asked)
                if at:  # what is asked first is slow: connections, plans, what is loaded then
                    spent[way].append(used)
        return spent


async def _block(running: Parts, ask: Ask | None, calls: int, asked: Iterator[str]) -> float:
    before, began = running.cpu_s(), time.perf_counter()
    for at in range(calls):
        await asyncio.sleep(max(0.0, began + at * _EVERY_S - time.perf_counter()))
        if ask is not None:
            await ask(next(asked))
    await asyncio.sleep(max(0.0, began + (calls + 5) * _EVERY_S - time.perf_counter()))
    return sum(difference(before, running.cpu_s()).values())


async def _over(tools: Client, text: str) -> None:
    done = await tools.call_tool("search_memories", {"query": text, "top_k": _K, "peek": True})
    assert not done.is_error and len(cast(Any, done.structured_content)["hits"]) == _K, done.content
