"""Writes files that hold a secret: readable by their owner alone from the first byte, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_secret(file: Path, text: str, mode: int = 0o600) -> None:
    """Writes the file, in place of one that is there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    draft.rename(file)
