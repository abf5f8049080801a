"""Five and seven replica processes on a real Kafka; as many as may lie say nothing at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.genesis import seats_for
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import load
from tests.builders.genesis import make_bytes
from tests.support.replicas import HOUR, START, Decisions, Replicas, World

EPOCHS = 2  # of each shard; each waits out the grace for ballots of the silent


@pytest.mark.parametrize(("n", "silent"), [(5, (1,)), (7, (1, 2))])
def test_epochs_are_decided_without_f_members(
    fresh_kafka: str, codec: Codec, tmp_path: Path, n: int, silent: tuple[int, ...]
) -> None:
    """A silent member would have opened shard 1: the shard goes on in the first view whose opener is there."""
    made = make_bytes(
        n,
        weights=tuple(seat.weight_milli for seat in seats_for(n)),
        agents={f"agent-{i}": i for i in range(n)},
    )
    genesis = load(made)
    speakers = [member for member in range(n) if member not in silent]
    assert len(silent) == genesis.f
    assert len(speakers) >= genesis.quorum
    assert [genesis.opener(1, view) for view in range(genesis.f)] == list(silent)
    replicas = Replicas(fresh_kafka, made, tmp_path)
    world, decisions = World(fresh_kafka, genesis, codec), Decisions(fresh_kafka, genesis, codec)
    late = START + 10 * HOUR
    try:
        memories = {s: [world.episode(s, f"event-{i}", f"agent-{i}", START + i) for i in range(n)] for s in (0, 1)}
        for shard in (0, 1):
            world.tick(shard, late)
        replicas.start(*speakers)
        for epoch in range(1, EPOCHS + 1):
            for shard in (0, 1):
                world.nominate(shard, epoch, late, [memories[shard][epoch]])
            first, second = decisions.wait((0, epoch), (1, epoch))
            assert second.body.view >= genesis.f
            for shard, checked in enumerate((first, second)):
                assert checked.body.member == genesis.primary(shard, checked.body.view, epoch)
                assert {b.member for b in checked.ballots} <= set(speakers)
                assert len(checked.ballots) >= genesis.quorum
                assert [o.outcome for o in checked.outcomes] == ["forgotten"]
        assert replicas.stop() == dict.fromkeys(speakers, 0)
    finally:
        replicas.clean_up()
        world.close()
        decisions.close()
