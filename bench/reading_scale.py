"""Searches and retrievals beside many memories: one tenant has 100,000, and a hundred have 1,000 each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import mean
from typing import TypeVar

import httpx
import numpy as np
import psycopg

from bench.crowd import Crowd, crowd, fill
from bench.kept import Row
from bench.parts import parts
from bench.reference import quantile
from db import crowds
from db.reads import Reads
from memquorum.core.access import Sight
from memquorum.core.ids import memory_id
from memquorum.core.policy import Policy
from memquorum.core.retrieval import packing
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Question, Scored, rank
from memquorum.encoders.onnx import OnnxEncoder

ONE = "one"
_K = 10
# The tiers in another order are a filter, so all is read: what the indexes are compared with.
_ALL_READ = Filters(tiers=("long-term", "short-term"))

T = TypeVar("T")
Ask = Callable[[int], Awaitable[object]]


def measure(quick: bool) -> Row:
    """The store's part by itself, as the service asks it, and the service's over HTTP."""
    row = Row(
        "reading-scale", "search and retrieve beside 200,000 memories, 100,000 of one tenant and 1,000 of each of 100"
    )
    count, tenants = (6_000, 6) if quick else (100_000, 100)
    many = [f"many-{at:02}" for at in range(tenants)]
    encoder = OnnxEncoder()
    people = crowd(count, encoder)
    with parts() as running:
        dsn = running.settings.memory_dsn
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("INSERT INTO shard (shard, hash) VALUES (0, '') ON CONFLICT DO NOTHING")
        began = time.perf_counter()
        fill(dsn, people, many)
        fill(dsn, people, [ONE])
        row.series["s to fill"] = round(time.perf_counter() - began, 1)
        for made in crowds.keep(dsn, crowds.LEAST):
            took, began = time.perf_counter() - began, time.perf_counter()
            row.series[f"s to make {made.index.split('_')[0]}"] = round(took, 1)
        asyncio.run(_store(row, dsn, people, many, 20 if quick else 1))
        running.start("retrieval")
        _http(row, running.settings.retrieval_url, people, encoder, 50 if quick else 300)
    row.at_most("1,000 of a tenant: search p99", 10)
    row.at_most("100,000 of one tenant: search p99", 10)
    row.compare("100,000 of one tenant: search p50", "the same, all read", row.series["ms exact"], "ms")
    row.note(
        "vectors of sentences by the default encoder, moved towards those of others; texts of made-up words, as rare "
        "as words are; rows by COPY into the line's own tables, row security in force, Postgres as `make up` starts it"
    )
    row.note(
        "times are of the store's part: question to answer in the service's process, without the encoder; a "
        "retrieval's with ranking and packing. Over HTTP the encoder is in, on the cores that the client shares"
    )
    return row


async def _store(row: Row, dsn: str, people: Crowd, many: Sequence[str], less: int) -> None:
    asked, vectors = people.questions(600 // less, 7)
    reads = Reads(dsn)
    await reads.open()

    async def search(namespace: str, at: int) -> list[str]:
        hits = await reads.search(Sight((namespace,)), namespace, people.encoder, vectors[at], _K)
        return [hit.memory_id for hit in hits]

    async def retrieve(namespace: str, at: int, filters: Filters | None = None) -> list[Scored]:
        question = Question(namespace, asked[at], {people.encoder: vectors[at]}, filters or Filters())
        sight = Sight((namespace,))
        (found, as_of), (passed, _) = await asyncio.gather(
            reads.candidates(sight, question, DEFAULTS), reads.passed(sight, question)
        )
        ranked = rank(found, passed, as_of, Policy())
        packing.pack(ranked, 2_000, 20)
        return ranked

    try:
        for name, spaces in (("1,000 of a tenant", many), ("100,000 of one tenant", [ONE])):
            ms = await _timed(len(asked), lambda at, s=spaces: search(s[at % len(s)], at))  # type: ignore[misc]
            _figures(row, f"{name}: search", ms)
            ms = await _timed(len(asked) // 3, lambda at, s=spaces: retrieve(s[at % len(s)], at))  # type: ignore[misc]
            _figures(row, f"{name}: retrieve", ms)
        await _recall(row, people, vectors, [await search(ONE, at) for at in range(100 // less)])
        few = range(20 // less + 1)
        exact = [await _once(retrieve(ONE, at, _ALL_READ)) for at in few]
        row.figure("100,000 of one tenant: retrieve with a filter, p50", quantile([ms for ms, _ in exact], 0.5), "ms")
        shared = [_shared(await retrieve(ONE, at), all_read) for at, (_, all_read) in zip(few, exact, strict=True)]
        row.figure("100,000 of one tenant: of the first 10 of a retrieval that reads all, found", mean(shared), "")
    finally:
        await reads.close()
    row.series["ms exact"] = await _exact(dsn, people, vectors[: 20 // less + 1])


async def _timed(count: int, ask: Ask) -> list[float]:
    """Milliseconds of each, one after the other; the first tenth warms up and is left out."""
    found = [(await _once(ask(at)))[0] for at in range(count)]
    return found[count // 10 :]


async def _once(asked: Awaitable[T]) -> tuple[float, T]:
    began = time.perf_counter()
    answer = await asked
    return (time.perf_counter() - began) * 1000, answer


def _figures(row: Row, name: str, ms: list[float]) -> None:
    for told, part in (("p50", 0.5), ("p99", 0.99)):
        row.figure(f"{name} {told}", quantile(ms, part), "ms")


async def _recall(row: Row, people: Crowd, vectors: np.ndarray, found: Sequence[Sequence[str]]) -> None:
    held = people.vectors.astype(np.float16).astype(np.float32)
    held /= np.linalg.norm(held, axis=1, keepdims=True)
    shares = []
    for ids, vector in zip(found, vectors, strict=False):
        nearest = {memory_id(ONE, f"e{at}") for at in np.argpartition(-(held @ vector), _K)[:_K].tolist()}
        shares.append(len(nearest & set(ids)) / _K)
    row.figure("100,000 of one tenant: search, recall@10", mean(shares), "")


def _shared(ranked: Sequence[Scored], exact: Sequence[Scored]) -> float:
    first = [{one.candidate.hit.memory_id for one in them[:_K]} for them in (ranked, exact)]
    return len(first[0] & first[1]) / _K


async def _exact(dsn: str, people: Crowd, vectors: np.ndarray) -> float:
    """The median of searches that read all, in milliseconds."""
    reads = Reads(dsn)
    await reads.open()
    try:
        # No index is known to it, so it asks as it would without.
        reads._crowds.near = _none  # type: ignore[method-assign]
        asked = [_once(reads.search(Sight((ONE,)), ONE, people.encoder, vector, _K)) for vector in vectors]
        return quantile([(await one)[0] for one in asked], 0.5)
    finally:
        await reads.close()


async def _none(namespace: str, encoder: str) -> bool:
    return False


def _http(row: Row, url: str, people: Crowd, encoder: OnnxEncoder, count: int) -> None:
    asked, _ = people.questions(count, 8)
    encoding = []
    for text in asked:
        began = time.perf_counter()
        encoder.encode([text])
        encoding.append((time.perf_counter() - began) * 1000)
    with httpx.Client(base_url=url) as client:
        for path in ("/search", "/retrieve"):
            ms = []
            for text in asked:
                began = time.perf_counter()
                answer = client.post(path, json={"namespace": ONE, "query": text, "peek": True})
                ms.append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200, answer.text
            ms = ms[count // 10 :]
            _figures(row, f"100,000 of one tenant, over HTTP with the encoder: POST {path}", ms)
            within = quantile(encoding, 0.5) + row.value(f"100,000 of one tenant: {path[1:]} p50")
            row.figure(f"of that HTTP and the service, POST {path}", quantile(ms, 0.5) - within, "ms")
    row.figure("the encoder alone, p50", quantile(encoding, 0.5), "ms")
