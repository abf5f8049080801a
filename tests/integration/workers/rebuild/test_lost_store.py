"""A store that has lost what it held is made again from the topics, to their end, and the line goes on from it."""

from __future__ import annotations

from dataclasses import replace

import psycopg
from psycopg import conninfo

from db.vault import PostgresVault
from infra import checks, copies, settings
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow
from tests.support.watch import Worker, await_seq
from workers.kafka.published import StoreLost
from workers.rebuild.worker import compare, rebuild

SHARDS = (0, 2, 3)


def databases_of(connection: psycopg.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}


def test_the_whole_journal_makes_the_store_again(
    installed: settings.Settings, postgres: Postgres, codec: Codec, databases: tuple[str, str]
) -> None:
    vault = PostgresVault(installed.vault_dsn, MASTER)
    flow = Flow(installed.bootstrap, codec, GENESIS, vault)
    with Worker(installed.bootstrap, codec, databases) as worker:
        for shard in SHARDS:
            flow.episodes(shard, [f"e{i}" for i in range(30)], at=900)
            flow.tick(shard, 1_000)
        flow.flush()
        for shard in SHARDS:
            await_seq(databases, shard, 31, worker)
    # A backup of before is put back.
    name = str(conninfo.conninfo_to_dict(installed.memory_dsn)["dbname"])
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}_old TEMPLATE template_memory")
        try:
            old = replace(installed, memory_dsn=postgres.dsn(f"{name}_old"))
            rebuild(old.bootstrap, GENESIS, codec, old.memory_dsn, vault, until_seq={0: 7})
            with Worker(old.bootstrap, codec, (old.memory_dsn, old.vault_dsn)) as worker:
                worker.join()
            assert isinstance(worker.error, StoreLost)

            told = checks.rebuilt(old, f"{name}_again")
            assert (told["entries"], told["equal"]) == (7, True), "no more than the store has"
            assert copies.list_rebuilds(old) == [] and f"{name}_again" not in databases_of(connection)
            told = checks.rebuilt(old, f"{name}_again", whole=True)
            assert (told["entries"], told["memories"], told["contents"], "equal" in told) == (93, 90, 90, False)

            assert copies.list_rebuilds(old) == [f"{name}_again"] and f"{name}_again" in copies.rebuild_lines(old)[0]

            again = postgres.dsn(f"{name}_again")
            # Once it has the name of the store it is not a kept copy.
            assert copies.list_rebuilds(replace(old, memory_dsn=again)) == []
            assert compare(installed.memory_dsn, again).equal
            with Worker(old.bootstrap, codec, (again, old.vault_dsn)) as worker:
                flow.episodes(0, ["after"])
                flow.flush()
                await_seq((again, ""), 0, 32, worker)
            assert list(copies.drop_all(old)) == [f"{name}_again"]
            assert copies.list_rebuilds(old) == [] and f"{name}_again" not in databases_of(connection)
        finally:
            for made in ("old", "again"):
                connection.execute(f"DROP DATABASE IF EXISTS {name}_{made} WITH (FORCE)")
