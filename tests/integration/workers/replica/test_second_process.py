"""A second process of a member on another machine, where no lock keeps it out: it ends before its first word."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import load
from tests.builders.genesis import make_bytes
from tests.support.replicas import HOUR, START, Decisions, Replicas, World

GENESIS = make_bytes(agents={f"agent-{i}": i for i in range(4)})
LATE = START + 10 * HOUR
TWIN = 2


@pytest.fixture
def machines(fresh_kafka: str, tmp_path: Path) -> Iterator[tuple[Replicas, Replicas]]:
    """Two machines: a folder each, and nothing in common but the broker."""
    both = Replicas(fresh_kafka, GENESIS, tmp_path / "one"), Replicas(fresh_kafka, GENESIS, tmp_path / "other")
    for one in both:
        one.run_dir.mkdir()
    yield both
    for one in both:
        one.clean_up()


@pytest.mark.parametrize("copied", [False, True])
def test_a_twin_ends_and_the_first_one_goes_on(
    machines: tuple[Replicas, Replicas], fresh_kafka: str, codec: Codec, copied: bool
) -> None:
    """The reader of decisions fails where a member says two things for one slot."""
    fleet, elsewhere = machines
    genesis = load(GENESIS)
    world, decisions = World(fresh_kafka, genesis, codec), Decisions(fresh_kafka, genesis, codec)
    try:
        memories = [world.episode(0, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(8)]
        world.tick(0, LATE)
        fleet.start(0, 1, 2, 3)
        world.nominate(0, 1, LATE, memories[:2])
        decisions.wait((0, 1))
        if copied:
            fleet.kill(TWIN)
            shutil.copytree(fleet.run_dir / f"replica-{TWIN}", elsewhere.run_dir / f"replica-{TWIN}")
            fleet.start(TWIN)
            world.nominate(0, 2, LATE, memories[2:4])
            decisions.wait((0, 2))
        elsewhere.start(TWIN)
        epoch = 2 + copied
        while elsewhere.processes[TWIN].is_alive():
            world.nominate(0, epoch, LATE, memories[4:])
            decisions.wait((0, epoch))
            epoch += 1
        assert elsewhere.ended(TWIN) == 1
        told = (elsewhere.run_dir / f"replica-{TWIN}.log").read_text()
        assert f"another process signs as member {TWIN} in shard 0" in told
        world.nominate(0, epoch, LATE, memories[4:])
        (checked,) = decisions.wait((0, epoch))
        assert TWIN in {ballot.member for ballot in checked.ballots}
        assert all(process.is_alive() for process in fleet.processes.values())
    finally:
        world.close()
        decisions.close()
