"""Writes files whole or not at all; those that hold a secret are readable by their owner alone from the first byte."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write(file: Path, content: str | bytes, mode: int = 0o666, *, lasting: bool = False) -> None:
    """Writes the file, replacing an existing one. Creates its folder if it is missing.

    `mode`: reduced by the process's umask. `lasting`: it is flushed to the disk before it replaces the old one.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    # Several may write the same file at once, and each needs a draft of its own.
    draft = file.with_name(f".{file.name}.{os.getpid()}-{threading.get_ident()}")
    draft.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)
            if lasting:
                out.flush()
                os.fsync(out.fileno())
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_secret(file: Path, content: str | bytes) -> None:
    """Writes a file that only its owner may read, replacing an existing one."""
    write(file, content, 0o600, lasting=True)
