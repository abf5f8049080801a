"""A store that holds the history of `tests/builders/audited`, for tests of what SQL tells of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from db.store import PostgresStore
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from tests.builders import audited
from tests.support.stores import clear


@contextmanager
def stored(postgres: Postgres, codec: Codec) -> Iterator[str]:
    """Makes the store in a database of its own, which is dropped at the end; its dsn."""
    name = f"audited_{os.getpid()}"
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as connection:
        named = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template_memory").format(named))
        dsn = postgres.dsn(name)
        _fill(dsn, codec)
        yield dsn
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(named))


def _fill(dsn: str, codec: Codec) -> None:
    shard = audited.history(codec)
    store, net = PostgresStore(dsn), shard.work.net()
    store.start(audited.GENESIS.cluster, audited.GENESIS.shards)
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {one: clear(one) for one in net.revealed}, {})
    store.close()
    with psycopg.connect(dsn, autocommit=True) as connection:
        # The commit worker signs the head of the journal as it writes; a signature is nothing that views look into.
        connection.execute("UPDATE erasure SET head = 'signed'")
