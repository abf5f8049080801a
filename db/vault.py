"""The vault on Postgres: a key per memory, wrapped by its subject's key, wrapped by the master key (DESIGN 15).

Keys leave the database only wrapped, and no key is kept in this process beyond a call: a destroyed key is unreadable
from the next call on. Safe to share between threads; they take turns.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import timedelta

import psycopg

from db.arrays import uuids
from db.connection import VAULT, Link
from db.queries import QUERIES
from memquorum.core.crypto import sealing
from memquorum.ports import VaultUnavailable

Subject = tuple[str, str]


class PostgresVault:
    """The Vault port on the database `vault`. Every method raises VaultUnavailable while it cannot be reached."""

    def __init__(self, dsn: str, master: bytes, role: str = VAULT) -> None:
        """`master`: 32 bytes. Lost, every content outside of the store is lost with it. Connects at the first call.

        `role`: which of the vault's roles is stepped down to (db/rights/vault.sql); what it may not do raises
        psycopg.errors.InsufficientPrivilege.
        """
        if len(master) != sealing.KEY_BYTES:
            raise ValueError(f"the master key has {sealing.KEY_BYTES} bytes, not {len(master)}")
        self._dsn, self._master, self._role = dsn, master, role
        self._link = Link(dsn, role, VaultUnavailable)

    def __reduce__(self) -> tuple[type[PostgresVault], tuple[str, bytes, str]]:
        """Another process connects by itself. Goes through pipes alone: it holds the master key."""
        return PostgresVault, (self._dsn, self._master, self._role)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def create(self, wanted: Sequence[tuple[str, str, str]]) -> dict[str, bytes]:
        """Keys for (memory id, namespace, subject), in one transaction; see the port."""
        if not wanted:
            return {}
        first = {memory_id: (namespace, subject) for memory_id, namespace, subject in reversed(wanted)}
        with self._link.use() as connection, connection.transaction():
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
                },
            )
            return self._keys(connection, list(first))

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        """The keys that exist; see the port."""
        ids = list(memory_ids)
        if not ids:
            return {}
        with self._link.use() as connection:
            return self._keys(connection, ids)

    def destroy(self, memory_ids: Iterable[str]) -> int:
        """Destroys keys for good; the count of those that existed."""
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

    def followed(self, shard: int) -> int:
        """Up to which entry of the shard's journal every key that it calls destroyed is; see the port."""
        with self._link.use() as connection:
            row = connection.execute(QUERIES["vault_followed"], {"shard": shard}).fetchone()
        return int(row[0]) if row else 0

    def follow(self, shard: int, seq: int) -> None:
        """Notes that they are up to this entry; see the port."""
        with self._link.use() as connection:
            connection.execute(QUERIES["vault_follow"], {"shard": shard, "seq": seq})

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

    def _keys(self, connection: psycopg.Connection, ids: Sequence[str]) -> dict[str, bytes]:
        owned: dict[tuple[Subject, bytes], list[tuple[str, bytes]]] = {}
        # Binary, because keys in hexadecimal digits cost the server and this process more than the index does.
        rows = connection.execute(QUERIES["vault_keys"], {"ids": uuids(ids)}, binary=True).fetchall()
        for memory_id, namespace, subject, wrapped, wrapped_owner in rows:
            owned.setdefault(((namespace, subject), wrapped_owner), []).append((memory_id, wrapped))
        keys: dict[str, bytes] = {}
        for (owner, wrapped_owner), those in owned.items():
            unwrapped = sealing.unwrap_all(
                self._unwrap_subject(owner, wrapped_owner), [(_of_memory(memory_id), key) for memory_id, key in those]
            )
            keys.update(zip((memory_id for memory_id, _ in those), unwrapped, strict=True))
        return keys


def _fresh() -> bytes:
    return os.urandom(sealing.KEY_BYTES)


def _of_subject(owner: Subject) -> str:
    namespace, subject = owner
    return f"subject/{len(namespace)}:{namespace}:{subject}"


def _of_memory(memory_id: str) -> str:
    return f"memory/{memory_id}"
