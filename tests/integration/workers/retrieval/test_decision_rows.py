"""A namespace's decisions, loaded from Postgres, agree with the journal, by filters and page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from db import decision_rows
from db.reads import Reads
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.accounts.decisions import Found, PageStart, Wanted
from memquorum.core.api.answers import Subject
from memquorum.core.avro import Codec
from memquorum.core.ids import shard_of
from memquorum.core.journal.rows import RowKeys
from memquorum.core.records import ErasedEpisode, Proposal, Weighed
from memquorum.core.retrieval.query import Filters
from tests.builders import erasures, votes
from tests.builders.decided import first_page
from tests.builders.published import GENESIS, A, B, C, D, lively
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import clear

SIGHT = Sight((NAMESPACE,))
SECRET = memory_id("secret")
THEIRS = next(name for name in (f"mill-{at}" for at in range(99)) if shard_of(name, GENESIS.shards) == 0)
WEIGHED = Weighed("lru", 0, 64, 90, 30, "episodic", 0, (0,) * 7, 0, 0, "used longest ago")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A lively history; then an epoch of two tenants, votes on several memories, and an erasure."""
    shard = lively(Shard(codec, GENESIS))
    shard.episode("secret", sensitivity_ppm=700_000, purposes=("billing",))
    shard.episode("theirs", namespace=THEIRS)
    shard.tick(300_000)
    shard.decide([
        replace(votes.proposal(D, "evict"), reason="budget", weighed=WEIGHED),
        votes.proposal(memory_id("theirs", THEIRS), "promote", namespace=THEIRS),
    ])  # fmt: skip
    shard.tick(400_000)
    shard.decide([Proposal((SECRET, B), NAMESPACE, "overrule", "contradicted", 0, 0, 0)], votes.nobody)
    order = erasures.ordered(GENESIS, "memory", C, namespace=NAMESPACE)
    shard.erase(erasures.accepted(order, erasures.signed(codec, GENESIS, order), 400_001), [ErasedEpisode(C, "stored")])
    return shard


@pytest.fixture
async def reads(shard: Shard, databases: tuple[str, str]) -> AsyncIterator[Reads]:
    store = PostgresStore(databases[0])
    store.start(GENESIS.cluster, GENESIS.shards)
    net = shard.work.net()
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: clear(i) for i in net.revealed}, {})
    store.close()
    reads = Reads(databases[0])
    await reads.open()
    yield reads
    await reads.close()


async def named(reads: Reads, **wanted: Any) -> list[tuple[int, str]]:
    asked = Wanted(namespace=NAMESPACE, limit=20, gates=wanted.pop("gates", Filters()))
    rows = (await reads.decisions(SIGHT, replace(asked, **wanted))).voted
    return [(one.epoch, one.memories[0].memory_id) for one in rows]


MAY = Filters(purpose="billing")
FREE = [(3, D), (2, C), (1, D), (1, C), (1, B), (1, A)]


async def test_all_that_was_decided_is_what_the_journal_holds(reads: Reads, shard: Shard) -> None:
    whole = await reads.decisions(SIGHT, Wanted(namespace=NAMESPACE, limit=20, gates=MAY))
    assert whole == first_page(shard)
    assert (len(whole.voted), whole.behind, sorted(whole.epochs)) == (7, None, [1, 2, 3, 4])
    assert whole.voted[2].memories == (Subject(C, "erased"),), "of what is erased, that it is"


async def test_of_what_a_reader_may_not_see_no_vote_is_told_not_even_one_on_others_too(reads: Reads) -> None:
    assert await named(reads) == FREE
    assert len(await named(reads, gates=MAY)) == len(FREE) + 1
    assert await named(reads, gates=replace(MAY, sensitivity_max=699_999)) == FREE
    assert await named(reads, memory_id=B) == [(1, B)]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"kinds": ("evict",)}, FREE[:1]),
        ({"kinds": ("promote", "evict")}, [(3, D), (1, B)]),
        ({"outcomes": ("kept",)}, [(1, C)]),
        ({"outcomes": ("voided",)}, [(1, D)]),
        ({"policies": ("lru",)}, FREE[:1]),
        ({"policies": ("worth",)}, []),
        ({"memory_id": C}, [(2, C), (1, C)]),
        ({"memory_id": memory_id("theirs", THEIRS)}, []),
        ({"since": 300_000}, FREE[:1]),
        ({"until": 300_000}, FREE[1:]),
        ({"behind": PageStart(2, 0)}, FREE[2:]),
        ({"behind": PageStart(1, 2)}, FREE[4:]),
    ],
)
async def test_what_passes(reads: Reads, wanted: dict[str, Any], expected: list[tuple[int, str]]) -> None:
    assert await named(reads, **wanted) == expected


async def test_each_is_on_one_page_and_what_is_decided_meanwhile_moves_none(reads: Reads) -> None:
    seen, behind = [], None
    while True:
        page = await reads.decisions(SIGHT, Wanted(namespace=NAMESPACE, limit=2, behind=behind))
        seen += [(one.epoch, one.memories[0].memory_id) for one in page.voted]
        assert set(page.epochs) == {one.epoch for one in page.voted}
        if page.behind is None:
            break
        behind = page.behind
    assert seen == FREE


async def test_another_tenant_sees_nothing(reads: Reads, databases: tuple[str, str]) -> None:
    mill = await reads.decisions(Sight((THEIRS,)), Wanted(namespace=THEIRS, limit=20))
    assert [one.memories for one in mill.voted] == [(Subject(memory_id("theirs", THEIRS), "long-term"),)]
    assert await reads.decisions(Sight((THEIRS,)), Wanted(namespace=NAMESPACE, limit=20)) == Found()


async def test_without_its_own_check_row_security_holds(reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_rows, "covers", lambda *_: True)
    assert await reads.decisions(Sight((THEIRS,)), Wanted(namespace=NAMESPACE, limit=20)) == Found()


async def test_without_row_security_its_own_check_holds(reads: Reads, databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        connection.execute("ALTER TABLE outcome DISABLE ROW LEVEL SECURITY")
        connection.execute("ALTER TABLE memory DISABLE ROW LEVEL SECURITY")
    assert await reads.decisions(Sight((THEIRS,)), Wanted(namespace=NAMESPACE, limit=20)) == Found()
    assert (await reads.decisions(SIGHT, Wanted(namespace=NAMESPACE, limit=20))).voted
