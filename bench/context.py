"""Context for a prompt, asked of a fleet at rest by the client as agents use it, one request after the other; and reads
by the tier that a memory is in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx
import psycopg
from psycopg.types.json import Json

from bench.crowd import START, Crowd, crowd, fill
from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.parts import WHOLE, Parts, names_of, parts
from bench.reference import quantile
from bench.texts import sentences
from db.queries import QUERIES
from db.store import PostgresStore
from memquorum.client import AsyncMemory
from memquorum.core.ids import memory_id
from memquorum.encoders.onnx import OnnxEncoder

_SESSIONS = 10
_SHARD, _SEED = 0, 5
_FIRST = 20
"""The first requests are not counted."""
_UNTIL = START + 7 * 24 * 3_600_000


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


def tiers(quick: bool) -> Row:
    """Asks a store that was filled for memories of each tier, one request after the other, in turn."""
    count, tries = (1_000, 40) if quick else (10_000, 250)
    row = Row("tiers", f"reads by the tier that a memory is in, of {count:,} in one namespace")
    people = crowd(count, OnnxEncoder(), _SEED)
    with parts() as running:
        namespace = names_of([_SHARD], running.genesis)[_SHARD]
        store = PostgresStore(running.settings.memory_dsn)
        store.start(running.genesis.cluster, running.genesis.shards)
        store.close()
        fill(running.settings.memory_dsn, people, [namespace])
        sealed = _seal(running.settings.memory_dsn, namespace, count)
        running.start("retrieval")
        taken, cached = _by_tier(running, namespace, people, sealed, tries)
    for name, values in taken.items():
        for share in (0.5, 0.95):
            row.figure(f"{name}: p{share * 100:.0f}", quantile(values, share), "ms")
    row.figure("asked again: answered from the cache", 100 * cached, "%")
    row.compare("long-term: p50", "short-term in the same go, p50", row.value("short-term: p50"), "ms")
    row.note(
        "the source: working memory and episodic buffer below 1 ms, short-term 1 to 5, long-term 5 to 50, its cache "
        "below 2. Here the buffer is a session's last memories, short-term and long-term are rows of one store with "
        "one index, and a forgotten memory has no text left: the read says that it may be restored. Working memory is "
        "the agent's own, and no read of ours"
    )
    row.note("over HTTP, each with a query that comes once, but where it is asked again; the buffer takes no query")
    row.series["ms"] = {name: [round(ms, 2) for ms in values] for name, values in taken.items()}
    return row


def _seal(dsn: str, namespace: str, count: int) -> list[str]:
    """Forgets every tenth memory as the commit worker leaves it; returns their ids."""
    gone = [memory_id(namespace, f"e{at}") for at in range(0, count, 10)]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "UPDATE memory SET tier = 'sealed', sealed_until = %s WHERE id = ANY(%s::uuid[])", [_UNTIL, gone]
        )
        for name in ("content_delete", "embedding_delete"):
            connection.execute(QUERIES[name], {"ids": gone})
        connection.execute(QUERIES["strength_delete"], {"rows": Json([{"memory_id": one} for one in gone])})
        connection.execute("UPDATE shard SET seq = %s WHERE shard = %s", [count, _SHARD])
        connection.execute("VACUUM ANALYZE")
    return gone


def _by_tier(
    running: Parts, namespace: str, people: Crowd, sealed: Sequence[str], tries: int
) -> tuple[dict[str, list[float]], float]:
    """Milliseconds by tier, and the share of the repeated searches that the cache answered."""
    texts, _ = people.questions((tries + _FIRST) * 2, 17)
    queries, sources = iter(texts), list[str]()
    with httpx.Client(base_url=running.settings.retrieval_url, timeout=30) as client:

        def post(path: str, **asked: Any) -> Any:
            answer = client.post(path, json={"namespace": namespace, "peek": True, **asked})
            answer.raise_for_status()
            return answer.json()

        asks: dict[str, Callable[[int], Any]] = {
            "a session's buffer": lambda at: post("/context", session=f"s{at % 20}", agent="ada", budget_tokens=2_000),
            "short-term": lambda _: post("/search", query=next(queries), tiers=["short-term"]),
            "long-term": lambda _: post("/search", query=next(queries), tiers=["long-term"]),
            "asked again": lambda at: sources.append(post("/search", query=texts[at % 10])["served_from"]),
            "forgotten, which may be restored": lambda at: client.get(
                f"/memories/{sealed[at % len(sealed)]}", params={"namespace": namespace}
            ).raise_for_status(),
        }
        taken: dict[str, list[float]] = {name: [] for name in asks}
        for at in range(tries + _FIRST):
            for name, ask in asks.items():
                began = time.perf_counter()
                ask(at)
                if at >= _FIRST:
                    taken[name].append((time.perf_counter() - began) * 1000)
    return taken, sources[_FIRST:].count("cache") / max(1, len(sources) - _FIRST)
