"""Authenticates callers by the API keys of a file that is checked before every request, so that a revoked key is out at
once."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Collection
from pathlib import Path

from msgspec import structs

from memquorum.core import access
from memquorum.core.access import AccessError, Caller, Keys

_LOG = logging.getLogger("memquorum.retrieval")


class Locked(RuntimeError):
    """The keys cannot be read: no caller is let in until they can. It is told to strangers, so only `why` says more."""

    def __init__(self, why: str) -> None:
        super().__init__("the API keys cannot be read, and nobody comes in until they can; the service's log says why")
        self.why = why


class Door:
    """Lets in callers that have a key. Without a file of keys it stands open, and says so. Once there is one it never
    opens without a key again."""

    def __init__(self, file: Path | None, only: Collection[str] = access.RIGHTS) -> None:
        """`file` need not be there. `only`: the rights that count here, whatever a key has. Raises AccessError where
        the file is there, and holds no keys."""
        self.file, self._only = file, frozenset(only)
        self._keys: Keys | None = None
        self._seen: tuple[int, int, int] | None = None
        self._why = ""
        try:
            self._read()
        except Locked as locked:
            raise AccessError(locked.why) from None

    @property
    def open(self) -> bool:
        """Whether everybody may do everything."""
        return self._keys is None

    def usable(self) -> bool:
        """Whether some key opens it."""
        return self._keys is not None and self._keys.usable(_now_ms())

    def fault(self) -> str:
        """The reason why no caller is let in; empty if there is no such reason."""
        try:
            self._look()
        except Locked as locked:
            return str(locked)
        return ""

    def enter(self, authorization: str | None) -> Caller:
        """Returns the caller that sends this header. Raises NoEntry, Locked."""
        self._look()
        caller = access.EVERYONE if self._keys is None else self._keys.caller(authorization, _now_ms())
        return structs.replace(caller, rights=caller.rights & self._only)

    def _look(self) -> None:
        try:
            self._read()
        except Locked as locked:
            if locked.why != self._why:
                _LOG.error("nobody comes in: %s", locked.why)
            self._why = locked.why
            raise
        self._why = ""

    def _read(self) -> None:
        """Reads the file where it has changed."""
        if self.file is None:
            return
        try:
            found = self.file.stat()
            seen = (found.st_ino, found.st_mtime_ns, found.st_size)
            if seen == self._seen:
                return
            keys = access.load(self.file.read_bytes())
        except FileNotFoundError:
            if self._keys is None:
                return
            self._seen = None
            raise Locked(f"{self.file} is gone: put it back, or start the service anew") from None
        except (OSError, AccessError) as error:
            self._seen = None
            # As if there were keys: a file that is there shuts the door, also where it cannot be read.
            self._keys = self._keys or Keys()
            raise Locked(f"{self.file}: {error}") from None
        if self._keys is None:
            _LOG.info("API keys are in force: %s", os.fspath(self.file))
        self._keys, self._seen = keys, seen


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
