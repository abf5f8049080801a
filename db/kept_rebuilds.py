"""Databases that a rebuild made and that were kept: they hold content in the clear, and no order to erase reaches them.

A comment on the database tells what it is, and of which cluster; it stays when the database is given another name.
"""

from __future__ import annotations

from collections.abc import Collection

import psycopg
from psycopg import conninfo, sql

from db.connection import patient
from db.queries import QUERIES


def mark(dsn: str, name: str, cluster: bytes) -> None:
    """Says of the database `name`, on the server of `dsn`, that it is a rebuild. Raises psycopg.Error."""
    statement = sql.SQL(QUERIES["database_mark"])
    with _server(dsn) as link:
        link.execute(statement.format(name=sql.Identifier(name), comment=sql.Literal(_comment(cluster))))


def list_rebuilds(dsn: str, cluster: bytes, used: Collection[str]) -> list[str]:
    """The rebuilds of the cluster on the server of `dsn`, without those of a name of `used`. Raises psycopg.Error."""
    with psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5) as link:
        rows = link.execute(QUERIES["databases_marked"], {"comment": _comment(cluster)}).fetchall()
    return [name for (name,) in rows if name not in used]


def foreign(dsn: str, name: str, cluster: bytes) -> bool:
    """Whether the server of `dsn` has a database `name` that is no rebuild of the cluster. Raises psycopg.Error."""
    with psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5) as link:
        found = link.execute(QUERIES["database_comment"], {"name": name}).fetchone()
    return found is not None and found[0] != _comment(cluster)


def drop(dsn: str, name: str) -> None:
    """Drops a database, if it is there; sessions that read from it are ended. Raises psycopg.Error."""
    with _server(dsn) as link:
        link.execute(sql.SQL(QUERIES["database_drop"]).format(name=sql.Identifier(name)))


def _server(dsn: str) -> psycopg.Connection:
    return psycopg.connect(conninfo.make_conninfo(dsn, dbname="postgres"), autocommit=True)


def _comment(cluster: bytes) -> str:
    return f"memquorum: a rebuild of cluster {cluster.hex()}"
