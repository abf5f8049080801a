"""The sessions stage without Kafka: what is idle at a tick is told of once, whatever stands before it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.policy import BudgetPolicy, ConsolidatePolicy, Policy
from memquorum.core.records import (
    Erased,
    ErasedEpisode,
    JournalAppended,
    JournalEntry,
    SessionClosed,
    Standing,
    Stored,
    Summary,
    Ticked,
)
from memquorum.ports import Candidate, ErasedSummary, IdleSession, StoreUnavailable, Weighted
from memquorum.schema_files import load_codec
from streams.session_stage import Sessions
from streams.stage import Arrival
from tests.builders import genesis
from tests.builders.shelf import Shelf

NOW = 1_700_000_000_000
MINUTE = 60_000
IDLE_MS = ConsolidatePolicy().idle_ms
GENESIS = genesis.make(policy=Policy())
TICK = JournalEntry(
    shard=1, seq=9, as_of=NOW, effect="ticked", event_id="e", source_topic=topics.ACCEPTED, source_partition=1,
    source_offset=33, detail=load_codec().encode(Ticked(NOW, Standing(4, NOW - 5, 7, 20))),
)  # fmt: skip
IDLE = IdleSession("greenhouse", "planner", "s1", NOW - IDLE_MS, 3)


def sessions(codec: Codec, shelf: Shelf) -> Sessions:
    return Sessions(codec, GENESIS, shelf, shelf)


def arrival(codec: Codec, as_of: int = NOW, *, partition: int = 1, effect: str = "ticked") -> Arrival:
    entry = replace(TICK, as_of=as_of, effect=effect)
    return Arrival(partition, 9, codec.encode(JournalAppended(codec.encode(entry), b"p" * 32, b"h" * 32)), "00-trace")


def closed_sessions(codec: Codec, stage: Sessions, *arrivals: Arrival) -> list[SessionClosed]:
    return [codec.decode_as(SessionClosed, output.value) for output in stage.process(arrivals)]


def test_a_session_is_over_when_nothing_happened_in_it_for_as_long_as_the_policy_says(codec: Codec) -> None:
    later = replace(IDLE, session="s2", latest=IDLE.latest + 1)
    (output,) = sessions(codec, Shelf(idle=[IDLE, later])).process([arrival(codec)])
    assert (output.topic, output.partition, output.key) == (topics.CLOSED, 1, b"greenhouse")
    expected = SessionClosed(output.event_id, 1, "greenhouse", "planner", "s1", NOW, "idle", 33)
    assert codec.decode(output.value) == expected


def test_it_is_told_of_once_and_after_a_restart_under_the_same_id(codec: Codec) -> None:
    shelf = Shelf(idle=[IDLE])
    stage = sessions(codec, shelf)
    (first,) = closed_sessions(codec, stage, arrival(codec))
    assert closed_sessions(codec, stage, arrival(codec, NOW + MINUTE)) == []
    (again,) = closed_sessions(codec, sessions(codec, shelf), arrival(codec, NOW + MINUTE))
    assert (again.event_id, again.closed_at) == (first.event_id, NOW + MINUTE)
    stage.assigned(frozenset({1}))
    assert [one.event_id for one in closed_sessions(codec, stage, arrival(codec, NOW + 1))] == [first.event_id]


def test_what_was_said_in_it_since_makes_it_another_event(codec: Codec) -> None:
    shelf = Shelf(idle=[IDLE])
    stage = sessions(codec, shelf)
    (first,) = closed_sessions(codec, stage, arrival(codec))
    shelf.idle = [replace(IDLE, latest=IDLE.latest + 5, memories=4)]
    (second,) = closed_sessions(codec, stage, arrival(codec, NOW + MINUTE))
    assert second.event_id != first.event_id


def test_the_store_is_asked_once_a_minute_of_the_streams_clock(codec: Codec) -> None:
    shelf = Shelf()
    closed_sessions(
        codec, sessions(codec, shelf), *(arrival(codec, NOW + at) for at in (0, 1, MINUTE - 1, MINUTE, MINUTE + 1))
    )
    asked = [question[2] for question in shelf.asked if question[0] == "idle_sessions"]
    assert asked == [NOW - IDLE_MS, NOW + MINUTE - IDLE_MS]


def test_sessions_that_stay_idle_do_not_stand_before_others(codec: Codec) -> None:
    # None of them gives a summary, so all of them stay idle.
    shelf = Shelf(idle=[replace(IDLE, session=f"s{k:03}") for k in range(150)])
    stage = sessions(codec, shelf)
    found = [one.session for at in range(3) for one in closed_sessions(codec, stage, arrival(codec, NOW + at))]
    assert found == [one.session for one in shelf.idle]


def test_other_entries_ask_nothing(codec: Codec) -> None:
    shelf = Shelf(idle=[IDLE])
    assert sessions(codec, shelf).process([arrival(codec, effect="stored"), Arrival(1, 1, b"anything")]) == []
    assert shelf.asked == []


def test_an_entry_of_another_shard_is_poison_and_left_out(codec: Codec, caplog: pytest.LogCaptureFixture) -> None:
    stage, poison = sessions(codec, Shelf()), arrival(codec, partition=2)
    with pytest.raises(ValueError, match="shard 1 in partition 2") as caught:
        stage.process([poison])
    assert stage.poisoned(poison, caught.value) == []
    assert "journal offset 9 of shard 2 left out" in caplog.text


def test_a_store_that_is_down_is_the_stages_to_wait_for(codec: Codec) -> None:
    shelf = Shelf(idle=[IDLE], down={"idle_sessions"})
    stage = sessions(codec, shelf)
    with pytest.raises(StoreUnavailable):
        stage.process([arrival(codec)])
    shelf.down.clear()
    assert [one.session for one in closed_sessions(codec, stage, arrival(codec))] == ["s1"]


ORDER = Erased(b"order", NOW, 0, 1, NOW, (
    ErasedEpisode("a", "sealed", b"c"), ErasedEpisode("sum", "short-term", b"c", "anew"),
    ErasedEpisode("old", "short-term", b"c", "few"),
))  # fmt: skip
GONE = ErasedSummary("sum", "greenhouse", "planner", "s1", NOW - 7)


def journalled(codec: Codec, effect: str, detail: object) -> Arrival:
    entry = replace(TICK, effect=effect, detail=codec.encode(detail))
    return Arrival(1, 9, codec.encode(JournalAppended(codec.encode(entry), b"p" * 32, b"h" * 32)), "00-trace")


def test_a_summary_that_was_erased_is_to_be_made_anew(codec: Codec) -> None:
    shelf = Shelf(erased=[GONE, replace(GONE, memory_id="old")])
    (output,) = sessions(codec, shelf).process([journalled(codec, "erased", ORDER)])
    assert (output.topic, output.partition, output.key) == (topics.CLOSED, 1, b"greenhouse")
    expected = SessionClosed(
        output.event_id, 1, "greenhouse", "planner", "s1", NOW - 7, "erased", TICK.source_offset, "sum"
    )  # fmt: skip
    assert codec.decode(output.value) == expected
    (again,) = sessions(codec, shelf).process([journalled(codec, "erased", ORDER)])
    assert again == output, "after a restart under the same id"


def test_a_draft_in_the_place_of_another_had_none_of_its_own(codec: Codec) -> None:
    shelf = Shelf(erased=[replace(GONE, memory_id="draft", renews="sum")])
    order = replace(ORDER, episodes=(ErasedEpisode("draft", "draft", b"c", "anew"),))
    assert [
        one.summary for one in closed_sessions(codec, sessions(codec, shelf), journalled(codec, "erased", order))
    ] == ["sum"]
    voted = replace(ORDER, episodes=(ErasedEpisode("draft", "short-term", b"c", "anew"),))
    assert [
        one.summary for one in closed_sessions(codec, sessions(codec, shelf), journalled(codec, "erased", voted))
    ] == ["draft"]


def test_of_what_an_order_kept_out_the_summary_is_made_anew_that_it_was_to_stand_for(codec: Codec) -> None:
    """A summary was on its way when a further one of its sources was erased."""
    shelf = Shelf(erased=[GONE])
    late = Stored(
        agent="consolidator", subject="x", occurred_at=NOW, commitment=b"c", characters=3, outcome="erased",
        salience_ppm=0, early=False, accepted_offset=1, scored_offset=1, encoder="hashing",
        summary=Summary("extractive/1", "s1", 1, b"c", (), "sum"),
    )  # fmt: skip
    assert [
        one.summary for one in closed_sessions(codec, sessions(codec, shelf), journalled(codec, "dropped", late))
    ] == ["sum"]
    plain = replace(late, summary=None)
    assert closed_sessions(codec, sessions(codec, shelf), journalled(codec, "dropped", plain)) == []
    assert (
        closed_sessions(codec, sessions(codec, shelf), journalled(codec, "dropped", replace(late, outcome="failed")))
        == []
    )


def _over(codec: Codec, tokens: str, held: int = 90, **policy: Any) -> list[SessionClosed]:
    """Returns what is to be summarised in a namespace of three memories."""
    candidate = Candidate("a", "greenhouse", "short-term", NOW, NOW, 0, early=False)
    weighs = [
        Weighted(replace(candidate, memory_id=one), "episodic", held // 3, 0, 0, 0, 0, (), False, (), None, None)
        for one in "abc"
    ]
    made = genesis.make(policy=Policy(budget=BudgetPolicy(tokens=tokens), **policy))
    stage = Sessions(codec, made, shelf := Shelf(weighs=weighs), shelf)
    first = closed_sessions(codec, stage, arrival(codec))
    assert closed_sessions(codec, stage, arrival(codec, NOW + MINUTE)) == [], "once after an epoch"
    later = codec.encode(Ticked(NOW + 2 * MINUTE, Standing(5, NOW, 0, 20)))
    tick = replace(TICK, as_of=NOW + 2 * MINUTE, detail=later)
    after = Arrival(1, 9, codec.encode(JournalAppended(codec.encode(tick), b"p" * 32, b"h" * 32)), None)
    assert [(one.why, one.namespace) for one in closed_sessions(codec, stage, after)] == [
        (one.why, one.namespace) for one in first
    ], "and again after the next"
    return first


@pytest.mark.parametrize("name", ["hybrid", "reflection"])
def test_what_a_namespace_over_its_budget_holds_is_to_be_summarised(codec: Codec, name: str) -> None:
    (found,) = _over(codec, f"green*=64/{name}")
    assert found == SessionClosed(found.event_id, 1, "greenhouse", None, "", NOW, "budget", 33)


@pytest.mark.parametrize("tokens", ["greenhouse=64/worth", "greenhouse=90/hybrid", "other=64/hybrid", ""])
def test_nor_is_it_by_another_policy_or_within_the_budget(codec: Codec, tokens: str) -> None:
    assert _over(codec, tokens) == []


def test_what_namespaces_hold_is_counted_only_where_a_policy_summarises(codec: Codec) -> None:
    """Counting reads all of a namespace, at each tick."""
    tokens = "*=64/worth"
    made = genesis.make(policy=Policy(budget=BudgetPolicy(tokens=tokens)))
    stage = Sessions(codec, made, shelf := Shelf(), shelf)
    closed_sessions(codec, stage, arrival(codec))
    assert "held" not in [one[0] for one in shelf.asked]


def test_in_a_strict_namespace_a_summary_would_make_no_room(codec: Codec) -> None:
    assert _over(codec, "greenhouse=64/hybrid", consolidate=ConsolidatePolicy(strict="green*")) == []
