"""Sweeping: overwrites deleted rows of tables and drops old write-ahead log (docs/use/erasing.md).

Postgres marks what is deleted and leaves its bytes in the page, and in the log of changes, until it happens to use the
place again. Here both are made to go: every table that ever held content or a key is written anew into another file,
its indexes with it, and then the log before that is given up. A table is locked while it is written.

A server of others lets nobody give up its log. Then the tables alone are swept, and the step says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import psycopg
from msgspec import Struct
from psycopg import sql

from db import crowds
from db.connection import patient
from db.queries import QUERIES

MEMORY = ("content", "embedding", "sentence", "replaced", "experience", "profile_now")
VAULT = ("memory_key", "subject_key")
LOG, LEFT = "write-ahead log", "write-ahead log, which the server keeps to itself"


class Swept(Struct, frozen=True):
    """One step that was taken: a table with its size before and after, in bytes; or the log."""

    what: str
    before: int
    after: int


class MayNotSweep(RuntimeError):
    """The login lacks a right. The message names it."""


def sweep(dsn: str, tables: Sequence[str]) -> Iterator[Swept]:
    """Rewrites each table of a database, then drops the log; tells of each step when it is done.

    Needs a login that may step down to `memquorum_keeper`, or a superuser's. Raises MayNotSweep,
    psycopg.OperationalError.
    """
    with psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5, application_name="memquorum-sweep") as link:
        try:
            link.execute(QUERIES["as_keeper"])
            # Written anew, an index of a crowd would keep the table locked for a minute: it is made again afterwards.
            if set(tables) & set(MEMORY):
                yield from (Swept(index, size, 0) for index, size in crowds.drop(link))
            for table in tables:
                before = _size(link, table)
                link.execute(sql.SQL(QUERIES["sweep_table"]).format(table=sql.Identifier(table)))
                yield Swept(table, before, _size(link, table))
            if not _may_drop_log(link):
                yield Swept(LEFT, 0, 0)
                return
            before = _log(link)
            # Two rounds: the first checkpoint may still need the file that was written last.
            for _ in range(2):
                link.execute(QUERIES["sweep_log"])
                link.execute(QUERIES["sweep_checkpoint"])
            yield Swept(LOG, before, _log(link))
        except psycopg.errors.InsufficientPrivilege as error:
            raise MayNotSweep(
                f"{str(error).strip()}: sweep as a login that may step down to memquorum_keeper, or as a superuser"
            ) from error


def recycles(dsn: str) -> bool:
    """Whether the server keeps files of its old log to write in them again: then what they hold stays until it does."""
    with psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5) as link:
        row = link.execute(QUERIES["sweep_recycles"]).fetchone()
        return row is not None and bool(row[0])


def _size(link: psycopg.Connection, table: str) -> int:
    row = link.execute(QUERIES["sweep_size"], {"table": table}).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _may_drop_log(link: psycopg.Connection) -> bool:
    row = link.execute(QUERIES["sweep_may_drop_log"]).fetchone()
    return row is not None and bool(row[0])


def _log(link: psycopg.Connection) -> int:
    row = link.execute(QUERIES["sweep_log_size"]).fetchone()
    return int(row[0]) if row and row[0] is not None else 0
