"""The messages that a replica has signed: one SQLite file per identity, written before anything is sent (DESIGN 12).

SQLite in WAL mode with `synchronous=FULL`: a claim is on the disk when it returns. The file is locked exclusively as
long as it is open, and the lock goes with the process: the lease that keeps a second process of the same identity out.
It cannot keep out a copy of the file, so the file must never be copied, nor restored from a backup: a replica that has
forgotten what it signed can be made to contradict itself.

The file stays small: what is decided or left behind is deleted, and a low-water mark of each series of slots stays in
its place (`slots.series`). The replica never signs again at or below a mark.

Any error of a write is raised and ends the replica: going on unwritten would be worse than standing still.

SQLite ends its recovery at the first frame of the WAL with a wrong checksum, without an error: one flipped bit takes
the file back to an earlier state. Pages of the database have no checksum at all. So each claim counts up and is chained
to the one before (`Head`); the head also holds a digest over all rows, and a second file, `*.head`, repeats it after
each commit. A start compares the three. If they differ, the files are set aside and the state begins empty: the member
is then silent until it knows again what it may say (rule 8 of `core.consensus.transitions`).
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from msgspec import Struct

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
CREATE TABLE IF NOT EXISTS shard (shard INTEGER PRIMARY KEY, stand TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS head (count INTEGER NOT NULL, hash BLOB NOT NULL, digest BLOB NOT NULL);
"""
_LAST = "\U0010ffff"  # sorts after whatever may follow a prefix
_RAISE = "INSERT INTO low_water VALUES (?, ?) ON CONFLICT DO UPDATE SET number = max(number, excluded.number)"
_PRUNE = "DELETE FROM slots WHERE series = ? AND number <= ? RETURNING slot, series, number, digest, message"
_LOAD = "SELECT slot, digest, message FROM slots WHERE slot >= ? AND slot < ? ORDER BY slot"
_LOG = logging.getLogger("memquorum.replica")
_HASH_BYTES, _CHECK_BYTES = 32, 16
_ROUND: int = 2 ** (8 * _HASH_BYTES)


class LeaseHeld(RuntimeError):
    """Another process has this identity's sign-state open: two would be twins. Stop that one, or do not start this."""


class WrongIdentity(RuntimeError):
    """The file is another member's, or of another cluster."""


class Stand(Enum):
    """The place of a shard that was moved between sign-states of one member."""

    HERE = "here"
    LEAVING = "leaving"  # another process may take what is kept here; nothing is signed here any more
    GONE = "gone"  # another sign-state has it


class SignedIn(NamedTuple):
    """A shard's part of a sign-state: rows of slots and low-water marks."""

    slots: Sequence[tuple[str, str, int, bytes, bytes]]
    marks: Sequence[tuple[str, int]]


class _Damaged(Exception):
    """The file does not hold what was claimed last; the message says how that was found."""


class Head(Struct, frozen=True):
    """The last claim. `count`: how many claims there were; `hash`: chained over all of them, 32 bytes; `digest`: the
    sum of the hashes of all rows modulo 2^256, 32 bytes, which a claim changes by the rows that it adds and removes."""

    count: int = 0
    hash: bytes = bytes(_HASH_BYTES)
    digest: bytes = bytes(_HASH_BYTES)

    def next(self, change: int) -> Head:
        """The head after a claim. `change`: what it adds to the sum of the rows' hashes."""
        count = self.count + 1
        digest = ((int.from_bytes(self.digest, "big") + change) % _ROUND).to_bytes(_HASH_BYTES, "big")
        return Head(count, _hash(self.hash, count.to_bytes(8, "big"), digest), digest)

    def packed(self) -> bytes:
        """The bytes of the second file: count, hash and a checksum of both."""
        body = self.count.to_bytes(8, "big") + self.hash
        return body + hashlib.blake2b(body, digest_size=_CHECK_BYTES).digest()


class _HeadFile:
    """The second file. It is not flushed to the disk: a crash of the machine may leave it behind the database, never
    ahead of it, and the death of a process loses none of it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def read(self) -> tuple[int, bytes] | None:
        """Count and hash of the last head written; None if the file is empty or damaged."""
        found = os.pread(self._file, 256, 0)
        body = found[: 8 + _HASH_BYTES]
        if found[len(body) :] != hashlib.blake2b(body, digest_size=_CHECK_BYTES).digest():
            return None
        return int.from_bytes(body[:8], "big"), body[8:]

    def write(self, head: Head) -> None:
        """Writes a head in place of the last one."""
        os.pwrite(self._file, head.packed(), 0)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


class SqliteSignState:
    """The SignState port on a file. Close it, or use it as a context manager, to give the lease back.

    `set_aside`: where a damaged file was put that stood here; None if the file was sound.
    """

    def __init__(self, path: Path, cluster: bytes, member: int) -> None:
        """Opens or makes the file. A damaged one is set aside, and an empty one takes its place.

        Raises LeaseHeld or WrongIdentity.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._settled: list[str] = []
        self._through: dict[str, int] = {}
        self._low: dict[str, int] = {}
        self._head, self._change = Head(), 0
        self.set_aside: Path | None = None
        try:
            self._open(cluster, member)
        except _Damaged as error:
            self.set_aside = _set_aside(path)
            _LOG.critical(
                "the sign-state %s is damaged: %s. It lies in %s now; this member signs nothing until what may be in "
                "flight is decided without it. Check the disk",
                path,
                error,
                self.set_aside,
            )
            self._open(cluster, member)

    def _open(self, cluster: bytes, member: int) -> None:
        # No waiting for locks: the process that holds the lease keeps it until it ends.
        self._db = sqlite3.connect(self._path, timeout=0, isolation_level=None, cached_statements=16)
        try:
            # Before the first access of the file, so that the lock is kept from then on and no memory is shared.
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript("BEGIN EXCLUSIVE;" + _SCHEMA + "COMMIT;")
            self._second = _HeadFile(_second(self._path))
            try:
                self._compare()
                self._identify(cluster, member)
                self._second.write(self._head)
            except BaseException:
                self._second.close()
                raise
            self._low = dict(self._db.execute("SELECT series, number FROM low_water").fetchall())
        except sqlite3.DatabaseError as error:
            self._db.close()
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LeaseHeld(f"{self._path} is held by another process: this identity already runs") from None
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise _Damaged(f"SQLite finds: {error}") from None
            raise
        except BaseException:
            self._db.close()
            raise

    def _compare(self) -> None:
        """Reads the head and holds it against the rows and the second file. Raises _Damaged where they differ."""
        faults = [line for (line,) in self._db.execute("PRAGMA integrity_check(1)") if line != "ok"]
        if faults:
            raise _Damaged(f"SQLite finds: {faults[0]}")
        rows, later = self._digest(), self._second.read()
        found = self._db.execute("SELECT count, hash, digest FROM head").fetchall()
        if not found and later is None:  # new, or of a version that kept no head
            self._head = Head(digest=rows)
            self._db.execute("INSERT INTO head VALUES (?, ?, ?)", (0, self._head.hash, rows))
            return
        if len(found) != 1:
            raise _Damaged(f"it has {len(found)} heads")
        self._head = Head(*found[0])
        if self._head.digest != rows:
            raise _Damaged("its rows are not those that were claimed")
        if later is not None and (
            later[0] > self._head.count or (later[0] == self._head.count and later[1] != self._head.hash)
        ):
            raise _Damaged(f"it holds {self._head.count} claims, and {later[0]} were made")

    def _digest(self) -> bytes:
        """The sum of the hashes of all rows."""
        rows = (
            *self._db.execute("SELECT slot, series, number, digest, message FROM slots"),
            *self._db.execute("SELECT series, number FROM low_water"),
            *self._db.execute("SELECT cluster, member FROM identity"),
            *self._db.execute("SELECT shard, stand FROM shard"),
        )
        total: int = sum(_row_hash(*row) for row in rows)
        return (total % _ROUND).to_bytes(_HASH_BYTES, "big")

    def _identify(self, cluster: bytes, member: int) -> None:
        row = self._db.execute("SELECT cluster, member FROM identity").fetchone()
        if row is None:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("INSERT INTO identity VALUES (?, ?)", (cluster, member))
            self._advance(_row_hash(cluster, member))
            self._db.execute("COMMIT")
        elif row != (cluster, member):
            raise WrongIdentity(
                f"{self._path} belongs to member {row[1]} of cluster {row[0].hex()[:12]}, "
                f"not to member {member} of {cluster.hex()[:12]}"
            )

    def claim(self, slots: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        """Records each (slot, digest, message) unless the slot is signed, and returns the messages to send; see the
        port. One durable transaction."""
        marks, before, self._change = _marks(self._settled, self._through), self._head, 0
        self._db.execute("BEGIN IMMEDIATE")
        try:
            answers = [self._claim(*slot) for slot in slots]
            self._prune(marks)
            if self._change:
                self._advance(self._change)
            self._db.execute("COMMIT")
        except BaseException:
            self._head = before
            if self._db.in_transaction:  # a full disk has ended it already
                self._db.execute("ROLLBACK")
            raise
        if self._change:
            self._second.write(self._head)
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
        row = (slot, *series(slot), digest, message)
        self._db.execute("INSERT INTO slots VALUES (?, ?, ?, ?, ?)", row)
        self._change += _row_hash(*row)

    def _prune(self, marks: Mapping[str, int]) -> None:
        """Prunes in the transaction that is open: a slot is gone only where its mark stands."""
        self._db.executemany(_RAISE, marks.items())
        for name, number in marks.items():
            before = self._low.get(name)
            if before is None or before < number:
                self._change += _row_hash(name, number) - (0 if before is None else _row_hash(name, before))
            for row in self._db.execute(_PRUNE, (name, number)).fetchall():
                self._change -= _row_hash(*row)

    def _advance(self, change: int) -> None:
        """Writes the head after a claim, in the transaction that is open."""
        self._head = self._head.next(change)
        self._db.execute(
            "UPDATE head SET count = ?, hash = ?, digest = ?", (self._head.count, self._head.hash, self._head.digest)
        )

    def load(self, prefix: str) -> Mapping[str, SignedSlot]:
        """Returns the signed slots of the prefix that are still kept."""
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

    def stands(self) -> dict[int, Stand]:
        """Says of each shard that was ever moved whether it is here; see `sign_state_moves`."""
        return {shard: Stand(stand) for shard, stand in self._db.execute("SELECT shard, stand FROM shard")}

    def signed_in(self, shard: int) -> SignedIn:
        """Returns all that is kept of a shard."""
        slots = self._db.execute("SELECT slot, series, number, digest, message FROM slots").fetchall()
        marks = self._db.execute("SELECT series, number FROM low_water").fetchall()
        return SignedIn(
            [row for row in slots if _is_of(shard, row[0])], [row for row in marks if _is_of(shard, row[0])]
        )

    def stand(self, shard: int, stand: Stand, signed: SignedIn | None = None) -> None:
        """Notes where a shard is, and puts `signed` in place of all that is kept of it. One durable transaction."""
        before, old = self._head, self.signed_in(shard)
        change = sum(_row_hash(*row) for row in (*signed.slots, *signed.marks)) if signed else 0
        change -= sum(_row_hash(*row) for row in (*old.slots, *old.marks)) if signed else 0
        change += _row_hash(shard, stand.value) - sum(
            _row_hash(s, v.value) for s, v in self.stands().items() if s == shard
        )
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if signed is not None:
                self._db.executemany("DELETE FROM slots WHERE slot = ?", [row[:1] for row in old.slots])
                self._db.executemany("DELETE FROM low_water WHERE series = ?", [row[:1] for row in old.marks])
                self._db.executemany("INSERT INTO slots VALUES (?, ?, ?, ?, ?)", signed.slots)
                self._db.executemany("INSERT INTO low_water VALUES (?, ?)", signed.marks)
            self._db.execute("INSERT OR REPLACE INTO shard VALUES (?, ?)", (shard, stand.value))
            self._advance(change)
            self._db.execute("COMMIT")
        except BaseException:
            self._head = before
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._second.write(self._head)
        self._low = dict(self._db.execute("SELECT series, number FROM low_water").fetchall())

    def close(self) -> None:
        """Gives the lease back."""
        self._second.close()
        self._db.close()

    def __enter__(self) -> SqliteSignState:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class MemorySignState:
    """The SignState port in memory: for simulations. A simulated crash keeps this object."""

    def __init__(self) -> None:
        self._signed: dict[str, SignedSlot] = {}
        self._low: dict[str, int] = {}
        self._settled: list[str] = []
        self._through: dict[str, int] = {}

    def claim(self, slots: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        """Records each (slot, digest, message) unless the slot is signed, and returns the messages to send; see the
        port."""
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
        """Returns the signed slots of the prefix that are still kept."""
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


def _second(path: Path) -> Path:
    return path.with_name(f"{path.name}.head")


def _set_aside(path: Path) -> Path:
    """Renames the files of a damaged state; answers where its database lies now."""
    number = 1
    while path.with_name(f"{path.name}.damaged-{number}").exists():
        number += 1
    for suffix in ("", "-wal", "-shm", ".head"):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(path.with_name(f"{path.name}.damaged-{number}{suffix}"))
    return path.with_name(f"{path.name}.damaged-{number}")


def _hash(*parts: bytes) -> bytes:
    """Hashes byte strings of fixed lengths, one behind the other, to 32 bytes."""
    return hashlib.blake2b(b"".join(parts), digest_size=_HASH_BYTES).digest()


def _is_of(shard: int, name: str) -> bool:
    """True if a slot, or a series of slots, of this name is of a shard."""
    return name.split("/", 2)[1] == str(shard)


def _row_hash(*values: str | int | bytes) -> int:
    """Hashes a row: each value with its type and length, so that no two rows read the same."""
    state = hashlib.blake2b(digest_size=_HASH_BYTES)
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode()
        state.update(f"{type(value).__name__}{len(data)}:".encode())
        state.update(data)
    return int.from_bytes(state.digest(), "big")


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
