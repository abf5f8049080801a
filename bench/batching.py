"""The line with its batches and without them: one memory after the other, and one decision after the other.

The commit worker writes records that come together in one transaction, and members decide about many memories in one
epoch. One by one, each memory is a transaction, and each decision an epoch. Row `cache` measures the same of the cache.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from bench.epochs import LATE, POLICY, until_decided
from bench.feed import Feed
from bench.kept import Row
from bench.parts import REPLICAS, Parts, parts

_SHARD = 0


class _Taken:
    """Milliseconds, and transactions that wrote."""

    ms, writes = 0.0, 0


def measure(quick: bool) -> Row:
    """Writes and decides the same number of memories together and one by one, on one shard."""
    count = 32 if quick else 256
    row = Row("batching", f"{count} memories written and decided on: together, and one by one")
    with parts(policy=POLICY) as running:
        feed = Feed(running)
        running.start(*REPLICAS, "commit")
        with running.reader() as connection:
            _one_by_one(running, feed, 8)  # what is first is slow
            written = {"together": _together(running, feed, connection, count)}
            with _timed(connection) as taken:
                _one_by_one(running, feed, count)
            # The feed makes a key in the vault for each.
            taken.writes -= count
            written["one by one"] = taken
            decided = _decided(feed, connection, count)
        feed.close()
    for what, found in (("written", written), ("decided", decided)):
        for how, taken in found.items():
            row.figure(f"{what} {how}: all of them", taken.ms, "ms")
            row.figure(f"{what} {how}: transactions that wrote", taken.writes, "")
        spared = 100 * (1 - found["together"].writes / found["one by one"].writes)
        row.figure(f"{what} together: fewer transactions", spared, "%")
        row.at_least(f"{what} together: fewer transactions", 45)
    row.note("published to applied; of decisions, nomination to applied. The paper's batches spare 45 % of write calls")
    return row


@contextmanager
def _timed(connection: psycopg.Connection) -> Iterator[_Taken]:
    taken, before, began = _Taken(), _next_xid(connection), time.perf_counter()
    yield taken
    taken.ms = (time.perf_counter() - began) * 1000
    taken.writes = _next_xid(connection) - before


def _next_xid(connection: psycopg.Connection) -> int:
    """The number of the next transaction that writes, in all databases of the server."""
    row = connection.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").fetchone()
    assert row is not None
    return int(row[0])


def _together(running: Parts, feed: Feed, connection: psycopg.Connection, count: int) -> _Taken:
    with _timed(connection) as taken:
        feed.episodes(_SHARD, count)
        feed.flush()
        running.until_applied(feed.offset[_SHARD])
    taken.writes -= -(-count // 500)
    return taken


def _one_by_one(running: Parts, feed: Feed, count: int) -> None:
    for _ in range(count):
        feed.episodes(_SHARD, 1)
        feed.flush()
        running.until_applied(feed.offset[_SHARD])


def _decided(feed: Feed, connection: psycopg.Connection, count: int) -> dict[str, _Taken]:
    tick, memories = feed.tick(_SHARD, LATE), feed.memories[_SHARD]
    feed.flush()
    feed.nominate(_SHARD, 1, LATE, tick, memories[-1:])
    until_decided(connection, 1)
    with _timed(connection) as together:
        feed.nominate(_SHARD, 2, LATE, tick, memories[:count])
        until_decided(connection, 2)
    with _timed(connection) as alone:
        for at in range(count):
            feed.nominate(_SHARD, 3 + at, LATE, tick, memories[count + at : count + at + 1])
            until_decided(connection, 3 + at)
    return {"together": together, "one by one": alone}
