"""Goals, pins, holds, orders, epochs and configurations, loaded from Postgres: by filters and page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from db import listed_reads
from db.reads import Reads
from db.store import PostgresStore
from memquorum.core import ids
from memquorum.core.access import Sight
from memquorum.core.accounts.pages import EFFECTS, Decided, Given, Standing
from memquorum.core.avro import Codec
from memquorum.core.ids import shard_of
from memquorum.core.journal.rows import RowKeys
from memquorum.core.orders.table import GIVEN
from memquorum.core.records import ErasedEpisode, Proposal
from memquorum.core.retrieval.query import ALL, Filters
from tests.builders import erasures, protections, votes
from tests.builders.configured import carried_out
from tests.builders.genesis import make, public_key
from tests.builders.protections import order_id
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import clear

GENESIS = make()
SIGHT, EVERYWHERE = Sight((NAMESPACE,)), Sight(("*",))
THEIRS = next(name for name in (f"mill-{at}" for at in range(99)) if shard_of(name, GENESIS.shards) == 0)
A, B, C, SECRET = (memory_id(name) for name in ("a", "b", "c", "secret"))
ASKED = f"forget/{ids.memory_id('orders', 'theirs')}"
"""For which an epoch of both was opened: an order of the other's."""
MAY = Filters(purpose="billing")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """Pins, holds and goals of two tenants, of which one is of a memory that is for billing alone; orders of each kind;
    epochs with votes of either, of both, and one that gave a member another key."""
    shard = Shard(codec, GENESIS)
    for name in "abc":
        shard.episode(name)
    shard.episode("secret", purposes=("billing",))
    shard.episode("theirs", namespace=THEIRS)
    shard.tick(200_000)

    def protect(action: str, about: str, number: int, **said: Any) -> None:
        said = {"cluster": GENESIS.cluster} | said
        shard.protect(protections.accepted(codec, action, about, number, **said))

    protect("pin", A, 1)
    protect("pin", SECRET, 2, ordered_by="key 1", reference=None)
    protect("pin", B, 3, ordered_by="key 1", reference="ticket-7")
    protect("hold", C, 4)
    protect("need", A, 5, reference="sow")
    protect("need", SECRET, 6, reference="sow", ordered_by="ada")
    protect("need", SECRET, 7, reference="tell", ordered_by="ada")
    protect("need", B, 8, reference="water")
    theirs = memory_id("theirs", THEIRS)
    protect("pin", theirs, 9, namespace=THEIRS)
    protect("need", theirs, 10, namespace=THEIRS, reference="grind")
    shard.decide([votes.proposal(A, "promote"), votes.proposal(theirs, "promote", namespace=THEIRS)], trigger=ASKED)
    shard.tick(300_000)
    carried_out(shard, "rotate", member=1, public_key=public_key("member:1'"))
    shard.decide([votes.proposal(theirs, "demote", namespace=THEIRS)], votes.nobody)
    shard.tick(400_000)
    shard.decide([Proposal((SECRET, B), NAMESPACE, "overrule", "contradicted", 0, 0, 0)], votes.nobody)
    for number, name in enumerate("xyz"):
        shard.episode(name)
        ordered = {"namespace": NAMESPACE, "order_id": ids.memory_id("orders", f"e{number}")}
        order = erasures.ordered(GENESIS, "memory", memory_id(name), **ordered)
        record = erasures.accepted(order, erasures.signed(codec, GENESIS, order), 500_000 + number)
        gone = [ErasedEpisode(memory_id(one), "stored") for one in (name, f"{name}{name}")]
        if name == "y":
            shard.withhold(record, C)
        else:
            shard.erase(record, gone, most=1)
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


async def protected(reads: Reads, kind: str, gates: Filters = ALL, **wanted: Any) -> list[str]:
    page = Standing(namespace=NAMESPACE, limit=20, gates=gates, kind=kind, **{"behind": 2**62} | wanted)
    return [one.memory_id for one, _ in await reads.protections(SIGHT, page)]


async def test_pins_and_holds_that_stand_the_latest_first_of_what_passes(reads: Reads) -> None:
    assert await protected(reads, "pin") == [B, A]
    assert await protected(reads, "pin", MAY) == [B, SECRET, A]
    assert await protected(reads, "hold") == [C]
    assert await protected(reads, "pin", ordered_by="key 1") == [B]
    assert await protected(reads, "pin", reference="case-3") == [A]
    assert await protected(reads, "pin", memory_id=A) == [A]
    assert await protected(reads, "pin", memory_id=SECRET) == []
    assert await protected(reads, "pin", since=5_001) == await protected(reads, "pin", until=5_000) == []
    first = await reads.protections(SIGHT, Standing(namespace=NAMESPACE, limit=1, gates=MAY, kind="pin", behind=2**62))
    assert [one.memory_id for one, _ in first] == [B, SECRET], "one more than the page, since there is more"
    assert await protected(reads, "pin", MAY, behind=first[0][1]) == [SECRET, A]
    told = first[0][0]
    assert (told.order_id, told.ordered_by, told.reference, told.signer) == (
        order_id(3),
        "key 1",
        "ticket-7",
        "operator",
    )


async def goals(reads: Reads, gates: Filters = ALL, **wanted: Any) -> list[tuple[str, int, tuple[str, ...]]]:
    return [one[:3] for one in await reads.goals(SIGHT, Standing(namespace=NAMESPACE, limit=20, gates=gates, **wanted))]


async def test_goals_that_are_active_by_name_with_what_passes_of_what_they_need(reads: Reads) -> None:
    sow, water = ("goal:sow", 1, (A,)), ("goal:water", 1, (B,))
    assert await goals(reads) == [sow, water], "of one that needs nothing else nothing is told"
    whole = ("goal:sow", 2, tuple(sorted((A, SECRET))))
    assert await goals(reads, MAY) == [whole, ("goal:tell", 1, (SECRET,)), water]
    assert await goals(reads, MAY, behind="goal:sow") == [("goal:tell", 1, (SECRET,)), water]
    assert await goals(reads, goals=("goal:water", "goal:grind")) == [water]
    assert await goals(reads, MAY, memory_id=A) == [whole]
    assert await goals(reads, memory_id=SECRET) == []
    assert await goals(reads, since=5_001) == await goals(reads, until=5_000) == []
    (one, *_) = await reads.goals(SIGHT, Standing(namespace=NAMESPACE, limit=20, gates=MAY))
    assert one[3:] == (5_000, ("ada", "counsel"))


async def given(reads: Reads, codec: Codec, effects: tuple[str, ...] = EFFECTS, **wanted: Any) -> list[str]:
    page = Given(namespace=NAMESPACE, limit=wanted.pop("limit", 20), effects=effects, **wanted)
    return [one.order_id for one, _ in await reads.orders_given(SIGHT, codec, page)]


async def test_orders_of_each_kind_the_latest_first_each_once_as_it_is_told_by_its_id(
    reads: Reads, codec: Codec
) -> None:
    erased = [ids.memory_id("orders", f"e{number}") for number in (2, 1, 0)]
    own = [order_id(number) for number in range(8, 0, -1)]
    assert await given(reads, codec) == [*erased, *own]
    assert await given(reads, codec, ("erased",)) == [erased[0], erased[2]]
    assert await given(reads, codec, ("withheld",)) == [erased[1]]
    assert await given(reads, codec, ("requested",)) == []
    assert await given(reads, codec, since=400_000) == erased and await given(reads, codec, until=400_000) == own
    found = await reads.orders_given(SIGHT, codec, Given(namespace=NAMESPACE, limit=20, effects=EFFECTS))
    assert await given(reads, codec, limit=2) == erased, "one more than the page, since there is more"
    assert await given(reads, codec, behind=found[1][1]) == [erased[2], *own]
    assert [one for one, _ in found] == [await reads.order(SIGHT, codec, one.order_id) for one, _ in found]
    assert found[0][0].took is not None and found[0][0].took.episodes == 2


async def test_an_index_finds_a_page_of_orders(reads: Reads, databases: tuple[str, str]) -> None:
    """The index says its effects in the words of the statement, which are those of what somebody gives."""
    named = ", ".join(f"'{effect}'" for kind in GIVEN for effect in kind.effects)
    with psycopg.connect(databases[0]) as connection:
        rows = connection.execute("SELECT pg_get_indexdef('journal_given'::regclass)").fetchone()
        assert rows is not None and all(f"'{effect}'::text" in rows[0] for effect in EFFECTS)
        assert rows[0].count("::text") - rows[0].count("::text[]") == len(EFFECTS)
        connection.execute("SET enable_seqscan = off")
        plan = connection.execute(
            f"EXPLAIN SELECT FROM journal WHERE namespace = 'n' AND effect IN ({named}) ORDER BY seq DESC LIMIT 5"
        ).fetchall()
    assert "journal_given" in str(plan), plan


async def epochs(reads: Reads, gates: Filters = ALL, **wanted: Any) -> list[tuple[int, dict[str, int]]]:
    page = Decided(namespace=NAMESPACE, shard=0, limit=wanted.pop("limit", 20), gates=gates, **wanted)
    return [(one.epoch, one.outcomes) for one in await reads.epochs(SIGHT, page)]


async def test_epochs_tell_a_namespace_how_its_own_proposals_ended(reads: Reads) -> None:
    assert await epochs(reads) == [(1, {"promoted": 1})]
    assert await epochs(reads, MAY) == [(4, {"kept": 1}), (1, {"promoted": 1})]
    (one,) = await reads.epochs(SIGHT, Decided(namespace=NAMESPACE, shard=0, limit=20, gates=ALL))
    assert (one.trigger, one.as_of, one.config) == ("forget", 200_000, 0), "whose order it was is not told"
    assert await epochs(reads, MAY, kinds=("overrule",)) == [(4, {"kept": 1})]
    assert await epochs(reads, MAY, behind=4) == await epochs(reads, MAY, until=400_000) == [(1, {"promoted": 1})]
    assert await epochs(reads, MAY, since=400_000) == [(4, {"kept": 1})]
    assert len(await epochs(reads, MAY, limit=1)) == 2, "one more than the page, since there is more"


async def test_who_sees_everything_is_told_all_epochs_of_a_shard(reads: Reads) -> None:
    whole = await reads.epochs(EVERYWHERE, Decided(namespace=None, shard=0, limit=20, gates=Filters()))
    assert [(one.epoch, one.outcomes, one.config) for one in whole] == [
        (4, {"kept": 1}, 1), (3, {"kept": 1}, 1), (2, {"configured": 1}, 0), (1, {"promoted": 2}, 0),
    ]  # fmt: skip
    assert [one.trigger for one in whole][2:] == ["order", "forget"]
    configured = await reads.epochs(
        EVERYWHERE, Decided(namespace=None, shard=0, limit=20, gates=Filters(), kinds=("configure",))
    )
    assert [one.epoch for one in configured] == [2]
    assert await reads.epochs(EVERYWHERE, Decided(namespace=None, shard=1, limit=20, gates=Filters())) == []
    assert await reads.epochs(SIGHT, Decided(namespace=None, shard=0, limit=20, gates=Filters())) == []


async def test_when_a_configuration_was_decided_on(reads: Reads) -> None:
    assert await reads.configured_at(0) == {1: (2, 300_000)} and await reads.configured_at(1) == {}


async def strange(reads: Reads, codec: Codec) -> list[Any]:
    """All that a tenant finds who asks for the other's lists."""
    sight = Sight((THEIRS,))
    return [
        await reads.goals(sight, Standing(namespace=NAMESPACE, limit=20, gates=MAY)),
        await reads.protections(sight, Standing(namespace=NAMESPACE, limit=20, gates=MAY, kind="pin", behind=2**62)),
        await reads.orders_given(sight, codec, Given(namespace=NAMESPACE, limit=20, effects=EFFECTS)),
        await reads.epochs(sight, Decided(namespace=NAMESPACE, shard=0, limit=20, gates=MAY)),
    ]


async def test_another_tenant_finds_its_own_alone(reads: Reads, codec: Codec) -> None:
    assert await strange(reads, codec) == [[], [], [], []]
    (pin,) = await reads.protections(
        Sight((THEIRS,)), Standing(namespace=THEIRS, limit=20, gates=MAY, kind="pin", behind=2**62)
    )
    assert pin[0].memory_id == memory_id("theirs", THEIRS)


async def test_without_its_own_check_row_security_holds(
    reads: Reads, codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_reads, "covers", lambda *_: True)
    assert await strange(reads, codec) == [[], [], [], []]


async def test_without_row_security_its_own_check_holds(reads: Reads, codec: Codec, databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0], autocommit=True) as connection:
        for table in ("protection", "memory", "journal", "erasure", "outcome", "decision"):
            connection.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")  # type: ignore[call-overload]
    assert await strange(reads, codec) == [[], [], [], []]
    assert await goals(reads)
