"""The profiles of subjects that are in force: written by the commit worker, and asked for by intake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import psycopg

from db.connection import COUNTER, Link
from db.queries import QUERIES
from memquorum.core.journal.rows import ErasureRow, Profile
from memquorum.core.journal.workset import Net
from memquorum.core.orders.erase import NAMESPACE, SUBJECT
from memquorum.core.orders.profile import entries_of, key_id
from memquorum.ports import KeepingOut, StoreUnavailable

Lists = Mapping[str, tuple[str, ...]]
"""By the id of an order, what its list has."""


def opened(nets: Iterable[Net], keys: Callable[[list[str]], Mapping[str, bytes]]) -> dict[str, tuple[str, ...]]:
    """Opens the lists of new profiles; those whose keys were destroyed are empty. `keys`: as `Vault.open`."""
    new = [row for net in nets for row in net.of(Profile) if row.sealed is not None]
    found = keys([key_id(row.order_id) for row in new]) if new else {}
    return {row.order_id: entries_of(found.get(key_id(row.order_id)), row.sealed, row.order_id) for row in new}


def stand(connection: psycopg.Connection, nets: Sequence[Net], lists: Lists) -> None:
    """Puts new profiles in force, and takes the lists of erased subjects away."""
    for row in (row for net in nets for row in net.of(Profile)):
        said = {name: getattr(row, name) for name in Profile.__struct_fields__}
        said |= {"entries": list(lists.get(row.order_id, ())), "retention": list(row.retention)}
        said |= {"consents": None if row.consents is None else list(row.consents)}
        connection.execute(QUERIES["profile_stands"], said)
    for one in (one for net in nets for one in net.of(ErasureRow) if one.selector in (SUBJECT, NAMESPACE)):
        subject = one.value if one.selector == SUBJECT else None
        whose = {"namespace": one.namespace, "subject": subject, "seq": one.first_seq}
        connection.execute(QUERIES["profile_erased"], whose)


class PostgresProfiles:
    """The Profiles port on Postgres. Safe to share between threads. Raises StoreUnavailable while the store cannot be
    reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, COUNTER, StoreUnavailable)
        self._version: tuple[int, ...] = ()
        self._found: tuple[KeepingOut, ...] = ()

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def keeping_out(self) -> tuple[KeepingOut, ...]:
        """Returns what subjects keep out now; see the port."""
        with self._link.use() as connection, connection.transaction():
            version = connection.execute(QUERIES["profiles_version"]).fetchone()
            if version is not None and tuple(version) != self._version:
                rows = connection.execute(QUERIES["profiles_keeping_out"]).fetchall()
                self._found = tuple(KeepingOut(row[0], row[1], row[2], row[3], tuple(row[4])) for row in rows)
                self._version = tuple(version)
        return self._found
