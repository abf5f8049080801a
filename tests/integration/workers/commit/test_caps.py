"""Caps on a real Kafka and a real Postgres: no vote forgets more than they allow, however much is nominated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from db.schedule import PostgresSchedule
from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum.core import caps
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.policy import ForgetPolicy
from memquorum.core.records import Decided
from tests.builders import genesis
from tests.builders.policies import by_the_paper
from tests.support.commit_process import MASTER
from tests.support.flow import Flow, journal_of
from tests.support.watch import Worker, await_seq, rows
from tests.support.whole import check_whole

GENESIS = genesis.make(policy=by_the_paper(forget=ForgetPolicy(grace_ms=0)))
SHARD = 1
TICK = 1_000_000
DAY = 24 * 3600 * 1000


@pytest.fixture
def flow(fresh_kafka: str, databases: tuple[str, str], codec: Codec) -> Flow:
    return Flow(fresh_kafka, codec, GENESIS, PostgresVault(databases[1], MASTER))


@pytest.fixture
def worker(flow: Flow, databases: tuple[str, str]) -> Iterator[Worker]:
    with Worker(flow.bootstrap, flow.codec, databases, genesis=GENESIS) as found:
        yield found


def test_who_nominates_everything_gets_what_the_caps_leave(
    flow: Flow, worker: Worker, databases: tuple[str, str], postgres: Postgres
) -> None:
    names = [f"e{i}" for i in range(16)]
    flow.episodes(SHARD, names)
    for epoch, at in enumerate((TICK, TICK + 1, TICK + 1 + DAY), 1):
        tick = flow.tick(SHARD, at)
        proposals = [flow.proposal(SHARD, name, "forget") for name in names]
        flow.decide(SHARD, proposals, as_of=at, accepted_offset=tick)
        flow.flush()
        # A tick, a decision, and keys destroyed: here there is no grace.
        await_seq(databases, SHARD, 16 + 3 * epoch, worker)
    decided = [e for e in journal_of(flow.bootstrap, flow.codec, SHARD, 25) if e.effect == "decided"]
    ends = [
        Counter((r.outcome, r.reason) for r in flow.codec.decode_as(Decided, entry.detail).results) for entry in decided
    ]
    assert ends == [
        {("forgotten", "quorum"): 3, ("kept", "cap"): 13},
        {("forgotten", "quorum"): 1, ("kept", "cap"): 12, ("voided", "gone already"): 3},  # 4 of 16 within the day
        {("forgotten", "quorum"): 3, ("kept", "cap"): 9, ("voided", "gone already"): 4},
    ]
    namespace, asked = flow.namespace(SHARD), PostgresSchedule(databases[0])
    losses = asked.losses([namespace], caps.since(TICK + 1 + DAY, GENESIS.policy.caps))
    asked.close()
    assert losses == {namespace: Losses(9, ((TICK + 1 + DAY, 3),))}
    assert rows(databases, "SELECT epoch, forgotten, held_back FROM let_go ORDER BY epoch") == [
        (1, 3, 13), (2, 1, 12), (3, 3, 9),
    ]  # fmt: skip
    check_whole(flow.bootstrap, GENESIS, flow.codec, databases[0], vault=flow.vault, postgres=postgres)
