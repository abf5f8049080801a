"""What a replica has signed: one SQLite file per identity, written before anything is sent (DESIGN 12).

SQLite in WAL mode with `synchronous=FULL`: a claim is on the disk when it returns. The file is locked exclusively as
long as it is open, and the lock goes with the process: the lease that keeps a second process of the same identity out.
It cannot keep out a copy of the file, so the file must never be copied, nor restored from a backup: a replica that has
forgotten what it signed can be made to contradict itself.

The file stays small: what is decided or left behind is deleted, and a low-water mark of each series of slots stays in
its place (`slots.series`). Nothing at or below a mark is ever signed again.

Any error of a write is raised and ends the replica: going on unwritten would be worse than standing still.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from memquorum.core.consensus.slots import seq_series, series
from memquorum.ports import SignConflict, SignedSlot

_SCHEMA = """
CREATE TABLE IF NOT EXISTS identity (cluster BLOB NOT NULL, member INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS slots (
    slot TEXT NOT NULL UNIQUE, series TEXT NOT NULL, number INTEGER NOT NULL,
    digest BLOB NOT NULL, message BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS slots_in_order ON slots (series, number);
CREATE TABLE IF NOT EXISTS low_water (series TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
"""
_LAST = "\U0010ffff"  # sorts after whatever may follow a prefix
_RAISE = "INSERT INTO low_water VALUES (?, ?) ON CONFLICT DO UPDATE SET number = max(number, excluded.number)"
_PRUNE = "DELETE FROM slots WHERE series = ? AND number <= ?"
_LOAD = "SELECT slot, digest, message FROM slots WHERE slot >= ? AND slot < ? ORDER BY slot"


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
        self._low: dict[str, int] = {}
        # No waiting for locks: whoever holds the lease holds it for as long as it lives.
        self._db = sqlite3.connect(path, timeout=0, isolation_level=None, cached_statements=16)
        try:
            # Before the first access of the file, so that the lock is kept from then on and no memory is shared.
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript("BEGIN EXCLUSIVE;" + _SCHEMA + "COMMIT;")
            self._identify(cluster, member)
            self._low = dict(self._db.execute("SELECT series, number FROM low_water").fetchall())
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
        marks = _marks(self._settled, self._through)
        self._db.execute("BEGIN IMMEDIATE")
        try:
            answers = [self._claim(*slot) for slot in slots]
            self._prune(marks)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk has ended it already
                self._db.execute("ROLLBACK")
            raise
        self._low = _higher(self._low, marks)
        self._settled.clear()
        self._through.clear()
        return answers

    def _claim(self, slot: str, digest: bytes, message: bytes) -> bytes:
        _refuse_below(slot, self._low)
        row = self._db.execute("SELECT digest, message FROM slots WHERE slot = ?", (slot,)).fetchone()
        if row is None:
            self._insert(slot, digest, message)
            return message
        return _answer(slot, SignedSlot(*row), digest)

    def _insert(self, slot: str, digest: bytes, message: bytes) -> None:
        self._db.execute("INSERT INTO slots VALUES (?, ?, ?, ?, ?)", (slot, *series(slot), digest, message))

    def _prune(self, marks: Mapping[str, int]) -> None:
        """Prunes in the transaction that is open: a slot is gone only where its mark stands."""
        self._db.executemany(_RAISE, marks.items())
        self._db.executemany(_PRUNE, marks.items())

    def load(self, prefix: str) -> Mapping[str, SignedSlot]:
        """What was signed for slots of the prefix and is not let go."""
        rows = self._db.execute(_LOAD, (prefix, prefix + _LAST))
        return {slot: SignedSlot(digest, message) for slot, digest, message in rows}

    def fresh(self, scope: str) -> bool:
        """Whether nothing was ever claimed in a scope."""
        of_scope = (f"{scope}/", f"{scope}/{_LAST}")
        found = self._db.execute("SELECT 1 FROM slots WHERE slot >= ? AND slot < ? LIMIT 1", of_scope).fetchone()
        return found is None and not any(name.startswith(of_scope[0]) for name in self._low)

    def through(self, scope: str) -> int:
        """The last sequence of a scope that is decided."""
        return self._low.get(seq_series(scope), 0)

    def settle(self, slots: Sequence[str], through: Mapping[str, int] | None = None) -> None:
        """Lets go of slots that are decided or left behind; written with the next claim."""
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
        self._low: dict[str, int] = {}
        self._settled: list[str] = []
        self._through: dict[str, int] = {}

    def claim(self, slots: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        """What to send for each (slot, digest, message); see the port."""
        signed, answers = dict(self._signed), []
        for slot, digest, message in slots:
            _refuse_below(slot, self._low)
            answers.append(_answer(slot, signed.setdefault(slot, SignedSlot(digest, message)), digest))
        self._low = _higher(self._low, _marks(self._settled, self._through))
        self._signed = {slot: held for slot, held in signed.items() if not _below(slot, self._low)}
        self._settled.clear()
        self._through.clear()
        return answers

    def load(self, prefix: str) -> Mapping[str, SignedSlot]:
        """What was signed for slots of the prefix and is not let go."""
        return {slot: held for slot, held in sorted(self._signed.items()) if slot.startswith(prefix)}

    def fresh(self, scope: str) -> bool:
        """Whether nothing was ever claimed in a scope."""
        return not any(name.startswith(f"{scope}/") for name in (*self._signed, *self._low))

    def through(self, scope: str) -> int:
        """The last sequence of a scope that is decided."""
        return self._low.get(seq_series(scope), 0)

    def settle(self, slots: Sequence[str], through: Mapping[str, int] | None = None) -> None:
        """Lets go of slots that are decided or left behind; takes effect with the next claim."""
        self._settled += slots
        self._through.update(through or {})


def _marks(settled: Iterable[str], through: Mapping[str, int]) -> dict[str, int]:
    """The low-water marks that follow, by series."""
    marks = {seq_series(scope): seq for scope, seq in through.items()}
    for slot in settled:
        name, number = series(slot)
        marks[name] = max(number, marks.get(name, number))
    return marks


def _higher(low: Mapping[str, int], marks: Mapping[str, int]) -> dict[str, int]:
    """Marks never go down."""
    return {**low, **{name: max(number, low.get(name, number)) for name, number in marks.items()}}


def _below(slot: str, low: Mapping[str, int]) -> bool:
    name, number = series(slot)
    return name in low and number <= low[name]


def _refuse_below(slot: str, low: Mapping[str, int]) -> None:
    if _below(slot, low):
        name, _ = series(slot)
        raise SignConflict(
            f"{slot} may not be signed: {name} is settled up to {low[name]}, and what was signed there is let go. "
            "Another process has this key, or the view file was replaced"
        )


def _answer(slot: str, held: SignedSlot, digest: bytes) -> bytes:
    if held.digest != digest:
        raise SignConflict(
            f"{slot} is signed for {held.digest.hex()[:12]} and may not be signed for {digest.hex()[:12]}: "
            "another process has this key, or the sign-state was replaced"
        )
    return held.message
