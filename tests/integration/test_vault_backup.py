"""A backup of the vault that is put back revives no key that was destroyed since it was made."""

from __future__ import annotations

import psycopg
from psycopg import conninfo

from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from tests.integration.commit_process import GENESIS, MASTER
from tests.integration.flow import Flow
from tests.integration.test_erasure import SHARD, fill, order
from tests.integration.watch import Worker, await_seq
from tests.unit.shard import memory_id


def test_a_backup_that_is_put_back_revives_nothing(
    fresh_kafka: str, codec: Codec, databases: tuple[str, str], postgres: Postgres
) -> None:
    memory_dsn, vault_dsn = databases
    keys = PostgresVault(vault_dsn, MASTER)
    flow = Flow(fresh_kafka, codec, GENESIS, keys)
    names = fill(flow)
    with Worker(fresh_kafka, codec, databases) as worker:
        await_seq(databases, SHARD, 10, worker)
    with Worker(fresh_kafka, codec, databases) as worker:  # a second start, after which the vault has followed so far
        await_seq(databases, SHARD, 10, worker)
    keys.close()
    name = str(conninfo.conninfo_to_dict(vault_dsn)["dbname"])
    backup = postgres.dsn(f"{name}_backup")
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as link:
        link.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        link.execute(f"CREATE DATABASE {name}_backup TEMPLATE {name}")
        try:
            order(flow)
            flow.episodes(SHARD, ["late"], subject="ada")
            flow.flush()
            with Worker(fresh_kafka, codec, databases) as worker:
                await_seq(databases, SHARD, 12, worker)
            gone = {names[one] for one in ("a", "b", "c", "echo", "faint")}
            whole = PostgresVault(vault_dsn, MASTER)
            old = PostgresVault(backup, MASTER)
            assert set(whole.open(names.values())) == {names["d"], names["x"]}
            assert set(old.open(gone)) == gone, "the backup is of before"
            with Worker(fresh_kafka, codec, (memory_dsn, backup)) as worker:
                await_seq(databases, SHARD, 12, worker)
            assert old.open(gone) == {}
            assert set(old.open([names["d"], names["x"]])) == {names["d"], names["x"]}
            assert old.followed(SHARD) == 12
            whole.close()
            old.close()
        finally:
            link.execute(f"DROP DATABASE IF EXISTS {name}_backup WITH (FORCE)")
    assert memory_id(flow.namespace(SHARD), "late") not in gone
