"""The sessions of a namespace, loaded from Postgres: the last one first, by agents, gates and page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.accounts.pages import Talked
from memquorum.core.api.answers import SessionInShort
from memquorum.core.avro import Codec
from memquorum.core.ids import shard_of
from memquorum.core.journal.rows import RowKeys
from memquorum.core.retrieval.query import ALL, Filters
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import clear

GENESIS = make()
SIGHT = Sight((NAMESPACE,))
THEIRS = next(name for name in (f"mill-{at}" for at in range(99)) if shard_of(name, GENESIS.shards) == 0)


@pytest.fixture
async def reads(codec: Codec, databases: tuple[str, str]) -> AsyncIterator[Reads]:
    """Three sessions that overlap, of one of which a memory was forgotten; one for billing alone; what was said in
    none; and another tenant's."""
    shard = Shard(codec, GENESIS)
    shard.episode("a1", agent="ann", at=1_000, session="a")
    shard.episode("b1", agent="bob", at=2_000, session="b")
    shard.episode("a2", agent="bob", at=3_000, session="a")
    shard.episode("c1", agent="cid", at=4_000, session="c")
    shard.episode("c2", agent="cid", at=5_000, session="c")
    shard.episode("none", agent="ann", at=6_000, session=None)
    shard.episode("a3", agent="ann", at=7_000, session="a", purposes=("billing",))
    shard.episode("d1", agent="ann", at=8_000, session="d", purposes=("billing",))
    shard.episode("theirs", namespace=THEIRS, at=9_000, session="a")
    shard.tick(900_000)
    shard.decide([votes.proposal(memory_id("c1"), "forget")])
    store = PostgresStore(databases[0])
    store.start(GENESIS.cluster, GENESIS.shards)
    net = shard.work.net()
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: clear(i) for i in net.revealed}, {})
    store.close()
    made = Reads(databases[0])
    await made.open()
    yield made
    await made.close()


async def listed(reads: Reads, limit: int = 9, gates: Filters = ALL, **more: Any) -> list[SessionInShort]:
    """The sessions on all pages."""
    found: list[SessionInShort] = []
    page = Talked(namespace=NAMESPACE, limit=limit, gates=gates, **more)
    while True:
        rows = await reads.sessions(SIGHT, page)
        found += [one for one, _ in rows[:limit]]
        if len(rows) <= limit:
            return found
        at, _, offset = rows[limit - 1][1].partition("/")
        page = Talked(namespace=NAMESPACE, limit=limit, gates=gates, behind=(int(at), int(offset)), **more)


async def test_the_session_in_which_something_was_said_last_comes_first(reads: Reads) -> None:
    c, a, b = await listed(reads)
    assert c == SessionInShort("c", ("cid",), 4_000, 5_000, 1, 0, 1)
    assert a == SessionInShort("a", ("ann", "bob"), 1_000, 3_000, 2, 0, 0)
    assert b == SessionInShort("b", ("bob",), 2_000, 2_000, 1, 0, 0)
    assert await listed(reads, limit=1) == [c, a, b]
    assert await listed(reads, agents=("bob",)) == [a, b]
    assert await listed(reads, since=3_000, until=4_000) == [a]


async def test_only_what_the_gates_let_pass_counts(reads: Reads) -> None:
    found = await listed(reads, gates=Filters(purpose="billing"))
    assert [(one.session, one.said_at, one.memories) for one in found] == [
        ("d", 8_000, 1), ("a", 7_000, 3), ("c", 5_000, 1), ("b", 2_000, 1),
    ]  # fmt: skip


async def test_out_of_sight_there_is_none(reads: Reads) -> None:
    page = Talked(namespace=THEIRS, limit=9)
    assert await reads.sessions(SIGHT, page) == []
    assert [one.session for one, _ in await reads.sessions(Sight((THEIRS,)), page)] == ["a"]
