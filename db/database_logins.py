"""Logins: one for each kind of process, which may step down to the roles that its work takes and has no right itself.

A login inherits nothing: `RESET ROLE`, or `SET ROLE NONE`, leaves it with the right to connect and no other. Its name
begins with that of the installation's database `memory`, and it may connect to that and its vault alone: several
installations on one server keep apart, although they share the roles (`db/rights`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from psycopg import conninfo, sql

from db.connection import (
    ACCOUNTS,
    COUNTER,
    KEEPER,
    KEYDESTROYER,
    KEYMAKER,
    KEYREADER,
    READER,
    REHEARSER,
    TENANT,
    VERIFIER,
    WRITER,
    patient,
)
from db.queries import QUERIES

_LOCK = 0x6D656D72  # any fixed number: it keeps two runners apart


@dataclass(frozen=True, slots=True)
class Login:
    """The roles that a process may step down to in each database; without any, it may not connect there."""

    memory: tuple[str, ...] = ()
    vault: tuple[str, ...] = ()


LOGINS: Mapping[str, Login] = {
    "intake": Login(memory=(COUNTER,), vault=(KEYMAKER,)),
    "streams": Login(memory=(READER,), vault=(KEYREADER,)),
    "replica": Login(vault=(KEYREADER,)),
    "commit": Login(memory=(WRITER, READER, KEEPER), vault=(KEYDESTROYER, KEEPER)),
    "consolidator": Login(memory=(READER,), vault=(KEYREADER,)),
    "rehearsal": Login(memory=(REHEARSER,)),
    "verifier": Login(memory=(VERIFIER,)),
    "retrieval": Login(memory=(TENANT, ACCOUNTS)),
    # The login of the commands that read and prove: `psql`, `verify`, `forget`, and orders, which first say what they
    # take.
    "audit": Login(memory=(READER,), vault=(KEYREADER,)),
}


def name(memory_dsn: str, process: str) -> str:
    """The login of a process of the installation whose database `memory` the connection string names."""
    return f"{_database(memory_dsn)}_{process}"


def ensure(memory_dsn: str, vault_dsn: str, passwords: Mapping[str, str]) -> None:
    """Makes the logins of an installation, with these passwords by process, and takes back what they have beyond it.

    The connection strings are of a superuser, or of who may make roles and owns both databases; both migrated.
    Raises psycopg.Error.
    """
    with _connected(memory_dsn) as link:
        link.execute(QUERIES["migration_lock"], {"key": _LOCK})
        for process, login in LOGINS.items():
            _login(link, name(memory_dsn, process), passwords[process])
            _member(link, name(memory_dsn, process), {*login.memory, *login.vault})
        _admit(link, memory_dsn, {name(memory_dsn, p): bool(login.memory) for p, login in LOGINS.items()})
    with _connected(vault_dsn) as link:
        _admit(link, vault_dsn, {name(memory_dsn, p): bool(login.vault) for p, login in LOGINS.items()})


def admit(copy_dsn: str, memory_dsn: str, process: str) -> None:
    """Lets a process's login connect to a copy of its database, a rebuild: it has the rights there that it has in the
    store. Raises psycopg.Error."""
    with _connected(copy_dsn) as link:
        login = sql.Identifier(name(memory_dsn, process))
        _run(link, "login_admit", database=sql.Identifier(_database(copy_dsn)), login=login)


def _login(link: psycopg.Connection, login: str, password: str) -> None:
    if link.execute(QUERIES["login_there"], {"login": login}).fetchone() is None:
        _run(link, "login_create", login=sql.Identifier(login))
    # Made here, so that no log of the server ever holds the password.
    verifier = link.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256").decode()
    _run(link, "login_alter", login=sql.Identifier(login), verifier=sql.Literal(verifier))
    # Only a superuser may name these attributes, even to take them back.
    if link.execute(QUERIES["login_beyond"], {"login": login}).fetchone() is not None:
        _run(link, "login_lower", login=sql.Identifier(login))


def _member(link: psycopg.Connection, login: str, wanted: set[str]) -> None:
    has = {role for (role,) in link.execute(QUERIES["login_roles"], {"login": login})}
    for role in sorted(has - wanted):
        _run(link, "login_revoke", role=sql.Identifier(role), login=sql.Identifier(login))
    for role in sorted(wanted):
        _run(link, "login_grant", role=sql.Identifier(role), login=sql.Identifier(login))


def _admit(link: psycopg.Connection, dsn: str, admitted: Mapping[str, bool]) -> None:
    database = sql.Identifier(_database(dsn))
    _run(link, "database_close", database=database)
    for login, may in admitted.items():
        _run(link, "login_admit" if may else "login_exclude", database=database, login=sql.Identifier(login))


def _run(link: psycopg.Connection, statement: str, **given: sql.Composable) -> None:
    link.execute(sql.SQL(QUERIES[statement]).format(**given))


def _connected(dsn: str) -> psycopg.Connection:
    return psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5, application_name="memquorum-logins")


def _database(dsn: str) -> str:
    parts = conninfo.conninfo_to_dict(dsn)
    return str(parts.get("dbname") or parts.get("user") or "postgres")
