"""The vault under another master key: every key opens as before, and only under the new one."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from db import vault as vaults
from db.vault import PostgresVault
from infra import genesis, rekey
from infra.settings import Settings, SettingsError
from memquorum import wholefiles
from memquorum.core.sealing import SealError

OLD, OTHER = bytes(range(32)), bytes(32)
IDS = [f"5f0c8f0e-0000-5000-8000-{at:012d}" for at in range(6)]


@pytest.fixture
def settings(databases: tuple[str, str], tmp_path: Path) -> Settings:
    made = replace(Settings(), run_dir=tmp_path, vault_dsn=databases[1], master_key_file=tmp_path / "master.key")
    wholefiles.write_secret(made.master_key_file, OLD.hex())
    return made


@pytest.fixture
def vault(settings: Settings) -> Iterator[PostgresVault]:
    """The vault with six memories of three subjects, of which one key was destroyed."""
    made = PostgresVault(settings.vault_dsn, OLD)
    made.create([(one, "garden", f"person-{at % 3}") for at, one in enumerate(IDS)])
    made.destroy(IDS[:1])
    yield made
    made.close()


@pytest.fixture
def keys(vault: PostgresVault) -> dict[str, bytes]:
    """Its keys, once nobody is connected to it any more."""
    found = vault.open(IDS)
    vault.close()
    assert len(found) == 5
    return found


def opened(settings: Settings, master: bytes) -> dict[str, bytes]:
    vault = PostgresVault(settings.vault_dsn, master)
    try:
        return vault.open(IDS)
    finally:
        vault.close()


def test_each_key_opens_under_the_new_master_key_alone(
    settings: Settings, keys: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vaults, "_REWRAPPED", 2)
    assert rekey.run(settings, Namespace()) == 0
    new = genesis.secret(settings.master_key_file)
    assert new != OLD and opened(settings, new) == keys
    with pytest.raises(SealError, match="not the master key"):
        opened(settings, OLD)
    assert genesis.secret(settings.run_dir / "master.key.1") == OLD
    assert not (settings.run_dir / "master.key.new").exists()
    # Once more: the second one is kept beside the first.
    assert rekey.run(settings, Namespace()) == 0
    assert genesis.secret(settings.run_dir / "master.key.2") == new
    assert opened(settings, genesis.secret(settings.master_key_file)) == keys


def test_a_vault_in_use_is_left_as_it_is(settings: Settings, vault: PostgresVault) -> None:
    keys = vault.open(IDS)
    with pytest.raises(vaults.InUse, match="memquorum-vault"):
        rekey.run(settings, Namespace())
    assert genesis.secret(settings.master_key_file) == OLD
    assert opened(settings, OLD) == keys


def test_a_run_that_ended_before_the_file_was_replaced_is_gone_on_with(
    settings: Settings, keys: dict[str, bytes]
) -> None:
    wholefiles.write_secret(settings.run_dir / "master.key.new", OTHER.hex())
    assert vaults.rekey(settings.vault_dsn, OLD, OTHER, lambda _: None) == 3
    assert rekey.run(settings, Namespace()) == 0
    assert genesis.secret(settings.master_key_file) == OTHER and opened(settings, OTHER) == keys


def test_another_vaults_master_key_changes_nothing(settings: Settings, keys: dict[str, bytes]) -> None:
    wholefiles.write_secret(settings.master_key_file, OTHER.hex())
    with pytest.raises(SettingsError, match="is not the master key of this vault"):
        rekey.run(settings, Namespace())
    assert opened(settings, OLD) == keys
