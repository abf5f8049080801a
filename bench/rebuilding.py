"""Audited and rebuilt journal entries per second."""

from __future__ import annotations

import os
import time

import psycopg

from bench.epochs import LATE, POLICY
from bench.feed import Feed
from bench.kept import Row
from bench.parts import REPLICAS, Parts, parts
from bench.reference import copied
from db.migrate import migrate
from db.vault import PostgresVault
from infra import genesis
from workers.audit.auditor import verify
from workers.rebuild.worker import compare, rebuild

_SIZE = 256


def measure(quick: bool) -> Row:
    """A journal that the line's own processes wrote; every fifth memory was voted on."""
    row = Row("rebuild", "rebuild of the store from the topics")
    # 5 · 256 episodes for each decision.
    epochs = 1 if quick else 4
    with parts(policy=POLICY) as running:
        feed = Feed(running)
        for shard in feed.shards:
            feed.episodes(shard, 5 * epochs * _SIZE)
        ticks = {shard: feed.tick(shard, LATE) for shard in feed.shards}
        feed.flush()
        running.start(*REPLICAS, "commit")
        entries = sum(feed.offset.values())
        running.until_applied(entries)
        for epoch in range(1, epochs + 1):
            for shard in feed.shards:
                proposed = feed.memories[shard][(epoch - 1) * _SIZE : epoch * _SIZE]
                feed.nominate(shard, epoch, LATE, ticks[shard], proposed)
            entries += len(ticks)
            running.until_applied(entries)
        running.stop()
        feed.close()
        _measure(row, running, entries)
    row.note(
        f"{entries:,} entries of 4 shards; every fifth memory was voted on, in {epochs * 4} decisions about {_SIZE}. "
        "For each episode the rebuild reads three records: journal, accepted and scored"
    )
    return row


def _measure(row: Row, running: Parts, entries: int) -> None:
    now = running.settings
    rebuilt = running.postgres.dsn("rebuilt")
    running.postgres.create("rebuilt")
    migrate(rebuilt, "memory")
    vault = PostgresVault(now.vault_dsn, genesis.secret(now.master_key_file))
    stamps = genesis.service_stamps(now)
    began, busy = time.perf_counter(), _busy()
    processes = len(os.sched_getaffinity(0))
    rebuild(now.bootstrap, running.genesis, running.codec, rebuilt, vault, stamps=stamps, processes=processes)
    taken, busy = time.perf_counter() - began, _busy() - busy
    row.figure("rebuilt", entries / taken, "entries/s")
    row.at_least("rebuilt", 7_500)
    row.figure("its processes' CPU", busy / entries * 1e6, "µs/entry")
    began = time.perf_counter()
    assert compare(now.memory_dsn, rebuilt).equal, "the rebuilt store differs"
    row.figure("digests of both compared", _memories(rebuilt) / (time.perf_counter() - began), "memories/s")
    began = time.perf_counter()
    report = verify(now.bootstrap, running.genesis, running.codec, stamps=stamps)
    assert report.ok, report.findings[:3]
    row.figure("verified, topics alone", entries / (time.perf_counter() - began), "entries/s")
    row.at_least("verified, topics alone", 6_500)
    row.compare("rebuilt", "COPY of rows of 700 bytes into a bare table", copied(rebuilt), "rows/s")


def _busy() -> float:
    """Processor time of this process and of those that it began and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _memories(dsn: str) -> int:
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute("SELECT count(*) FROM memory").fetchone()
    assert row is not None
    return int(row[0])
