"""The driven clock of a running installation: it goes on by ticks, and the store shows their effects."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from infra.settings import Settings
from memquorum import topics
from memquorum.core.records import ClockRequested
from memquorum.schema_files import load_codec
from tests.support.waiting import PATIENCE_S, Pause
from workers.kafka import loop

# The longest pause before the next look at the store where nothing was written to it.
_QUIET_S = 0.25


@contextmanager
def journalled(running: Settings) -> Iterator[Pause]:
    """Pauses until something is written to the journal, and for a quarter of a second at most.

    The pause lasts as long as requested at least: writes that come in one burst are looked at once.
    """
    with psycopg.connect(running.memory_dsn, autocommit=True) as connection:
        connection.execute("LISTEN journal")

        def pause(least_s: float) -> None:
            time.sleep(least_s)
            for _ in connection.notifies(timeout=_QUIET_S, stop_after=1):
                pass

        yield pause


def tick(running: Settings, as_of: int, patience_s: float = PATIENCE_S) -> None:
    """Moves every shard's time; returns when the store has it, and so everything that was published before."""
    with closing(loop.producer(running.bootstrap)) as producer:
        producer.produce(topics.CLOCK, load_codec().encode(ClockRequested(as_of)), partition=0)
        assert producer.flush(PATIENCE_S) == 0
    deadline = time.monotonic() + patience_s
    with psycopg.connect(running.memory_dsn, autocommit=True) as connection:
        connection.execute("LISTEN journal")
        while (connection.execute("SELECT min(as_of) FROM shard").fetchone() or (0,))[0] < as_of:
            assert time.monotonic() < deadline, f"the tick {as_of} was not applied in {patience_s:.0f} s"
            for _ in connection.notifies(timeout=0.5, stop_after=1):
                pass
