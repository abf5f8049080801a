"""Memories that a newer one replaced are kept only for reads of the past: on a real broker and a real Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.policy import NO_CAPS, ForgetPolicy
from memquorum.core.reading.passages import passages
from memquorum.core.records import OrderAccepted, OrderFound
from memquorum.encoders.hashing import HashingEncoder
from tests.builders import erasures, genesis, votes
from tests.builders.policies import by_the_paper
from tests.support.commit_process import MASTER
from tests.support.flow import Flow
from tests.support.watch import Worker, await_seq, check_journal, rows
from tests.support.whole import check_whole
from workers.kafka.loop import Stop
from workers.upkeep import reencode

SHARD = 2
GENESIS = genesis.make(
    policy=by_the_paper(forget=ForgetPolicy(grace_ms=1_000_000), caps=NO_CAPS), **erasures.entitled()
)
SLOT: dict[str, Any] = {"explicit": True, "slot": "s" * 32}
NOTHING: dict[str, Any] = SLOT | {"clears": True}
LONG = " Nobody had told the night shift that the harbour office had moved to the second floor." * 20


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


def replaced(databases: tuple[str, str]) -> dict[str, str]:
    """By memory that is kept for reads of the past, the one that took its place."""
    return dict(rows(databases, "SELECT memory_id::text, newer::text FROM replaced"))


def served(databases: tuple[str, str]) -> set[str]:
    """The memories of which any other table holds content."""
    tables = ("content", "embedding", "sentence")
    found = " UNION ".join(f"SELECT memory_id::text FROM {table}" for table in tables)
    return {name for (name,) in rows(databases, found)}


def restore(flow: Flow, name: str, seq: int) -> None:
    """A request to bring a memory back, and the vote that grants it."""
    order = votes.restore(GENESIS, name, namespace=flow.namespace(SHARD), order_id=memory_id("requests", name))
    data = votes.signed(flow.codec, GENESIS, "operator", order)
    at = 6_000 + seq
    asked = OrderAccepted(order.order_id, "restore", order.namespace, order.memory_ids, data, at, topics.RESTORES, 0, 0)
    offset = flow.accepted(SHARD, asked)
    flow.tick(SHARD, at)
    flow.epoch[SHARD] += 1
    flow.certificate(SHARD, *votes.restoring(
        flow.codec, GENESIS, OrderFound(data, at, offset), order,
        shard=SHARD, epoch=flow.epoch[SHARD], as_of=at, accepted_offset=offset + 1,
    ))  # fmt: skip


def test_what_is_replaced_moves_and_goes_with_the_memory(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    namespace, flow.more = flow.namespace(SHARD), LONG
    a, b, c, x = (memory_id(namespace, name) for name in "abcx")
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["a"], **SLOT)
    flow.episodes(SHARD, ["x"])
    flow.flush()
    await_seq(databases, SHARD, 3, worker)
    assert (replaced(databases), served(databases)) == ({}, {a, x})

    # One that was stored before, and one that comes and goes within a batch.
    flow.episodes(SHARD, ["b", "c"], subject="ada", at=1_100, **SLOT)
    flow.flush()
    await_seq(databases, SHARD, 5, worker)
    assert (replaced(databases), served(databases)) == ({a: b, b: c}, {c, x})
    kept = rows(databases, "SELECT body, encoder, array_length(passages, 1) FROM replaced WHERE memory_id = %s", a)
    assert kept == [(f"Valve a opens at 4 bar.{LONG}", "random", len(passages(f"Valve a opens at 4 bar.{LONG}")))]
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)

    encoder = HashingEncoder(64)
    reencode.run(flow.bootstrap, flow.codec, memory_dsn=databases[0], vault=vault, encoder=encoder, stop=Stop())
    # Two living memories. A replaced one keeps its vectors.
    await_seq(databases, SHARD, 7, worker)
    assert rows(databases, "SELECT DISTINCT encoder FROM replaced") == [("random",)]

    restore(flow, a, 1)
    flow.flush()
    await_seq(databases, SHARD, 10, worker)
    assert (replaced(databases), served(databases)) == ({b: c}, {a, c, x})

    wanted = erasures.ordered(GENESIS, namespace=namespace, order_id=memory_id("orders", "1"))
    flow.accepted(SHARD, erasures.accepted(wanted, erasures.signed(flow.codec, GENESIS, wanted), 7_000))
    flow.flush()
    await_seq(databases, SHARD, 11, worker)
    assert (replaced(databases), served(databases)) == ({}, {a, x}), "those of the subject are erased"
    check_journal(databases, flow.codec, SHARD, GENESIS)
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)


def test_what_is_cleared_takes_with_it_what_filled_the_slot_before(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    namespace = flow.namespace(SHARD)
    a, b, d, e, h, i = (memory_id(namespace, name) for name in "abdehi")
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["h", "i"], **SLOT | {"slot": "t" * 32})
    flow.episodes(SHARD, ["a", "b"], **SLOT)
    flow.flush()
    await_seq(databases, SHARD, 5, worker)
    assert replaced(databases) == {a: b, h: i}
    flow.episodes(SHARD, ["nothing"], outcome="cleared", at=1_200, **NOTHING)
    flow.flush()
    await_seq(databases, SHARD, 6, worker)
    assert (replaced(databases), served(databases)) == ({h: i}, {i}), "of another slot nothing goes"
    flow.episodes(SHARD, ["d", "e"], at=1_300, **SLOT)
    flow.flush()
    await_seq(databases, SHARD, 8, worker)
    assert replaced(databases) == {d: e, h: i}, "what fills it later is told of"
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)


def test_a_store_of_before_is_right_without_what_was_superseded_then(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["a", "b", "c"], **SLOT)
    flow.flush()
    await_seq(databases, SHARD, 4, worker)
    with psycopg.connect(databases[0]) as link:  # as the migration leaves it
        link.execute("DELETE FROM replaced")
        link.execute("UPDATE shard SET replaced_after = seq")
    flow.episodes(SHARD, ["d"], at=1_100, **SLOT)
    flow.flush()
    await_seq(databases, SHARD, 5, worker)
    namespace = flow.namespace(SHARD)
    assert replaced(databases) == {memory_id(namespace, "c"): memory_id(namespace, "d")}
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)
    with psycopg.connect(databases[0]) as link:
        link.execute("DELETE FROM replaced")
    with pytest.raises(AssertionError, match="replaced"):
        check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)
