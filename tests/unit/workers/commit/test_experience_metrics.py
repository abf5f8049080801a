"""Metrics of experience: the candidates' outcomes, the memories by status, and the gains of uses."""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.journal.rows import AdmissionRow
from memquorum.core.records import Proposal
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.metrics import Meters
from tests.builders import genesis, trials, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, proposal
from workers.commit.experience_metrics import Experience, Living

A, B = memory_id("a"), memory_id("b")


class Store:
    """Counts how often it was asked."""

    def __init__(self) -> None:
        self.asked, self.standing = 0, {"admitted": 2, "demoted": 1}

    def experience(self) -> dict[str, int]:
        self.asked += 1
        return self.standing


def value(meters: Meters, name: str, **labels: str) -> float | None:
    return meters.registry.get_sample_value(name, labels)


def test_a_use_is_no_candidate_and_its_gain_is_told(codec: Codec) -> None:
    made = Shard(codec, genesis.make(**trials.entitled()))
    for name in "ab":
        made.episode(name)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A))])
    made.task("t", (A, B))
    made.task("u", (A,))
    made.feedback(memory_id("u"), (), (A,))
    made.tick(1_000_000_001)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    meters = Meters()
    Experience(Store(), meters).note(made.changes)
    assert value(meters, "memquorum_admissions_total", status="admitted") == 1.0
    assert value(meters, "memquorum_experience_gain", shard="0") == -0.25, "a half, and one less"


def test_what_others_stand_for_was_admitted_once(codec: Codec) -> None:
    made = Shard(codec, genesis.make(**trials.entitled()))
    for name in "ab":
        made.episode(name)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    made.decide([proposal(one, agree(made, one, offset=9 * at)) for at, one in enumerate((A, B))])
    made.tick(1_000_000_001)
    change = made.decide([Proposal((A, B), NAMESPACE, "unite", "twins", 0, 0, 0)])
    assert [one.merged_into for one in change.of(AdmissionRow) if one.memory_id == B] == [A]
    meters = Meters()
    Experience(Store(), meters).note(made.changes)
    assert value(meters, "memquorum_admissions_total", status="admitted") == 2.0


def test_the_store_is_asked_where_something_changed_and_not_at_each_turn(codec: Codec) -> None:
    store, meters = Store(), Meters()
    shown = Experience(store, meters)
    shown.look(0.0)
    shown.look(60.0)
    assert store.asked == 1 and value(meters, "memquorum_experience_memories", status="demoted") == 1.0
    made = Shard(codec, genesis.make(**trials.entitled()))
    made.episode("a")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(A, "promote")], votes.nobody)
    agree(made, A)
    store.standing = {"admitted": 3}
    shown.note(made.changes)
    shown.look(5.0)
    assert store.asked == 1, "it was asked a moment ago"
    shown.look(10.0)
    assert store.asked == 2 and value(meters, "memquorum_experience_memories", status="admitted") == 3.0
    assert value(meters, "memquorum_experience_memories", status="demoted") is None


def test_memories_in_use_are_counted_every_ten_seconds_where_something_was_applied() -> None:
    asked = []

    class Counts:
        def living(self) -> tuple[int, int]:
            asked.append(1)
            return 7 * len(asked), len(asked)

    telemetry = Telemetry()
    living = Living(Counts(), telemetry.stage("commit"))
    for now, noted, memories in ((0.0, False, 7.0), (20.0, False, 7.0), (20.0, True, 14.0), (29.0, True, 14.0)):
        if noted:
            living.note()
        living.look(now)
        assert value(telemetry.meters, "memquorum_memories", stage="commit") == memories
    living.look(30.0)
    assert value(telemetry.meters, "memquorum_namespaces", stage="commit") == 3.0
