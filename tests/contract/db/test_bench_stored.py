"""The bench's rows for the store fit the present tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psycopg

from bench import stored
from memquorum.core.ids import memory_id


def test_rows_that_the_bench_copies_have_every_column(databases: tuple[str, str]) -> None:
    dsn = databases[0]
    running: Any = SimpleNamespace(settings=SimpleNamespace(memory_dsn=dsn))
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO shard (shard, hash, as_of) VALUES (0, '', 1) ON CONFLICT DO NOTHING")
        stored._store(running, 0, "plant", [memory_id("plant", f"old-{at}") for at in range(4)])
        for table in ("memory", "content", "embedding", "strength", "event", "journal"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (4,), table
