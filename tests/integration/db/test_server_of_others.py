"""On a server with another superuser a login that makes roles and databases is enough to install memquorum."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest
from psycopg import conninfo, errors

from db import crowds, sweeping
from db.connection import KEYDESTROYER, KEYMAKER
from db.migrate import MIGRATIONS, load, migrate, missing
from db.schedule import PostgresSchedule
from db.store import PostgresStore
from db.vault import PostgresVault, rekey
from infra import logins, settings
from infra.embedded.postgres import Postgres
from infra.settings import Settings
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from tests.builders import genesis
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import clear

ADMIN = "platform"
GENESIS = genesis.make()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """An installation on such a server, whose settings log in as the platform's role."""
    folder = tmp_path_factory.mktemp("others")
    with Postgres(folder / "postgres", throwaway=True) as server:
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as link:
            link.execute(f"CREATE ROLE {ADMIN} LOGIN CREATEROLE CREATEDB PASSWORD 'x'")
            link.execute(f"CREATE DATABASE memory OWNER {ADMIN}")
        # Servers of others have a list of extensions that such a role may make; here the superuser does.
        with psycopg.connect(server.dsn("memory"), autocommit=True) as link:
            link.execute("CREATE EXTENSION vector")
        dsn = {name: conninfo.make_conninfo(server.dsn(name), user=ADMIN, password="x") for name in ("memory", "vault")}
        made = replace(settings.load({}, folder), memory_dsn=dsn["memory"], vault_dsn=dsn["vault"])
        for name, where in dsn.items():
            assert migrate(where, name) == [one.name for one in load(MIGRATIONS / name)]
        logins.provision(made)
        yield made


def test_it_is_installed_without_a_superuser_and_once(installed: Settings) -> None:
    for name, dsn in (("memory", installed.memory_dsn), ("vault", installed.vault_dsn)):
        assert missing(dsn, name) == [] == migrate(dsn, name)
    logins.provision(installed)
    with psycopg.connect(installed.memory_dsn) as link:
        found = link.execute("SELECT rolname FROM pg_roles WHERE rolname ^@ 'mem' AND (rolsuper OR rolbypassrls)")
        assert found.fetchall() == []
        # It owns the schema's objects by roles of which it is a member, and sees none of their rows.
        link.execute("SET row_security = off")
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            link.execute("UPDATE memory SET tier = 'gone'")


def test_the_line_writes_and_reads_there(installed: Settings, codec: Codec) -> None:
    first, second = memory_id("a"), memory_id("b")
    shard = Shard(codec, GENESIS, 0)
    with closing(PostgresStore(logins.of(installed, "commit").memory_dsn)) as store:
        assert store.start(GENESIS.cluster, GENESIS.shards)[0].state == shard.rows.state
        for event in "ab":
            shard.episode(event)
        shard.access(first, 9_000)
        net = shard.work.net()
        with store.transaction({net.before: RowKeys()}) as transaction:
            transaction.write([net], {one: clear(one) for one in net.revealed}, {})
        keys = RowKeys(frozenset({first, second}))
        with store.transaction({net.after: keys}) as transaction:
            assert transaction.rows[0].memories.keys() == {first, second}
    with closing(PostgresSchedule(logins.of(installed, "streams").memory_dsn)) as schedule:
        assert len(schedule.candidates(0, [first, second])) == 2
    with psycopg.connect(logins.of(installed, "retrieval").memory_dsn, options="-c role=memquorum_tenant") as link:
        assert link.execute("SELECT count(*) FROM content").fetchone() == (0,)
        link.execute(f"SET memquorum.namespaces = '{NAMESPACE}'")
        assert link.execute("SELECT count(*) FROM content").fetchone() == (2,)
    with closing(PostgresVault(logins.of(installed, "intake").vault_dsn, b"m" * 32, KEYMAKER)) as vault:
        assert set(vault.create([(first, NAMESPACE, "ada")])) == {first}
    with closing(PostgresVault(logins.of(installed, "commit").vault_dsn, b"m" * 32, KEYDESTROYER)) as vault:
        assert vault.destroy([first]) == 1


def test_its_tables_are_swept_and_its_log_is_left_to_it(installed: Settings) -> None:
    given = logins.of(installed, "commit")
    crowds.keep(given.memory_dsn, 1)
    assert [step.what for step in sweeping.sweep(given.memory_dsn, sweeping.MEMORY)][-1] == sweeping.LEFT
    assert [step.what for step in sweeping.sweep(given.vault_dsn, sweeping.VAULT)] == [*sweeping.VAULT, sweeping.LEFT]


def test_the_platforms_role_puts_the_vault_under_another_master_key(installed: Settings) -> None:
    vault = PostgresVault(installed.vault_dsn, b"m" * 32)
    keys = vault.create([(memory_id("rekeyed"), NAMESPACE, "ada")])
    vault.close()
    assert rekey(installed.vault_dsn, b"m" * 32, bytes(range(32)), lambda _: None) == 1
    other = PostgresVault(installed.vault_dsn, bytes(range(32)))
    assert other.open(keys) == keys
    other.close()
    rekey(installed.vault_dsn, bytes(range(32)), b"m" * 32, lambda _: None)
