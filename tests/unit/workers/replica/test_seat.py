"""A member's seat in one shard: when it votes, what it votes by, and what it asks the loop for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from db.signstate import MemorySignState
from memquorum import topics
from memquorum.core import ids, sealing
from memquorum.core.consensus import events as t
from memquorum.core.consensus.evidence import convict
from memquorum.core.consensus.slots import ballot_slot
from memquorum.core.consensus.transitions import Phase
from memquorum.core.identity.messages import digest, open_signed
from memquorum.core.orders.configuration import apply, configuration_digest
from memquorum.core.policy import DAY_MS_MOST
from memquorum.core.records import (
    AccessAccepted,
    BallotCast,
    Checkpoint,
    ClockTicked,
    Commit,
    ConfigurationOrdered,
    MemoryReencoded,
    Misbehaved,
    NominationProposed,
    Proposal,
    Quote,
    RehearsalMade,
    Signed,
    Summary,
)
from memquorum.core.vote.kinds import FORGET
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.ports import SignConflict
from tests.builders import votes
from tests.builders.genesis import public_key
from tests.builders.table import CODEC, GENESIS, HOUR, ME, NOW, Table, decision_on, opinions_of
from tests.builders.worths import sealed_counts
from workers.kafka.own_clock import OwnClock
from workers.replica.judge import Judge
from workers.replica.seat import LOGS
from workers.replica.worker import claim


def judged(judge: Judge, nomination: NominationProposed) -> tuple[Opinion, ...]:
    """Returns a member's opinions of a nomination."""
    record, named = nomination, digest(CODEC.encode(nomination))
    cast = BallotCast(record.cluster, 0, 0, record.epoch, ME, named, terms=judge.opinions(record, GENESIS.policy))
    return opinions_of(cast, record)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    found = Table(tmp_path / "view.db")
    yield found
    found.view.close()


# When it votes --------------------------------------------------------------------------------------------------------


FACT = "Maria moved the spare keys of greenhouse seven into the yellow cabinet."


LATE = ((1, 0.1), (1, 0.11), (1, 0.12), (1, -0.1), (1, -0.11), (1, -0.12), (0, 1), (0, -1))


def busy(table: Table, agent: str = "ann", **more: Any) -> None:
    """Adds an agent's recent episodes: mostly like (1, 0)."""
    for number, vector in enumerate(LATE):
        table.episode(f"e{number}", vector, agent=agent, **more)


def test_it_votes_by_its_own_reading_of_the_last_access(table: Table) -> None:
    busy(table)
    table.episode("m1", (1, 0), agent="bob", text=FACT)
    table.episode("m2", (1, 0), agent="bob")
    read_at = NOW - 1000
    table.put(topics.ACCEPTED, AccessAccepted("a", ("m2",), "space", "reader", read_at))
    table.nominate(table.tick(), "m1", "m2", "unknown")
    first, second, third = table.turn() or []
    assert (first.yes, first.terms[0], first.terms[3]) == (False, 0, 0)  # decayed, but like what ann did last
    assert second.terms[3] == read_at
    assert not second.yes
    assert not third.yes  # what it does not know it does not delete


def test_without_likeness_to_its_own_agents_work_a_decayed_memory_goes(table: Table) -> None:
    table.episode("m1", (-1, 0), agent="bob")
    busy(table)
    table.nominate(table.tick(), "m1")
    (opinion,) = table.turn() or []
    assert opinion.yes and opinion.terms[2] < 400_000 < opinion.terms[1]


def test_small_talk_goes_and_a_fact_stays_though_nobody_reads_either(table: Table) -> None:
    """A member without an agent there goes by the rank of its worth."""
    table.episode("fact", (1, 0), agent="bob", text="The door code is 4821.")
    table.episode("talk", (1, 0), agent="bob", text="Thanks a lot!")
    table.nominate(table.tick(), "fact", "talk")
    fact, talk = table.turn() or []
    assert (fact.yes, talk.yes) == (False, True)
    assert fact.terms[1] == fact.terms[2] > 666_667 and talk.terms[1] == talk.terms[2] < 200_000


@pytest.mark.parametrize("lost", ["counts", "like", "other words"])
def test_who_cannot_compute_the_worth_says_no(table: Table, lost: str) -> None:
    key = table.vault.keys.setdefault("talk", os.urandom(32))
    without: dict[str, Any] = {"counts": {"sealed_counts": None}, "like": {"like": None}}.get(
        lost, {"sealed_counts": sealed_counts(key, "The pump leaks.", "talk")}
    )
    table.episode("talk", (1, 0), agent="bob", text="Thanks a lot!", **without)
    table.nominate(table.tick(), "talk")
    (opinion,) = table.turn() or []
    assert not opinion.yes and opinion.terms == FORGET.abstain(NOW)


def test_a_rank_is_taken_among_all_that_was_accepted_stored_or_not(table: Table) -> None:
    table.episode("m1", agent="bob", text="The pump leaks.")
    for number in range(300):
        name = f"dull{number}"
        offset = table.accept(name, "bob", text="Okay.")
        table.score(name, offset, agent="bob", outcome="below_threshold", sealed_embedding=None)
    table.nominate(table.tick(), "m1")
    (opinion,) = table.turn() or []
    assert opinion.terms[1] > 800_000


def test_other_members_agents_are_no_context(table: Table) -> None:
    table.episode("m1", (1, 0), agent="bob")
    busy(table, agent="bob")
    table.nominate(table.tick(), "m1")
    assert [o.terms[2] - o.terms[1] for o in table.turn() or []] == [0]


def test_what_its_agents_did_after_the_tick_is_no_context(table: Table) -> None:
    """However far a member has read, it votes on the same moment."""
    table.episode("m1", (1, 0), agent="bob")
    tick = table.tick()
    busy(table)
    table.nominate(tick, "m1")
    assert [o.terms[2] - o.terms[1] for o in table.turn() or []] == [0]


def test_a_nomination_waits_until_the_stream_was_read_so_far(table: Table) -> None:
    table.nominate(1, "m1")
    assert table.turn(1) is None
    offset = table.accept("m1")
    table.tick()
    assert table.turn(1) is None  # the episode before the tick has no score yet
    table.score("m1", offset)
    assert table.turn(1) is not None


def test_however_late_it_reads_the_stream_it_waits_for_what_is_in_it(table: Table) -> None:
    first = table.nominate(1, "m1")
    assert table.turn(1) is None
    assert not table.seat.unsure_of_end()  # most likely it will be read in a moment
    assert table.seat.wake_at() == pytest.approx(table.now + 0.005)  # a record changes it, and is looked for
    assert table.turn(3600) is None
    assert table.seat.unsure_of_end()
    table.seat.told_end(2)
    assert table.turn(3600) is None
    assert table.seat.core.awaits_ballot(first) and not table.seat.unsure_of_end()
    table.episode("m1")
    table.tick()
    assert table.turn() is not None


def test_a_place_that_the_stream_has_not_is_refused(table: Table) -> None:
    table.episode("m1")
    never = table.nominate(2**62, "m1")
    assert table.turn(3) is None
    table.seat.told_end(None)  # the broker does not answer
    assert not table.seat.unsure_of_end() and table.turn(2) is None
    assert table.seat.core.awaits_ballot(never) and table.seat.unsure_of_end()
    table.seat.told_end(2)
    assert table.turn() is None
    assert table.seat.core.phase == Phase.IDLE and not table.seat.core.awaits_ballot(never)
    table.nominate(table.tick(), "m1")
    assert table.turn() is not None


def test_a_nomination_that_has_to_wait_keeps_no_other_from_its_vote(table: Table) -> None:
    table.episode("m1")
    never = table.nominate(2**62, "m1")
    assert table.turn(1) is None
    table.nominate(table.tick(), "m1")
    assert table.turn() is not None
    assert table.seat.core.awaits_ballot(never)


def test_a_tick_before_the_last_decision_is_still_a_tick(table: Table) -> None:
    """The time when a member forgot its ticks must not decide whether it refuses a nomination."""
    table.episode("m1", agent="bob")
    early = table.tick(NOW - HOUR)
    late = table.tick()
    table.turn()
    proposals = [votes.proposal("m1", "forget", namespace="space")]
    pre_prepare, commits = votes.decision(CODEC, GENESIS, proposals, as_of=NOW, accepted_offset=late)
    table.put(topics.PRE_PREPARES, pre_prepare)
    for data in commits:
        table.put(topics.COMMITS, data)
    assert table.view.progress(0).seq == 2
    table.nominate(early, "m1", epoch=2, as_of=NOW - HOUR)
    assert table.turn() is not None


@pytest.mark.parametrize("lie", ["time", "place"])
def test_a_nomination_that_lies_about_time_is_refused(table: Table, lie: str) -> None:
    table.episode("m1")
    tick = table.tick()
    table.nominate(tick - 1 if lie == "place" else tick, "m1", as_of=NOW if lie == "place" else NOW + HOUR)
    assert table.turn() is None
    assert table.seat.core.phase == Phase.IDLE


def test_a_vault_that_is_down_delays_the_vote_and_nothing_else(table: Table) -> None:
    table.episode("m1")
    table.vault.down = True
    table.nominate(table.tick(), "m1")
    assert table.turn() is None
    assert table.seat.wake_at() == pytest.approx(0.5)
    assert table.turn(0.1) is None
    table.vault.down = False
    assert table.turn(0.1) is None
    assert table.turn(0.5) is not None


def test_a_seat_that_is_not_live_does_not_vote(tmp_path: Path) -> None:
    table = Table(tmp_path / "view.db", live=False)
    table.episode("m1")
    table.nominate(table.tick(), "m1")
    assert table.turn(1) is None
    table.read_to_the_end()
    assert table.turn() is not None
    table.view.close()


def test_a_seat_is_live_when_every_log_was_read_to_its_end_what_is_read_again_included(tmp_path: Path) -> None:
    table = Table(tmp_path / "view.db", live=False)
    first, commits = decision_on(1)
    others = [decision_on(epoch) for epoch in range(2, 8)]
    for data in (first, *(pre_prepare for pre_prepare, _ in others)):
        table.put(topics.PRE_PREPARES, data)  # the last two lie beyond the window of four
    for topic in LOGS.values():
        if topic != topics.COMMITS:
            table.seat.end(topic)
    for data in commits:
        table.put(topics.COMMITS, data)
    assert table.seat.rereads == {t.Message.PRE_PREPARE: 5}
    table.seat.end(topics.COMMITS)
    table.seat.end(topics.PRE_PREPARES)  # the end that was reached before it goes back
    assert not table.seat.live
    table.seat.rereads.clear()
    table.seat.end(topics.PRE_PREPARES)
    assert table.seat.live
    table.view.close()


def test_a_restart_before_a_log_is_read_again_does_not_pass_it_over(tmp_path: Path) -> None:
    """Killed between the decision that asks for it and the seek, or after the next decision of the same turn."""
    table = Table(tmp_path / "view.db", live=False)
    decisions = [decision_on(epoch) for epoch in range(1, 9)]
    for _, commits in decisions:
        for data in commits:
            table.put(topics.COMMITS, data)  # epoch 6 begins at 20, beyond the window of four
    table.put(topics.PRE_PREPARES, decisions[0][0])
    assert table.view.progress(0).seq == 2
    assert table.seat.rereads == {t.Message.COMMIT: 20}
    assert table.view.position(topics.COMMITS, 0) == 4
    for pre_prepare, _ in decisions[1:5]:
        table.put(topics.PRE_PREPARES, pre_prepare)
    assert table.view.progress(0).seq == 6
    assert table.view.position(topics.COMMITS, 0) == 20
    table.seat = table.sit()
    for _, commits in decisions[5:]:
        for data in commits:
            table.offsets[topics.COMMITS] = 20
            table.put(topics.COMMITS, data)
    for pre_prepare, _ in decisions[5:]:
        table.put(topics.PRE_PREPARES, pre_prepare)
    assert table.view.progress(0).seq == 9
    table.view.close()


def test_a_vote_about_a_time_that_runs_away_waits_until_it_has_come(tmp_path: Path) -> None:
    wall = [NOW - 60_001]
    table = Table(tmp_path / "view.db", own_clock=OwnClock(60_000, lambda: wall[0]))
    waits = table.seat.watch.shown.health.waits
    table.episode("m1", agent="bob")
    table.nominate(table.tick(), "m1")
    assert table.turn() is None
    told = table.seat.watch.shown.health.waits.keys() - waits.keys()
    assert told == {"the time of shard 0"}
    # It wakes by itself when the time has come, and looks sooner where that is far: a clock may be set right.
    assert table.seat.wake_at() == pytest.approx(0.001)
    wall[0] = NOW - HOUR
    assert table.turn(0.001) is None
    assert table.seat.wake_at() == pytest.approx(5.001)
    wall[0] = NOW - 60_000
    assert table.turn(1.0) is None
    assert [o.yes for o in table.turn(4.1) or []] == [True]
    assert table.seat.watch.shown.health.waits == waits
    table.view.close()


def test_what_the_others_decided_meanwhile_is_waited_for_no_longer(tmp_path: Path) -> None:
    table = Table(tmp_path / "view.db", own_clock=OwnClock(60_000, lambda: 0))
    table.nominate(table.tick(), "m1")
    assert table.turn() is None
    assert "the time of shard 0" in table.seat.watch.shown.health.waits
    pre_prepare, commits = decision_on(1)
    for data in commits:
        table.put(topics.COMMITS, data)
    table.put(topics.PRE_PREPARES, pre_prepare)
    assert table.view.progress(0).seq == 2
    assert table.turn() is None
    assert "the time of shard 0" not in table.seat.watch.shown.health.waits
    table.view.close()


def test_what_was_decided_to_go_counts_against_the_caps_of_its_namespace(table: Table) -> None:
    wanted = [
        *(votes.proposal(name, kind, namespace="space") for name, kind in (("m1", "forget"), ("m2", "evict"))),
        votes.proposal("m3", "demote", namespace="space"),
        votes.proposal("m4", "forget", namespace="space"),
        votes.proposal("m5", "evict", namespace="other"),
    ]
    kept = wanted[3]
    pre_prepare, commits = votes.decision(CODEC, GENESIS, wanted, lambda _, asked: asked != kept, epoch=1, as_of=NOW)
    for data in commits:
        table.put(topics.COMMITS, data)
    table.put(topics.PRE_PREPARES, pre_prepare)
    assert table.view.weights.gone("space") == ((NOW, 2),), "a demotion or what was kept counts, or what went does not"
    assert table.view.weights.gone("other") == ((NOW, 1),)
    with table.view.batch():
        table.view.weights.went(2, NOW + DAY_MS_MOST, {"space": 4})
    assert table.view.weights.gone("space") == ((NOW + DAY_MS_MOST, 4),), "what no cap counts any more is kept"


# The policy of its votes ----------------------------------------------------------------------------------------------


def test_what_cannot_be_opened_is_kept(table: Table) -> None:
    table.episode("m1", agent="bob")
    table.episode("m2", agent="bob")
    del table.vault.keys["m1"]
    table.vault.keys["m2"] = bytes(32)
    table.nominate(table.tick(), "m1", "m2")
    assert [o.yes for o in table.turn() or []] == [False, False]


@pytest.mark.parametrize("vector", [(), (float("nan"), 0.0), (float("inf"), 0.0), (1.0, 0.0, 0.0)])
def test_a_vector_that_makes_no_sense_is_kept_and_harms_no_one(table: Table, vector: tuple[float, ...]) -> None:
    table.episode("m0", (0, 1), agent="ann")
    table.episode("m1", vector, agent="ann")
    table.episode("m2", (0, 1), agent="ann")
    table.nominate(table.tick(), "m1", "m2")
    first, second = table.turn() or []
    assert not first.yes
    assert second.terms[1] > 0


def test_a_content_that_is_not_the_accepted_one_gives_no_ground(table: Table) -> None:
    good = table.accept("m1", "bob", at=NOW - HOUR)
    bad = table.accept("m2", "bob", at=NOW - HOUR, commitment=b"x" * 32)
    table.score("m1", good, agent="bob")
    table.score("m2", bad, agent="bob")
    for memory in ("m1", "m2"):
        table.put(topics.ACCEPTED, AccessAccepted(f"a{memory}", (memory,), "space", "reader", NOW - HOUR))
    table.nominate(table.tick(), "m1", "m2", kind="promote")
    first, second = table.turn() or []
    assert first.terms[1] == 250_000
    assert second.terms[1] == 0


@pytest.mark.parametrize(("again", "grounded"), [("bob", 500_000), ("cy", 1_000_000)])
def test_what_another_agent_says_again_is_grounded(table: Table, again: str, grounded: int) -> None:
    table.episode("m1", agent="bob", at=NOW - HOUR)
    outcome = "reinforced" if again == "bob" else "stored"  # of another subject it is a memory of its own
    table.episode("m2", agent=again, at=NOW - HOUR, outcome=outcome, reinforces="m1")
    table.nominate(table.tick(), "m1", kind="promote")
    (opinion,) = table.turn() or []
    assert opinion.terms[1] == grounded


def test_an_episode_that_repeats_reinforces_and_one_that_repeats_the_forgotten_is_new(table: Table) -> None:
    table.episode("m1", agent="bob", at=10)
    table.episode("m2", agent="bob", at=20, outcome="reinforced", reinforces="m1")
    table.turn()
    assert (table.view.known(["m1"])["m1"].reinforced, table.view.known(["m1"])["m1"].last_access) == (1, 20)
    # Another subject's: no repetition by which the two could be one.
    table.episode("other", at=25, outcome="reinforced", reinforces="m1")
    table.turn()
    assert (table.view.known(["m1"])["m1"].reinforced, table.view.known(["m1"])["m1"].last_access) == (1, 20)
    # Known all the same: where the decision to forget m1 was applied before m2, m2 is stored (decision 8).
    assert table.view.known(["m2"])["m2"].created == 20
    table.view.decided(0, seq=1, epoch=1, commits=[], decisions=b"", forgotten=["m1"], accepted_offset=50, read=3)
    table.episode("m3", agent="bob", at=30, outcome="reinforced", reinforces="m1")
    table.episode("m4", agent="bob", at=30, outcome="reinforced", reinforces="nobody")
    table.turn()
    assert set(table.view.known(["m3", "m4"])) == {"m3", "m4"}


def test_nobody_lived_through_a_summary(table: Table) -> None:
    said = Summary("extractive/1", "s", 600_000, bytes(32), (Quote("m1", 0, 9, "facts", 0),))
    table.episode("m1", agent="ann")
    table.score("sum", table.accept("sum", agent="ann", derives_from=("m1",), summary=said))
    table.turn()
    assert table.view.known(["sum"])["sum"].marks.summary is not None, "a member votes on it"
    assert [one.memory_id for one in table.view.recent("space", through=1000, most=64)] == ["m1"]


def test_below_the_threshold_nothing_is_kept(table: Table) -> None:
    table.score("m1", table.accept("m1"), outcome="below_threshold", sealed_embedding=None)
    table.turn()
    assert table.view.known(["m1"]) == {}
    assert table.view.recent("space", through=1000, most=64) == []


def test_late_episodes_are_opened_once_and_closed_when_forgotten(table: Table) -> None:
    table.episode("m1", agent="ann")
    table.nominate(table.tick(), "m1")
    table.turn()
    judge = table.seat._judge
    assert table.vault.asked == [{"m1"}]
    assert set(judge._opened) == {"m1"}
    judge.forget(["m1"])
    assert not judge._opened


def proposed(table: Table, *memories: str) -> NominationProposed:
    wanted = tuple(Proposal((m,), "space", "forget", "decayed", 0, 0, 600_000) for m in memories)
    at = table.offsets[topics.ACCEPTED]
    return NominationProposed(GENESIS.cluster, 0, 0, 2, NOW, at, "interval", wanted)


def test_an_episode_whose_key_was_destroyed_is_no_context_though_it_was_opened_before(table: Table) -> None:
    """Or a member that was restarted since would vote from another context."""
    table.episode("m1", (1, 0), agent="bob")
    busy(table)
    table.nominate(table.tick(), "m1")
    assert [o.terms[2] > 600_000 for o in table.turn() or []] == [True]
    for number in range(1, len(LATE)):
        del table.vault.keys[f"e{number}"]
    judge, nomination = table.seat._judge, proposed(table, "m1")
    anew = judged(Judge(CODEC, table.view, table.vault, GENESIS), nomination)
    assert [o.terms[2] == o.terms[1] for o in anew] == [True]
    assert judged(judge, nomination) == anew
    assert set(judge._opened) == {"e0"}


def test_vectors_of_two_encoders_are_never_compared_though_they_are_as_long(table: Table) -> None:
    table.episode("m1", (1, 0), agent="bob", encoder="minilm")
    busy(table, encoder="bert")
    table.nominate(table.tick(), "m1")
    (opinion,) = table.turn() or []
    assert (opinion.yes, opinion.terms[2]) == (False, 1_000_000)  # it knows too little: the strongest no
    key = table.vault.keys["m1"]
    anew = sealing.seal_vector(key, os.urandom(12), np.array([-1, 0], np.float32), "m1")
    table.put(topics.REENCODED, MemoryReencoded("m1", "space", "minilm", "bert", anew, 1))
    (opinion,) = judged(table.seat._judge, proposed(table, "m1"))
    assert opinion.terms[2] < 400_000
    assert table.view.position(topics.REENCODED, 0) == 1


def test_an_episode_that_was_opened_is_opened_again_when_it_is_encoded_anew(table: Table) -> None:
    table.episode("m1", (1, 0), agent="bob", encoder="bert")
    busy(table, encoder="minilm")
    table.nominate(table.tick(), "m1")
    assert [o.terms == FORGET.abstain(NOW) for o in table.turn() or []] == [True]
    for number, near in enumerate(f"e{at}" for at in range(len(LATE))):
        vector = np.array([-1 if number < 3 else 0, number / 10 - 0.1], np.float32)
        anew = sealing.seal_vector(table.vault.keys[near], os.urandom(12), vector, near)
        table.put(topics.REENCODED, MemoryReencoded(near, "space", "minilm", "bert", anew, 1))
    (opinion,) = judged(table.seat._judge, proposed(table, "m1"))
    assert opinion.terms != FORGET.abstain(NOW) and opinion.terms[2] != opinion.terms[1]


# Rehearsals -----------------------------------------------------------------------------------------------------------


def rehearsed(
    table: Table, memory: str, verdict: str = "held", signer: str = "service:rehearsal", **changed: Any
) -> int:
    made = RehearsalMade(GENESIS.cluster, 0, 0, memory, "space", verdict, "", 1, 0, NOW, 0)
    return table.put(topics.REHEARSED, votes.signed(CODEC, GENESIS, signer, replace(made, **changed)))


def salience(table: Table, memory: str) -> int:
    table.turn()
    return table.view.known([memory])[memory].salience_ppm


def test_a_rehearsal_counts_once_and_where_its_service_signed_it(table: Table) -> None:
    used, idle = ids.memory_id("space", "used"), ids.memory_id("space", "idle")
    for memory in (used, idle):
        table.episode(memory, agent="bob")
    table.put(topics.ACCEPTED, AccessAccepted("u1", (used,), "space", "ann", NOW - HOUR))
    rehearsed(table, used, signer="service:nomination")
    rehearsed(table, used, cluster=bytes(32))
    rehearsed(table, used, verdict="splendid")
    table.put(topics.REHEARSED, b"rubbish")
    assert salience(table, used) == 600_000
    rehearsed(table, used)
    rehearsed(table, idle)
    rehearsed(table, used)
    assert (salience(table, used), salience(table, idle)) == (660_000, 600_000), "once, and only what was used"
    rehearsed(table, used, verdict="contested", as_of=NOW + 1, previous=NOW)
    assert salience(table, used) == 660_000, "it was rehearsed in this time"
    rehearsed(table, used, as_of=NOW + HOUR, previous=NOW)
    assert salience(table, used) == 660_000, "nobody used it since"
    rehearsed(table, used, verdict="contested", as_of=NOW + HOUR, previous=NOW)
    assert salience(table, used) == 561_000
    assert table.view.position(topics.REHEARSED, 0) == 10


def test_a_rehearsal_of_what_was_rehearsed_since_changes_nothing(table: Table) -> None:
    memory = ids.memory_id("space", "m")
    table.episode(memory, agent="bob")
    table.turn()
    rehearsed(table, memory, verdict="contested")
    rehearsed(table, memory, verdict="contested", as_of=NOW + 2 * HOUR)
    assert salience(table, memory) == 510_000
    rehearsed(table, memory, verdict="contested", as_of=NOW + 2 * HOUR, previous=NOW)
    assert salience(table, memory) == 433_500


def test_who_says_that_it_read_what_there_is_not_holds_up_nobody(table: Table) -> None:
    one, other = ids.memory_id("space", "one"), ids.memory_id("space", "other")
    table.episode(one, agent="bob")
    table.episode(other, agent="bob")
    rehearsed(table, one, verdict="contested", accepted_offset=1_000)
    rehearsed(table, other, verdict="contested", accepted_offset=2)
    assert (salience(table, one), salience(table, other)) == (600_000, 510_000)
    assert table.view.position(topics.REHEARSED, 0) is None, "who begins anew reads it again"
    table.tick(NOW + 1)
    assert salience(table, one) == 600_000
    assert table.view.position(topics.REHEARSED, 0) == 2, "by then it would have been read"


def test_who_lags_takes_a_rehearsal_once_it_knows_the_configuration(table: Table) -> None:
    memory = ids.memory_id("space", "m")
    table.episode(memory, agent="bob")
    table.turn()
    place = (GENESIS.cluster, 0, 0, configuration_digest(GENESIS))
    order = ConfigurationOrdered(*place, "rotate-service", -1, name="journal", public_key=public_key("another"))
    rehearsed(table, memory, verdict="contested", config=1, accepted_offset=1)
    assert salience(table, memory) == 600_000
    assert table.view.position(topics.REHEARSED, 0) is None, "who begins anew reads it again"
    table.seat.walk.follow(apply(GENESIS, order))
    assert salience(table, memory) == 510_000
    assert table.view.position(topics.REHEARSED, 0) == 1
    rehearsed(table, memory, config=-1)
    rehearsed(table, memory, config=7)
    assert salience(table, memory) == 510_000
    assert table.view.position(topics.REHEARSED, 0) == 2


def test_a_rehearsal_waits_until_the_stream_is_read_as_far(table: Table) -> None:
    memory = ids.memory_id("space", "late")
    rehearsed(table, memory, verdict="groundless", accepted_offset=1)
    table.turn()
    assert table.view.position(topics.REHEARSED, 0) is None
    table.episode(memory, agent="bob")
    assert salience(table, memory) == 510_000
    assert table.view.position(topics.REHEARSED, 0) == 1


def test_a_member_begins_anew_with_what_was_rehearsed_meanwhile(table: Table) -> None:
    memory = ids.memory_id("space", "m")
    table.episode(memory, agent="bob")
    rehearsed(table, memory, verdict="groundless", accepted_offset=1)
    assert salience(table, memory) == 510_000
    table.seat = table.sit()
    assert (salience(table, memory), table.seat.walk.next_of(topics.REHEARSED)) == (510_000, 1)


# Streams --------------------------------------------------------------------------------------------------------------


def test_garbage_is_passed_over_and_does_not_stop_the_walk(table: Table) -> None:
    table.put(topics.ACCEPTED, b"rubbish")
    table.put(topics.SCORED, b"rubbish")
    table.put(topics.BALLOTS, b"rubbish")
    table.episode("m1")
    table.nominate(table.tick(), "m1")
    assert table.turn() is not None
    assert table.seat.core.ignored == {"stranger": 1}


def test_a_restart_reads_on_where_the_view_says(table: Table) -> None:
    table.episode("m1")
    waiting = table.accept("m2")
    table.turn()
    assert table.view.position(topics.ACCEPTED, 0) == 1
    assert table.view.position(topics.SCORED, 0) == 0  # at the last that counts: its epoch is to be known
    table.seat = table.sit()
    assert table.seat.walk.next_accepted == 1
    table.offsets[topics.ACCEPTED] = waiting
    table.episode("m2")
    table.turn()
    assert set(table.view.known(["m1", "m2"])) == {"m1", "m2"}


def test_what_was_signed_for_decided_slots_is_settled_on_a_start(table: Table) -> None:
    table.view.decided(0, seq=1, epoch=1, commits=[], decisions=b"", forgotten=[], accepted_offset=0, read=1)
    first, second = ballot_slot(0, 0, 1, b"n" * 32), ballot_slot(0, 0, 2, b"n" * 32)
    slots = [first, second, "0/0/0/1/commit", "0/0/0/2/prepare"]
    said = votes.signed(CODEC, GENESIS, "member:1", BallotCast(GENESIS.cluster, 0, 0, 2, ME, b"n" * 32, b""))
    table.signed.claim([(slot, b"d", said) for slot in slots])
    table.seat = table.sit()
    assert sorted(table.seat.settled) == ["0/0/0/1/commit", first]
    table.read_to_the_end()
    assert [send.slot for send in table.seat.outbox] == [second, "0/0/0/2/prepare"]


def test_somebody_with_its_key_stops_the_process(table: Table) -> None:
    first, second = (
        votes.signed(CODEC, GENESIS, "member:1", BallotCast(GENESIS.cluster, 0, 0, 1, ME, b"n" * 32, terms))
        for terms in (b"one", b"other")
    )
    table.put(topics.BALLOTS, first)
    with pytest.raises(SignConflict, match="another process has its key"):
        table.put(topics.BALLOTS, second)


def test_a_decision_moves_the_view_and_settles_the_slots(table: Table) -> None:
    for memory in ("m1", "m2"):
        table.episode(memory, agent="bob")
    table.tick()
    table.turn()
    proposals = [votes.proposal(m, "forget", namespace="space") for m in ("m1", "m2")]
    pre_prepare, commits = votes.decision(
        CODEC, GENESIS, proposals, lambda _, proposal: proposal.memory_ids == ("m1",), as_of=NOW, accepted_offset=2
    )
    table.put(topics.PRE_PREPARES, pre_prepare)
    for data in commits:
        table.put(topics.COMMITS, data)
    assert table.view.progress(0).seq == 2
    assert table.view.is_forgotten("m1")
    assert not table.view.is_forgotten("m2")
    assert table.view.position(topics.COMMITS, 0) == 3  # the fourth commit came after the decision
    assert table.view.position(topics.PRE_PREPARES, 0) == 1
    assert table.view.progress(0).commits == tuple(commits[:3])
    kinds = ("pre-prepare", "prepare", "commit", "prepared")
    assert table.seat.settled == ["0/0/1//ballot", *(f"0/0/0/1/{kind}" for kind in kinds)]


# Claiming -------------------------------------------------------------------------------------------------------------


def test_what_is_produced_is_what_the_sign_state_answers(table: Table) -> None:
    signed = MemorySignState()
    signed.claim([("0/0/0/1/commit", b"d", b"as it was signed first")])
    again = t.Send(t.Message.COMMIT, "0/0/0/1/commit", b"d", b"signed anew", 1)
    new = t.Send(t.Message.PREPARE, "0/0/0/1/prepare", b"d", b"new", 1)
    table.seat.outbox += [again, new]
    assert claim(signed, [table.seat]) == [
        (table.seat, again, b"as it was signed first"),
        (table.seat, new, b"new"),
    ]
    assert set(signed.load("")) == {"0/0/0/1/commit", "0/0/0/1/prepare"}
    assert claim(signed, [table.seat]) == []


def test_a_conflict_lets_nothing_out(table: Table) -> None:
    signed = MemorySignState()
    signed.claim([("0/0/0/1/commit", b"other", b"m")])
    table.seat.outbox += [
        t.Send(t.Message.PREPARE, "0/0/0/1/prepare", b"d", b"new", 1),
        t.Send(t.Message.COMMIT, "0/0/0/1/commit", b"d", b"m", 1),
    ]
    with pytest.raises(SignConflict):
        claim(signed, [table.seat])
    assert set(signed.load("")) == {"0/0/0/1/commit"}


def test_settled_slots_are_let_go_with_the_next_claim_and_not_without_one(table: Table) -> None:
    signed = MemorySignState()
    signed.claim([("0/0/0/1/commit", b"d", b"m")])
    table.seat.settled, table.seat.through = ["0/0/0/1/commit"], {"0/0": 1}
    assert claim(signed, [table.seat]) == []
    assert table.seat.settled == []
    assert set(signed.load("")) == {"0/0/0/1/commit"}
    table.seat.outbox.append(t.Send(t.Message.COMMIT, "0/0/0/2/commit", b"d", b"m", 2))
    claim(signed, [table.seat])
    assert set(signed.load("")) == {"0/0/0/2/commit"}
    assert signed.through("0/0") == 1


# Repetitions ----------------------------------------------------------------------------------------------------------


def recent(table: Table) -> list[str]:
    return [episode.memory_id for episode in table.view.recent("space", through=10_000, most=64)]


def test_a_record_that_comes_again_counts_once_in_the_view(tmp_path: Path) -> None:
    # Intake delivers at least once, and who may write to the topic may repeat the line's own records.
    table = Table(tmp_path / "view.db")
    table.episode("a")
    for _ in range(3):
        table.episode("b", outcome="reinforced", reinforces="a")
    table.turn()
    assert table.view.known(["a"])["a"].reinforced == 1
    assert recent(table) == ["a", "b"]


def test_repeating_one_episode_pushes_out_no_other(tmp_path: Path) -> None:
    table = Table(tmp_path / "view.db")
    for n in range(60):
        table.episode(f"e{n}")
    for _ in range(130):
        table.episode("e0")
    table.turn()
    assert recent(table) == [f"e{n}" for n in range(60)]


def test_what_was_forgotten_is_not_brought_back_by_its_own_record(tmp_path: Path) -> None:
    table = Table(tmp_path / "view.db")
    table.episode("a")
    table.turn()
    for epoch in range(1, 4):
        table.view.decided(
            0,
            seq=epoch,
            epoch=epoch,
            commits=[],
            decisions=b"",
            forgotten=["a"][epoch - 1 :],
            accepted_offset=5,
            read=6,
        )
    assert table.view.known(["a"]) == {}
    table.episode("a")
    table.turn()
    assert (table.view.known(["a"]), recent(table)) == ({}, [])


def test_a_ballot_that_waits_for_its_time_is_not_refused_since_the_stream_went_on(tmp_path: Path) -> None:
    wall = [NOW - HOUR]
    table = Table(tmp_path / "view.db", own_clock=OwnClock(60_000, lambda: wall[0]))
    table.episode("m1", agent="bob")
    table.nominate(table.tick(), "m1")
    assert table.turn() is None
    table.offsets[topics.ACCEPTED] += 1_000_000  # further than the view remembers ticks
    table.tick(NOW + 1)
    assert table.turn(6.0) is None
    wall[0] = NOW
    assert table.turn(6.0) is not None


# Primaries that are late ---------------------------------------------------------------------------------------------


def wait_in_vain(table: Table) -> None:
    """N−f ballots and no proposal: the request timer of 1.25 s runs."""
    table.episode("m1")
    nomination = table.nominate(table.tick(), "m1")
    table.turn()
    for member in (0, 2, 3):
        proposal = votes.proposal("m1", "forget", namespace="space")
        terms = votes.terms([proposal], [votes.opinion(proposal, True, NOW, GENESIS.policy)])
        cast = BallotCast(GENESIS.cluster, 0, 0, 1, member, nomination, terms)
        table.put(topics.BALLOTS, votes.signed(CODEC, GENESIS, f"member:{member}", cast))
    table.seat.outbox.clear()


def asks(table: Table, seconds: float) -> bool:
    table.now += seconds
    with table.view.batch():
        table.seat.turn()
    return any(isinstance(s, t.Send) and s.message == t.Message.VIEW_CHANGE for s in table.seat.outbox)


def test_a_primary_that_is_late_is_replaced_once_the_logs_were_read_to_their_ends(table: Table) -> None:
    wait_in_vain(table)
    table.read_to_the_end()
    assert table.seat.wake_at() == pytest.approx(1.25)
    assert not asks(table, 1.2)
    assert asks(table, 0.1)


def test_who_lags_accuses_nobody_but_not_for_ever(table: Table) -> None:
    wait_in_vain(table)
    assert not asks(table, 5)
    assert table.seat.wake_at() == pytest.approx(5.25)  # it looks again soon, and does not spin
    assert not asks(table, 6)
    assert asks(table, 0.3)


def test_a_seat_that_lagged_accuses_as_soon_as_it_has_caught_up(table: Table) -> None:
    wait_in_vain(table)
    assert not asks(table, 5)
    table.read_to_the_end()
    assert asks(table, 0)


def test_a_timer_that_another_one_stops_in_the_same_turn_is_over(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a long standstill, when all are due at once."""
    fired: list[t.Event] = []

    def handle(event: t.Event) -> list[t.Effect]:
        fired.append(event)
        return [t.CancelTimer(t.Timer.BALLOT_GRACE)]

    monkeypatch.setattr(table.seat.core, "handle", handle)
    for timer in (t.Timer.SEARCH, t.Timer.BALLOT_GRACE):
        table.seat._carry_out([t.SetTimer(timer, 10, 1, 0)])
    table.now += 1
    with table.view.batch():
        table.seat.turn()
    assert fired == [t.TimerFired(t.Timer.SEARCH, 1, 0)]


# Liars ----------------------------------------------------------------------------------------------------------------


def test_what_proves_a_liar_is_ready_to_be_published(table: Table) -> None:
    for digested in (b"a" * 32, b"b" * 32):
        body = Commit(GENESIS.cluster, 0, 0, 0, 1, 3, digested)
        table.put(topics.COMMITS, votes.signed(CODEC, GENESIS, "member:3", body))
    (report,) = table.seat.accuser.take()
    _, record = open_signed(CODEC, GENESIS, report.data, Misbehaved)
    assert (record.member, record.accused, record.rule) == (ME, 3, "equivocation")
    assert convict(CODEC, GENESIS, record).accused == 3


# Progress -------------------------------------------------------------------------------------------------------------


def sent_checkpoints(table: Table) -> list[Checkpoint]:
    sends = [s for s in table.seat.outbox if isinstance(s, t.Send) and s.message == t.Message.CHECKPOINT]
    return [CODEC.decode_as(Checkpoint, CODEC.decode_as(Signed, s.data).body) for s in sends]


def far(table: Table, offset: int) -> None:
    """It starts anew at a place for a checkpoint."""
    table.view.decided(0, seq=64, epoch=64, commits=[], decisions=b"d" * 32, forgotten=[], accepted_offset=0, read=0)
    table.view.reached(0, t.Reached(64, 64, b"d" * 32, offset))
    table.seat = table.sit()
    table.read_to_the_end()


def turned(table: Table) -> None:
    with table.view.batch():
        table.seat.turn()


def test_it_says_what_it_has_read_once_it_has_read_so_far(tmp_path: Path) -> None:
    table = Table(tmp_path / "view.db")
    far(table, 2)
    table.episode("m1")
    table.tick(NOW)
    turned(table)
    assert sent_checkpoints(table) == []  # the place is offset 2
    record = ClockTicked("tick", NOW + 1)
    assert table.put(topics.ACCEPTED, record) == 2
    turned(table)
    (word,) = sent_checkpoints(table)
    assert (word.seq, word.epoch, word.decisions, word.accepted_offset) == (64, 64, b"d" * 32, 2)
    assert word.stream == table.view.stream_at(0, 2) == table.view.stream(0)
    turned(table)
    assert len(sent_checkpoints(table)) == 1


def test_what_it_has_read_is_one_hash_however_it_was_read(tmp_path: Path) -> None:
    table, other = Table(tmp_path / "one.db"), Table(tmp_path / "other.db")
    records: list[tuple[str, bytes]] = []
    original = table.put
    table.put = lambda topic, record: (records.append((topic, CODEC.encode(record))), original(topic, record))[1]  # type: ignore[assignment,func-returns-value]
    for number in range(4):
        table.episode(f"m{number}")
        at = table.tick(NOW + number)
    turned(table)
    # Scores come late, some twice, and it starts anew in between.
    for topic, data in sorted(records, key=lambda r: r[0] == topics.SCORED):
        for _ in range(2 if topic == topics.SCORED else 1):
            other.put(topic, data)
            turned(other)
        if topic == topics.SCORED:
            other.seat = other.sit()
            kept = other.seat.walk.next_accepted
            for offset, (_, past) in enumerate(r for r in records if r[0] == topics.ACCEPTED):
                if offset >= kept:
                    other.seat.take(topics.ACCEPTED, offset, past)
    assert other.view.stream(0) == table.view.stream(0) != None  # noqa: E711
    assert other.view.stream_at(0, at) == table.view.stream_at(0, at)


def test_without_a_tick_at_the_place_it_says_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = Table(tmp_path / "view.db")
    far(table, 1)
    table.episode("m1")
    table.episode("m2")
    turned(table)
    assert sent_checkpoints(table) == []
    assert "no checkpoint of sequence 64: no tick at accepted offset 1" in caplog.text


def test_a_process_without_shard_0_prepares_keys_of_votes_too(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Judge] = []

    def prepare(judge: Judge) -> None:
        asked.append(judge)

    monkeypatch.setattr(Judge, "prepare", prepare)
    seat = table.sit(shard=1)
    with table.view.batch():
        seat.turn()
    assert len(asked) == 1
