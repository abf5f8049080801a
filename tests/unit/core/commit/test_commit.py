"""The rules of commit: what every record does, and what the races between records come to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from infra.topic_files import declared
from memquorum import topics
from memquorum.core import letters
from memquorum.core.avro import Codec
from memquorum.core.commit import applying, ordering
from memquorum.core.ids import shard_of
from memquorum.core.journal import decisions, effects, hash_chain, resting
from memquorum.core.journal.rows import (
    Conflict,
    DecisionRow,
    Dropped,
    Event,
    Memory,
    Provenance,
    Rows,
    Strength,
    UseRow,
)
from memquorum.core.journal.workset import Workset
from memquorum.core.orders.table import ORDERS
from memquorum.core.policy import EpochPolicy, ForgetPolicy, Policy
from memquorum.core.records import (
    APPLIED,
    MISSED,
    USES_MOST,
    AccessAccepted,
    Accessed,
    ClockTicked,
    Decided,
    Destroyed,
    JournalEntry,
    OrderAccepted,
    Standing,
    Stored,
    Ticked,
)
from memquorum.core.vote.nomination import rest_until
from tests import examples
from tests.builders import genesis, votes
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id
from tests.builders.used import used

POLICY = Policy(forget=ForgetPolicy(grace_ms=500), epoch=EpochPolicy(rest_epochs=1, rest_epochs_max=4))
GENESIS = genesis.make(policy=POLICY)
A, B, C = memory_id("a"), memory_id("b"), memory_id("c")


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return Shard(codec, GENESIS)


def accessed_detail(shard: Shard, change: effects.Change) -> Accessed:
    detail: Accessed = shard.rules.codec.decode_as(Accessed, change.entry.detail)
    return detail


def forget(*ids: str) -> list[votes.Proposal]:
    return [votes.proposal(i, "forget") for i in ids]


def promote(*ids: str) -> list[votes.Proposal]:
    return [votes.proposal(i, "promote") for i in ids]


def outcomes(shard: Shard, change: effects.Change) -> list[tuple[str, str]]:
    detail = shard.rules.codec.decode_as(Decided, change.entry.detail)
    assert change.one(DecisionRow) is not None
    assert [(o.outcome, o.reason) for o in change.one(DecisionRow).outcomes] == [
        (r.outcome, r.reason) for r in detail.results
    ]
    return [(r.outcome, r.reason) for r in detail.results]


def test_an_episode_becomes_a_memory(shard: Shard) -> None:
    shard.tick(2_000)
    change = shard.episode("a", at=1_500, early=True)
    memory, strength = shard.rows.memories[A], shard.rows.strengths[A]
    assert change.entry == JournalEntry(
        0, 2, 2_000, "stored", "a", topics.ACCEPTED, 0, 1, change.entry.detail, NAMESPACE, A
    )
    assert (memory.tier, memory.created, memory.changed, memory.seq, memory.early) == (
        "short-term",
        1_500,
        2_000,
        2,
        True,
    )
    assert (strength.last_access, strength.touched, strength.salience_ppm) == (1_500, 1, 600_000)
    assert change.revealed == A
    assert change.cursors == ((topics.ACCEPTED, 2),)
    assert shard.rows.events[NAMESPACE, "a"].outcome == "stored"
    assert shard.rows.state.interactions == 1
    detail = shard.rules.codec.decode_as(Stored, change.entry.detail)
    assert (detail.accepted_offset, detail.scored_offset, detail.early, detail.role) == (1, 0, True, "planning")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"outcome": "below_threshold"}, "below_threshold"),
        ({"outcome": "unreadable"}, "unreadable"),
        ({"outcome": "failed"}, "failed"),
        ({"readable": False}, "unreadable"),
        ({"outcome": "reinforced", "reinforces": B, "readable": False}, "unreadable"),
    ],
)
def test_what_is_not_kept_is_journalled_with_its_reason(shard: Shard, arguments: dict, reason: str) -> None:  # type: ignore[type-arg]
    change = shard.episode("a", **arguments)
    assert change.entry.effect == "dropped"
    assert shard.rules.codec.decode_as(Stored, change.entry.detail).outcome == reason
    assert shard.rows.events[NAMESPACE, "a"].outcome == reason
    assert not shard.rows.memories and change.revealed is None
    assert shard.rows.state.interactions == 1


def test_what_failed_keeps_its_key_as_long_as_its_letter_is_kept(shard: Shard) -> None:
    shard.tick(10_000)
    change = shard.episode("a", at=9_000, outcome="failed")
    assert change.one(Dropped) == Dropped(A, 0, NAMESPACE, 10_000 + letters.KEPT_MS)
    (topic,) = [topic for topic in declared() if topic.name == topics.REFUSED]
    assert int(topic.config["retention.ms"]) == letters.KEPT_MS


@pytest.mark.parametrize("outcome", ["stored", "reinforced", "below_threshold", "failed"])
def test_what_failed_is_tried_again_and_the_last_outcome_counts(shard: Shard, outcome: str) -> None:
    shard.episode("target")
    target = memory_id("target")
    shard.episode("a", outcome="failed", derives_from=(target,))
    change = shard.episode("a", outcome=outcome, reinforces=target if outcome == "reinforced" else None,
                           derives_from=(target,))  # fmt: skip
    assert change.entry.effect == (outcome if outcome in ("stored", "reinforced") else "dropped")
    assert shard.rules.codec.decode_as(Stored, change.entry.detail).retry
    assert shard.rows.events[NAMESPACE, "a"].outcome == outcome
    assert shard.rows.events[NAMESPACE, "a"].seq == change.entry.seq
    net = shard.work.net()
    assert [one.outcome for one in net.of(Event)] == ["stored", outcome]
    assert net.gone[Dropped] == (A,)
    assert [one.memory_id for one in net.of(Dropped)] == ([] if outcome in ("stored", "reinforced") else [A])
    # Its sources are written once.
    made = net.of(Provenance)
    assert len({(one.parent, one.child) for one in made}) == len(made)
    again = shard.episode("a")
    assert again.entry.effect == ("stored" if outcome == "failed" else "repeated")


def test_reinforcing_touches_the_target_and_makes_nothing(shard: Shard) -> None:
    shard.episode("a", at=1_000, salience=500_000)
    change = shard.episode("b", at=3_000, outcome="reinforced", reinforces=A, salience=700_000)
    strength = shard.rows.strengths[A]
    assert (change.entry.effect, change.entry.memory_id) == ("reinforced", A)
    assert (strength.last_access, strength.touched) == (3_000, 1)
    assert (strength.reinforced, strength.accesses, strength.salience_ppm) == (1, 0, 700_000)
    assert B not in shard.rows.memories and change.revealed is None
    assert shard.rows.events[NAMESPACE, "b"].memory_id == A


@pytest.mark.parametrize("fate", ["sealed", "gone", "unknown", "elsewhere"])
def test_reinforcing_what_is_not_there_makes_a_new_memory(shard: Shard, fate: str) -> None:
    target = A
    if fate in ("sealed", "gone"):
        shard.episode("a")
        shard.tick(10_000)
        shard.decide(forget(A))
        if fate == "gone":
            shard.destroy(A)
    elif fate == "elsewhere":
        target = memory_id("a", "other")
        shard.episode("a", namespace="other")
    change = shard.episode("b", at=9_000, outcome="reinforced", reinforces=target)
    assert (change.entry.effect, change.entry.memory_id, change.revealed) == ("stored", B, B)
    assert shard.rows.strengths[B].reinforced == 0
    detail = shard.rules.codec.decode_as(Stored, change.entry.detail)
    assert (detail.outcome, detail.reinforces) == ("reinforced", target)  # what salience said stays on record


def test_an_access_keeps_a_memory_alive_and_time_does_not_run_back(shard: Shard) -> None:
    shard.episode("a", at=1_000)
    assert accessed_detail(shard, shard.access(A, 5_000)) == used(A, agent="reviewer", at=5_000)
    shard.access(A, 4_000)
    strength = shard.rows.strengths[A]
    assert (strength.last_access, strength.accesses, strength.touched) == (5_000, 2, 2)
    assert shard.rows.state.interactions == 3


@pytest.mark.parametrize("namespace", [NAMESPACE, "other"])
def test_an_access_to_nothing_is_noted(shard: Shard, namespace: str) -> None:
    shard.episode("a", namespace="other" if namespace == NAMESPACE else NAMESPACE)
    target = memory_id("a", "other" if namespace == NAMESPACE else NAMESPACE)
    change = shard.access(target, 9_000, namespace=namespace)
    assert accessed_detail(shard, change) == used(target, outcome=MISSED, agent="reviewer", at=9_000)
    assert change.of(Strength) == ()
    assert shard.rows.strengths[target].last_access == 1_000


@pytest.mark.parametrize("second", ["stored", "reinforced", "below_threshold", "access"])
def test_a_repeated_event_changes_nothing_else(shard: Shard, second: str) -> None:
    shard.episode("a")
    before = shard.rows
    if second == "access":
        change = shard.access(A, 99_000, event_id="a")
    else:
        change = shard.episode("a", at=99_000, outcome=second, reinforces=A)
    after = shard.rows
    assert change.entry.effect == "repeated"
    assert (after.memories, after.strengths, after.events) == (before.memories, before.strengths, before.events)
    assert after.state == replace(before.state, seq=2, hash=change.appended.hash)
    assert change.cursors[0] == (topics.ACCEPTED, 2)
    assert change.one(Event) is None and change.revealed is None


def test_a_tick_moves_time_forward_only(shard: Shard) -> None:
    shard.tick(5_000)
    assert shard.rows.state.as_of == 5_000
    change = shard.tick(4_000)
    assert (change.entry.effect, shard.rows.state.as_of) == ("ticked", 5_000)
    assert shard.rules.codec.decode_as(Ticked, change.entry.detail).as_of == 4_000
    assert shard.rows.state.interactions == 0


def test_a_forgotten_memory_is_sealed_for_its_grace_time(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(10_000)
    change = shard.decide(forget(A))
    memory = shard.rows.memories[A]
    assert outcomes(shard, change) == [("forgotten", "quorum")]
    assert (memory.tier, memory.changed, memory.sealed_until, memory.seq) == ("sealed", 10_000, 10_500, 3)
    assert change.ended(Strength) == (A,) and A not in shard.rows.strengths
    state = shard.rows.state
    assert (state.last_epoch, state.last_epoch_at, state.decided_seq, state.interactions) == (1, 10_000, 1, 0)
    row = change.one(DecisionRow)
    assert row is not None
    assert (row.epoch, row.seq, row.journal_seq, row.trigger, len(row.commits)) == (1, 1, 3, "interval", 4)
    assert [b.member for b in row.ballots_on(0)] == [0, 1, 2, 3]
    assert (row.outcomes[0].yes, row.outcomes[0].weight_ppm, row.outcomes[0].needed_ppm) == (4, 5_000_000, 3_333_334)


def test_destroyed_keys_make_sealed_memories_gone(shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b")
    shard.tick(10_000)
    shard.decide(forget(A))
    change = shard.destroy(A, C)  # C: an episode that had repeated A, and has no memory of its own
    assert shard.rules.codec.decode_as(Destroyed, change.entry.detail).memory_ids == tuple(sorted((A, C)))
    assert (shard.rows.memories[A].tier, shard.rows.memories[A].sealed_until) == ("gone", None)
    assert shard.rows.memories[A].seq == 5
    assert shard.rows.memories[B].tier == "short-term"
    assert change.cursors == ()


def test_destroyed_never_touches_the_living(shard: Shard) -> None:
    shard.episode("a")
    shard.destroy(A)
    assert shard.rows.memories[A].tier == "short-term"


def test_a_promoted_memory_keeps_its_strength_and_gets_its_confidence(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(100_000)
    change = shard.decide(promote(A))
    assert outcomes(shard, change) == [("promoted", "quorum")]
    memory = shard.rows.memories[A]
    assert (memory.tier, memory.confidence_ppm, memory.seq) == ("long-term", 965_000, 3)
    assert shard.rows.strengths[A].tier == "long-term"
    assert change.ended(Strength) == ()


def test_what_was_touched_since_the_nomination_is_not_forgotten(shard: Shard) -> None:
    shard.episode("a")
    shard.episode("b")
    shard.tick(10_000)
    nominated_at = shard.offset
    shard.access(A, 10_001)
    shard.episode("c", outcome="reinforced", reinforces=B)
    change = shard.decide(forget(A, B), accepted_offset=nominated_at)
    assert outcomes(shard, change) == [("voided", "touched since")] * 2
    assert {shard.rows.memories[i].tier for i in (A, B)} == {"short-term"}
    assert shard.rows.strengths[A].kept == {}


def test_an_access_before_the_nomination_does_not_void_it(shard: Shard) -> None:
    shard.episode("a")
    shard.access(A, 2_000)
    shard.tick(10_000)
    assert outcomes(shard, shard.decide(forget(A))) == [("forgotten", "quorum")]


def test_being_touched_does_not_hinder_a_promotion(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(100_000)
    shard.access(A, 100_001)
    assert outcomes(shard, shard.decide(promote(A), accepted_offset=1)) == [("promoted", "quorum")]


def test_decisions_about_what_is_not_there_are_void(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(10_000)
    shard.decide(forget(A))
    change = shard.decide([*forget(A), *promote(B), votes.proposal("no-uuid", "forget")], seq=2)
    results = shard.rules.codec.decode_as(Decided, change.entry.detail).results
    assert [(r.outcome, r.reason) for r in results] == [
        ("voided", "gone already"),
        ("voided", "unknown memory"),
        ("voided", "unknown memory"),
    ]
    assert change.one(DecisionRow) is not None
    assert [o.memory_id for o in change.one(DecisionRow).outcomes] == [A, B]  # what is no UUID has no row
    assert (change.of(Memory), change.of(Strength), change.ended(Strength)) == ((), (), ())


def test_a_memory_of_another_namespace_is_unknown(shard: Shard) -> None:
    other = next(f"n{i}" for i in range(50) if f"n{i}" != NAMESPACE and shard_of(f"n{i}", GENESIS.shards) == 0)
    shard.episode("a")
    shard.tick(10_000)
    change = shard.decide([votes.proposal(A, "forget", namespace=other)])
    assert outcomes(shard, change) == [("voided", "unknown memory")]


def test_a_memory_is_promoted_once(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(100_000)
    shard.decide(promote(A))
    assert outcomes(shard, shard.decide(promote(A))) == [("voided", "promoted already")]
    assert outcomes(shard, shard.decide(forget(A))) == [("voided", "long-term")]  # it is demoted before


def test_a_kept_memory_rests_longer_each_time_until_it_is_used(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(10_000)
    rests = []
    for _ in range(4):
        assert outcomes(shard, shard.decide(forget(A), votes.nobody)) == [("kept", "too_few_votes")]
        rests.append(shard.rows.strengths[A].rest["forget"] - shard.rows.state.last_epoch)
    assert rests == [2, 3, 5, 5]  # epoch + 1 + 1, 2, 4, and the cap
    shard.decide(promote(A), votes.nobody)
    assert shard.rows.strengths[A].kept == {"promote": 1, "forget": 4}
    shard.access(A, 10_001)
    strength = shard.rows.strengths[A]
    assert (strength.kept, strength.rest.keys()) == ({"promote": 1}, {"promote"})  # a promotion was not about its use


def test_what_is_found_contradicted_oftener_than_may_be_waits_for_a_use(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(100_000)
    for count in range(1, 5):
        assert outcomes(shard, shard.decide(promote(A), votes.contradicted)) == [("kept", "contradicted")]
        strength, epoch = shard.rows.strengths[A], shard.rows.state.last_epoch
        assert strength.kept == {"promote": count, "promote/contradicted": count}
        assert resting.waits_for_use(strength.rest["promote"]) == (count > 3)
        assert strength.rest["promote"] % resting.FOR_GOOD == rest_until(epoch, count, POLICY)
    shard.access(A, 100_001)
    used = shard.rows.strengths[A]
    assert (used.kept, used.rest) == ({"promote": 4}, {"promote": rest_until(epoch, 4, POLICY)})
    shard.access(A, 100_002)
    assert shard.rows.strengths[A].rest == used.rest


def test_what_lacks_votes_is_proposed_again_however_often(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(100_000)
    for _ in range(6):
        assert outcomes(shard, shard.decide(promote(A), votes.nobody)) == [("kept", "too_few_votes")]
    strength = shard.rows.strengths[A]
    assert strength.kept == {"promote": 6} and not resting.waits_for_use(strength.rest["promote"])


def test_a_light_majority_keeps(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(10_000)
    change = shard.decide(forget(A), lambda member, _: member != 0)
    assert outcomes(shard, change) == [("forgotten", "quorum")]  # 3.5 of 5, where 10/3 is needed
    shard.episode("b")
    change = shard.decide(forget(B), lambda member, _: member in (2, 3))
    assert outcomes(shard, change) == [("kept", "too_few_votes")]


@pytest.mark.parametrize(("seq", "epoch"), [(1, 2), (3, 2), (2, 1), (2, 3)])
def test_a_decision_out_of_turn_is_not_applied(shard: Shard, seq: int, epoch: int) -> None:
    shard.episode("a")
    shard.tick(10_000)
    shard.decide(forget(A), votes.nobody)
    with pytest.raises(decisions.OutOfTurn, match="awaited: shard 0, sequence 2, epoch 2"):
        shard.decide(forget(A), seq=seq, epoch=epoch)


def test_a_decision_about_one_stored_in_the_same_batch_leaves_only_its_row(shard: Shard) -> None:
    shard.episode("a")
    shard.tick(10_000)
    shard.decide(forget(A))
    net = shard.work.net()
    assert [m.tier for m in net.new[Memory]] == ["sealed"]
    assert (net.changed[Memory], net.new[Strength], net.revealed, net.gone[Strength]) == ((), (), (), ())
    assert [e.seq for e, _ in net.journal] == [1, 2, 3]
    assert net.before.seq == 0 and net.after.seq == 3
    assert net.cursors == {topics.ACCEPTED: 2}


@pytest.mark.parametrize(
    "record",
    [
        replace(accepted("a", 1), memory_id="A"),
        replace(accepted("a", 1), event_id="a\0"),
        replace(accepted("a", 1), session="\0"),
        accepted("a", -1),
        accepted("a", 2**60),
        AccessAccepted("e", (A,), NAMESPACE, "agent", 2**60),
        AccessAccepted("e", (), NAMESPACE, "agent", 1),
        AccessAccepted("e", (A, "A"), NAMESPACE, "agent", 1),
        AccessAccepted("e", (A, B, A), NAMESPACE, "agent", 1),
        AccessAccepted("e", tuple(memory_id(str(at)) for at in range(USES_MOST + 1)), NAMESPACE, "agent", 1),
        ClockTicked("e", -1),
    ],
)
def test_what_the_store_cannot_hold_is_told(record: AccessAccepted) -> None:
    assert applying.storable(record)


def test_what_the_store_can_hold_is_let_through() -> None:
    assert [
        applying.storable(r)
        for r in (accepted("a", 1), AccessAccepted("e", (A, B), NAMESPACE, "x", 1), ClockTicked("e", 1))
    ] == [None] * 3


# Random histories ---------------------------------------------------------------------------------------------------

EVENTS = [f"e{i}" for i in range(5)]
IDS = [memory_id(e) for e in EVENTS]
OUTCOMES = st.sampled_from(["stored", "below_threshold", "failed"])
KIND = st.sampled_from(["forget", "promote"])
EVENT, TARGET, TIME = st.sampled_from(EVENTS), st.sampled_from(IDS), st.integers(0, 5_000)
STEPS = st.one_of(
    st.tuples(st.just("episode"), EVENT, TIME, OUTCOMES),
    st.tuples(st.just("repeat"), EVENT, TIME, TARGET),
    st.tuples(st.just("access"), TARGET, TIME),
    st.tuples(st.just("tick"), TIME),
    st.tuples(st.just("decide"), KIND, TARGET, st.booleans(), st.integers(0, 3)),
    st.tuples(st.just("destroy"), TARGET),
)


def play(shard: Shard, step: tuple) -> None:  # type: ignore[type-arg]
    match step:
        case ("episode", event, at, outcome):
            shard.episode(event, at, outcome)
        case ("repeat", event, at, target):
            shard.episode(event, at, "reinforced", reinforces=target)
        case ("access", target, at):
            shard.access(target, at)
        case ("tick", as_of):
            shard.tick(as_of)
        case ("decide", kind, target, yes, back):
            vote = votes.everybody if yes else votes.nobody
            shard.decide([votes.proposal(target, kind)], vote, accepted_offset=max(0, shard.offset - back))
        case ("destroy", target):
            shard.destroy(target)


@settings(max_examples=examples(60), deadline=None)
@given(steps=st.lists(STEPS, max_size=12))
def test_whoever_walks_the_journal_reaches_the_same_rows(codec: Codec, steps: list[tuple]) -> None:  # type: ignore[type-arg]
    shard = Shard(codec, GENESIS)
    for step in steps:
        play(shard, step)
    again = Workset(Rows(hash_chain.beginning(GENESIS.cluster, 0)))
    for change in shard.changes:
        detail = codec.decode(change.entry.detail)
        needed, rows = effects.needs(codec, change.entry, detail), again.rows
        # A rule sees nothing but what `needs` names: what a rebuild would have loaded.
        seen = Rows(
            rows.state,
            {i: m for i, m in rows.memories.items() if i in needed.memories},
            {i: s for i, s in rows.strengths.items() if i in needed.memories},
            {k: e for k, e in rows.events.items() if k in needed.events},
        )
        redone = effects.redo(shard.rules, seen, change.appended)
        assert redone == change
        again.absorb(redone)
    assert again.rows == shard.rows
    assert again.net() == shard.work.net()


@settings(max_examples=examples(60), deadline=None)
@given(steps=st.lists(STEPS, max_size=12))
def test_laws_of_every_history(codec: Codec, steps: list[tuple]) -> None:  # type: ignore[type-arg]
    shard = Shard(codec, GENESIS)
    for step in steps:
        before = shard.rows.state
        cursors = dict(shard.work.net().cursors)
        play(shard, step)
        after = shard.rows.state
        assert after.seq == before.seq + 1
        assert after.as_of >= before.as_of
        assert all(shard.work.net().cursors[topic] >= offset for topic, offset in cursors.items())
    alive = {i for i, m in shard.rows.memories.items() if m.tier in ("short-term", "long-term")}
    assert set(shard.rows.strengths) == alive
    assert all(shard.rows.memories[i].tier == s.tier for i, s in shard.rows.strengths.items())
    assert set(shard.work.net().revealed) == alive
    assert len(shard.work.net().of(Event)) == len(shard.rows.events)


def test_a_use_names_several_memories_and_counts_for_each(shard: Shard) -> None:
    for name in "ab":
        shard.episode(name, at=1_000)
    change = shard.access((B, C, A), 5_000)
    assert (change.entry.effect, change.entry.memory_id) == ("accessed", None)
    assert [(one.memory_id, one.outcome) for one in accessed_detail(shard, change).used] == [
        (B, APPLIED), (C, MISSED), (A, APPLIED)
    ]  # fmt: skip
    assert {i: (s.accesses, s.last_access) for i, s in shard.rows.strengths.items()} == {A: (1, 5_000), B: (1, 5_000)}
    assert [(one.memory_id, one.applied) for one in change.of(UseRow)] == [(B, True), (C, False), (A, True)]
    assert shard.rows.state.interactions == 3, "one record is one interaction"


def test_a_use_counts_once_whatever_it_names_when_it_comes_again(shard: Shard) -> None:
    for name in "ab":
        shard.episode(name, at=1_000)
    shard.access((A,), 5_000, "use")
    again = shard.access((A, B), 6_000, "use")
    assert (again.entry.effect, again.of(UseRow), again.of(Strength)) == ("repeated", (), ())
    assert accessed_detail(shard, again) == used(A, B, outcome=MISSED, agent="reviewer", at=6_000)
    assert [shard.rows.strengths[one].accesses for one in (A, B)] == [1, 0]


def test_a_journal_that_does_not_fit_is_named(shard: Shard) -> None:
    change = shard.access(A, 5)
    codec = shard.rules.codec
    lying = replace(change.entry, detail=codec.encode(used(A, agent="x", at=5)))
    state = hash_chain.beginning(GENESIS.cluster, 0)
    with pytest.raises(hash_chain.BrokenChain, match="sequence 1: 'accessed' does not fit"):
        effects.redo(shard.rules, Rows(state), hash_chain.append(codec, state, lying))
    unknown = replace(change.entry, effect="vanished")
    with pytest.raises(hash_chain.BrokenChain, match="effect 'vanished'"):
        effects.redo(shard.rules, Rows(state), hash_chain.append(codec, state, unknown))


@pytest.mark.parametrize("forged", ["forgotten", "promoted"])
def test_results_that_the_ballots_do_not_give_are_refused(shard: Shard, forged: str) -> None:
    shard.episode("a")
    shard.tick(10_000)
    rows, change = shard.rows, None
    before = Rows(rows.state, dict(rows.memories), dict(rows.strengths), dict(rows.events))
    change = shard.decide(forget(A), votes.nobody)
    codec = shard.rules.codec
    detail = codec.decode_as(Decided, change.entry.detail)
    lie = replace(detail, results=(replace(detail.results[0], outcome=forged),))
    link = hash_chain.append(codec, before.state, replace(change.entry, detail=codec.encode(lie)))
    with pytest.raises(hash_chain.BrokenChain, match=f"'{forged}', where the ballots say 'kept'"):
        effects.redo(shard.rules, before, link)


def test_a_tick_says_where_the_shard_stood(shard: Shard) -> None:
    for event in "abc":
        shard.episode(event)
    shard.tick(10_000)
    shard.decide(forget(A))
    shard.access(B, 11_000)
    ticked = shard.rules.codec.decode_as(Ticked, shard.tick(12_000).entry.detail)
    assert ticked == Ticked(12_000, Standing(last_epoch=1, last_epoch_at=10_000, interactions=1, alive=2))
    assert shard.rows.state.alive == len(shard.rows.strengths)


def test_a_tick_of_an_older_journal_is_still_followed(shard: Shard) -> None:
    codec, state = shard.rules.codec, shard.rows.state
    tick = ClockTicked("t", 5_000)
    entry = JournalEntry(
        state.shard, state.seq + 1, 5_000, "ticked", "t", topics.ACCEPTED, state.shard, 1, codec.encode(tick)
    )
    change = effects.redo(shard.rules, shard.rows, hash_chain.append(codec, state, entry))
    assert change.state.as_of == 5_000


def test_what_a_memory_says_otherwise_is_noted_of_what_is_alive_in_its_namespace(shard: Shard) -> None:
    shard.episode("a")
    shard.episode("a", namespace="elsewhere")
    elsewhere = memory_id("a", "elsewhere")
    change = shard.episode("b", contradicts=(A, B, elsewhere, memory_id("never")))
    assert change.of(Conflict) == (Conflict(0, change.entry.seq, NAMESPACE, B, A),)
    assert shard.episode("c", outcome="below_threshold", contradicts=(A,)).of(Conflict) == ()


def test_every_order_has_its_rule_and_another_is_told_so(shard: Shard) -> None:
    among = {kind.name for kind in ORDERS.values() if not kind.alone}
    assert among == set(ordering._JUDGED)
    record = OrderAccepted("e", "erase", NAMESPACE, (), b"", 1, topics.ERASURES, 0, 0)
    with pytest.raises(LookupError, match="kind 'erase': add one"):
        ordering.apply_order(shard.rules, shard.rows, applying.RecordPosition(topics.ACCEPTED, 0, 0), record)
