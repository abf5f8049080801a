"""Indexes of namespaces that hold many memories (infra/decisions/0031).

A small namespace is read whole, which is exact. One that holds `least` memories by one encoder gets two indexes of its
own: its vectors' (HNSW) and its words' (GIN). Others' memories are not in them, so nobody else pays for their upkeep,
and a search in one goes through none of the others' rows. They hold content: `sweep` takes them away and lets them be
made anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import psycopg
from msgspec import Struct
from psycopg import sql

from db.connection import patient
from db.queries import QUERIES

LEAST = 5_000
"""From so many memories on, unless the settings say otherwise."""

# pgvector's index takes no more of a halfvec.
_DIMENSIONS_MOST = 4_000
_BUILD_MEMORY = "256MB"


class Made(Struct, frozen=True):
    """An index that was made or dropped, of which namespace where that is known."""

    index: str
    namespace: str | None
    dropped: bool = False


def near(namespace: str, encoder: str) -> str:
    """The name of the index of a namespace's vectors by one encoder."""
    return f"near_{_digest(f'{namespace}/{encoder}')}"


def words(namespace: str) -> str:
    """The name of the index of a namespace's words."""
    return f"words_{_digest(namespace)}"


def keep(dsn: str, least: int) -> Iterator[Made]:
    """Makes the indexes that are missing and drops those of namespaces that have shrunk to half of `least`; tells of
    each when it is done. Writing goes on meanwhile. Needs a login that may step down to `memquorum_keeper` and
    `memquorum_reader`. Raises psycopg.Error."""
    with psycopg.connect(patient(dsn), autocommit=True, connect_timeout=5, application_name="memquorum-crowds") as link:
        link.execute(QUERIES["as_keeper"])
        link.execute(QUERIES["crowd_memory"], {"size": _BUILD_MEMORY})
        whole: dict[str, bool] = {index: valid for index, valid, _ in link.execute(QUERIES["crowd_indexes"])}
        large = _large(link, max(1, least // 2))
        wanted = {name for namespace, encoder, _, _ in large for name in (near(namespace, encoder), words(namespace))}
        for index in sorted(whole):
            if index not in wanted or not whole[index]:
                _run(link, "crowd_drop", index=sql.Identifier(index))
                yield Made(index, None, dropped=True)
        done = {index for index, valid in whole.items() if valid and index in wanted}
        for namespace, encoder, count, dimensions in large:
            if count < least or dimensions > _DIMENSIONS_MOST:
                continue
            told = {"namespace": sql.Literal(namespace), "encoder": sql.Literal(encoder)}
            for index, statement in ((near(namespace, encoder), "crowd_near"), (words(namespace), "crowd_words")):
                if index not in done:
                    done.add(index)
                    given = told | {"dimensions": sql.Literal(dimensions)}
                    _run(link, statement, index=sql.Identifier(index), **given)
                    if statement == "crowd_near":
                        _run(link, "crowd_near_unsampled", index=sql.Identifier(index))
                    yield Made(index, namespace)


def drop(link: psycopg.Connection) -> Iterator[tuple[str, int]]:
    """Drops all of them: their names and sizes in bytes. A sweep does so before it rewrites the tables."""
    for index, _, size in link.execute(QUERIES["crowd_indexes"]).fetchall():
        _run(link, "crowd_drop", index=sql.Identifier(index))
        yield index, size


def _large(link: psycopg.Connection, least: int) -> list[tuple[str, str, int, int]]:
    with link.transaction():
        # Row security hides the rows from their owner.
        link.execute(QUERIES["as_reader"])
        return link.execute(QUERIES["crowd_large"], {"least": least}).fetchall()


def _run(link: psycopg.Connection, statement: str, **given: sql.Composable) -> None:
    link.execute(sql.SQL(QUERIES[statement]).format(**given))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
