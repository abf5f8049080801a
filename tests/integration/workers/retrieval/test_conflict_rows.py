"""The open contradictions of a namespace, loaded from Postgres: which memory holds, by gates and page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import psycopg
import pytest

from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.accounts.pages import Contradicted
from memquorum.core.avro import Codec
from memquorum.core.ids import shard_of
from memquorum.core.journal.rows import RowKeys
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Question
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import clear
from workers.retrieval.knowing import Known

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


@pytest.mark.parametrize("filters", [ALL, Filters(agents=("ann", "bob"))], ids=["search", "filtered"])
async def test_what_comes_with_hits_is_what_the_store_says_of_them(
    reads: Reads, databases: tuple[str, str], filters: Filters, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO quote (shard, seq, namespace, summary, place, source, start, finish, section, said_at)"
            " SELECT shard, seq, namespace, %s, 0, id, 0, 1, '', said FROM memory WHERE id = %s",
            [SAID, OLD],
        )
        row = connection.execute(
            "SELECT e.encoder, array_length(string_to_array(e.vector::text, ','), 1) FROM embedding e LIMIT 1"
        ).fetchone()
        assert row is not None
    encoder, dimensions = row
    vector = np.ones(dimensions, np.float32)
    known = Known(reads, SIGHT)
    hits = await reads.search(SIGHT, NAMESPACE, encoder, vector, 20, filters=filters, told=known.take)
    question = Question(NAMESPACE, "what?", {encoder: vector}, filters)
    asked = Known(reads, SIGHT)
    candidates, _ = await reads.candidates(SIGHT, question, DEFAULTS, told=asked.take)
    names = [hit.memory_id for hit in hits]
    assert {OLD, NEW, SAID, DENIED} <= {*names}
    assert {*names} == {one.hit.memory_id for one in candidates}
    some = [names, [OLD, SAID], [NEW], []]
    said = [
        (
            await reads.entries(SIGHT, ids),
            {(one.summary, one.source) for one in await reads.supports(SIGHT, ids)},
            await reads.conflicts(SIGHT, ids),
            await reads.vectors(SIGHT, encoder, ids),
        )
        for ids in some
    ]
    assert said[0][1] == {(SAID, OLD)} and len(said[0][2]) >= 3

    async def ask(*_: Any, **__: Any) -> list[Any]:
        raise AssertionError("the store was asked again")

    monkeypatch.setattr(reads._pool, "ask", ask)
    for ids, (entries, supports, contradictions, vectors) in zip(some, said, strict=True):
        for found in (known, asked):
            assert await found.entries(ids) == entries
            told = {(one.summary, one.source) for one in await found.supports(ids)}
            assert {pair for pair in told if {*pair} <= {*ids}} == supports
            assert await found.contradicted(ids, ALL) == contradictions
        mine = await known.vectors(encoder, ids)
        assert mine.keys() == vectors.keys() and all((mine[one] == vectors[one]).all() for one in ids)
    with pytest.raises(AssertionError, match="asked again"):
        await known.entries([*names, LOST])
