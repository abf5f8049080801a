"""Members of two versions vote on one Kafka: a later version writes ballots in a format that this one cannot read.

A quorum of equal members decides. A member that cannot read the others raises an alarm, and accuses nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import load
from memquorum.schema_files import schema_folder
from tests.builders.genesis import make_bytes
from tests.support.replicas import HOUR, START, Decisions, Replicas, World
from tests.support.waiting import until
from workers.kafka.partition import standing

GENESIS = make_bytes(agents={f"agent-{i}": i for i in range(4)})
LATE = START + 10 * HOUR
SAYS = "others run a later version"


def later_version() -> Codec:
    """The codec of a later version, whose ballots have a field more; it reads all formats of this one."""
    now = [json.loads(file.read_text()) for file in sorted((schema_folder() / "avro").glob("*.avsc"))]
    more = {"name": "later", "type": "string", "default": ""}
    later = [one | {"fields": [*one["fields"], more]} if one["name"] == "BallotCast" else one for one in now]
    return Codec(later, older=now)


@pytest.fixture
def replicas(fresh_kafka: str, tmp_path: Path) -> Iterator[Replicas]:
    fleet = Replicas(fresh_kafka, GENESIS, tmp_path)
    yield fleet
    fleet.clean_up()


def test_members_of_two_versions(fresh_kafka: str, replicas: Replicas, codec: Codec) -> None:
    later = later_version()
    world, decisions = World(fresh_kafka, load(GENESIS), codec), Decisions(fresh_kafka, load(GENESIS), later)
    memories = iter([world.episode(0, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(8)])
    world.tick(0, LATE)

    def replace(member: int, by: Codec | None) -> None:
        if member in replicas.processes:
            replicas.processes[member].terminate()
            assert replicas.ended(member) == 0
        replicas.start(member, codec=by)

    def decided(epoch: int) -> list[int]:
        """Nominates a memory; returns the members whose ballots were decided by."""
        world.nominate(0, epoch, LATE, [next(memories)])
        (checked,) = decisions.wait((0, epoch))
        assert [one.outcome for one in checked.outcomes] == ["forgotten"]
        return [ballot.member for ballot in checked.ballots]

    def told(member: int) -> bool:
        return SAYS in (replicas.run_dir / f"replica-{member}.log").read_text()

    # One member is upgraded. It reads all others, and three decide without its ballot.
    replicas.start(0, 1, 2)
    replace(3, later)
    assert decided(1) == [0, 1, 2]
    until(lambda: all(told(member) for member in (0, 1, 2)), "nobody said that another version speaks")
    assert not told(3)

    # It is rolled back, and its ballot counts again.
    replace(3, None)
    assert decided(2) == [0, 1, 2, 3]

    # Two and two: no quorum can read all ballots, and nothing is decided until a third member follows.
    replace(3, later)
    replace(2, later)
    world.nominate(0, 3, LATE, [next(memories)])
    until(lambda: len(list(standing(fresh_kafka, topics.BALLOTS, 4))) == 3 * 4, "they did not vote")
    for _ in range(30):
        decisions.read(0.2)
    assert (0, 3) not in decisions.found
    replace(1, later)
    (checked,) = decisions.wait((0, 3))
    assert {1, 2, 3} <= {ballot.member for ballot in checked.ballots}

    # The last one follows, reads what it has missed, and votes.
    replace(0, later)
    assert decided(4) == [0, 1, 2, 3]
    assert list(standing(fresh_kafka, topics.EVIDENCE, 4)) == [], "an honest member of another version was accused"
    world.close()
    decisions.close()
