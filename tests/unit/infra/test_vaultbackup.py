"""A file that is no backup of a vault is refused before anything is asked of Postgres."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from infra import vaultbackup
from infra.settings import Settings, SettingsError


@pytest.mark.parametrize("content", [b"", b"# memquorum"])
def test_what_is_no_backup_is_told_so(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "README.md"
    file.write_bytes(content)
    settings = Settings(run_dir=tmp_path, vault_dsn="host=127.0.0.1 dbname=nowhere")
    with pytest.raises(SettingsError, match=r"README\.md is no backup as `vault-backup` writes it"):
        vaultbackup.put_back(settings, Namespace(file=file))
