"""Another membership on a real Kafka: ordered, voted on, and followed by replicas, commit worker, store and auditor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from db.schedule import PostgresSchedule
from db.stored_orders import PostgresStoredOrders
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import Checked
from memquorum.core.identity.membership import Genesis, load
from memquorum.core.identity.messages import open_any
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import Replay
from memquorum.core.policy import written
from memquorum.core.records import DecayCrossed, JournalHead, Standing
from memquorum.telemetry.bundle import Telemetry
from streams.nomination_stage import Nomination
from streams.stage import Arrival
from tests.builders.genesis import make_bytes, public_key, seed_of
from tests.builders.votes import order, signed
from tests.support.replicas import HOUR, START, Decisions, DerivedVault, Replicas, World
from tests.support.waiting import PATIENCE_S, until
from workers.audit import audited_configurations
from workers.audit import auditor as audit
from workers.commit import worker as commit
from workers.kafka.loop import Stop
from workers.kafka.partition import standing
from workers.upkeep import operator_topic

LATE = START + 10 * HOUR
SHARD = 0


@dataclass
class Shard:
    """One shard of five members, with the nomination stage by hand and a commit worker. `keys`: what their services
    find beside the first ones."""

    bootstrap: str
    databases: tuple[str, str]
    codec: Codec
    folder: Path
    keys: dict[str, list[bytes]] = field(default_factory=lambda: {"nomination": [], "journal": []})
    stop: Stop = field(default_factory=Stop)
    telemetry: Telemetry = field(default_factory=Telemetry)
    _worker: threading.Thread | None = None

    def __post_init__(self) -> None:
        made = make_bytes(5, shards=1, agents={f"agent-{i}": i for i in range(5)})
        self.genesis = load(made)
        self.replicas = Replicas(self.bootstrap, made, self.folder)
        self.world = World(self.bootstrap, self.genesis, self.codec)
        self.decisions = Decisions(self.bootstrap, self.genesis, self.codec)
        self._schedule, self._stored = PostgresSchedule(self.databases[0]), PostgresStoredOrders(self.databases[0])
        given = operator_topic.KafkaOrders(self.bootstrap, look_s=0)
        self._stage = Nomination(
            self.codec, self.genesis, seed_of("service:nomination"), self._schedule, self._stored, orders=given,
            further=lambda: self.keys["nomination"],
        )  # fmt: skip

    def start(self) -> None:
        self.commits(seed_of("service:journal"))
        self.replicas.start(0, 1, 2, 3, 4)

    def commits(self, seed: bytes) -> None:
        """The commit worker starts, with this key of its own first; a running one ends before."""
        self.stop.set()
        if self._worker is not None:
            self._worker.join(PATIENCE_S)
        self.stop = Stop()
        self._worker = threading.Thread(
            target=commit.run,
            args=(self.bootstrap, self.genesis, self.codec),
            kwargs={
                "memory_dsn": self.databases[0], "vault": DerivedVault(), "journal_seed": seed,
                "further": lambda: self.keys["journal"], "stop": self.stop, "telemetry": self.telemetry,
            },
        )  # fmt: skip
        self._worker.start()

    def order(self, genesis: Genesis, action: str, **changes: Any) -> None:
        wanted = order(genesis, action, **changes)
        operator_topic.publish_configurations(
            self.bootstrap, [(wanted, signed(self.codec, genesis, "operator", wanted))]
        )

    def nominate(self, epoch: int) -> bool:
        """A tick at which nothing is due; whether there was an order to be voted on, and it was nominated."""
        standing = Standing(epoch - 1, LATE, 0, 0)
        tick = DecayCrossed(SHARD, LATE, self.world.offsets[SHARD], epoch, (), standing)
        outputs = self._stage.process([Arrival(SHARD, epoch, self.codec.encode(tick))])
        for output in outputs:
            self.world.flood(topics.NOMINATIONS, SHARD, [output.value])
        return bool(outputs)

    def decided(self, epoch: int) -> Checked:
        (checked,) = self.decisions.wait((SHARD, epoch))
        return checked

    def await_(self, what: str, holds: Callable[[], bool]) -> None:
        until(holds, what)

    def applied(self, count: int) -> None:
        """The commit worker has applied so many decisions about members, and published them."""
        read = audited_configurations.read
        self.await_(
            "the journal does not come to the configuration",
            lambda: read(self.bootstrap, self.genesis, self.codec)[SHARD].config == count,
        )

    def end(self, epoch: int) -> Any:
        """Stops everything once the decision of this epoch is applied, and audits."""
        with psycopg.connect(self.databases[0], autocommit=True) as store:
            last = "SELECT max(epoch) FROM decision WHERE shard = %s"
            self.await_("the epoch is not applied", lambda: store.execute(last, [SHARD]).fetchone() == (epoch,))
        assert self.replicas.stop() == dict.fromkeys(range(5), 0)
        assert self._worker is not None
        self.stop.set()
        self._worker.join(PATIENCE_S)
        return audit.verify(self.bootstrap, self.genesis, self.codec, self.databases[0])

    def close(self) -> None:
        self.stop.set()
        self.replicas.clean_up()
        if self._worker is not None:
            self._worker.join(PATIENCE_S)
        self._schedule.close()
        self._stored.close()
        self.world.close()
        self.decisions.close()


@pytest.fixture
def shard(fresh_kafka: str, databases: tuple[str, str], codec: Codec, tmp_path: Path) -> Iterator[Shard]:
    made = Shard(fresh_kafka, databases, codec, tmp_path)
    yield made
    made.close()


def test_another_policy_is_decided_and_everybody_judges_by_it(shard: Shard) -> None:
    """Commit, audit and rebuild come to the same, and a rebuild of what stood before it to the policy of before."""
    shard.world.tick(SHARD, LATE)
    shard.start()
    first = shard.genesis.policy
    wanted = replace(first, forget=replace(first.forget, grace_ms=HOUR, theta_ppm=300_000))
    shard.order(shard.genesis, "policy", policy=written(wanted))
    assert shard.nominate(1)
    checked = shard.decided(1)
    assert checked.configures is not None and checked.configures.policy == wanted
    shard.applied(1)
    (now,) = audited_configurations.read(shard.bootstrap, shard.genesis, shard.codec)
    assert (now.policy, now.policy_version, now.at(1).policy) == (wanted, 1, first)
    # The same order once more is for a configuration that is over.
    shard.order(shard.genesis, "policy", policy=written(wanted))
    assert not shard.nominate(2)
    shard.world.nominate(SHARD, 2, LATE, ["00000000-0000-5000-8000-000000000002"], config=1)
    assert shard.decided(2).body.config == 1
    report = shard.end(2)
    assert report.ok, [finding for each in report.shards for finding in each.findings]
    links = [message.value() or b"" for message in standing(shard.bootstrap, topics.JOURNAL, shard.genesis.shards)]
    assert len(links) == 3
    for through, policy in ((1, first), (len(links), wanted)):
        replay = Replay(Rules(shard.codec, shard.genesis), SHARD)
        for data in links[:through]:
            replay.take([replay.read(data)])
        assert replay.configuration.policy == policy


def test_a_weight_and_a_removal_are_decided_while_epochs_go_on(shard: Shard) -> None:
    shard.world.tick(SHARD, LATE)
    shard.start()
    assert not shard.nominate(1)
    shard.world.nominate(SHARD, 1, LATE, ["00000000-0000-5000-8000-000000000001"])
    shard.decided(1)
    shard.order(shard.genesis, "weight", member=2, weight_milli=1100)
    assert shard.nominate(2)
    one = shard.decided(2).configures
    assert one is not None and one.members[2].weight_milli == 1100
    shard.applied(1)
    # It was carried out, so it is not nominated again; and what follows from it is.
    assert not shard.nominate(3)
    shard.order(one, "remove", member=4)
    assert shard.nominate(3)
    two = shard.decided(3).configures
    assert two is not None and [m.id for m in two.members] == [0, 1, 2, 3]
    shard.applied(2)
    shard.world.nominate(SHARD, 4, LATE, ["00000000-0000-5000-8000-000000000002"], config=2)
    checked = shard.decided(4)
    assert checked.body.config == 2 and 4 not in {ballot.member for ballot in checked.ballots}
    report = shard.end(4)
    assert report.ok, [finding for each in report.shards for finding in each.findings]
    assert [each.counts.decisions for each in report.shards] == [4]
    assert [each.counts.checkpoints for each in report.shards] == [2]


def test_the_services_get_other_keys_and_the_shard_goes_on_forgetting(shard: Shard) -> None:
    memory = shard.world.episode(SHARD, "a", "agent-0", START)
    shard.world.tick(SHARD, LATE)
    shard.start()
    shard.order(shard.genesis, "rotate-service", name="nomination", public_key=public_key("service:nomination'"))
    assert not shard.nominate(1)  # nobody has the key yet
    shard.keys["nomination"].append(seed_of("service:nomination'"))
    assert shard.nominate(1)
    one = shard.decided(1).configures
    assert one is not None and one.key_of("service:nomination") == public_key("service:nomination'")
    shard.applied(1)
    # The commit worker waits for a key that it has not, and nothing is lost by it.
    shard.order(one, "rotate-service", name="journal", public_key=public_key("service:journal'"))
    assert shard.nominate(2)
    two = shard.decided(2).configures
    assert two is not None
    shard.await_("it waits for its key", lambda: "key" in shard.telemetry.health.waits)
    shard.keys["journal"].append(seed_of("service:journal'"))
    shard.applied(2)
    # The file of the replaced key is not needed any more.
    shard.keys["journal"].clear()
    shard.commits(seed_of("service:journal'"))
    # A nomination with the old key has no effect; one signed by the new key is decided.
    shard.world.nominate(SHARD, 3, LATE, ["00000000-0000-5000-8000-000000000001"], config=2)
    shard.world.nominate(SHARD, 3, LATE, [memory], config=2, key="service:nomination'")
    checked = shard.decided(3)
    assert [(outcome.memory_ids, outcome.outcome) for outcome in checked.outcomes] == [((memory,), "forgotten")]
    report = shard.end(3)
    assert report.ok, [finding for each in report.shards for finding in each.findings]
    assert [each.counts.decisions for each in report.shards] == [3]
    said = (message.value() or b"" for message in standing(shard.bootstrap, topics.HEADS, 1))
    heads = [open_any(shard.codec, two, data, JournalHead)[0].config for data in said]
    assert set(heads) == {0, 1, 2} and heads == sorted(heads)
