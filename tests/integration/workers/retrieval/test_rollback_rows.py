"""The store's rows of a requested rollback of a weight, and of its result, agree with the journal."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.accounts import order_words, telling
from memquorum.core.accounts.explain import explain
from memquorum.core.accounts.rolling_back import Weighed
from memquorum.core.api.answers import Ordered
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import RowKeys
from memquorum.core.retrieval.query import Filters
from tests.builders import genesis, trials, tried, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, proposal
from tests.support.stores import clear

GENESIS = genesis.make(**trials.entitled())
A, B, T = memory_id("a"), memory_id("b"), memory_id("t")
ORDER = votes.rollback(GENESIS, A, 1)
EARLY = replace(ORDER, order_id=memory_id("early"))
OPEN = replace(ORDER, order_id=memory_id("open"), version=2)
SIGHT = Sight((NAMESPACE,))


@pytest.fixture
async def reads(databases: tuple[str, str], codec: Codec) -> AsyncIterator[Reads]:
    """A, for one purpose alone, was asked about too early, then moved, and is rolled back; another request is open."""
    made = Shard(codec, GENESIS)
    made.episode("a", purposes=("billing",))
    made.episode("b")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A))])
    made.ask(EARLY, 1_000_000_000)
    made.task("t", (A,))
    made.tick(1_000_000_001)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    made.ask(ORDER, 1_000_000_001)
    made.tick(1_000_000_002)
    made.restore(ORDER)
    made.ask(OPEN, 1_000_000_003)
    store = PostgresStore(databases[0])
    store.start(GENESIS.cluster, GENESIS.shards)
    net = made.work.net()
    texts = {T: tried.clear("done", goal="what")}
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: texts.get(i) or clear(i) for i in net.revealed}, {})
    store.close()
    found = Reads(databases[0])
    await found.open()
    yield found
    await found.close()


async def order(reads: Reads, codec: Codec, order_id: str) -> Ordered:
    found = await reads.order(SIGHT, codec, order_id)
    assert found is not None
    return found


async def test_a_weight_is_told_with_its_versions_whatever_keeps_the_memory_back(reads: Reads) -> None:
    assert await reads.weighed(SIGHT, NAMESPACE, A) == Weighed(A, "short-term", "admitted", 3, 1_000_000, (1, 2, 3))
    assert await reads.weighed(SIGHT, NAMESPACE, B) == Weighed(B, "short-term", None, None, None, ())


async def test_another_namespaces_memory_is_not_there(reads: Reads) -> None:
    assert await reads.weighed(Sight(("mill",)), NAMESPACE, A) is None
    assert await reads.weighed(Sight(("mill",)), "mill", A) is None
    assert await reads.weighed(SIGHT, NAMESPACE, memory_id("nobody")) is None


async def test_what_became_of_each_request_is_told(reads: Reads, codec: Codec) -> None:
    declined, done, waits = [await order(reads, codec, one.order_id) for one in (EARLY, ORDER, OPEN)]
    assert (declined.status, declined.memories, declined.epoch) == ("nothing to roll back", (), None)
    assert declined.why == "that version is not older than the one in force"
    assert next(order_words.lines(declined)) == f"rollback: nothing to roll back: {declined.why}"
    (one,) = done.memories
    assert (done.status, done.epoch, one.memory_id, one.status) == ("decided", 4, A, "rolled back")
    assert (done.says["version"], done.why) == (1, None)
    assert (waits.status, [one.status for one in waits.memories]) == ("asked", ["asked"])
    assert [order_words.done(one) for one in (declined, done, waits)] == [False, True, False]


async def test_an_account_of_the_memory_tells_the_vote_and_what_waits(reads: Reads, codec: Codec) -> None:
    known = await reads.facts(SIGHT, codec, A, Filters(purpose="billing"))
    assert known is not None
    told = "\n".join(telling.lines(explain(codec, GENESIS, known), GENESIS))
    assert "vote to let it count in experience as it did before. Outcome: rolled back" in told
    assert "Proposed because ops asked for an older version of its weight" in told
    assert "to let it count in experience as it did before, request" in told and OPEN.order_id in told
