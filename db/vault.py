"""The vault on Postgres: a key per memory, wrapped by its subject's key, wrapped by the master key (DESIGN 15).

Keys leave the database only wrapped, and no key is kept in this process beyond a call: a destroyed key is unreadable
from the next call on. With the keys comes how far the vault has followed the journals. If that is less than this
process has seen before, or than the journals say on a new connection, a backup was put back, and no key is given
(infra/decisions/0048). Safe to share between threads; they take turns.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType

import psycopg
from psycopg.rows import TupleRow

from db.arrays import uuids
from db.connection import VAULT, Link
from db.followed import Followed
from db.queries import QUERIES
from memquorum.core import sealing
from memquorum.ports import Owner, VaultBehind, VaultUnavailable

Subject = tuple[str, str]
Journals = Callable[[Mapping[int, int]], Mapping[int, int]]
"""A function from a journal sequence per shard to the last later one that destroys keys, where there is one. Raises
VaultUnavailable where that cannot be said now."""

# A process that has not asked for this long compares with the journals again: the server may have been restored from a
# backup without an end of this connection.
_SURE_S = 60.0
# So many subjects' keys are wrapped anew at a time.
_REWRAPPED = 5_000
_NONE: Mapping[str, tuple[bytes, str]] = MappingProxyType({})


class PostgresVault:
    """The Vault port on the database `vault`. Every method raises VaultUnavailable while it cannot be reached."""

    def __init__(self, dsn: str, master: bytes, role: str = VAULT, journals: Journals | None = None) -> None:
        """`master`: 32 bytes. Lost, every content outside of the store is lost with it. Connects at the first call.

        `role`: which of the vault's roles is stepped down to (db/rights/vault.sql); what it may not do raises
        psycopg.errors.InsufficientPrivilege. `journals`: asked before the first key of a connection is given; without,
        a vault that was put back is known by what this process has seen of it alone.
        """
        if len(master) != sealing.KEY_BYTES:
            raise ValueError(f"the master key has {sealing.KEY_BYTES} bytes, not {len(master)}")
        self._dsn, self._master, self._role, self._journals = dsn, master, role, journals
        self._link = Link(dsn, role, VaultUnavailable)
        self._followed = Followed()
        self._asked: psycopg.Connection | None = None
        self._sure_until = 0.0

    def __reduce__(self) -> tuple[type[PostgresVault], tuple[str, bytes, str, Journals | None]]:
        """Another process connects by itself. Goes through pipes alone: it holds the master key."""
        return PostgresVault, (self._dsn, self._master, self._role, self._journals)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def create(
        self, wanted: Sequence[tuple[str, str, str]], claims: Mapping[str, bytes] = MappingProxyType({})
    ) -> dict[str, bytes]:
        """Keys for (memory id, namespace, subject), in one transaction; see the port."""
        if not wanted:
            return {}
        first = {memory_id: (namespace, subject) for memory_id, namespace, subject in reversed(wanted)}
        with self._link.use() as connection, self._asking(connection).transaction():
            subjects = self._subjects(connection, sorted(set(first.values())))
            connection.execute(
                QUERIES["vault_keys_insert"],
                {
                    "ids": list(first),
                    "namespaces": [namespace for namespace, _ in first.values()],
                    "subjects": [subject for _, subject in first.values()],
                    "wrapped": [
                        sealing.wrap(subjects[owner], os.urandom(sealing.NONCE_BYTES), _fresh(), _of_memory(memory_id))
                        for memory_id, owner in first.items()
                    ],
                    "claims": [claims.get(memory_id) for memory_id in first],
                },
            )
            return self._keys(connection, list(first), {i: (one, first[i][1]) for i, one in claims.items()})

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        """The keys that exist; see the port."""
        ids = list(memory_ids)
        if not ids:
            return {}
        with self._link.use() as connection:
            return self._keys(self._asking(connection), ids)

    def owners(self, memory_ids: Iterable[str]) -> dict[str, Owner]:
        """Returns the owners of the ids; see the port."""
        ids = list(memory_ids)
        if not ids:
            return {}
        with self._link.use() as connection:
            rows = self._asking(connection).execute(QUERIES["vault_owners"], {"ids": uuids(ids)}).fetchall()
        return {memory_id: Owner(subject, claim) for memory_id, subject, claim in rows}

    def destroyed(self, since: int | None, most: int) -> list[tuple[int, str]]:
        """Returns destroyed keys in the order of their destruction; see the port."""
        with self._link.use() as connection:
            rows = (
                self._asking(connection).execute(QUERIES["vault_destroyed"], {"since": since, "most": most}).fetchall()
            )
        self._followed.check({row[2]: row[3] for row in rows if row[0] is None})
        self._sure_until = time.monotonic() + _SURE_S
        return sorted((number, memory_id) for number, memory_id, _, _ in rows if number is not None)

    def destroy(self, memory_ids: Iterable[str]) -> int:
        """Destroys keys permanently; returns the number of those that existed."""
        ids = list(memory_ids)
        if not ids:
            return 0
        with self._link.use() as connection:
            return connection.execute(QUERIES["vault_keys_destroy"], {"ids": uuids(ids)}).rowcount

    def destroy_older(self, namespace: str, age_ms: int) -> int:
        """Destroys keys by their age, on the database's clock; see the port."""
        with self._link.use() as connection:
            wanted = {"namespace": namespace, "age": timedelta(milliseconds=age_ms)}
            return connection.execute(QUERIES["vault_keys_destroy_older"], wanted).rowcount

    def destroy_of(self, namespace: str, subject: str, *, begins: bool = False) -> int:
        """Destroys the keys of a subject; see the port."""
        with self._link.use() as connection:
            wanted = {"namespace": namespace, "subject": subject, "begins": begins}
            return connection.execute(QUERIES["vault_keys_destroy_of"], wanted).rowcount

    def followed(self) -> dict[int, int]:
        """Up to which entry of each shard's journal every key that it calls destroyed is; see the port."""
        with self._link.use() as connection:
            notes = _notes(connection)
        self._followed.reset(notes)
        return notes

    def follow(self, moves: Mapping[int, tuple[int, int]], memory_ids: Iterable[str] = ()) -> int:
        """Destroys keys, and notes how far the journals are followed with that; see the port."""
        given = {
            "shards": list(moves),
            "since": [since for since, _ in moves.values()],
            "seqs": [seq for _, seq in moves.values()],
        }
        with self._link.use() as connection, connection.transaction():
            if connection.execute(QUERIES["vault_follow"], given).rowcount != len(moves):
                raise VaultBehind("the vault is not where it was: a backup was put back")
            count = self.destroy(memory_ids)
        self._followed.moved({shard: seq for shard, (_, seq) in moves.items()})
        return count

    def _asking(self, connection: psycopg.Connection) -> psycopg.Connection:
        """The connection, after the journals were asked where it is new, or was not used for long."""
        if self._journals is not None and (connection is not self._asked or time.monotonic() > self._sure_until):
            self._followed.learn(self._journals(_notes(connection)))
            self._asked = connection
        return connection

    def _subjects(self, connection: psycopg.Connection, wanted: Sequence[Subject]) -> dict[Subject, bytes]:
        """The subjects' keys, made where absent."""
        found = self._known_subjects(connection, wanted)
        missing = [owner for owner in wanted if owner not in found]
        if missing:
            connection.execute(
                QUERIES["vault_subjects_insert"],
                {
                    "namespaces": [namespace for namespace, _ in missing],
                    "subjects": [subject for _, subject in missing],
                    "wrapped": [
                        sealing.wrap(self._master, os.urandom(sealing.NONCE_BYTES), _fresh(), _of_subject(owner))
                        for owner in missing
                    ],
                },
            )
            # Read back: somebody else's may have come first.
            found |= self._known_subjects(connection, missing)
        return found

    def _known_subjects(self, connection: psycopg.Connection, wanted: Sequence[Subject]) -> dict[Subject, bytes]:
        rows = connection.execute(
            QUERIES["vault_subjects"],
            {"namespaces": [namespace for namespace, _ in wanted], "subjects": [subject for _, subject in wanted]},
        )
        return {(n, s): self._unwrap_subject((n, s), wrapped) for n, s, wrapped in rows}

    def _unwrap_subject(self, owner: Subject, wrapped: bytes) -> bytes:
        try:
            return sealing.unwrap(self._master, wrapped, _of_subject(owner))
        except sealing.SealError:
            raise sealing.SealError(
                f"vault: the key of subject {owner[1]!r} in namespace {owner[0]!r} cannot be unwrapped: this is not "
                "the master key that the vault was made with, or the row was altered"
            ) from None

    def _keys(
        self, connection: psycopg.Connection, ids: Sequence[str], claims: Mapping[str, tuple[bytes, str]] = _NONE
    ) -> dict[str, bytes]:
        """`claims`: by id the claim on its key, and the subject of who claims it."""
        owned: dict[tuple[Subject, bytes], list[tuple[str, bytes]]] = {}
        # Binary, because keys in hexadecimal digits cost the server and this process more than the index does.
        rows = connection.execute(QUERIES["vault_keys"], {"ids": uuids(ids)}, binary=True).fetchall()
        self._followed.check({row[5]: row[6] for row in rows if row[0] is None})
        self._sure_until = time.monotonic() + _SURE_S
        for memory_id, namespace, subject, wrapped, wrapped_owner, _, _, claim in rows:
            if memory_id is None or (memory_id in claims and not Owner(subject, claim).admits(*claims[memory_id])):
                continue
            owned.setdefault(((namespace, subject), wrapped_owner), []).append((memory_id, wrapped))
        keys: dict[str, bytes] = {}
        for (owner, wrapped_owner), those in owned.items():
            unwrapped = sealing.unwrap_all(
                self._unwrap_subject(owner, wrapped_owner), [(_of_memory(memory_id), key) for memory_id, key in those]
            )
            keys.update(zip((memory_id for memory_id, _ in those), unwrapped, strict=True))
        return keys


def _notes(connection: psycopg.Connection) -> dict[int, int]:
    return dict(connection.execute(QUERIES["vault_followed"]).fetchall())


def _fresh() -> bytes:
    return os.urandom(sealing.KEY_BYTES)


def _of_subject(owner: Subject) -> str:
    """Names what a subject's key is wrapped for."""
    namespace, subject = owner
    return f"subject/{len(namespace)}:{namespace}:{subject}"


def _of_memory(memory_id: str) -> str:
    return f"memory/{memory_id}"


class InUse(RuntimeError):
    """Others are connected to the vault; the message names them. Nothing was changed."""


def opens(dsn: str, master: bytes) -> bool:
    """True if the first subject's key is wrapped by this master key, or no subject has a key. Raises psycopg.Error."""
    with psycopg.connect(dsn, connect_timeout=5) as connection:
        row = connection.execute(QUERIES["vault_subject_any"]).fetchone()
    try:
        return row is None or bool(_unwrapped(master, row))
    except sealing.SealError:
        return False


def rekey(dsn: str, old: bytes, new: bytes, told: Callable[[int], None]) -> int:
    """Wraps each subject's key by `new` in place of `old`, or changes nothing. Returns their number.

    `dsn`: a login that owns the vault's tables. `told` is called with the number so far. Raises InUse while others are
    connected, who would go on with the old key; SealError where a key is not under `old`; psycopg.Error.
    """
    done = 0
    with psycopg.connect(dsn, connect_timeout=5, application_name="memquorum-rekey") as connection:
        if others := [name for (name,) in connection.execute(QUERIES["vault_others"])]:
            raise InUse(f"stop what is connected to the vault first: {', '.join(others)}")
        connection.execute(QUERIES["vault_subjects_lock"])
        with connection.cursor(name="subjects") as rows:
            rows.execute(QUERIES["vault_subjects_all"])
            while some := rows.fetchmany(_REWRAPPED):
                connection.execute(
                    QUERIES["vault_subjects_rewrap"],
                    {
                        "namespaces": [row[0] for row in some],
                        "subjects": [row[1] for row in some],
                        "wrapped": [_rewrapped(old, new, row) for row in some],
                    },
                )
                done += len(some)
                told(done)
    return done


def _rewrapped(old: bytes, new: bytes, row: TupleRow) -> bytes:
    return sealing.wrap(new, os.urandom(sealing.NONCE_BYTES), _unwrapped(old, row), _of_subject((row[0], row[1])))


def _unwrapped(master: bytes, row: TupleRow) -> bytes:
    namespace, subject, wrapped = row
    return sealing.unwrap(master, wrapped, _of_subject((namespace, subject)))
