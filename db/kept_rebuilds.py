"""Databases that a rebuild made and that were kept: they hold content in the clear, and no order to erase reaches them.

A comment on the database tells what it is, of which cluster, and what of, while it is being made; it stays when the
database is given another name. A rebuild that was killed leaves its database so, and the next one may go on with it.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing

import psycopg
from psycopg import conninfo, sql

from db.connection import READER, WRITER, Link, patient
from db.queries import QUERIES
from memquorum.ports import StoreUnavailable

_UNFINISHED = "; unfinished: "
_TABLES = ("content_delete", "embedding_delete", "sentence_delete", "replaced_delete")


def mark(dsn: str, name: str, cluster: bytes, unfinished: str | None = None) -> None:
    """Says of the database `name`, on the server of `dsn`, that it is a rebuild, and what of, while it is `unfinished`.
    Raises psycopg.Error."""
    statement = sql.SQL(QUERIES["database_mark"])
    told = _comment(cluster) + ("" if unfinished is None else _UNFINISHED + unfinished)
    with _server(dsn) as link:
        link.execute(statement.format(name=sql.Identifier(name), comment=sql.Literal(told)))


def unfinished(dsn: str, name: str, cluster: bytes) -> str | None:
    """Returns what the database `name` was being made of when its rebuild was cut off, and ends the sessions that it
    left there; None for any other database. Raises psycopg.Error."""
    with _server(dsn) as link:
        found = link.execute(QUERIES["database_comment"], {"name": name}).fetchone()
        begins = _comment(cluster) + _UNFINISHED
        if found is None or found[0] is None or not found[0].startswith(begins):
            return None
        link.execute(QUERIES["database_left"], {"name": name})
        return str(found[0]).removeprefix(begins)


def list_rebuilds(dsn: str, cluster: bytes, used: Collection[str]) -> list[str]:
    """The rebuilds of the cluster on the server of `dsn`, without those of a name of `used`. Raises psycopg.Error."""
    with psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5) as link:
        rows = link.execute(QUERIES["databases_marked"], {"comment": _comment(cluster)}).fetchall()
    return [name for (name,) in rows if name not in used]


def foreign(dsn: str, name: str, cluster: bytes) -> bool:
    """Whether the server of `dsn` has a database `name` that is no rebuild of the cluster. Raises psycopg.Error."""
    with psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5) as link:
        found = link.execute(QUERIES["database_comment"], {"name": name}).fetchone()
    return found is not None and (found[0] or "").partition(_UNFINISHED)[0] != _comment(cluster)


def remove_gone(past_dsn: str, store_dsn: str) -> int:
    """Removes texts and vectors of memories from the rebuild of `past_dsn` that the store of `store_dsn` does not have
    any more; returns of how many. Replaced memories stay, as the store keeps them for reads of the past. Raises
    StoreUnavailable."""
    with (
        closing(Link(past_dsn, WRITER, StoreUnavailable)) as past,
        closing(Link(store_dsn, READER, StoreUnavailable)) as store,
    ):
        with past.use() as made:
            held = [row[0] for row in made.execute(QUERIES["texts_held"], {"ids": None})]
        with store.use() as living:
            still = {row[0] for row in living.execute(QUERIES["texts_held"], {"ids": held})}
        gone = [one for one in held if one not in still]
        if gone:
            with past.use() as made, made.transaction():
                for query in _TABLES:
                    made.execute(QUERIES[query], {"ids": gone})
    return len(gone)


def drop(dsn: str, name: str) -> None:
    """Drops a database, if it is there; sessions that read from it are ended. Raises psycopg.Error."""
    with _server(dsn) as link:
        link.execute(sql.SQL(QUERIES["database_drop"]).format(name=sql.Identifier(name)))


def _server(dsn: str) -> psycopg.Connection:
    return psycopg.connect(conninfo.make_conninfo(dsn, dbname="postgres"), autocommit=True)


def _comment(cluster: bytes) -> str:
    return f"memquorum: a rebuild of cluster {cluster.hex()}"
