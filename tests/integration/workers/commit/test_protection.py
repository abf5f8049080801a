"""Pins and holds on a real Kafka and a real Postgres: what they keep, and that a rebuild and an audit know them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from db import erasure_rows
from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.journal.withheld import Again
from memquorum.core.records import Decided, Protected, Withheld
from tests.builders import erasures, protections
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow, journal_of
from tests.support.watch import Worker, await_seq, rows
from tests.support.whole import check_whole

SHARD = 1
TICK = 1_000_000


@pytest.fixture
def flow(fresh_kafka: str, databases: tuple[str, str], codec: Codec) -> Flow:
    return Flow(fresh_kafka, codec, GENESIS, PostgresVault(databases[1], MASTER))


@pytest.fixture
def worker(flow: Flow, databases: tuple[str, str]) -> Iterator[Worker]:
    with Worker(flow.bootstrap, flow.codec, databases) as found:
        yield found


def protect(flow: Flow, action: str, name: str, number: int) -> None:
    mine = flow.namespace(SHARD)
    said = {"cluster": GENESIS.cluster, "namespace": mine}
    flow.accepted(SHARD, protections.accepted(flow.codec, action, memory_id(mine, name), number, **said))


def to_order_again(databases: tuple[str, str], codec: Codec) -> list[Again]:
    with psycopg.connect(databases[0]) as connection:
        return erasure_rows.to_order_again(connection, codec)


def order(flow: Flow, number: int) -> None:
    said = {"namespace": flow.namespace(SHARD), "order_id": memory_id("orders", str(number))}
    wanted = erasures.ordered(GENESIS, **said)
    flow.accepted(SHARD, erasures.accepted(wanted, erasures.signed(flow.codec, GENESIS, wanted), TICK + number))


def test_what_is_pinned_stays_and_what_is_held_is_not_erased(
    flow: Flow, worker: Worker, databases: tuple[str, str], postgres: Postgres
) -> None:
    flow.episodes(SHARD, ["a", "b", "c", "d"], subject="ada")
    protect(flow, "pin", "a", 1)
    protect(flow, "hold", "b", 2)
    protect(flow, "need", "d", 4)
    tick = flow.tick(SHARD, TICK)
    flow.decide(SHARD, [flow.proposal(SHARD, n, "forget") for n in "abcd"], as_of=TICK, accepted_offset=tick)
    flow.flush()
    # Four episodes, three orders, a tick; a decision, and the key of c destroyed: here there is no grace.
    await_seq(databases, SHARD, 10, worker)
    order(flow, 1)
    flow.flush()
    await_seq(databases, SHARD, 11, worker)
    assert rows(databases, "SELECT tier, count(*) FROM memory GROUP BY 1 ORDER BY 1") == [
        ("gone", 1),
        ("short-term", 3),
    ]
    assert rows(databases, "SELECT kind FROM protection ORDER BY 1") == [("goal:case-3",), ("hold",), ("pin",)]
    protect(flow, "release", "b", 3)
    # Published again it stays withheld, and so it has to be ordered anew; so is the hold, published again, none.
    order(flow, 1)
    protect(flow, "hold", "b", 2)
    flow.flush()
    await_seq(databases, SHARD, 14, worker)
    assert [one.held for one in to_order_again(databases, flow.codec)] == [()]
    order(flow, 2)
    flow.flush()
    await_seq(databases, SHARD, 15, worker)
    assert to_order_again(databases, flow.codec) == []

    entries = journal_of(flow.bootstrap, flow.codec, SHARD, 15)
    assert [entry.effect for entry in entries[11:]] == ["protected", "repeated", "repeated", "erased"]
    details = [flow.codec.decode(entry.detail) for entry in entries]
    assert [d.applied for d in details if isinstance(d, Protected)] == [*[True] * 4, False]
    (decided,) = (d for d in details if isinstance(d, Decided))
    assert [(r.outcome, r.reason) for r in decided.results] == [
        ("voided", "protected"), ("voided", "protected"), ("forgotten", "quorum"), ("voided", "protected"),
    ]  # fmt: skip
    assert [d.held for d in details if isinstance(d, Withheld)] == [(memory_id(flow.namespace(SHARD), "b"),)]
    assert rows(databases, "SELECT tier, count(*) FROM memory GROUP BY 1") == [("gone", 4)]
    assert rows(databases, "SELECT count(*) FROM protection") == [(0,)]

    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=flow.vault, postgres=postgres)
