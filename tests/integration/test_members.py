"""Another membership on a real Kafka: ordered, voted on, and followed by replicas, commit worker, store and auditor."""

from __future__ import annotations

import threading
from pathlib import Path

from db.schedule import PostgresSchedule
from db.vault import PostgresVault
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.membership import load
from memquorum.core.records import DecayCrossed, Standing
from streams.nomination import Nomination
from streams.stage import Arrival
from tests.integration.replicas import HOUR, START, Decisions, Replicas, World
from tests.unit.genesis import make_bytes, seed_of
from tests.unit.votes import order, signed
from workers import audit, commit, configurations, orders
from workers.loop import Stop

LATE = START + 10 * HOUR
SHARD = 0


def test_a_weight_and_a_removal_are_decided_while_epochs_go_on(
    fresh_kafka: str, databases: tuple[str, str], codec: Codec, tmp_path: Path
) -> None:
    made = make_bytes(5, shards=1, agents={f"agent-{i}": i for i in range(5)})
    genesis = load(made)
    replicas, stop, ready = Replicas(fresh_kafka, made, tmp_path), Stop(), threading.Event()
    world, decisions = World(fresh_kafka, genesis, codec), Decisions(fresh_kafka, genesis, codec)
    schedule, given = PostgresSchedule(databases[0]), orders.KafkaOrders(fresh_kafka, look_s=0)
    stage = Nomination(codec, genesis, seed_of("service:nomination"), schedule, given)
    worker = threading.Thread(
        target=commit.run,
        args=(fresh_kafka, genesis, codec),
        kwargs={
            "memory_dsn": databases[0], "vault": PostgresVault(databases[1], bytes(32)),
            "journal_seed": seed_of("service:journal"), "stop": stop, "ready": ready.set,
        },
    )  # fmt: skip

    def nominate(epoch: int) -> bool:
        """A tick at which nothing is due; whether there was an order to be voted on."""
        standing = Standing(epoch - 1, LATE, 0, 0)
        tick = DecayCrossed(SHARD, LATE, world.offsets[SHARD], epoch, (), standing)
        outputs = stage.process([Arrival(SHARD, epoch, codec.encode(tick))])
        for output in outputs:
            world.flood(topics.NOMINATIONS, SHARD, [output.value])
        return bool(outputs)

    def applied(count: int) -> None:
        """The commit worker has applied so many decisions about members, and published them."""
        for _ in range(200):
            if configurations.read(fresh_kafka, genesis, codec)[SHARD].config == count:
                return
            stop.wait(0.05)
        raise AssertionError("the journal does not come to the configuration")

    try:
        world.tick(SHARD, LATE)
        worker.start()
        replicas.start(0, 1, 2, 3, 4)
        assert not nominate(1)
        world.nominate(SHARD, 1, LATE, ["00000000-0000-5000-8000-000000000001"])
        decisions.wait((SHARD, 1), seconds=30)
        wanted = order(genesis, "weight", member=2, weight_milli=1100)
        orders.publish(fresh_kafka, [(wanted, signed(codec, genesis, "operator", wanted))])
        assert nominate(2)
        (checked,) = decisions.wait((SHARD, 2), seconds=30)
        one = checked.configures
        assert one is not None and one.members[2].weight_milli == 1100
        applied(1)
        # It was carried out, so it is not nominated again; and what follows from it is.
        assert not nominate(3)
        wanted = order(one, "remove", member=4)
        orders.publish(fresh_kafka, [(wanted, signed(codec, one, "operator", wanted))])
        assert nominate(3)
        (checked,) = decisions.wait((SHARD, 3), seconds=30)
        two = checked.configures
        assert two is not None and [m.id for m in two.members] == [0, 1, 2, 3]
        applied(2)
        world.nominate(SHARD, 4, LATE, ["00000000-0000-5000-8000-000000000002"], config=2)
        (checked,) = decisions.wait((SHARD, 4), seconds=30)
        assert checked.body.config == 2 and 4 not in {ballot.member for ballot in checked.ballots}
        assert replicas.stop() == dict.fromkeys(range(5), 0)
        stop.set()
        worker.join(20)
        report = audit.verify(fresh_kafka, genesis, codec, databases[0])
        assert report.ok, [finding for shard in report.shards for finding in shard.findings]
        assert [shard.counts.decisions for shard in report.shards] == [4]
        assert [shard.counts.checkpoints for shard in report.shards] == [2]
    finally:
        stop.set()
        replicas.clean_up()
        worker.join(20)
        schedule.close()
        world.close()
        decisions.close()
