"""Migrations on a real Postgres: applied once, refused when changed, equal to the schema that people read."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from db.migrate import MIGRATIONS, MigrationError, grant, migrate
from infra.embedded.postgres import Postgres

FIRST = "CREATE TABLE one (a integer); -- 100% plain\n"
SECOND = "CREATE TABLE two (b integer);\nINSERT INTO two VALUES (1);\n"

_numbers = itertools.count(1)


@pytest.fixture
def dsn(postgres: Postgres) -> str:
    """Of a database that is not there yet."""
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
        thread.join(10)
    assert sorted(done) == [[], [], [], ["0001_one.sql", "0002_two.sql"]]


CATALOG = {
    "columns": """SELECT table_name, ordinal_position, column_name, data_type, udt_name, is_nullable, column_default,
                         generation_expression
                  FROM information_schema.columns WHERE table_schema = 'public'""",
    "samples": """SELECT attrelid::regclass::text, attname, attstattarget
                  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
                  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0""",
    "relations": """SELECT relname, relkind, relowner::regrole::text, relacl::text, reloptions, relrowsecurity,
                    relforcerowsecurity
                    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S', 'm')""",
    "rights in columns": """SELECT attrelid::regclass::text, attname, attacl::text FROM pg_attribute
                            WHERE attacl IS NOT NULL AND attrelid::regclass::text NOT LIKE 'pg_%'""",
    "constraints": """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
                      FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
    "triggers": "SELECT tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "functions": """SELECT p.oid::regprocedure::text, proowner::regrole::text, proacl::text, pg_get_functiondef(p.oid)
                    FROM pg_proc p WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
                    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')""",
    "policies": "SELECT tablename, policyname, roles::text, cmd, qual, with_check FROM pg_policies",
    "extensions": "SELECT extname, extversion FROM pg_extension",
}


def catalog(dsn: str) -> dict[str, list[tuple[object, ...]]]:
    with psycopg.connect(dsn) as connection:
        return {
            name: sorted((row for row in connection.execute(query) if not str(row[0]).startswith("migration")), key=str)
            for name, query in CATALOG.items()
        }


@pytest.mark.parametrize(("database", "schema"), [("memory", "schema.sql"), ("vault", "vault.sql")])
def test_the_schema_that_people_read_is_what_the_migrations_make(
    postgres: Postgres, database: str, schema: str
) -> None:
    migrated, read = postgres.dsn(f"migrated_{database}"), f"read_{database}"
    migrate(migrated, database)
    postgres.create(read)
    with psycopg.connect(postgres.dsn(read), autocommit=True) as connection:
        connection.execute((MIGRATIONS.parent / schema).read_text(encoding="utf-8"))
        grant(connection, database)
    wanted, found = catalog(migrated), catalog(postgres.dsn(read))
    assert wanted["columns"]
    assert found == wanted


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
