"""Fills the store and the replicas' views with memories that nobody talks about: what an epoch must not pay for."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from functools import partial

import numpy as np
import psycopg

from bench.feed import DIMENSIONS, HOUR, START
from bench.parts import Parts
from db import copying
from db.view import View
from db.view_rows import Known
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Event, JournalRow, Memory, Strength

# Last used in the time to come, so never due.
_FRESH = START + 100_000 * HOUR
_TEXT = "An old memory of which nobody has spoken since, of the length that agents write: {number} of {count}."


def fill(running: Parts, shard: int, namespace: str, count: int) -> None:
    """`count` memories of one shard, half of them long-term, in Postgres by COPY and in the replicas' views. The parts
    run no processes yet. Entries of the journal have sequences below zero, so that the chain begins where it would."""
    found = [memory_id(namespace, f"old-{i}") for i in range(count)]
    _store(running, shard, namespace, found)
    _views(running, namespace, found)


def _store(running: Parts, shard: int, namespace: str, found: list[str]) -> None:
    count = len(found)
    tiers = ["short-term" if i % 2 else "long-term" for i in range(count)]
    vectors = np.random.default_rng(3).standard_normal((256, DIMENSIONS)).astype(np.float32)
    with psycopg.connect(running.settings.memory_dsn, autocommit=True) as connection:
        put = partial(copying.copy, connection)
        numbered = list(enumerate(map(copying.raw_id, found)))
        put("memory_copy", (
            copying.raw(Memory(
                m, shard, namespace, "ada", "ada", f"old-{i}", tier, START, 90, bytes(32), "bench",
                False, None, START, None, i - count, session="s1", role="planning",
            )) for i, (m, tier) in enumerate(zip(found, tiers, strict=True))
        ))  # fmt: skip
        put("content_copy", ((m, _TEXT.format(number=i, count=count), namespace) for i, m in numbered))
        put("embedding_copy", ((m, namespace, copying.raw_vector(vectors[i % 256]), "bench") for i, m in numbered))
        put("strength_copy", (
            copying.raw(Strength(m, shard, tier, 450_000, START, _FRESH + i, 0))
            for i, (m, tier) in enumerate(zip(found, tiers, strict=True))
        ))  # fmt: skip
        put("event_copy", (
            copying.raw(Event(
                namespace, f"old-{i}", shard, "stored", m, i - count, "ada", "ada", session="s1", occurred=START,
            )) for i, m in enumerate(found)
        ))  # fmt: skip
        put("journal_copy", (
            copying.raw(JournalRow(
                shard, i - count, START, "stored", f"old-{i}", namespace, m, "memory.intake.accepted.v1", shard, i,
                bytes(320), bytes(32), bytes(32),
            )) for i, m in enumerate(found)
        ))  # fmt: skip
        connection.execute("VACUUM ANALYZE")


def _views(running: Parts, namespace: str, found: list[str]) -> None:
    cluster, folder = running.genesis.cluster, running.settings.state_dir
    first = folder / "replica-0" / "view.db"
    with closing(View(first, cluster, 0)) as view, view.batch():
        for memory in found:
            view.remember(
                Known(memory, namespace, "ada", START, _FRESH, 0, 450_000, 0, None, None, None, bytes(32), bytes(118),
                      bytes(2 * DIMENSIONS + 28), "none")
            )  # fmt: skip
    with closing(sqlite3.connect(first, isolation_level=None)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for member in range(1, running.genesis.n):
        file = folder / f"replica-{member}" / "view.db"
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(first, file)
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            db.execute("UPDATE identity SET member = ?", (member,))
