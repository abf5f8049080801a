"""The operator's `vault-backup` and `vault-restore`: writes the vault to one file, and restores it whole
(docs/use/erasing.md)."""

from __future__ import annotations

import os
import subprocess
from argparse import Namespace
from pathlib import Path

from infra.embedded.postgres import BINARIES
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum.commands import option

_FILE = option("file", type=Path, metavar="FILE", help="the backup, in the form of `pg_dump --format=custom`")

_MAGIC = b"PGDMP"
"""The first bytes of a file of `pg_dump --format=custom`."""


@command("backup make", _FILE, login="administrator", example="backup make vault.dump")
def back_up(settings: Settings, parsed: Namespace) -> int:
    """Writes the vault to a new file that its owner alone may read.

    Returns 0. Raises SettingsError.
    """
    settings.require("vault_dsn")
    file: Path = parsed.file
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise SettingsError(f"vault-backup: {file} cannot be created: {error.strerror}") from None
    try:
        _call("pg_dump", "--format=custom", f"--file={file}", f"--dbname={settings.vault_dsn}")
    except BaseException:
        file.unlink()
        raise
    print(f"wrote {file}, {file.stat().st_size:,} bytes; the keys in it are wrapped by the master key, which is not")
    return 0


@command("backup restore", _FILE, login="administrator", example="backup restore vault.dump")
def put_back(settings: Settings, parsed: Namespace) -> int:
    """Restores the vault from a file whole, or leaves it unchanged.

    It gives no key until the commit worker has repeated the destructions made since the backup (infra/decisions/0048).
    Returns 0. Raises SettingsError.
    """
    settings.require("vault_dsn")
    file: Path = parsed.file
    if not file.is_file():
        raise SettingsError(f"vault-restore: there is no file {file}")
    with file.open("rb") as given:
        if given.read(len(_MAGIC)) != _MAGIC:
            raise SettingsError(f"vault-restore: {file} is no backup as `vault-backup` writes it")
    _call("pg_restore", "--single-transaction", "--clean", "--if-exists", f"--dbname={settings.vault_dsn}", str(file))
    print(f"put back {file}; keys are given again once the commit worker has destroyed what was destroyed since")
    return 0


def _call(program: str, *arguments: str) -> None:
    """Runs one of the server's own programs. Raises SettingsError with its error output."""
    done = subprocess.run(
        [str(BINARIES / program), "--no-password", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        complaint = done.stderr.strip().removeprefix(f"{program}: ") or f"it ended with status {done.returncode}"
        raise SettingsError(f"{program}: {complaint}")
