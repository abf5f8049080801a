"""The vault as one file: written whole, put back whole, or left as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from psycopg.conninfo import make_conninfo

from db.vault import PostgresVault
from infra import vaultbackup
from infra.settings import Settings, SettingsError

MASTER = bytes(range(32))
IDS = ["5f0c8f0e-0000-5000-8000-000000000001", "5f0c8f0e-0000-5000-8000-000000000002"]


@pytest.fixture
def settings(databases: tuple[str, str]) -> Settings:
    return replace(Settings(), vault_dsn=databases[1])


def test_what_is_put_back_is_what_was_written(settings: Settings, tmp_path: Path) -> None:
    vault = PostgresVault(settings.vault_dsn, MASTER)
    keys = vault.create([(one, "garden", "ada") for one in IDS])
    named = SimpleNamespace(file=tmp_path / "vault.dump")
    assert vaultbackup.back_up(settings, named) == 0
    assert named.file.stat().st_mode & 0o777 == 0o600 and keys[IDS[0]] not in named.file.read_bytes()
    assert vault.destroy(IDS) == 2 and vault.open(IDS) == {}
    vault.close()
    assert vaultbackup.put_back(settings, named) == 0
    assert PostgresVault(settings.vault_dsn, MASTER).open(IDS) == keys


def test_a_backup_writes_over_nothing_and_none_that_fails_is_left(settings: Settings, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    with pytest.raises(SettingsError, match="there cannot be created: File exists"):
        vaultbackup.back_up(settings, SimpleNamespace(file=there))
    assert there.read_text() == "mine"
    nowhere = replace(settings, vault_dsn=make_conninfo(settings.vault_dsn, dbname="nowhere"))
    with pytest.raises(SettingsError, match=r"pg_dump: .*does not exist"):
        vaultbackup.back_up(nowhere, SimpleNamespace(file=tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_what_is_no_backup_leaves_the_vault_as_it_is(settings: Settings, tmp_path: Path) -> None:
    vault = PostgresVault(settings.vault_dsn, MASTER)
    keys = vault.create([(one, "garden", "ada") for one in IDS])
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"PGDMP and nothing else")
    with pytest.raises(SettingsError, match="pg_restore: "):
        vaultbackup.put_back(settings, SimpleNamespace(file=wrong))
    with pytest.raises(SettingsError, match="there is no file"):
        vaultbackup.put_back(settings, SimpleNamespace(file=tmp_path / "none"))
    assert vault.open(IDS) == keys
