"""Four replica processes on a real Kafka, with what may happen to one of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.signstate import SqliteSignState
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.slots import ballot_slot
from memquorum.core.identity.membership import load
from memquorum.core.identity.messages import sign
from memquorum.core.records import Commit
from tests.builders.genesis import make_bytes
from tests.support.replicas import HOUR, START, Decisions, Replicas, World

LONG_AGO = 20
GENESIS = make_bytes(agents={f"agent-{i}": i for i in range(4)})


@pytest.fixture
def replicas(fresh_kafka: str, tmp_path: Path) -> Iterator[Replicas]:
    fleet = Replicas(fresh_kafka, GENESIS, tmp_path)
    yield fleet
    fleet.clean_up()


@pytest.fixture
def world(fresh_kafka: str, codec: Codec) -> Iterator[World]:
    hands = World(fresh_kafka, load(GENESIS), codec)
    yield hands
    hands.close()


@pytest.fixture
def decisions(fresh_kafka: str, codec: Codec) -> Iterator[Decisions]:
    reader = Decisions(fresh_kafka, load(GENESIS), codec)
    yield reader
    reader.close()


def test_epochs_are_decided_while_replicas_die_and_return(
    replicas: Replicas, world: World, decisions: Decisions
) -> None:
    memories = {s: [world.episode(s, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(8)] for s in (0, 1)}
    late = START + 10 * HOUR
    for shard in (0, 1):
        world.access(shard, memories[shard][7], late - 1)
        world.tick(shard, late)
    replicas.start(0, 1, 2, 3)
    for shard in (0, 1):
        world.nominate(shard, 1, late, memories[shard][:4])
    for checked in decisions.wait((0, 1), (1, 1)):
        assert [o.outcome for o in checked.outcomes] == ["forgotten"] * 4
        assert len(checked.ballots) == 4

    # More than a window of epochs, for a member that has to read them all again.
    for epoch in range(2, LONG_AGO):
        world.nominate(1, epoch, late, memories[1][7:8])
        decisions.wait((1, epoch))

    # Without member 1 both shards go on with three ballots. It was the primary of shard 1: the others replace it.
    replicas.kill(1)
    for shard, epoch in ((0, 2), (1, LONG_AGO)):
        world.nominate(shard, epoch, late, [memories[shard][4], memories[shard][7]])
    first, second = decisions.wait((0, 2), (1, LONG_AGO))
    for checked in (first, second):
        assert [b.member for b in checked.ballots] == [0, 2, 3]
        assert [o.outcome for o in checked.outcomes] == ["forgotten", "kept"]  # the second was read just now
    assert (first.body.view, second.body.view) == (0, 1)
    assert second.body.member == 2
    for shard, epoch in ((0, 3), (1, LONG_AGO + 1)):
        world.nominate(shard, epoch, late, memories[shard][5:6])
    assert [checked.body.view for checked in decisions.wait((0, 3), (1, LONG_AGO + 1))] == [0, 1]

    # It returns without what it had read, follows what it missed into the view that it missed, and votes again.
    for file in (replicas.run_dir / "replica-1").glob("view.db*"):
        file.unlink()
    replicas.start(1)
    for shard, epoch in ((0, 4), (1, LONG_AGO + 2)):
        world.nominate(shard, epoch, late, memories[shard][6:7])
    for checked in decisions.wait((0, 4), (1, LONG_AGO + 2)):
        assert [b.member for b in checked.ballots] == [0, 1, 2, 3]

    began = time.monotonic()
    assert replicas.stop() == dict.fromkeys(range(4), 0)
    assert time.monotonic() - began < 5


def test_strangers_twins_and_a_contradiction(replicas: Replicas, world: World, decisions: Decisions) -> None:
    """Garbage is passed over; a second process of an identity ends, and so does one that would contradict itself."""
    genesis = load(GENESIS)
    memories = [world.episode(0, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(4)]
    late = START + 10 * HOUR
    world.tick(0, late)
    said = world.codec.encode(Commit(genesis.cluster, 0, 0, 0, 1, 2, b"d" * 32))
    forged = sign(genesis.cluster, "member:2", bytes(32), said)
    for topic in (topics.NOMINATIONS, topics.BALLOTS, topics.PRE_PREPARES, topics.PREPARES, topics.COMMITS):
        world.flood(topic, 0, [b"", b"rubbish", world.codec.encode(forged)] * 100)
    # Member 3 once cast another ballot for this epoch, and has lost it but for its digest.
    with SqliteSignState(replicas.run_dir / "replica-3" / "signed.db", genesis.cluster, 3) as signed:
        signed.claim([(ballot_slot(0, 0, 1), b"another ballot", b"gone")])
        signed.settle([ballot_slot(0, 0, 1)])
        signed.claim([])
    replicas.start(0, 1, 2, 3)

    twin = Replicas(replicas.bootstrap, GENESIS, replicas.run_dir)
    twin.begin(0)
    assert twin.ended(0) == 1
    assert "already runs" in (replicas.run_dir / "replica-0.log").read_text()

    world.nominate(0, 1, late, memories[:2])
    (checked,) = decisions.wait((0, 1))
    assert [b.member for b in checked.ballots] == [0, 1, 2]
    assert replicas.ended(3) == 1
    assert "SignConflict" in (replicas.run_dir / "replica-3.log").read_text()
    world.nominate(0, 2, late, memories[2:])
    decisions.wait((0, 2))
    assert {member for _, member in decisions.voters} == {0, 1, 2}
