"""Every process logs in to Postgres as itself: it can do its work, and has no rights of another process
(docs/operate/security.md).
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo, errors, sql

from db import crowds, sweeping
from db import database_logins as kinds
from db.cached import PostgresCached
from db.connection import KEYDESTROYER, KEYMAKER, KEYREADER
from db.living import PostgresLiving
from db.migrate import RIGHTS
from db.vault import PostgresVault
from infra import logins, settings
from infra.embedded.postgres import Postgres
from infra.settings import Settings
from memquorum import topics
from memquorum.ports import Counted

ID = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
KEYED = [(ID, "n", "ada")]
MASTER = b"m" * 32


@pytest.fixture
def installed(databases: tuple[str, str], tmp_path: Path) -> Iterator[Settings]:
    """Two databases with one memory of namespace `n` and its key, and their logins."""
    made = replace(settings.load({}, tmp_path), memory_dsn=databases[0], vault_dsn=databases[1])
    logins.provision(made)
    with psycopg.connect(databases[0], autocommit=True) as link:
        link.execute("INSERT INTO shard (shard, hash) VALUES (0, '')")
        link.execute(
            "INSERT INTO memory (id, shard, namespace, agent, subject, event_id, tier, created, characters, commitment,"
            " encoder, early, changed, seq)"
            " VALUES (%s, 0, 'n', 'a', 'a', 'e', 'short-term', 1, 1, '', 'x', false, 1, 1)",
            (ID,),
        )
        link.execute("INSERT INTO content VALUES (%s, 'the spare key hangs behind the boiler', 'n')", (ID,))
        link.execute(
            "INSERT INTO embedding (memory_id, namespace, vector, encoder) VALUES (%s, 'n', '[1,2]', 'x')", (ID,)
        )
    with closing(PostgresVault(databases[1], MASTER)) as vault:
        vault.create(KEYED)
    yield made
    _drop(made)


def _drop(made: Settings) -> None:
    names = [kinds.name(made.memory_dsn, process) for process in logins.PROCESSES]
    with psycopg.connect(conninfo.make_conninfo(made.memory_dsn, dbname="postgres"), autocommit=True) as link:
        for dsn in (made.memory_dsn, made.vault_dsn):
            database = sql.Identifier(str(conninfo.conninfo_to_dict(dsn)["dbname"]))
            for name in names:
                link.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM {}").format(database, sql.Identifier(name)))
        for name in names:
            link.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def _as(made: Settings, process: str, role: str | None = None, *, vault: bool = False) -> psycopg.Connection:
    given = logins.of(made, process)
    options = f"-c role={role}" if role else ""
    return psycopg.connect(given.vault_dsn if vault else given.memory_dsn, autocommit=True, options=options)


def _tables(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as link:
        found = link.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')"
        )
        return sorted(name for (name,) in found)


@pytest.mark.parametrize("database", ["memory", "vault"])
def test_every_table_has_declared_rights(databases: tuple[str, str], database: str) -> None:
    tables = _tables(databases[database == "vault"])
    assert len(tables) > 2
    with psycopg.connect(databases[database == "vault"]) as link:
        granted = {
            table
            for (table,) in link.execute(
                "SELECT table_name FROM information_schema.column_privileges WHERE grantee ^@ 'memquorum_'"
                " AND grantee NOT IN ('memquorum_owner', 'memquorum_keeper')"
            )
        }
    missing = sorted(set(tables) - granted - {"migration"})
    assert not missing, (
        f"{RIGHTS / database}.sql grants nobody anything on {', '.join(missing)}: say there who may what"
    )


def test_passwords_are_the_owners_alone_and_stay(installed: Settings) -> None:
    files = [logins.file_of(installed, process) for process in logins.PROCESSES]
    before = [file.read_text() for file in files]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert len(set(before)) == len(files)
    logins.provision(installed)
    assert [file.read_text() for file in files] == before
    logins.file_of(installed, "intake").chmod(0o644)
    with pytest.raises(settings.SettingsError, match=r"intake\.pgpass may be read by others"):
        logins.provision(installed)


def test_a_password_is_replaced_by_removing_its_file(installed: Settings) -> None:
    file = logins.file_of(installed, "commit")
    before = file.read_text()
    file.unlink()
    logins.provision(installed)
    address = logins.of(installed, "commit").memory_dsn
    psycopg.connect(address).close()
    file.write_text(before)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(address)


@pytest.mark.parametrize("process", logins.PROCESSES)
def test_a_login_has_no_right_of_its_own(installed: Settings, process: str) -> None:
    """`RESET ROLE` and `SET ROLE NONE` lead back to a login without rights, and it may not take a role that it is not
    meant to have.
    """
    given, login = logins.of(installed, process), kinds.LOGINS[process]
    for vault, dsn, roles in ((False, given.memory_dsn, login.memory), (True, given.vault_dsn, login.vault)):
        assert bool(dsn) == bool(roles)
        if not dsn:
            full = installed.vault_dsn if vault else installed.memory_dsn
            strange = conninfo.make_conninfo(
                full, user=kinds.name(installed.memory_dsn, process), passfile=str(logins.file_of(installed, process))
            )
            with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
                psycopg.connect(strange)
            continue
        for role in roles:
            for back in ("RESET ROLE", "SET ROLE NONE"):
                with _as(installed, process, vault=vault) as link:
                    link.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
                    link.execute(back)
                    for table in _tables(dsn_of(installed, vault)):
                        with pytest.raises(errors.InsufficientPrivilege):
                            link.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table)))
        with _as(installed, process, vault=vault) as link:
            known = [name for (name,) in link.execute("SELECT rolname FROM pg_roles")]
            for name in known:
                if name not in (*login.memory, *login.vault) and name != link.info.user:
                    with pytest.raises(errors.InsufficientPrivilege):
                        link.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(name)))


def dsn_of(made: Settings, vault: bool) -> str:
    return made.vault_dsn if vault else made.memory_dsn


def test_retrieval_sees_content_only_as_the_tenant_of_namespaces_that_it_names(installed: Settings) -> None:
    with _as(installed, "retrieval", "memquorum_tenant") as link:
        assert link.execute("SELECT count(*) FROM content").fetchone() == (0,)
        link.execute("SET memquorum.namespaces = 'other'")
        assert link.execute("SELECT count(*) FROM content").fetchone() == (0,)
        link.execute("SET memquorum.namespaces = 'n'")
        assert link.execute("SELECT count(*) FROM content").fetchone() == (1,)
        # RESET leads back to the role of the connection's options, NONE to the login.
        link.execute("RESET ROLE")
        assert link.execute("SELECT current_user").fetchone() == ("memquorum_tenant",)
        link.execute("SET ROLE memquorum_accounts")
        with pytest.raises(errors.InsufficientPrivilege):
            link.execute("SELECT body FROM content")
    with closing(PostgresCached(logins.of(installed, "retrieval").memory_dsn, "x")) as cached:
        found = cached.some("n", [ID])
        assert found is None  # no strength: but the question was allowed


_REFUSED = [
    *(("retrieval", role, statement) for role in ("memquorum_tenant", "memquorum_accounts") for statement in (
        "INSERT INTO journal (shard) VALUES (0)", "DELETE FROM content", "UPDATE memory SET tier = 'gone'",
        "DELETE FROM embedding", "UPDATE shard SET seq = 9", "CREATE TABLE mine ()",
        "CREATE TEMP TABLE mine ()", "SELECT FROM cursor", "VACUUM FULL content", "CHECKPOINT",
        "SELECT pg_switch_wal()",
    )),
    *(("streams", "memquorum_reader", statement) for statement in (
        "INSERT INTO cursor VALUES (0, 't', 1)", "DELETE FROM content", "UPDATE shard SET seq = 9",
        "CREATE TABLE mine ()",
    )),
    *(("intake", "memquorum_counter", statement) for statement in (
        "SELECT FROM memory", "SELECT FROM content", "SELECT FROM embedding", "SELECT FROM journal",
        "SELECT FROM event", "SELECT shard FROM living", "UPDATE living SET alive = 0",
        "UPDATE cursor SET next_offset = 0", "CREATE TABLE mine ()",
    )),
    *(("rehearsal", "memquorum_rehearser", statement) for statement in (
        "SELECT FROM content", "SELECT FROM embedding", "SELECT FROM journal", "SELECT FROM event",
        "SELECT commitment FROM memory", "SELECT subject FROM memory", "UPDATE strength SET salience_ppm = 1000000",
        "SELECT FROM ballot", "CREATE TABLE mine ()",
    )),
    *(("verifier", "memquorum_verifier", statement) for statement in (
        "SELECT entry FROM journal", "SELECT subject FROM memory", "SELECT session FROM memory", "SELECT FROM event",
        "SELECT FROM ballot", "SELECT FROM quote", "SELECT named FROM content", "SELECT given_at FROM feedback",
        "UPDATE admission SET status = 'admitted'", "INSERT INTO trial (shard) VALUES (0)", "CREATE TABLE mine ()",
    )),
    ("audit", "memquorum_reader", "DELETE FROM content"),
    ("commit", "memquorum_writer", "DELETE FROM journal"),
    ("commit", "memquorum_writer", "UPDATE decision SET view = 1"),
    ("commit", "memquorum_writer", "DELETE FROM memory"),
    ("commit", "memquorum_keeper", "SELECT FROM journal"),
    ("commit", "memquorum_keeper", "SELECT FROM memory"),
    ("commit", "memquorum_keeper", "ALTER TABLE journal DISABLE TRIGGER ALL"),
]  # fmt: skip


@pytest.mark.parametrize(("process", "role", "statement"), _REFUSED)
def test_what_a_process_need_not_do_is_refused(installed: Settings, process: str, role: str, statement: str) -> None:
    with _as(installed, process, role) as link:
        try:
            link.execute(statement)
        except errors.InsufficientPrivilege:
            return
        # VACUUM passes over, with a warning, what it may not write.
        assert statement.startswith("VACUUM"), f"{process} may {statement!r}"


def test_intake_counts_memories_and_reads_none(installed: Settings) -> None:
    with psycopg.connect(installed.memory_dsn, autocommit=True) as link:
        link.execute("INSERT INTO living (shard, namespace, alive) VALUES (0, 'n', 1)")
        link.execute("INSERT INTO cursor VALUES (0, %s, 7)", (topics.ACCEPTED,))
    with closing(PostgresLiving(logins.of(installed, "intake").memory_dsn)) as living:
        assert living.counted(["n", "other"]) == Counted({"n": 1, "other": 0}, {0: 7})


def _vault(made: Settings, process: str, role: str) -> PostgresVault:
    return PostgresVault(logins.of(made, process).vault_dsn, MASTER, role)


def test_intake_makes_keys_and_destroys_those_of_letters_and_queries_alone(installed: Settings) -> None:
    other = "1b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a12"
    with closing(_vault(installed, "intake", KEYMAKER)) as vault:
        query = "2b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a12"
        wanted = [*KEYED, (other, "!intake", "letters"), (query, "!asked", "n/ann")]
        assert set(vault.create(wanted)) == {ID, other, query}
        assert vault.destroy([ID]) == 0
        assert vault.destroy_older("n", 0) == 0
        assert vault.destroy_older("!intake", 0) == 1
        assert vault.destroy_older("!asked", 0) == 1
        assert set(vault.open([ID, other, query])) == {ID}
        with pytest.raises(errors.InsufficientPrivilege):
            vault.follow({0: (0, 1)})


@pytest.mark.parametrize("process", ["streams", "replica", "audit"])
def test_who_opens_makes_and_destroys_no_key(installed: Settings, process: str) -> None:
    with closing(_vault(installed, process, KEYREADER)) as vault:
        assert set(vault.open([ID])) == {ID}
        makes = partial(vault.create, [(ID[:-1] + "2", "n", "bob")])
        for forbidden in (partial(vault.destroy, [ID]), makes, partial(vault.follow, {0: (0, 1)})):
            with pytest.raises(errors.InsufficientPrivilege):
                forbidden()


def test_commit_opens_and_destroys_and_makes_no_key(installed: Settings) -> None:
    with closing(_vault(installed, "commit", KEYDESTROYER)) as vault:
        assert set(vault.open([ID])) == {ID}
        with pytest.raises(errors.InsufficientPrivilege):
            vault.create([(ID[:-1] + "2", "n", "ada")])
        assert vault.destroy([ID]) == 1


def test_commit_sweeps_and_makes_indexes(installed: Settings) -> None:
    given = logins.of(installed, "commit")
    made = [index.index for index in crowds.keep(given.memory_dsn, 1)]
    assert sorted(name.partition("_")[0] for name in made) == ["near", "words"]
    swept = [step.what for step in sweeping.sweep(given.memory_dsn, sweeping.MEMORY)]
    assert set(swept[:2]) == set(made) and swept[2:] == [*sweeping.MEMORY, "write-ahead log"]
    assert [step.what for step in sweeping.sweep(given.vault_dsn, sweeping.VAULT)][:-1] == [*sweeping.VAULT]


def test_two_installations_on_one_server_keep_apart(
    installed: Settings, databases: tuple[str, str], postgres: Postgres, tmp_path: Path
) -> None:
    from db.migrate import migrate

    names = ("second_memory", "second_vault")
    other = replace(
        settings.load({}, tmp_path / "second"), memory_dsn=postgres.dsn(names[0]), vault_dsn=postgres.dsn(names[1])
    )
    migrate(other.memory_dsn, "memory")
    migrate(other.vault_dsn, "vault")
    logins.provision(other)
    try:
        for mine, theirs in ((installed, other), (other, installed)):
            own = logins.of(mine, "commit").memory_dsn
            psycopg.connect(own).close()
            strange = conninfo.make_conninfo(own, dbname=conninfo.conninfo_to_dict(theirs.memory_dsn)["dbname"])
            with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
                psycopg.connect(strange)
    finally:
        _drop(other)
        with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as link:
            for name in names:
                link.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_the_server_lets_nobody_in_without_a_password(postgres: Postgres) -> None:
    bare = {k: v for k, v in conninfo.conninfo_to_dict(postgres.dsn("postgres")).items() if k != "passfile"}
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        psycopg.connect(conninfo.make_conninfo(**{**bare, "passfile": "/dev/null"}))
