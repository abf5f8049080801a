"""One Postgres connection that is made when first needed, and made again after it broke."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec
import psycopg
from pgvector.psycopg import register_vector
from psycopg import conninfo
from psycopg.types.json import set_json_dumps, set_json_loads

# For all connections of the process: rows of a decision are passed as JSON, and statements tell several rows as JSON.
set_json_dumps(msgspec.json.encode)
set_json_loads(msgspec.json.decode)

WRITER = "memquorum_writer"
READER = "memquorum_reader"
TENANT = "memquorum_tenant"
ACCOUNTS = "memquorum_accounts"
KEEPER = "memquorum_keeper"
COUNTER = "memquorum_counter"
REHEARSER = "memquorum_rehearser"
VERIFIER = "memquorum_verifier"
VAULT = "memquorum_vault"
KEYMAKER = "memquorum_keymaker"
KEYREADER = "memquorum_keyreader"
KEYDESTROYER = "memquorum_keydestroyer"

_CONNECT_SECONDS = 5
# Over TCP, a server whose machine is gone is given up within some 20 s, and not when the kernel's two hours are over.
_KEEPALIVE = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}

T = TypeVar("T")


def patient(dsn: str) -> str:
    """Returns the connection string with limits on the wait for a server that does not answer, where it sets none
    itself."""
    given = conninfo.conninfo_to_dict(dsn)
    return conninfo.make_conninfo(dsn, **{name: value for name, value in _KEEPALIVE.items() if name not in given})


class Link:
    """A connection in autocommit mode, stepped down to one role; one thread at a time uses it.

    An error that breaks the connection (the server is gone, restarted or full) closes it and is raised as `lost`; the
    next use connects again. Errors of a statement itself pass through unchanged.
    """

    def __init__(
        self,
        dsn: str,
        role: str,
        lost: type[Exception],
        *,
        vectors: bool = False,
        isolation: psycopg.IsolationLevel | None = None,
    ) -> None:
        """`vectors`: pgvector's types are read and written. `isolation`: of transactions; None is the server's."""
        options = conninfo.conninfo_to_dict(dsn).get("options")
        self._dsn = conninfo.make_conninfo(
            patient(dsn), options=f"{options or ''} -c role={role}".strip(), application_name=role.replace("_", "-")
        )
        self._lost = lost
        self._vectors = vectors
        self._isolation = isolation
        self._connection: psycopg.Connection | None = None
        self._lock = threading.RLock()

    @contextmanager
    def use(self) -> Iterator[psycopg.Connection]:
        """The connection, for the duration. Raises `lost` where it cannot be made, or breaks meanwhile."""
        with self._lock:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = self._connect()
                yield self._connection
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                self.close()
                raise self._lost(f"Postgres: {str(error).strip() or type(error).__name__}") from error

    def ask(self, read: Callable[[psycopg.Connection], T]) -> T:
        """Runs the reads in one transaction; retries once on a new connection where an older one broke, since that may
        have lost its server in between. Raises `lost`."""
        with self._lock:
            old = self._connection
            try:
                return self._read(read)
            except self._lost:
                if old is None or not old.broken:
                    raise
                return self._read(read)

    def _read(self, read: Callable[[psycopg.Connection], T]) -> T:
        with self.use() as connection, connection.transaction():
            return read(connection)

    @contextmanager
    def snapshot(self) -> Iterator[psycopg.Connection]:
        """A transaction that sees the database as it stands at its first statement, whatever others commit meanwhile.
        Raises `lost`."""
        with self.use() as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            try:
                with connection.transaction():
                    yield connection
            finally:
                if not connection.closed:
                    connection.isolation_level = self._isolation

    def close(self) -> None:
        """Lets the connection go; a later use makes another."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _connect(self) -> psycopg.Connection:
        connection = psycopg.connect(self._dsn, autocommit=True, connect_timeout=_CONNECT_SECONDS)
        try:
            connection.isolation_level = self._isolation
            if self._vectors:
                register_vector(connection)
        except BaseException:
            connection.close()
            raise
        return connection
