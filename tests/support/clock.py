"""A tick of a running installation whose clock is driven."""

from __future__ import annotations

import time
from contextlib import closing

import psycopg

from infra.settings import Settings
from memquorum import topics
from memquorum.core.records import ClockRequested
from memquorum.schema_files import load_codec
from workers.kafka import loop


def tick(running: Settings, as_of: int, patience_s: float = 90) -> None:
    """Moves every shard's time; returns when the store has it, and so everything that was published before.

    `patience_s`: long enough for a fleet that is started again beside two others.
    """
    with closing(loop.producer(running.bootstrap)) as producer:
        producer.produce(topics.CLOCK, load_codec().encode(ClockRequested(as_of)), partition=0)
        assert producer.flush(10) == 0
    deadline = time.monotonic() + patience_s
    with psycopg.connect(running.memory_dsn, autocommit=True) as connection:
        connection.execute("LISTEN journal")
        while (connection.execute("SELECT min(as_of) FROM shard").fetchone() or (0,))[0] < as_of:
            assert time.monotonic() < deadline, f"the tick {as_of} was not applied in {patience_s:.0f} s"
            for _ in connection.notifies(timeout=0.5, stop_after=1):
                pass
