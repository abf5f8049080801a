"""The open contradictions of a namespace, loaded from Postgres: which memory holds, by gates and page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.accounts.pages import Contradicted
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
OLD, NEW, SAID, DENIED, LOST, FOR_BILLING = (
    memory_id(name) for name in ("old", "new", "said", "denied", "lost", "for-billing")
)


@pytest.fixture
async def reads(codec: Codec, databases: tuple[str, str]) -> AsyncIterator[Reads]:
    """Two agents say otherwise; one agent corrects itself; an older side was forgotten; one is for billing alone;
    and another tenant's."""
    shard = Shard(codec, GENESIS)
    shard.episode("old", agent="ann", at=1_000)
    shard.episode("new", agent="bob", at=2_000, contradicts=(OLD,))
    shard.episode("said", agent="ann", at=3_000)
    shard.episode("denied", agent="ann", at=4_000, contradicts=(SAID,))
    shard.episode("lost", agent="ann", at=5_000)
    shard.episode("after", agent="bob", at=6_000, contradicts=(LOST,))
    shard.episode("for-billing", agent="ann", at=7_000, purposes=("billing",), contradicts=(NEW,))
    shard.episode("theirs", namespace=THEIRS, at=1_000)
    shard.episode("otherwise", namespace=THEIRS, at=2_000, contradicts=(memory_id("theirs", THEIRS),))
    shard.tick(900_000)
    shard.decide([votes.proposal(LOST, "forget")])
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


async def listed(reads: Reads, limit: int = 9, gates: Filters = ALL, **more: Any) -> list[tuple[str, str]]:
    """The pairs on all pages, older first."""
    found: list[tuple[str, str]] = []
    page = Contradicted(namespace=NAMESPACE, limit=limit, gates=gates, **more)
    while True:
        rows = await reads.contradicted(SIGHT, page)
        found += [(one.older, one.newer) for one in rows[:limit]]
        if len(rows) <= limit:
            return found
        last = rows[limit - 1]
        page = Contradicted(
            namespace=NAMESPACE, limit=limit, gates=gates, behind=(last.journal_seq, last.older), **more
        )


async def test_what_is_contradicted_and_in_service_is_listed_the_last_found_first(reads: Reads) -> None:
    assert await listed(reads) == [(SAID, DENIED), (OLD, NEW)]
    assert await listed(reads, limit=1) == [(SAID, DENIED), (OLD, NEW)]
    assert await listed(reads, since=3_500) == [(SAID, DENIED)]
    assert await listed(reads, until=3_500) == [(OLD, NEW)]
    assert await listed(reads, gates=Filters(purpose="billing")) == [(NEW, FOR_BILLING), (SAID, DENIED), (OLD, NEW)]


async def test_each_tells_which_holds_and_what_both_say(reads: Reads) -> None:
    own, disputed = await reads.contradicted(SIGHT, Contradicted(namespace=NAMESPACE, limit=9))
    assert (own.first, own.disputed, own.agent, own.older_agent) == (DENIED, False, "ann", "ann")
    assert (disputed.first, disputed.disputed, disputed.agent, disputed.older_agent) == (NEW, True, "bob", "ann")
    assert (disputed.newer_at, disputed.older_at, disputed.newer_tier) == (2_000, 1_000, "short-term")
    assert (disputed.newer_text, disputed.older_text) == (clear(NEW).text, clear(OLD).text)
    assert not (own.stated or own.compared)


async def test_out_of_sight_there_is_none(reads: Reads) -> None:
    page = Contradicted(namespace=THEIRS, limit=9)
    assert await reads.contradicted(SIGHT, page) == []
    assert len(await reads.contradicted(Sight((THEIRS,)), page)) == 1
