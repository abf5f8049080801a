"""A liar among four real processes, on a real Kafka and a real Postgres: a few epochs, four lies at once."""

from __future__ import annotations

from pathlib import Path

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import load
from tests.hostile import drive
from tests.hostile.fleet import Place, genesis_of
from tests.hostile.judge import LIAR, Met
from workers.audit import accusations

EPOCHS = 3


def test_a_liar_decides_nothing_alone_and_is_convicted_where_it_says_two_things(
    fresh_kafka: str, databases: tuple[str, str], tmp_path: Path, codec: Codec
) -> None:
    place = Place(fresh_kafka, *databases, tmp_path / "run")
    met = drive.run(
        Met("mixed"), EPOCHS, place, Met("none"), liars=drive.liars_of("mixed"), disturb=drive.disturbed("mixed")
    )
    assert met.problems == []
    assert len(met.took_s) == 4 * (2 + EPOCHS)
    assert len(met.sides) > 8, "of no pair of claims honest members were for both sides"
    assert met.outcomes.keys() == {"promoted", "demoted", "forgotten", "kept"}
    assert met.entries > 0, "verify has judged nothing"
    assert {"gone", "short-term", "long-term"} == set(met.tiers.values())
    reports, _ = accusations.read(fresh_kafka, load(genesis_of(met.members)), codec)
    proven = {
        (fault.shard, fault.accused)
        for fault in accusations.faults(codec, reports, verify=True)
        if fault.verdict is not None
    }
    assert proven == {(0, LIAR), (1, LIAR), (2, LIAR)}  # on shard 3 it votes against what it thinks: no proof of that
