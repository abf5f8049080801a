"""A liar on a real Kafka: three replicas publish what proves it, and an operator lists and judges it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import admin_commands
from infra.settings import Settings
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import load
from memquorum.core.identity.messages import sign
from memquorum.core.records import BallotCast, Misbehaved, Prepare, Signed
from tests.builders.genesis import make_bytes, seed_of
from tests.support.replicas import Replicas, World
from tests.support.waiting import until
from workers.audit import accusations

GENESIS_BYTES = make_bytes(agents={f"agent-{i}": i for i in range(4)})
GENESIS = load(GENESIS_BYTES)
LIAR = 3


@pytest.fixture
def replicas(fresh_kafka: str, tmp_path: Path) -> Iterator[Replicas]:
    fleet = Replicas(fresh_kafka, GENESIS_BYTES, tmp_path)
    yield fleet
    fleet.clean_up()


@pytest.fixture
def world(fresh_kafka: str, codec: Codec) -> Iterator[World]:
    hands = World(fresh_kafka, GENESIS, codec)
    yield hands
    hands.close()


def lying(codec: Codec, record: object) -> Signed:
    return sign(GENESIS.cluster, f"member:{LIAR}", seed_of(f"member:{LIAR}"), codec.encode(record))


def test_who_says_two_things_is_proven_a_liar_to_everybody(
    replicas: Replicas, world: World, codec: Codec, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(
        run_dir=replicas.run_dir, bootstrap=replicas.bootstrap, genesis_file=replicas.run_dir / "genesis.json"
    )
    settings.genesis_file.write_bytes(GENESIS_BYTES)
    assert operator(settings) == 0
    assert "no evidence against anybody" in capsys.readouterr().out

    cluster = GENESIS.cluster
    for said in (b"a" * 32, b"b" * 32):
        world.send(topics.PREPARES, 0, lying(codec, Prepare(cluster, 0, 0, 0, 1, LIAR, said)))
        world.send(topics.BALLOTS, 1, lying(codec, BallotCast(cluster, 0, 1, 1, LIAR, b"n" * 32, said)))
    replicas.start(0, 1, 2)
    # All three members publish both faults.
    until(lambda: len(accusations.read(replicas.bootstrap, GENESIS, codec)[0]) >= 6)

    # The liar accuses an honest member with words of its own, and a stranger writes, too.
    originals = tuple(codec.encode(lying(codec, Prepare(cluster, 0, 0, 0, 1, LIAR, said))) for said in (b"c", b"d"))
    world.send(topics.EVIDENCE, 0, lying(codec, Misbehaved(cluster, 0, 0, LIAR, 0, "equivocation", originals)))
    world.flood(topics.EVIDENCE, 0, [b"", b"rubbish"])

    capsys.readouterr()
    assert operator(settings, "--verify", "--json") == 1
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    proven = {(fault["shard"], fault["member"], *fault["reported_by"]): fault for fault in told if fault["proven"]}
    assert proven.keys() == {(0, LIAR, 0, 1, 2), (1, LIAR, 0, 1, 2)}
    assert "prepare, sequence 1 in view 0 of shard 0" in proven[0, LIAR, 0, 1, 2]["detail"]
    assert "ballot, epoch 1 of shard 1" in proven[1, LIAR, 0, 1, 2]["detail"]
    (slander,) = [fault for fault in told if not fault["proven"]]
    assert (slander["member"], slander["reported_by"]) == (0, [LIAR])
    assert f"member {LIAR} signed it, 0 is accused" in slander["detail"]

    assert operator(settings) == 1
    text = capsys.readouterr().out
    assert "equivocation" in text
    assert "2 records that no member signed" in text
    assert replicas.stop() == dict.fromkeys(range(3), 0)


def operator(settings: Settings, *arguments: str) -> int:
    """`memquorum admin audit evidence`, as an operator runs it."""
    parsed = admin_commands.parser().parse_args(["audit", "evidence", *arguments])
    return int(parsed.command(settings, parsed))
