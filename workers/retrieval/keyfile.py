"""The file of API keys, as it is changed: under a lock, whole or not at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from memquorum.core import access
from memquorum.core.access import ApiKey, Keys
from memquorum.wholefiles import write_secret

_DAY_MS = 86_400_000


def read(file: Path) -> Keys:
    """Returns the keys of the file; none where it is not there. Raises AccessError, OSError."""
    return access.load(file.read_bytes()) if file.exists() else Keys()


def change(file: Path, changed: Callable[[Keys], Keys]) -> Keys:
    """Changes the file, and returns its keys. Raises AccessError, OSError, and what `changed` does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        keys = changed(read(file))
        write_secret(file, access.dump(keys))
        return keys
    finally:
        os.close(lock)


def make(
    *,
    name: str,
    namespaces: Iterable[str],
    rights: Iterable[str],
    slots: Iterable[str],
    days: int | None,
    now_ms: int,
    subjects: Iterable[str] = (),
) -> tuple[str, ApiKey]:
    """Makes a key of random bytes; see `access.make`. `days`: how long it opens; None: until it is revoked."""
    return access.make(
        os.urandom(access.ID_BYTES),
        os.urandom(access.SECRET_BYTES),
        name=name,
        namespaces=dict.fromkeys(namespaces),
        rights=rights,
        now_ms=now_ms,
        expires_at=None if days is None else now_ms + days * _DAY_MS,
        slots=slots,
        subjects=subjects,
    )
