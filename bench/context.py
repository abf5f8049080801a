"""Context for a prompt, asked of a fleet at rest: by the client as agents use it, one request after the other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.parts import WHOLE, Parts, parts
from bench.reference import quantile
from bench.texts import sentences
from memquorum.client import AsyncMemory

_SESSIONS = 10


def measure(quick: bool) -> Row:
    """A namespace of one agent with ten sessions; each request is about one of them, with a query that comes once."""
    count, tries = (200, 40) if quick else (1_000, 250)
    row = Row("context", f"a prompt's memories, of {count:,}")
    with parts(*WHOLE, policy=STORE_ALL) as running:
        taken, tokens = asyncio.run(_times(running, count, tries))
    for name, values in taken.items():
        for share in (0.5, 0.95):
            row.figure(f"{name}: p{share * 100:.0f}", quantile(values, share), "ms")
    row.figure("tokens of a prompt, mean", tokens, "tokens")
    row.compare("context: p50", "retrieve in the same go, p50", row.value("retrieve: p50"), "ms")
    row.note("the budget is 2,000 tokens, half of them for the session at first; what is given counts as used")
    row.note("the buffer alone is asked without a query, so without the encoder")
    row.series["ms"] = {name: [round(ms, 2) for ms in values] for name, values in taken.items()}
    return row


async def _times(running: Parts, count: int, tries: int) -> tuple[dict[str, list[float]], float]:
    url = running.settings.retrieval_url
    async with AsyncMemory(namespace="bench", agent="ada", kafka=running.bootstrap, url=url) as memory:
        texts = sentences(count, 6)
        told = [{"content": text, "session": f"s{i % _SESSIONS}"} for i, text in enumerate(texts)]
        receipts = await memory.add_all(told)
        assert (await memory.outcome(receipts[-1], 240)).outcome == "stored"
        tokens: list[int] = []

        async def context(query: str, session: str, **more: Any) -> None:
            found = await memory.context(query, session=session, **more)
            assert {item.why for item in found.items} == {"buffer", "relevant"}
            tokens.append(found.tokens)

        asked: dict[str, Callable[[str, str], Awaitable[Any]]] = {
            "context": context,
            "context, peeking": lambda query, session: context(query, session, peek=True),
            "buffer alone": lambda _, session: memory.context(session=session),
            "retrieve": lambda query, _: memory.retrieve(query),
        }
        taken: dict[str, list[float]] = {name: [] for name in asked}
        # In turn, so that what else the machine does falls upon all alike; the first are not counted.
        queries = iter(sentences((tries + 20) * len(asked), 8))
        for i in range(tries + 20):
            for name, ask in asked.items():
                query = next(queries)
                began = time.perf_counter()
                await ask(query, f"s{i % _SESSIONS}")
                if i >= 20:
                    taken[name].append((time.perf_counter() - began) * 1000)
        return taken, sum(tokens) / len(tokens)
