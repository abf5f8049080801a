"""The row of a namespace that holds many summaries: a search among their sentences, merging, and a first roll-up."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import numpy as np
import psycopg

from bench.consolidation.frame import Material
from bench.crowd import START, Crowd, crowd, fill
from bench.kept import Row
from bench.parts import parts
from bench.reference import quantile
from bench.texts import sentences
from db import copying
from db.reads import Reads
from db.rollup_reads import PostgresRollups
from db.schedule import PostgresSchedule
from memquorum.core.access import Sight
from memquorum.core.consolidation.rollups import Reading, patches
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Memory, Strength
from memquorum.core.policy import Policy
from memquorum.encoders.onnx import OnnxEncoder

OF_ONE = 16
"""So many sentences has a summary."""
_K, _BATCH, _SLOW_MS = 10, 128, 100.0
_EPISODES = 1_000
"""So many memories that are no summaries lie beside them."""


def large(material: Material) -> Row:
    """Fills a store by COPY, twice, and asks it."""
    row = Row("large", "a namespace of many summaries: search among their sentences, merging; a first roll-up")
    encoder = OnnxEncoder()
    for count in (1_600,) if material.quick else (10_000, 100_000):
        with parts() as running:
            _summaries(row, running.settings.memory_dsn, count, encoder, 20 if material.quick else 100)
    for count in (200,) if material.quick else (500, 2_000):
        with parts() as running:
            _rolled_up(row, running.settings.memory_dsn, count)
    row.note(
        f"summaries of {OF_ONE} sentences in one namespace of one subject, and {_EPISODES:,} other memories; vectors "
        "of sentences by the default encoder, moved towards those of others; rows by COPY, row security in force; from "
        "question to answer in the service's process, without the encoder"
    )
    row.note(
        f"merging looks at {_BATCH} summaries at a time, once a day; the time of a first roll-up is that of "
        "reading the store and of making the patches, without the journal's"
    )
    return row


def _summaries(row: Row, dsn: str, count: int, encoder: OnnxEncoder, times: int) -> None:
    people = crowd(count + _EPISODES, encoder)
    said = Crowd(people.encoder, people.texts[:count], people.vectors[:count])
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO shard (shard, hash) VALUES (0, '') ON CONFLICT DO NOTHING")
        _fill(connection, said)
    fill(dsn, Crowd(people.encoder, people.texts[count:], people.vectors[count:]), ["large"])
    name = f"{count:,} sentences"
    ms = asyncio.run(_searched(dsn, people, times))
    row.figure(f"{name}: search, p50", quantile(ms, 0.5), "ms")
    row.figure(f"{name}: search, p95", quantile(ms, 0.95), "ms")
    row.at_most(f"{name}: search, p95", _SLOW_MS)
    schedule, took, after, looked = PostgresSchedule(dsn), [], None, 0
    try:
        while looked < count // OF_ONE and len(took) < 10:
            began = time.perf_counter()
            found = schedule.alike(0, Policy().consolidate.merge_alike_ppm, _BATCH, after)
            took.append((time.perf_counter() - began) * 1_000)
            after, looked = found.after, looked + _BATCH
            if after is None:
                break
    finally:
        schedule.close()
    row.figure(f"{count // OF_ONE:,} summaries: merging, {_BATCH} of them, p50", quantile(took, 0.5), "ms")


def _fill(connection: psycopg.Connection, said: Crowd) -> None:
    """Every sixteen of the texts are a summary."""
    count = len(said.texts) // OF_ONE
    named = [memory_id("large", f"sum{at}") for at in range(count)]
    ids = [copying.raw_id(one) for one in named]
    parted = said.vectors[: count * OF_ONE].reshape(count, OF_ONE, -1)
    mean = parted.mean(axis=1)
    whole = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
    texts = [" ".join(said.texts[at * OF_ONE : (at + 1) * OF_ONE]) for at in range(count)]
    put = partial(copying.copy, connection)
    put("memory_copy", (
        copying.raw(Memory(
            one, 0, "large", "consolidator", "plant", f"sum{at}", "short-term", START + at, len(texts[at]),
            bytes(32), said.encoder, False, None, START, None, at, made_by="extractive/1",
        ))
        for at, one in enumerate(named)
    ))  # fmt: skip
    put("content_copy", zip(ids, texts, ["large"] * count, strict=True))
    put("embedding_copy", ((one, "large", copying.raw_vector(whole[at]), said.encoder) for at, one in enumerate(ids)))
    put("sentence_copy", (
        (one, place, "large", copying.raw_vector(parted[at][place]), said.encoder)
        for at, one in enumerate(ids) for place in range(OF_ONE)
    ))  # fmt: skip
    put("strength_copy", (
        copying.raw(Strength(one, 0, "short-term", 450_000, START, START, 0)) for one in named
    ))  # fmt: skip


async def _searched(dsn: str, people: Crowd, times: int) -> list[float]:
    _, vectors = people.questions(times + 10, 7)
    reads, found = Reads(dsn), list[float]()
    await reads.open()
    try:
        for vector in vectors:
            began = time.perf_counter()
            hits = await reads.search(Sight(("large",)), "large", people.encoder, vector, _K)
            found.append((time.perf_counter() - began) * 1_000)
            assert len(hits) == _K
    finally:
        await reads.close()
    return found[10:]


def _rolled_up(row: Row, dsn: str, count: int) -> None:
    """A first pass over so many episodes, each of two sentences of the bench's own texts."""
    texts = sentences(2 * count, 11)
    pairs = [f"{one} {other}" for one, other in zip(texts[::2], texts[1::2], strict=True)]
    spoken = Crowd("none", pairs, np.ones((count, 2), np.float32))
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO shard (shard, hash) VALUES (0, '') ON CONFLICT DO NOTHING")
    fill(dsn, spoken, ["large"])
    rollups, began = PostgresRollups(dsn), time.perf_counter()
    try:
        found = list(patches("large", rollups.said("large"), rollups.log("large"), reading=Reading()))
    finally:
        rollups.close()
    took = time.perf_counter() - began
    row.figure(f"{count:,} episodes: a first roll-up", took, "s")
    row.figure(f"{count:,} episodes: of that for one", 1_000 * took / count, "ms")
    row.series[f"patches of {count}"] = len(found)


ROWS = {"large": large}
