"""How much the commit worker applies, and how soon: python -m tests.benchmarks.commit_speed [RECORDS] [PROPOSALS].

On a broker and a Postgres of its own (C1-only JVM, fsync off: figures for comparing one version with the next). Prints
the rate over a backlog, the CPU that the worker's thread took for a record, the time from producing a record on an
idle line to its notification, and the same for a decision.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import psycopg

from db.migrate import migrate
from db.vault import PostgresVault
from infra import topics
from infra.embedded.kafka import Kafka
from infra.embedded.postgres import Postgres
from memquorum.schema_files import load_codec
from tests.integration.commit_process import GENESIS, MASTER, SEED
from tests.integration.flow import Flow
from workers import commit
from workers.loop import Stop

TRIES = 100


def main() -> None:
    count, proposals = (int(given or default) for given, default in zip_longest(sys.argv[1:], ("10000", "64")))
    with (
        tempfile.TemporaryDirectory() as folder,
        Kafka(Path(folder) / "kafka") as kafka,
        Postgres(Path(folder) / "postgres", throwaway=True) as server,
    ):
        topics.ensure(kafka.bootstrap, GENESIS.shards)
        for name in ("memory", "vault"):
            migrate(server.dsn(name), name)
        measure(kafka.bootstrap, server.dsn("memory"), server.dsn("vault"), count, proposals)


def measure(bootstrap: str, memory_dsn: str, vault_dsn: str, count: int, proposals: int) -> None:
    flow = Flow(bootstrap, load_codec(), GENESIS, PostgresVault(vault_dsn, MASTER))
    each = count // GENESIS.shards
    for shard in range(GENESIS.shards):
        for start in range(0, each, 500):
            flow.episodes(shard, [f"e{i}" for i in range(start, min(start + 500, each))])
            flow.log[shard].clear()
        flow.tick(shard, 1_000_000)
    flow.flush()
    stop, spent = Stop(), [0.0]

    def work() -> None:
        commit.run(
            bootstrap, GENESIS, flow.codec, memory_dsn=memory_dsn, vault=PostgresVault(vault_dsn, MASTER),
            journal_seed=SEED, stop=stop,
        )  # fmt: skip
        spent[0] = time.thread_time()

    worker = threading.Thread(target=work)
    worker.start()
    with psycopg.connect(memory_dsn, autocommit=True) as connection:
        connection.execute("LISTEN journal")
        rate(connection, (each + 1) * GENESIS.shards)
        latency(connection, flow, "a record", lambda at: flow.tick(0, 1_000_000 + at))
        wanted = [flow.proposal(1, f"e{i}", "forget") for i in range(proposals)]
        latency(connection, flow, f"a decision on {proposals}", lambda _: flow.decide(1, wanted, lambda _, __: False))
    stop.set()
    worker.join()
    print(f"worker's thread: {spent[0] / count * 1e6:.0f} µs of CPU a record, all the above included")


def rate(connection: psycopg.Connection, total: int) -> None:
    began, first = 0.0, 0
    while True:
        done = int(connection.execute("SELECT coalesce(sum(seq), 0)::bigint FROM shard").fetchone()[0])  # type: ignore[index]
        if done and not began:
            began, first = time.monotonic(), done
        if done >= total:
            break
        for _ in connection.notifies(timeout=1, stop_after=1):
            pass
    print(f"backlog: {(total - first) / max(time.monotonic() - began, 1e-9):.0f} records/s")


def latency(connection: psycopg.Connection, flow: Flow, what: str, send: Callable[[int], object]) -> None:
    for _ in connection.notifies(timeout=0.5):
        pass
    taken = []
    for at in range(TRIES):
        began = time.perf_counter()
        send(at)
        flow.flush()
        for _ in connection.notifies(timeout=5, stop_after=1):
            pass
        taken.append(time.perf_counter() - began)
    taken.sort()
    print(f"{what}, idle: p50 {taken[TRIES // 2] * 1e3:.1f} ms, p99 {taken[int(TRIES * 0.99)] * 1e3:.1f} ms to applied")


if __name__ == "__main__":
    main()
