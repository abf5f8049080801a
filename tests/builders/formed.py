"""Memories of experience and a general form on Postgres, for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from db.reads import Reads
from db.standing import Clear
from db.store import PostgresStore
from memquorum.core.experience.texts import Texts
from memquorum.core.journal.rows import RowKeys, Rows
from memquorum.core.journal.workset import Workset
from memquorum.encoders.hashing import HashingEncoder
from tests.builders.shard import Shard, memory_id

ENCODER = HashingEncoder(64)
A, B, C, FORM = (memory_id(name) for name in ("a", "b", "c", "form"))
TEXTS = {A: "The gateway uses port 8443.", B: "The gateway has another port, 22.", C: "The gateway stands in Ulm."}
TEXTS |= {FORM: "The gateway uses port [number]."}
ASKED = Texts("Which port does the gateway use?", outputs="8443.")


@asynccontextmanager
async def on_postgres(dsn: str, shard: Shard) -> AsyncIterator[tuple[Reads, Shard, PostgresStore]]:
    """Opens a Postgres store with the shard's present rows; yields its reader, the shard and the store, for `write` to
    go on.
    """
    store, reads = PostgresStore(dsn), Reads(dsn)
    store.start(shard.rules.genesis.cluster, shard.rules.genesis.shards)
    write(store, shard)
    await reads.open()
    try:
        yield reads, shard, store
    finally:
        await reads.close()
        store.close()


def write(store: PostgresStore, shard: Shard) -> None:
    net = shard.work.net()
    texts = {one: TEXTS.get(one, ASKED.content) for one in net.revealed}
    vectors = dict(zip(texts, ENCODER.encode(list(texts.values())), strict=True)) if texts else {}
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {one: Clear(texts[one], vectors[one]) for one in net.revealed}, {})
    rows = shard.rows
    mappings = {name: dict(getattr(rows, name)) for name in ("memories", "strengths", "admissions", "weights")}
    shard.work = Workset(Rows(rows.state, **mappings, nominated=dict(rows.nominated)))


def generalise(shard: Shard) -> None:
    """Has the members take the general form of A into experience."""
    shard.general("form", A)
    shard.tick(shard.rows.state.as_of + 1)
    shard.generalise(FORM, A)
