"""The nomination stage without Kafka: one signed nomination per epoch, of the latest tick; an outage loses none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import open_signed
from memquorum.core.records import DecayCrossed, NominationProposed
from memquorum.core.vote.nomination import LATEST
from memquorum.ports import DueMemory, ShardStatus, StoreUnavailable
from streams.nomination_stage import Nomination
from streams.stage import Arrival, Output
from tests.builders import genesis as cluster
from tests.builders.shelf import GENESIS, NOW, OLD, POLICY, READY, STANDING, TICK, Shelf, arrival

SEED = cluster.seed_of("service:nomination")


def shelf() -> Shelf:
    return Shelf(alive=[OLD, READY], ready=[READY])


def standing(**changes: int) -> DecayCrossed:
    return replace(TICK, standing=replace(STANDING, **changes))


def stage(codec: Codec, schedule: Shelf, genesis: Genesis = GENESIS) -> Nomination:
    return Nomination(codec, genesis, SEED, schedule, schedule)


def opened(codec: Codec, output: Output) -> NominationProposed:
    return open_signed(codec, GENESIS, output.value, NominationProposed)[1]


def test_a_triggering_tick_opens_the_next_epoch_signed(codec: Codec) -> None:
    (output,) = stage(codec, shelf()).process([arrival(codec, TICK)])
    assert (output.topic, output.partition, output.key) == (topics.NOMINATIONS, 1, b"1")
    assert (output.event_id, output.traceparent) == ("nomination/1/5/33", "00-9")
    record = opened(codec, output)
    assert (record.shard, record.epoch, record.as_of, record.accepted_offset) == (1, 5, NOW, 33)
    assert record.trigger == "interval"
    assert [(p.memory_ids[0], p.kind) for p in record.proposals] == [("old", "forget"), ("ready", "promote")]


def test_a_tick_without_a_trigger_costs_no_question(codec: Codec) -> None:
    quiet = shelf()
    assert stage(codec, quiet).process([arrival(codec, standing(last_epoch_at=NOW))]) == []
    assert quiet.asked == [("decided", 1)]  # by which policy it votes, once for each epoch


def test_a_tick_opens_no_epoch_by_what_came_after_it(codec: Codec) -> None:
    # Read late, when the store has already taken in what came after the tick: the tick's own standing counts.
    full, tick = shelf(), standing(last_epoch_at=NOW - 1, interactions=99)
    full.status_of[1] = ShardStatus(1, 90, NOW, last_epoch=4, last_epoch_at=0, interactions_since_epoch=120, alive=500)
    assert stage(codec, full).process([arrival(codec, tick)]) == []


def test_a_tick_of_version_1_opens_no_epoch(codec: Codec) -> None:
    assert stage(codec, shelf()).process([arrival(codec, replace(TICK, standing=None))]) == []


def test_an_epoch_with_nothing_to_propose_is_not_opened(codec: Codec) -> None:
    empty = shelf()
    empty.alive, empty.ready = [], []
    assert stage(codec, empty).process([arrival(codec, TICK)]) == []


def test_a_memory_as_old_as_the_minimum_age_is_asked_for(codec: Codec) -> None:
    full = shelf()
    stage(codec, full).process([arrival(codec, TICK)])
    assert ("promotable", 1, 550_000, NOW - 60_000 + 1, 256) in full.asked


def test_under_pressure_those_to_go_first_are_asked_for(codec: Codec) -> None:
    crowded = shelf()
    crowded.due_memories = [DueMemory(c.memory_id, "n", c.last_access) for c in (OLD, READY)]
    (output,) = stage(codec, crowded).process([arrival(codec, standing(alive=12))])
    record = opened(codec, output)
    assert ("due", 1, LATEST, 3) in crowded.asked
    assert record.trigger == "pressure"
    assert [(p.memory_ids[0], p.kind, p.reason) for p in record.proposals] == [
        ("old", "evict", "pressure"),
        ("ready", "evict", "pressure"),
    ]


def test_what_has_expired_opens_an_epoch_before_the_interval_is_over(codec: Codec) -> None:
    fallen = shelf()
    fallen.fallen = [DueMemory(OLD.memory_id, "n", NOW - 24 * 3_600_000)]
    fallen.alive = [replace(OLD, last_access=NOW - 24 * 3_600_000)]
    (output,) = stage(codec, fallen).process([arrival(codec, standing(last_epoch_at=NOW - 1_800_000))])
    record = opened(codec, output)
    assert record.trigger == "triage"
    assert ("old", "forget") in [(p.memory_ids[0], p.kind) for p in record.proposals]
    assert stage(codec, fallen).process([arrival(codec, standing(last_epoch_at=NOW - 1_799_999))]) == []
    assert stage(codec, shelf()).process([arrival(codec, standing(last_epoch_at=NOW - 1_800_000))]) == []


def test_only_the_latest_of_several_waiting_ticks_is_considered(codec: Codec) -> None:
    full = shelf()
    waiting = [replace(TICK, as_of=NOW + i, journal_seq=9 + i, accepted_offset=33 + i) for i in range(3)]
    other = replace(TICK, shard=2)
    outputs = stage(codec, full).process([arrival(codec, t) for t in (*waiting, other)])
    assert [(o.partition, opened(codec, o).accepted_offset, o.traceparent) for o in outputs] == [
        (1, 35, "00-11"),
        (2, 33, "00-9"),
    ]
    assert [question[:2] for question in full.asked].count(("promotable", 1)) == 1


def test_an_epoch_under_vote_is_not_nominated_twice(codec: Codec) -> None:
    full = shelf()
    nominate = stage(codec, full)

    def tick(later: int, **changes: int) -> list[Output]:
        return nominate.process(
            [arrival(codec, replace(standing(**changes), as_of=NOW + later, journal_seq=9 + later))]
        )

    assert len(tick(0)) == 1
    assert tick(POLICY.epoch.retry_ms - 1) == []
    assert len(tick(POLICY.epoch.retry_ms)) == 1
    assert opened(codec, tick(POLICY.epoch.retry_ms + 1, last_epoch=5, interactions=100)[0]).epoch == 6


def test_what_an_outage_interrupted_is_nominated_by_the_second_try(codec: Codec) -> None:
    full = shelf()
    full.down = {"promotable 2"}
    nominate, batch = stage(codec, full), [arrival(codec, TICK), arrival(codec, replace(TICK, shard=2))]
    with pytest.raises(StoreUnavailable):
        nominate.process(batch)
    full.down.clear()
    assert [output.partition for output in nominate.process(batch)] == [1, 2]


def test_a_new_assignment_forgets_what_was_sent(codec: Codec) -> None:
    nominate = stage(codec, shelf())
    assert len(nominate.process([arrival(codec, TICK)])) == 1
    nominate.assigned(frozenset({0, 2}))
    assert nominate.process([arrival(codec, TICK)]) == []
    nominate.assigned(frozenset({1}))
    assert len(nominate.process([arrival(codec, TICK)])) == 1


def test_poison_is_left_out_with_a_line(codec: Codec, caplog: pytest.LogCaptureFixture) -> None:
    nominate, poison = stage(codec, shelf()), Arrival(1, 4, b"junk")
    with pytest.raises(DecodeError) as caught:
        nominate.process([poison])
    assert nominate.poisoned(poison, caught.value) == []
    assert "offset 4 of shard 1 left out" in caplog.text
    with pytest.raises(ValueError, match="shard 1 in partition 3"):
        nominate.process([arrival(codec, TICK, partition=3)])


def test_whoever_waits_for_a_nomination_is_told_of_it_without_the_key(
    codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    (output,) = stage(codec, shelf()).process([arrival(codec, TICK)])
    caplog.clear()
    waiting = Nomination(codec, GENESIS, bytes(32), *[shelf()] * 2)
    assert waiting.would(arrival(codec, TICK)) == opened(codec, output)
    assert waiting.would(arrival(codec, TICK)) is None  # it was sent already
    assert waiting.would(arrival(codec, standing(last_epoch=5, last_epoch_at=NOW))) is None
    assert caplog.text == ""


def test_what_contradicts_is_proposed_with_all_that_it_contradicts_and_no_memory_twice(codec: Codec) -> None:
    new, older, kept = (replace(READY, memory_id=name) for name in ("new", "older", "kept"))
    full = shelf()
    full.disputed = [(new, OLD), (new, older), (new, replace(kept, tier="long-term")), (OLD, older)]
    (output,) = stage(codec, full).process([arrival(codec, TICK)])
    named = [(p.kind, p.memory_ids, p.reason) for p in opened(codec, output).proposals if p.kind != "promote"]
    assert named == [("supersede", ("new", "old", "older"), "contradicted")], "what was due is contested instead"


def test_what_was_inferred_to_contradict_opens_no_vote(codec: Codec) -> None:
    between = standing(last_epoch_at=NOW, interactions=0, alive=1, contested_at=NOW)
    full = shelf()
    full.guessed = [(replace(READY, memory_id="new"), OLD)]
    assert stage(codec, full).process([arrival(codec, between)]) == [], "no epoch of its own"
    (output,) = stage(codec, full).process([arrival(codec, TICK)])
    assert "supersede" not in {one.kind for one in opened(codec, output).proposals}, "and none in another"
    full.disputed = [(replace(READY, memory_id="named"), OLD)]
    (output,) = stage(codec, full).process([arrival(codec, between)])
    assert [one.memory_ids for one in opened(codec, output).proposals] == [("named", "old")]


def test_where_the_policy_says_so_what_was_inferred_opens_one(codec: Codec) -> None:
    between = standing(last_epoch_at=NOW, interactions=0, alive=1, contested_at=NOW)
    full = shelf()
    full.guessed = [(replace(READY, memory_id="new"), OLD)]
    inferring = replace(GENESIS.policy, supersede=replace(GENESIS.policy.supersede, inferred=True))
    (output,) = stage(codec, full, genesis=replace(GENESIS, policy=inferring)).process([arrival(codec, between)])
    assert [one.memory_ids for one in opened(codec, output).proposals] == [("new", "old")]


def test_what_verifiers_agree_in_is_proposed_with_what_they_signed_within_bounds(codec: Codec) -> None:
    full, signed = shelf(), (b"a" * 60_000, b"b" * 60_000)
    full.helpful = [(replace(READY, memory_id=f"h{at}"), signed) for at in range(9)]
    (output,) = stage(codec, full).process([arrival(codec, TICK)])
    found = [one for one in opened(codec, output).proposals if one.kind == "admit"]
    assert [(one.memory_ids, one.reason, one.tried) for one in found] == [
        (("h0",), "tried", signed), (("h1",), "tried", signed)
    ]  # fmt: skip
    full.helpful = [(replace(READY, memory_id="h"), (b"a" * 300_000,))]
    (output,) = stage(codec, full).process([arrival(codec, TICK)])
    assert [one.memory_ids for one in opened(codec, output).proposals if one.kind == "admit"] == [("h",)]


def test_what_is_proposed_for_something_else_is_not_to_be_admitted(codec: Codec) -> None:
    full = shelf()
    full.helpful = [(OLD, (b"signed",)), (READY, (b"signed",))]
    (output,) = stage(codec, full).process([arrival(codec, TICK)])
    named = [(one.kind, one.memory_ids[0]) for one in opened(codec, output).proposals]
    assert ("forget", OLD.memory_id) in named and "admit" not in {kind for kind, _ in named}
    between = {"last_epoch_at": NOW, "interactions": 0, "alive": 1}
    full.helpful, full.disputed = [(replace(READY, memory_id="h"), (b"signed",))], [(READY, OLD)]
    (output,) = stage(codec, full).process([arrival(codec, standing(**between, contested_at=NOW))])
    assert {one.kind for one in opened(codec, output).proposals} == {"supersede"}, "an epoch apart is about that alone"


def test_a_general_form_is_voted_on_before_its_memory_is_to_be_promoted_and_not_of_one_that_is_to_go(
    codec: Codec,
) -> None:
    full = shelf()
    forms = [replace(READY, memory_id=f"form of {of.memory_id}", tier="draft") for of in (READY, OLD)]
    full.forms = list(zip(forms, (READY, OLD), strict=True))
    (output,) = stage(codec, full).process([arrival(codec, TICK)])
    named = [(one.kind, one.memory_ids, one.reason) for one in opened(codec, output).proposals]
    assert ("generalise", (forms[0].memory_id, READY.memory_id), "general") in named
    assert "promote" not in {kind for kind, *_ in named}, "that waits for an epoch"
    assert ("forget", (OLD.memory_id,)) in [one[:2] for one in named]
    assert len([kind for kind, *_ in named if kind == "generalise"]) == 1
    between = {"last_epoch_at": NOW, "interactions": 0, "alive": 1}
    full.disputed = [(replace(OLD, memory_id="newer"), OLD)]
    (output,) = stage(codec, full).process([arrival(codec, standing(**between, contested_at=NOW))])
    assert {one.kind for one in opened(codec, output).proposals} == {"supersede"}


def test_an_epoch_for_a_contradiction_is_about_that_alone(codec: Codec) -> None:
    # READY could be promoted: a dispute of its own would put that off.
    full, newer = shelf(), replace(READY, memory_id="newer")
    full.disputed = [(newer, OLD)]
    between = {"last_epoch_at": NOW, "interactions": 0, "alive": 1}
    (output,) = stage(codec, full).process([arrival(codec, standing(**between, contested_at=NOW))])
    record = opened(codec, output)
    assert (record.trigger, [(p.kind, p.memory_ids) for p in record.proposals]) == (
        "contradiction", [("supersede", ("newer", OLD.memory_id))]
    )  # fmt: skip
    assert stage(codec, shelf()).process([arrival(codec, standing(**between, contested_at=NOW))]) == []


def test_an_epoch_for_what_is_said_nowhere_is_about_that_and_what_is_contested(codec: Codec) -> None:
    full, draft = shelf(), replace(READY, memory_id="draft", tier="draft")
    full.summed_up = [(replace(draft, memory_id="other"), replace(OLD, memory_id="source"))]
    between = standing(last_epoch_at=NOW, interactions=0, alive=1)
    assert stage(codec, full).process([arrival(codec, between)]) == [], "what else waits can wait"
    full.unsaid = [(draft, replace(OLD, tier="sealed"))]
    full.disputed = [(READY, replace(OLD, memory_id="denied"))]
    (output,) = stage(codec, full).process([arrival(codec, between)])
    record = opened(codec, output)
    assert (record.trigger, [(p.kind, p.memory_ids) for p in record.proposals]) == (
        "anew", [("supersede", (READY.memory_id, "denied")), ("consolidate", ("draft", "old"))]
    )  # fmt: skip


def test_what_rehearsals_doubt_is_nominated_once_it_is_faint_and_before_what_is_only_old(codec: Codec) -> None:
    doubting = shelf()
    faint = replace(READY, memory_id="faint", last_access=NOW, salience_ppm=99_999)
    clear = replace(READY, memory_id="clear", last_access=NOW, salience_ppm=100_000)
    kept = replace(faint, memory_id="kept", replays=2)
    grand = replace(faint, memory_id="grand", tier="long-term")
    # Held twice before, its decay score is above its salience.
    doubting.unsure = [faint, clear, kept, grand]
    (output,) = stage(codec, doubting).process([arrival(codec, TICK)])
    told = [(p.memory_ids[0], p.kind, p.reason) for p in opened(codec, output).proposals]
    assert told == [
        ("faint", "forget", "doubted"), ("old", "forget", "decayed"), ("ready", "promote", "early"),
        ("grand", "demote", "doubted"),
    ]  # fmt: skip
