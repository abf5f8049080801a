"""Databases of other versions: processes refuse them and say what to do."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from db import database_logins
from db.migrate import MIGRATIONS, MigrationError, load, migrate
from infra import roles
from infra.settings import Settings, SettingsError

LATER = "9999_later.sql"
BEFORE, NEWEST = (one.name for one in load(MIGRATIONS / "memory")[-2:])


def moved_to(dsn: str, name: str) -> None:
    """Makes a database look as the version with this migration left it."""
    with psycopg.connect(dsn, autocommit=True) as store:
        store.execute("INSERT INTO migration (name, checksum) VALUES (%s, '') ON CONFLICT DO NOTHING", (name,))
        store.execute(f"COMMENT ON TABLE migration IS '{name}'")


@pytest.mark.parametrize("role", ["intake", "streams", "commit", "consolidator", "rehearsal", "verifier", "retrieval"])
def test_no_process_works_on_a_store_of_a_later_version(installed: Settings, role: str) -> None:
    moved_to(installed.memory_dsn, LATER)
    told = rf"memory/{LATER} was applied .* use the newer checkout, or a store that this one rebuilt"
    with pytest.raises(SettingsError, match=told):
        roles.run(installed, role)
    with pytest.raises(MigrationError, match=told):
        migrate(installed.memory_dsn, "memory")


def test_no_process_works_on_a_store_that_was_not_migrated(installed: Settings) -> None:
    moved_to(installed.memory_dsn, BEFORE)
    told = f"memory is {BEFORE}, and of this version {NEWEST}: run `memquorum admin database migrate` first"
    with pytest.raises(SettingsError, match=told):
        roles.run(installed, "commit")


def test_a_member_refuses_a_vault_of_a_later_version(installed: Settings) -> None:
    moved_to(installed.vault_dsn, LATER)
    with pytest.raises(SettingsError, match=f"vault/{LATER} was applied"):
        roles.run(installed, "replica", 0)


def test_a_login_without_rights_is_told_the_version(installed: Settings) -> None:
    passwords = dict.fromkeys(database_logins.LOGINS, "secret")
    database_logins.ensure(installed.memory_dsn, installed.vault_dsn, passwords)
    moved_to(installed.memory_dsn, LATER)
    login = make_conninfo(installed.memory_dsn, user=database_logins.name(installed.memory_dsn, "intake"))
    login = make_conninfo(login, password="secret", passfile="/dev/null")
    with pytest.raises(SettingsError, match=f"memory/{LATER} was applied"):
        roles.run(replace(installed, memory_dsn=login), "intake")
