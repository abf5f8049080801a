"""Migrations on a real Postgres: applied once, and refused when changed."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from db.migrate import MIGRATIONS, MigrationError, await_server, ensure_database, load, migrate, missing
from infra.embedded.postgres import Postgres
from tests.support.waiting import PATIENCE_S

FIRST = "CREATE TABLE one (a integer); -- 100% plain\n"
SECOND = "CREATE TABLE two (b integer);\nINSERT INTO two VALUES (1);\n"

_numbers = itertools.count(1)


@pytest.fixture
def dsn(postgres: Postgres) -> str:
    """Returns the DSN of a database that does not exist yet."""
    return postgres.dsn(f"migrate_{next(_numbers)}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001_one.sql").write_text(FIRST)
    (tmp_path / "0002_two.sql").write_text(SECOND)
    return tmp_path


def test_migrations_are_applied_in_order_and_once(dsn: str, folder: Path) -> None:
    assert migrate(dsn, "memory", folder) == ["0001_one.sql", "0002_two.sql"]
    assert migrate(dsn, "memory", folder) == []
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT count(*) FROM two").fetchone() == (1,)


def test_a_new_file_alone_is_applied(dsn: str, folder: Path) -> None:
    migrate(dsn, "memory", folder)
    (folder / "0003_three.sql").write_text("CREATE TABLE three ();")
    assert migrate(dsn, "memory", folder) == ["0003_three.sql"]


def test_a_changed_file_is_refused_by_name(dsn: str, folder: Path) -> None:
    migrate(dsn, "memory", folder)
    (folder / "0001_one.sql").write_text(FIRST + "-- harmless?\n")
    with pytest.raises(MigrationError, match=r"memory/0001_one\.sql was changed"):
        migrate(dsn, "memory", folder)


def test_a_database_newer_than_the_checkout_is_refused_by_name(dsn: str, folder: Path) -> None:
    migrate(dsn, "memory", folder)
    (folder / "0002_two.sql").unlink()
    with pytest.raises(MigrationError, match=r"memory/0002_two\.sql was applied"):
        migrate(dsn, "memory", folder)


def test_a_failing_migration_leaves_no_trace(dsn: str, folder: Path) -> None:
    (folder / "0002_two.sql").write_text("CREATE TABLE two (b integer);\nSELECT 1 / 0;\n")
    with pytest.raises(errors.DivisionByZero):
        migrate(dsn, "memory", folder)
    (folder / "0002_two.sql").write_text(SECOND)
    assert migrate(dsn, "memory", folder) == ["0002_two.sql"]


@pytest.mark.parametrize("name", ["0004_gap.sql", "0003-dash.sql", "0002_again.sql"])
def test_a_bad_name_is_refused(dsn: str, folder: Path, name: str) -> None:
    (folder / name).write_text("SELECT 1;")
    with pytest.raises(MigrationError):
        migrate(dsn, "memory", folder)


def test_runners_at_the_same_time_apply_each_file_once(dsn: str, folder: Path) -> None:
    done: list[list[str]] = []
    threads = [threading.Thread(target=lambda: done.append(migrate(dsn, "memory", folder))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(done) == [[], [], [], ["0001_one.sql", "0002_two.sql"]]


@pytest.mark.parametrize("statement", ["UPDATE journal SET as_of = 1", "DELETE FROM journal", "TRUNCATE journal"])
def test_nobody_rewrites_the_journal(databases: tuple[str, str], statement: str) -> None:
    with psycopg.connect(databases[0]) as connection, pytest.raises(errors.InsufficientPrivilege, match="appended to"):
        connection.execute(statement)


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        ("memquorum_writer", "DELETE FROM journal"),
        ("memquorum_writer", "UPDATE decision SET epoch = 2"),
        ("memquorum_writer", "DELETE FROM memory"),
        ("memquorum_reader", "INSERT INTO cursor VALUES (0, 'topic', 1)"),
        ("memquorum_reader", "DELETE FROM content"),
        ("memquorum_tenant", "DELETE FROM content"),
        ("memquorum_tenant", "SELECT pre_prepare FROM decision"),
        ("memquorum_tenant", "SELECT seq FROM shard"),
        ("memquorum_tenant", "SELECT FROM cursor"),
        ("memquorum_tenant", "SELECT FROM migration"),
    ],
)
def test_a_role_does_only_its_own(databases: tuple[str, str], role: str, statement: str) -> None:
    options = f"-c role={role}"
    with (
        psycopg.connect(databases[0], options=options) as connection,
        pytest.raises(errors.InsufficientPrivilege, match="permission denied"),
    ):
        connection.execute(statement)


def test_a_key_is_destroyed_and_never_replaced(databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[1], options="-c role=memquorum_vault", autocommit=True) as connection:
        connection.execute("INSERT INTO subject_key VALUES ('n', 's', 'w')")
        connection.execute("INSERT INTO memory_key VALUES ('0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11', 'n', 's', 'w')")
        with pytest.raises(errors.InsufficientPrivilege, match="may only be destroyed"):
            connection.execute("UPDATE memory_key SET wrapped = 'other'")
        connection.execute("UPDATE memory_key SET wrapped = NULL")
        with pytest.raises(errors.InsufficientPrivilege, match="may only be destroyed"):
            connection.execute("UPDATE memory_key SET wrapped = 'again'")
        with pytest.raises(errors.InsufficientPrivilege, match="permission denied"):
            connection.execute("DELETE FROM memory_key")


def test_what_a_database_lacks_is_named_and_not_applied(dsn: str, databases: tuple[str, str]) -> None:
    assert missing(databases[0], "memory") == [] == missing(databases[1], "vault")
    ensure_database(dsn)
    wanted = [one.name for one in load(MIGRATIONS / "memory")]
    assert missing(dsn, "memory") == wanted == missing(dsn, "memory")


def test_a_server_that_starts_is_waited_for_and_one_that_does_not_only_so_long(tmp_path: Path) -> None:
    with Postgres(tmp_path / "postgres", throwaway=True) as server:
        dsn = server.dsn("postgres")
        await_server(dsn, 60, lambda: pytest.fail("it takes connections"))
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(dsn)
        await_server(dsn, 60, server.revive)
        psycopg.connect(dsn).close()
    waits: list[bool] = []
    await_server(dsn, 0.1, lambda: waits.append(True))
    assert waits == [True]
