"""What a replica has signed: one SQLite file per identity, written before anything is sent (DESIGN 12).

SQLite in WAL mode with `synchronous=FULL`: a claim is on the disk when it returns. The file is locked exclusively as
long as it is open, and the lock goes with the process: the lease that keeps a second process of the same identity out.
It cannot keep out a copy of the file, so the file must never be copied, nor restored from a backup: a replica that has
forgotten what it signed can be made to contradict itself.

Any error of a write is raised and ends the replica: going on unwritten would be worse than standing still.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from memquorum.ports import SignConflict, SignedSlot

_SCHEMA = """
CREATE TABLE IF NOT EXISTS identity (cluster BLOB NOT NULL, member INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS signed (slot TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, message BLOB);
CREATE TABLE IF NOT EXISTS decided (scope TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS unsettled ON signed (slot) WHERE message IS NOT NULL;
"""
_LAST = "\U0010ffff"  # sorts after whatever may follow a prefix
_DECIDED = "INSERT INTO decided VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)"
_LOAD = """
SELECT slot, digest, message FROM signed
WHERE message IS NOT NULL AND slot >= ? AND slot < ? ORDER BY slot
"""


class LeaseHeld(RuntimeError):
    """Another process has this identity's sign-state open: two would be twins. Stop that one, or do not start this."""


class WrongIdentity(RuntimeError):
    """The file is another member's, or of another cluster."""


class SqliteSignState:
    """The SignState port on a file. Close it, or use it as a context manager, to give the lease back."""

    def __init__(self, path: Path, cluster: bytes, member: int) -> None:
        """Opens or makes the file. Raises LeaseHeld or WrongIdentity."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._settled: list[str] = []
        self._through: dict[str, int] = {}
        # No waiting for locks: whoever holds the lease holds it for as long as it lives.
        self._db = sqlite3.connect(path, timeout=0, isolation_level=None, cached_statements=16)
        try:
            # Before the first access of the file, so that the lock is kept from then on and no memory is shared.
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript("BEGIN EXCLUSIVE;" + _SCHEMA + "COMMIT;")
            self._identify(cluster, member)
        except sqlite3.OperationalError as error:
            self._db.close()
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LeaseHeld(f"{path} is held by another process: this identity already runs") from None
            raise
        except BaseException:
            self._db.close()
            raise

    def _identify(self, cluster: bytes, member: int) -> None:
        row = self._db.execute("SELECT cluster, member FROM identity").fetchone()
        if row is None:
            self._db.execute("INSERT INTO identity VALUES (?, ?)", (cluster, member))
        elif row != (cluster, member):
            raise WrongIdentity(
                f"{self._path} belongs to member {row[1]} of cluster {row[0].hex()[:12]}, "
                f"not to member {member} of {cluster.hex()[:12]}"
            )

    def claim(self, slots: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        """What to send for each (slot, digest, message); see the port. One durable transaction."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            answers = [self._claim(*slot) for slot in slots]
            for slot in self._settled:
                self._db.execute("UPDATE signed SET message = NULL WHERE slot = ?", (slot,))
            self._db.executemany(_DECIDED, list(self._through.items()))
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk has ended it already
                self._db.execute("ROLLBACK")
            raise
        self._settled.clear()
        self._through.clear()
        return answers

    def _claim(self, slot: str, digest: bytes, message: bytes) -> bytes:
        row = self._db.execute("SELECT digest, message FROM signed WHERE slot = ?", (slot,)).fetchone()
        if row is None:
            self._db.execute("INSERT INTO signed VALUES (?, ?, ?)", (slot, digest, message))
            return message
        return _answer(slot, SignedSlot(*row), digest, message)

    def load(self, prefix: str) -> Mapping[str, SignedSlot]:
        """What was signed for slots of the prefix and is not settled."""
        rows = self._db.execute(_LOAD, (prefix, prefix + _LAST))
        return {slot: SignedSlot(digest, message) for slot, digest, message in rows}

    def fresh(self, scope: str) -> bool:
        """Whether nothing was ever claimed in a scope."""
        found = self._db.execute(
            "SELECT 1 FROM signed WHERE slot >= ? AND slot < ? LIMIT 1", (f"{scope}/", f"{scope}/{_LAST}")
        )
        return found.fetchone() is None

    def through(self, scope: str) -> int:
        """The last sequence of a scope that is decided."""
        row = self._db.execute("SELECT seq FROM decided WHERE scope = ?", (scope,)).fetchone()
        return int(row[0]) if row else 0

    def settle(self, slots: Sequence[str], through: Mapping[str, int] | None = None) -> None:
        """Lets the messages of decided slots go; written with the next claim."""
        self._settled += slots
        self._through.update(through or {})

    def close(self) -> None:
        """Gives the lease back."""
        self._db.close()

    def __enter__(self) -> SqliteSignState:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class MemorySignState:
    """The SignState port in memory: for simulations. What a crash leaves is this object."""

    def __init__(self) -> None:
        self._signed: dict[str, SignedSlot] = {}
        self._settled: set[str] = set()
        self._through: dict[str, int] = {}

    def claim(self, slots: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        """What to send for each (slot, digest, message); see the port."""
        signed, answers = dict(self._signed), []
        for slot, digest, message in slots:
            held = signed.setdefault(slot, SignedSlot(digest, message))
            answers.append(_answer(slot, held, digest, message))
        self._signed = signed
        return answers

    def load(self, prefix: str) -> Mapping[str, SignedSlot]:
        """What was signed for slots of the prefix and is not settled."""
        return {s: v for s, v in sorted(self._signed.items()) if s.startswith(prefix) and s not in self._settled}

    def fresh(self, scope: str) -> bool:
        """Whether nothing was ever claimed in a scope."""
        return not any(slot.startswith(f"{scope}/") for slot in self._signed)

    def through(self, scope: str) -> int:
        """The last sequence of a scope that is decided."""
        return self._through.get(scope, 0)

    def settle(self, slots: Sequence[str], through: Mapping[str, int] | None = None) -> None:
        """Lets the messages of decided slots go."""
        self._settled.update(slots)
        for scope, seq in (through or {}).items():
            self._through[scope] = max(seq, self.through(scope))


def _answer(slot: str, held: SignedSlot, digest: bytes, message: bytes) -> bytes:
    if held.digest != digest:
        raise SignConflict(
            f"{slot} is signed for {held.digest.hex()[:12]} and may not be signed for {digest.hex()[:12]}: "
            "another process has this key, or the sign-state was replaced"
        )
    # A settled slot keeps its digest only; what says the same may be sent in its place.
    return held.message or message
