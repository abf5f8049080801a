"""How many journal entries a second `verify` and `rebuild` take.

    python -m tests.benchmarks.audit_speed [episodes] [decisions of 256 proposals]

Broker, Postgres and this process share the machine, so the CPU time is what to compare by. The journal is written by
the commit worker itself.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from db.migrate import migrate
from db.vault import PostgresVault
from infra import topics as provisioned
from infra.embedded.kafka import Kafka
from infra.embedded.postgres import Postgres
from memquorum.schema_files import load_codec
from tests.integration.flow import Flow
from tests.unit import genesis
from workers import commit
from workers.audit import verify
from workers.loop import Stop
from workers.replay import compare, rebuild

GENESIS = genesis.make()
PROPOSALS = 256
AS_OF = 10_000_000


@contextmanager
def timed(what: str, entries: int) -> Iterator[None]:
    began, worked = time.perf_counter(), time.process_time()
    yield
    took, busy = time.perf_counter() - began, time.process_time() - worked
    print(f"{what:30} {took:7.2f} s {entries / took:8,.0f} entries/s; {busy:7.2f} s of this process's CPU", flush=True)


def write(flow: Flow, memory_dsn: str, episodes: int, decisions: int) -> int:
    """Fills the topics and lets the commit worker journal them; the number of entries."""
    shards = range(GENESIS.shards)
    entries = 0
    stop = Stop()
    named = {
        "memory_dsn": memory_dsn, "vault": flow.vault, "journal_seed": genesis.seed_of("service:journal"), "stop": stop
    }  # fmt: skip
    worker = threading.Thread(target=commit.run, args=(flow.bootstrap, GENESIS, flow.codec), kwargs=named)
    began = time.perf_counter()
    worker.start()
    for shard in shards:
        for start in range(0, episodes // len(shards), 1_000):
            flow.episodes(shard, [f"e{start + i}" for i in range(min(1_000, episodes // len(shards) - start))])
        flow.tick(shard, AS_OF)
        for number in range(decisions // len(shards)):
            names = [f"e{number * PROPOSALS + i}" for i in range(PROPOSALS)]
            flow.decide(shard, [flow.proposal(shard, name, "forget") for name in names], as_of=AS_OF)
        entries += episodes // len(shards) + 1 + decisions // len(shards)
    flow.flush()
    with psycopg.connect(memory_dsn, autocommit=True) as connection:
        while (found := connection.execute("SELECT sum(seq) FROM shard").fetchone()) is None or (
            found[0] or 0
        ) < entries:
            assert worker.is_alive()
            time.sleep(0.2)
    print(f"written in {time.perf_counter() - began:.1f} s (sealing by this process included)")
    stop.set()
    worker.join()
    return entries


def main(episodes: int, decisions: int) -> None:
    codec = load_codec()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kafka = stack.enter_context(Kafka(folder / "kafka"))
        postgres = stack.enter_context(Postgres(folder / "postgres", throwaway=True))
        provisioned.ensure(kafka.bootstrap, GENESIS.shards)
        for name in ("memory", "rebuilt"):
            migrate(postgres.dsn(name), "memory")
        migrate(postgres.dsn("vault"), "vault")
        memory_dsn, rebuilt_dsn = postgres.dsn("memory"), postgres.dsn("rebuilt")
        vault = PostgresVault(postgres.dsn("vault"), bytes(32))
        entries = write(Flow(kafka.bootstrap, codec, GENESIS, vault), memory_dsn, episodes, decisions)
        print(
            f"{entries:,} entries, {decisions} of them decisions about {PROPOSALS} memories each, 4 ballots a decision"
        )
        with timed("verify, topics alone", entries):
            alone = verify(kafka.bootstrap, GENESIS, codec)
        assert alone.ok, alone.findings[:5]
        with timed("verify, beside Postgres", entries):
            report = verify(kafka.bootstrap, GENESIS, codec, memory_dsn)
        assert report.ok, report.findings[:5]
        with timed("rebuild", entries):
            rebuild(kafka.bootstrap, GENESIS, codec, rebuilt_dsn, vault)
        with timed("digests of both", entries):
            assert compare(memory_dsn, rebuilt_dsn).equal


if __name__ == "__main__":
    given = [int(a) for a in sys.argv[1:]]
    main(*(given + [20_000, 16][len(given) :]))
