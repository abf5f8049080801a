"""A liar among four real processes, on a real Kafka and a real Postgres: a few epochs, four lies at once."""

from __future__ import annotations

import math
from pathlib import Path

import psycopg

from memquorum.core.avro import Codec
from memquorum.core.consensus.evidence import Rule
from memquorum.core.identity.membership import load
from tests.hostile import drive
from tests.hostile.cellar import ACTS
from tests.hostile.fleet import RunPlace, genesis_of
from tests.hostile.judge import LIAR, Met
from tests.hostile.member import LIED
from tests.hostile.school import STEPS
from workers.audit import accusations

EPOCHS = 3
EVICTING = range(1, len(ACTS) + 1)
"""The epochs of what has a budget, which come first."""


def test_a_liar_decides_nothing_alone_and_is_convicted_where_it_says_two_things(
    fresh_kafka: str, databases: tuple[str, str], tmp_path: Path, codec: Codec
) -> None:
    place = RunPlace(fresh_kafka, *databases, tmp_path / "run")
    # `make hostile` measures how long it takes; here that depends on what else the machine does, and so does which
    # ballots come in time.
    met = drive.run(
        Met("mixed", limit_s=math.inf), EPOCHS, place, Met("none"),
        liars=drive.liars_of("mixed"), disturb=drive.disturbed("mixed"), grace_ms=drive.LONG_GRACE_MS,
    )  # fmt: skip
    assert met.problems == []
    assert len(met.took_s) == met.nominated >= 4 * (2 + EPOCHS + len(ACTS) + len(STEPS))
    assert len(met.sides) > 8, "of no pair of claims honest members were for both sides"
    ends = {"promoted", "demoted", "forgotten", "kept", "admitted", "generalised", "united", "rolled back"}
    assert met.outcomes.keys() == ends
    assert met.entries > 0, "verify has judged nothing"
    assert {"gone", "draft", "short-term", "long-term"} == set(met.tiers.values())
    with psycopg.connect(databases[0]) as connection:
        told = "SELECT kind, outcome, reason, count(*) FROM outcome WHERE kind = ANY(%s) GROUP BY 1, 2, 3 ORDER BY 1, 2"
        found = connection.execute(told, (["admit", "generalise", "unite", "rollback"],)).fetchall()
    assert found == [  # what nobody has tried, and of what was tried that which helps nobody; of two each counts
        ("admit", "admitted", "quorum", 16), ("admit", "voided", "not what was tried", 20),
        ("generalise", "generalised", "quorum", 8), ("generalise", "kept", "too_few_votes", 8),
        ("generalise", "voided", "its memory not in experience", 8),
        ("rollback", "kept", "too_few_votes", 4), ("rollback", "rolled back", "quorum", 4),
        ("unite", "kept", "too_few_votes", 8), ("unite", "united", "quorum", 8),
    ]  # fmt: skip
    reports, _ = accusations.read(fresh_kafka, load(genesis_of(met.members)), codec)
    faults = accusations.faults(codec, reports, verify=True)
    proven = {(fault.shard, fault.accused) for fault in faults if fault.verdict is not None}
    assert proven == {(0, LIAR), (1, LIAR), (2, LIAR)}  # on shard 3 it votes against what it thinks: no proof of that
    verdicts = [fault.verdict for fault in faults if fault.verdict is not None]
    slots = {one.slot.rpartition("/")[0] for one in verdicts if one.rule is Rule.EQUIVOCATION}
    assert any(slot.startswith(f"0/0/{epoch}/") for slot in slots for epoch in EVICTING), "it cast one ballot each time"
    assert slots & {f"0/2/0/{seq}" for seq in EVICTING}, "it voted once each time"
    # A member that finds it slow leaves its view before it gets there: that is no lie, and proves nothing.
    lied = LIED in (place.folder / f"replica-{LIAR}.log").read_text()
    assert lied == any(one.rule is Rule.PRE_PREPARE and one.shard == LIAR for one in verdicts)
