"""Brings a database to the newest schema: numbered SQL files, forward only, each applied once, in its own transaction.

`db/migrations/<database>/NNNN_what.sql` are applied in order. A file that was applied is never changed again: its
checksum stands in the table `migration`, and a difference is refused by name, as is a database that knows migrations
which this checkout does not have. Two runners on one database wait for each other.

The login needs no superuser's rights: it makes databases and roles, and owns what it makes (decision 192). Row security
that would hide rows from a migration of an existing database is an error.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import conninfo, errors, sql
from psycopg.pq import PGconn, Ping

from db.queries import QUERIES
from memquorum.schema_files import load_codec

MIGRATIONS = Path(__file__).with_name("migrations")
RIGHTS = Path(__file__).with_name("rights")

# Any fixed number: it keeps runners apart and means nothing else.
_LOCK = 0x6D656D71

_LOOK_S = 0.5

_FRACTIONS = re.compile(r'"\??(double|float)"')

_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")

# memory/0001 gives the writer BYPASSRLS, which a server of others lets nobody give. Policies take its place since 0014.
_LEFT_OUT = re.compile(r"DO \$\$\nBEGIN\n    IF NOT \(SELECT rolbypassrls [^$]*\$\$;\n")


class MigrationError(RuntimeError):
    """Files and database do not fit; the message names the file and says what to do. No migration was applied in
    part."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load(folder: Path) -> list[Migration]:
    """The migrations of a folder, in order. Raises MigrationError for a bad name, a gap or a number given twice."""
    names = sorted(p.name for p in folder.glob("*.sql"))
    if not names:
        raise MigrationError(f"{folder}: no migrations there")
    for number, name in enumerate(names, start=1):
        match = _FILE.fullmatch(name)
        if match is None:
            raise MigrationError(f"{folder / name}: a migration is named NNNN_what_it_does.sql")
        if int(match[1]) != number:
            raise MigrationError(f"{folder / name}: number {number:04d} was expected here")
    return [Migration(name, (folder / name).read_text(encoding="utf-8")) for name in names]


def migrate(dsn: str, database: str, folder: Path | None = None) -> list[str]:
    """Applies what is missing to the database of `dsn`, then grants, and tells the store the schemas of records; the
    names of what it applied, in order.

    `database`: "memory" or "vault", which says whose migrations. The database is made where it is missing.
    Raises MigrationError, or psycopg.Error where a statement or the server fails: then that migration left no trace.
    """
    wanted = load(folder or MIGRATIONS / database)
    ensure_database(dsn)
    done = []
    with psycopg.connect(dsn, autocommit=True, application_name="memquorum-migrate") as connection:
        connection.execute(QUERIES["migration_lock"], {"key": _LOCK})
        connection.execute(QUERIES["migration_table"])
        missing = _missing(connection, wanted, database)
        connection.execute(QUERIES["migration_self_grant"])
        if folder is None and database == "memory":
            connection.execute((RIGHTS / "owners.sql").read_text(encoding="utf-8"))
        if len(missing) < len(wanted):
            connection.execute(QUERIES["migration_rows"])
        for migration in missing:
            with connection.transaction():
                # Without parameters psycopg sends the file as it is, many statements and per cent signs alike.
                connection.execute(_LEFT_OUT.sub("", migration.text))
                connection.execute(
                    QUERIES["migration_insert"], {"name": migration.name, "checksum": migration.checksum}
                )
            done.append(migration.name)
        if folder is None:
            told = sql.SQL(QUERIES["migration_told"]).format(newest=sql.Literal(wanted[-1].name))
            connection.execute(told)
            grant(connection, database)
            if database == "memory":
                _tell_schemas(connection)
    return done


def await_server(dsn: str, patience_s: float, waits: Callable[[], None]) -> None:
    """Waits until the server of `dsn` takes connections, as one that is just started does not yet, or `patience_s` are
    over: a later attempt to connect tells why it fails.

    `waits` is called once, where it does not at first.
    """
    deadline = time.monotonic() + patience_s
    told = False
    while PGconn.ping(dsn.encode()) in (Ping.REJECT, Ping.NO_RESPONSE) and time.monotonic() < deadline:
        if not told:
            waits()
        told = True
        time.sleep(_LOOK_S)


def missing(dsn: str, database: str) -> list[str]:
    """The names of the migrations that the database of `dsn` lacks, without applying any. Raises MigrationError where
    the database knows others, or psycopg.Error."""
    wanted = load(MIGRATIONS / database)
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as connection:
        try:
            return [one.name for one in _missing(connection, wanted, database)]
        except errors.UndefinedTable:
            return [one.name for one in wanted]


def check_version(dsn: str, database: str) -> None:
    """Raises MigrationError if a database is of a later version than this one, or was not migrated to this one.

    The login needs no right but to connect. Raises psycopg.Error.
    """
    newest = load(MIGRATIONS / database)[-1].name
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as connection:
        row = connection.execute(QUERIES["migration_newest"]).fetchone()
    there = row[0] if row and row[0] else "none"
    if there != "none" and there[:4] > newest[:4]:
        raise MigrationError(_later(database, there))
    if there != newest:
        raise MigrationError(
            f"the newest migration of the database {database} is {there}, and of this version {newest}: run `memquorum "
            "admin database migrate` first"
        )


def _later(database: str, name: str) -> str:
    return (
        f"{database}/{name} was applied to the database but is not in this checkout: use the newer checkout, or a "
        "store that this one rebuilt"
    )


def grant(connection: psycopg.Connection, database: str) -> None:
    """Gives every role the rights that `rights/<database>.sql` says, and no others; the tables must be there."""
    with connection.transaction():
        connection.execute((RIGHTS / f"{database}.sql").read_text(encoding="utf-8"))


def _tell_schemas(connection: psycopg.Connection) -> None:
    """Adds the schemas of records that the store does not know yet, so that SQL can decode its journal. Records with
    fractions come from outside alone, and no entry holds one."""
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(
            QUERIES["record_schema_known"],
            [
                {"mark": mark, "name": schema["name"], "shape": told}
                for mark, schema in load_codec().released()
                if not _FRACTIONS.search(told := json.dumps(shape(schema)))
            ],
        )


def shape(kind: Any) -> Any:
    """Reduces an Avro schema to what the functions `record_value` and `record_part` need.

    A plain type is its name, with `?` before it if null may stand there; another one is a list that begins with
    `record`, `array` or `union`. The fields of a record stand as JSON has them, each name before its type; the first
    name has the record's own before it.
    """
    if isinstance(kind, list):
        told = [shape(one) for one in kind]
        nullable = len(told) == 2 and told[0] == "null" and isinstance(told[1], str)
        return f"?{told[1]}" if nullable else ["union", *told]
    if isinstance(kind, str):
        return "long" if kind == "int" else kind
    if kind["type"] == "array":
        return ["array", ["", shape(kind["items"])]]
    if kind["type"] != "record":
        return shape(kind["type"])
    told = [part for one in kind["fields"] for part in (f"{json.dumps(one['name'])}:", shape(one["type"]))]
    return ["record", [f'"record":{json.dumps(kind["name"])},{told[0]}', *told[1:]]]


def _missing(connection: psycopg.Connection, wanted: list[Migration], database: str) -> list[Migration]:
    """Returns the migrations still to be applied. Raises MigrationError where an applied one is missing here or was
    changed."""
    applied: dict[str, str] = dict(connection.execute(QUERIES["migration_applied"]).fetchall())
    here = {m.name: m for m in wanted}
    for name, checksum in applied.items():
        if name not in here:
            raise MigrationError(_later(database, name))
        if here[name].checksum != checksum:
            raise MigrationError(
                f"{database}/{name} was changed after it had been applied: put it back and add a new file instead"
            )
    missing = [m for m in wanted if m.name not in applied]
    if missing and applied and missing[0].name < max(applied):
        raise MigrationError(f"{database}/{missing[0].name} comes before {max(applied)}, which was applied already")
    return missing


def ensure_database(dsn: str) -> bool:
    """Makes the database that `dsn` names, if it is missing; whether it did. Connects to `postgres` to do so."""
    parts = conninfo.conninfo_to_dict(dsn)
    name = str(parts.get("dbname") or parts.get("user") or "postgres")
    try:
        psycopg.connect(dsn).close()
        return False
    except psycopg.OperationalError as refused:
        # A refused connection carries no SQLSTATE, and its message speaks the server's language: ask instead.
        try:
            return _create(conninfo.make_conninfo(dsn, dbname="postgres"), name)
        except psycopg.OperationalError:
            raise refused from None


def _create(maintenance: str, name: str) -> bool:
    with psycopg.connect(maintenance, autocommit=True) as connection:
        try:
            connection.execute(sql.SQL(QUERIES["database_create"]).format(name=sql.Identifier(name)))
        except (errors.DuplicateDatabase, errors.UniqueViolation):
            # Another runner was faster, or it was there all along and refused us: the next connection will say.
            return False
    return True
