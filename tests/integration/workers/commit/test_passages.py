"""Vectors of a long text's passages come and go with the text, on a real broker and a real Postgres."""

from __future__ import annotations

from collections.abc import Iterator

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
MORE = " Nobody had told the night shift that the harbour office had moved to the second floor." * 20
COUNT = len(passages(f"Valve a opens at 4 bar.{MORE}"))


@pytest.fixture
def vault(databases: tuple[str, str]) -> PostgresVault:
    return PostgresVault(databases[1], MASTER)


@pytest.fixture
def flow(fresh_kafka: str, codec: Codec, vault: PostgresVault) -> Flow:
    found = Flow(fresh_kafka, codec, GENESIS, vault)
    found.more = MORE
    return found


@pytest.fixture
def worker(flow: Flow, databases: tuple[str, str]) -> Iterator[Worker]:
    with Worker(flow.bootstrap, flow.codec, databases, genesis=GENESIS) as worker:
        yield worker


def vectors(databases: tuple[str, str]) -> dict[str, tuple[int, str]]:
    """Returns, for each memory with passages, their number and their encoder."""
    found = rows(databases, "SELECT memory_id::text, count(*), min(encoder) FROM sentence GROUP BY 1")
    return {name: (count, encoder) for name, count, encoder in found}


def test_what_takes_a_long_text_takes_its_passages_and_what_brings_it_back_brings_them(
    flow: Flow, worker: Worker, databases: tuple[str, str], vault: PostgresVault, postgres: Postgres
) -> None:
    namespace = flow.namespace(SHARD)
    a, b, c, d = (memory_id(namespace, name) for name in "abcd")
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["a"], subject="ada")
    flow.episodes(SHARD, ["b"])
    flow.episodes(SHARD, ["c"], explicit=True, slot="s" * 32)
    flow.flush()
    await_seq(databases, SHARD, 4, worker)
    assert vectors(databases) == dict.fromkeys((a, b, c), (COUNT, "random"))

    flow.episodes(SHARD, ["d"], explicit=True, slot="s" * 32)
    flow.flush()
    await_seq(databases, SHARD, 5, worker)
    assert set(vectors(databases)) == {a, b, d}, "superseded"

    flow.tick(SHARD, 5_000)
    flow.decide(SHARD, [flow.proposal(SHARD, "b", "forget")], as_of=5_000)
    flow.flush()
    await_seq(databases, SHARD, 7, worker)
    assert set(vectors(databases)) == {a, d}, "sealed"

    order = votes.restore(GENESIS, b, namespace=namespace, order_id=memory_id("requests", "1"))
    data = votes.signed(flow.codec, GENESIS, "operator", order)
    asked = OrderAccepted(order.order_id, "restore", namespace, order.memory_ids, data, 6_000, topics.RESTORES, 0, 0)
    offset = flow.accepted(SHARD, asked)
    flow.tick(SHARD, 6_000)
    flow.epoch[SHARD] += 1
    flow.certificate(SHARD, *votes.restoring(
        flow.codec, GENESIS, OrderFound(data, 6_000, offset), order,
        shard=SHARD, epoch=flow.epoch[SHARD], as_of=6_000, accepted_offset=offset + 1,
    ))  # fmt: skip
    flow.flush()
    await_seq(databases, SHARD, 10, worker)
    assert vectors(databases) == dict.fromkeys((a, b, d), (COUNT, "random")), "restored"

    encoder = HashingEncoder(64)
    found = reencode.run(flow.bootstrap, flow.codec, memory_dsn=databases[0], vault=vault, encoder=encoder, stop=Stop())
    assert (found.left, found.failed) == (0, ())
    assert vectors(databases) == dict.fromkeys((a, b, d), (COUNT, encoder.name)), "encoded anew"

    wanted = erasures.ordered(GENESIS, namespace=namespace, order_id=memory_id("orders", "1"))
    flow.accepted(SHARD, erasures.accepted(wanted, erasures.signed(flow.codec, GENESIS, wanted), 7_000))
    flow.flush()
    await_seq(databases, SHARD, 14, worker)
    assert set(vectors(databases)) == {b, d}, "erased"
    assert rows(databases, "SELECT count(*) FROM sentence WHERE memory_id = %s", a) == [(0,)]
    assert set(vault.open([a, b, d])) == {b, d}, "what lies sealed in the topics cannot be opened any more"
    check_journal(databases, flow.codec, SHARD, GENESIS)
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=vault, postgres=postgres)
