"""Forgotten memories are restored on a real broker and a real Postgres: whole, once, and never behind an erasure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from db.stored_orders import PostgresStoredOrders
from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.policy import NO_CAPS, ForgetPolicy
from memquorum.core.records import (
    DecayCrossed,
    MemoryReencoded,
    OrderAccepted,
    OrderFound,
    RestoreOrdered,
    Standing,
)
from streams.order_queue import OpenOrders
from tests.builders import erasures, genesis, votes
from tests.builders.policies import by_the_paper
from tests.support.commit_process import MASTER
from tests.support.flow import Flow
from tests.support.watch import Worker, await_seq, check_journal, rows
from tests.support.whole import check_whole

SHARD = 2
GENESIS = genesis.make(
    policy=by_the_paper(forget=ForgetPolicy(grace_ms=1_000_000), caps=NO_CAPS), **erasures.entitled()
)


@pytest.fixture
def vault(databases: tuple[str, str]) -> PostgresVault:
    return PostgresVault(databases[1], MASTER)


@pytest.fixture
def flow(fresh_kafka: str, codec: Codec, vault: PostgresVault) -> Flow:
    return Flow(fresh_kafka, codec, GENESIS, vault)


@pytest.fixture
def worker(flow: Flow, databases: tuple[str, str]) -> Iterator[Worker]:
    with Worker(flow.bootstrap, flow.codec, databases, genesis=GENESIS) as worker:
        yield worker


def ask(flow: Flow, at: int, *ids: str, number: str = "1") -> tuple[RestoreOrdered, OrderFound]:
    """A request of the operator's, and the tick after it."""
    order = votes.restore(GENESIS, *ids, namespace=flow.namespace(SHARD), order_id=memory_id("requests", number))
    data = votes.signed(flow.codec, GENESIS, "operator", order)
    offset = flow.accepted(
        SHARD,
        OrderAccepted(order.order_id, "restore", order.namespace, order.memory_ids, data, at, topics.RESTORES, 0, 0),
    )
    flow.tick(SHARD, at)
    return order, OrderFound(data, at, offset)


def decide(flow: Flow, asked: tuple[RestoreOrdered, OrderFound], **more: Any) -> None:
    order, found = asked
    flow.epoch[SHARD] += 1
    flow.certificate(SHARD, *votes.restoring(
        flow.codec, GENESIS, found, order,
        shard=SHARD, epoch=flow.epoch[SHARD], as_of=found.accepted_at, accepted_offset=found.offset + 1, **more,
    ))  # fmt: skip
    flow.flush()


def forget(flow: Flow, *names: str, at: int) -> None:
    flow.tick(SHARD, at)
    flow.decide(SHARD, [flow.proposal(SHARD, name, "forget") for name in names], as_of=at)
    flow.flush()


def reencode(flow: Flow, databases: tuple[str, str], name: str) -> None:
    own = memory_id(flow.namespace(SHARD), name)
    ((seq,),) = rows(databases, "SELECT seq FROM memory WHERE id = %s", own)
    sealed = sealing.seal_vector(flow.vault.open([own])[own], os.urandom(12), np.ones(384, np.float32), own)
    record = MemoryReencoded(own, flow.namespace(SHARD), "random", "ones", sealed, seq)
    flow._send(topics.REENCODED, SHARD, flow.codec.encode(record))
    flow.flush()


def stored(databases: tuple[str, str]) -> dict[str, tuple[Any, ...]]:
    """Returns the served memories, with the fields that change with use."""
    found = rows(
        databases,
        "SELECT m.id::text, m.tier, m.encoder, c.body, e.vector::text, s.accesses, s.reinforced, s.salience_ppm "
        "FROM memory m JOIN content c ON c.memory_id = m.id JOIN embedding e ON e.memory_id = m.id "
        "JOIN strength s ON s.memory_id = m.id",
    )
    return {row[0]: row[1:] for row in found}


def whole(flow: Flow, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres) -> None:
    """The journal redone, audited, and rebuilt to the same digest."""
    check_journal(databases, flow.codec, SHARD, GENESIS)
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)


def test_what_was_forgotten_comes_back_whole_and_a_rebuild_agrees(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    a, b, c = (memory_id(flow.namespace(SHARD), name) for name in "abc")
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["a", "b", "c"])
    flow.episodes(SHARD, ["echo"], outcome="reinforced", reinforces=a, salience=700_000)
    flow.access(SHARD, a, 1_500)
    flow.tick(SHARD, 2_000)
    flow.decide(SHARD, [flow.proposal(SHARD, "a", "promote")], votes.nobody, as_of=2_000)
    flow.flush()
    await_seq(databases, SHARD, 8, worker)
    reencode(flow, databases, "b")
    await_seq(databases, SHARD, 9, worker)
    before = stored(databases)
    assert (before[a][0], before[b][1], before[a][4:]) == ("short-term", "ones", (1, 1, 700_000))

    forget(flow, "a", "b", "c", at=5_000)
    await_seq(databases, SHARD, 11, worker)
    assert stored(databases) == {}
    decide(flow, ask(flow, 6_000, a, b))
    await_seq(databases, SHARD, 14, worker)
    assert stored(databases) == {a: before[a], b: before[b]}
    ((tier, until, touched, last),) = rows(
        databases,
        "SELECT m.tier, sealed_until, touched, last_access FROM memory m JOIN strength s ON s.memory_id = m.id "
        "WHERE m.id = %s", a,
    )  # fmt: skip
    assert (tier, until, touched, last) == ("short-term", None, flow.offset[SHARD] - 1, 6_000)
    assert set(vault.open([a, b, c])) == {a, b, c}
    whole(flow, databases, vault, postgres)

    # Used again, forgotten again, asked for again; one who lies withholds nothing, and alone restores nothing.
    flow.access(SHARD, a, 6_500)
    forget(flow, "a", at=7_000)
    decide(flow, ask(flow, 8_000, a, number="2"), vote=lambda member, _: member == 3)
    decide(flow, ask(flow, 9_000, a, number="3"), vote=lambda member, _: member != 3)
    await_seq(databases, SHARD, 23, worker)
    told = rows(databases, "SELECT epoch, outcome, yes FROM outcome WHERE memory_id = %s AND kind = 'restore'", a)
    assert [one[1:] for one in sorted(told)] == [("restored", 4), ("kept", 1), ("restored", 3)]
    assert stored(databases) == {a: (*before[a][:4], 2, 1, 700_000), b: before[b]}
    whole(flow, databases, vault, postgres)


def test_an_erasure_on_the_way_has_the_last_word_and_so_has_the_end_of_the_grace_time(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    a, b = (memory_id(flow.namespace(SHARD), name) for name in "ab")
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["a", "b"])
    forget(flow, "a", "b", at=5_000)
    await_seq(databases, SHARD, 5, worker)
    asked = ask(flow, 6_000, a)
    wanted = erasures.ordered(GENESIS, "memory", a, namespace=flow.namespace(SHARD))
    flow.accepted(SHARD, erasures.accepted(wanted, erasures.signed(flow.codec, GENESIS, wanted), 6_000))
    flow.tick(SHARD, 6_000)
    flow.flush()
    await_seq(databases, SHARD, 9, worker)
    decide(flow, asked)
    await_seq(databases, SHARD, 10, worker)
    assert rows(databases, "SELECT outcome, reason FROM outcome WHERE kind = 'restore'") == [("voided", "key gone")]
    assert rows(databases, "SELECT tier FROM memory WHERE id = %s", a) == [("gone",)]

    late = ask(flow, 7_000, b, number="2")
    flow.tick(SHARD, 2_000_000)
    flow.flush()
    await_seq(databases, SHARD, 14, worker)
    decide(flow, late)
    await_seq(databases, SHARD, 15, worker)
    assert rows(databases, "SELECT outcome FROM outcome WHERE kind = 'restore' ORDER BY epoch")[1:] == [("voided",)]
    assert rows(databases, "SELECT DISTINCT tier FROM memory") == [("gone",)] and not vault.open([a, b])
    assert stored(databases) == {}
    whole(flow, databases, vault, postgres)


def test_a_use_that_came_after_its_memory_was_forgotten_brings_it_back_by_a_vote(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    a = memory_id(flow.namespace(SHARD), "a")
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["a"])
    forget(flow, "a", at=5_000)
    await_seq(databases, SHARD, 4, worker)
    flow.access(SHARD, a, 5_001)
    flow.access(SHARD, a, 5_002)
    ticked_at = flow.tick(SHARD, 6_000)
    flow.flush()
    await_seq(databases, SHARD, 7, worker)
    orders = PostgresStoredOrders(databases[0])
    standing = Standing(1, 5_000, 2, 0, 0, 5_000)
    tick = DecayCrossed(SHARD, 6_000, accepted_offset=ticked_at, journal_seq=7, crossed=(), standing=standing)
    ((_, found, order),) = OpenOrders(flow.codec, GENESIS, orders).due(standing, tick, GENESIS.policy)
    orders.close()
    assert (order.memory_ids, found.accepted_at) == ((a,), 5_001)
    flow.epoch[SHARD] += 1
    flow.certificate(SHARD, *votes.restoring(
        flow.codec, GENESIS, found, order,
        shard=SHARD, epoch=flow.epoch[SHARD], as_of=6_000, accepted_offset=ticked_at,
    ))  # fmt: skip
    flow.flush()
    await_seq(databases, SHARD, 8, worker)
    assert rows(databases, "SELECT last_access, accesses FROM strength WHERE memory_id = %s", a) == [(5_001, 0)]
    assert a in stored(databases)
    whole(flow, databases, vault, postgres)
