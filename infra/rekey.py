"""The operator's `database rekey`: puts the vault under a new master key (docs/operate/security.md)."""

from __future__ import annotations

import secrets
from argparse import Namespace
from pathlib import Path

from db import vault
from infra import genesis
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal, wholefiles
from memquorum.core import sealing


@command(
    "database rekey",
    login="administrator",
    failed="the vault was not put under another key",
    failing=(vault.InUse, sealing.SealError),
    example="database rekey",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Puts the vault under a new master key, while nothing else uses it; a run that was broken off is gone on with.

    The old key stays beside the new one with a number, for backups that were made before. Returns 0. Raises
    SettingsError, KeyFileError, InUse, SealError.
    """
    settings.require("vault_dsn")
    file, draft = settings.master_key_file, draft_of(settings)
    old = genesis.secret(file)
    if not draft.exists():
        wholefiles.write_secret(draft, secrets.token_bytes(sealing.KEY_BYTES).hex())
    new = genesis.secret(draft)
    count = 0
    if vault.opens(settings.vault_dsn, old):
        with terminal.console(stderr=True).status("wraps keys anew") as line:
            count = vault.rekey(
                settings.vault_dsn, old, new, lambda done: line.update(f"wraps keys anew: {done:,} subjects")
            )
    elif not vault.opens(settings.vault_dsn, new):
        raise SettingsError(f"{file} is not the master key of this vault: put back the one it was made with")
    kept = _beside(file)
    wholefiles.write_secret(kept, file.read_bytes())
    draft.replace(file)
    print(f"{count:,} subjects' keys are under the new key in {file}; {kept.name} opens backups made before")
    print("Now: hand out keys again where processes have folders of their own (`genesis make --hand-out`), start the")
    print("processes, make a backup, and run `memquorum admin database sweep`, which removes the old rows from files.")
    return 0


def draft_of(settings: Settings) -> Path:
    """The file of a new master key until all keys are under it: it is there while a run has begun and not ended."""
    return settings.master_key_file.with_name(f"{settings.master_key_file.name}.new")


def _beside(file: Path) -> Path:
    """A name for the old key that is not taken."""
    number = 1
    while (free := file.with_name(f"{file.name}.{number}")).exists():
        number += 1
    return free
