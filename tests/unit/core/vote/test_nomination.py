"""Nomination: what opens an epoch, what it proposes and in which order, and how long the kept ones rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.decay import span_ms
from memquorum.core.policy import EpochPolicy, Policy
from memquorum.core.records import Crossing, DecayCrossed, NominationProposed, Standing
from memquorum.core.vote import nomination
from memquorum.core.vote.nomination import Attempt, Going, Groups, Offers, Rising
from memquorum.ports import Candidate
from tests.builders.genesis import make

NOW = 1_700_000_000_000
POLICY = Policy(epoch=EpochPolicy(interactions=100, interval_ms=3_600_000, capacity=10, proposals_max=8))
GENESIS = make(policy=POLICY)
SPAN = span_ms(POLICY)
STANDING = Standing(last_epoch=6, last_epoch_at=NOW, interactions=0, alive=10)
TICK = DecayCrossed(shard=2, as_of=NOW, accepted_offset=77, journal_seq=50, crossed=())


def candidate(name: str, *, decayed: bool = False, salient: bool = False, age: int = 60_000) -> Candidate:
    last_access = NOW - SPAN if decayed else NOW
    return Candidate(name, "n", "short-term", NOW - age, last_access, 600_000 if salient else 400_000, early=False)


def build(
    *, policy: Policy = POLICY, standing: Standing = STANDING, tick: DecayCrossed = TICK, **lists: Any
) -> NominationProposed | None:
    """Builds a nomination of some lists, by their names."""
    lists = {"rooms": {"n": 100}} | lists
    going, rising, groups = (
        struct(**{name: lists.pop(name) for name in struct.__struct_fields__ if name in lists})
        for struct in (Going, Rising, Groups)
    )
    assert not lists
    return nomination.build(replace(GENESIS, policy=policy), standing, tick, "interval", Offers(going, rising, groups))


def named(record: NominationProposed | None) -> list[tuple[str, str, str]]:
    return [(p.memory_ids[0], p.kind, p.reason) for p in record.proposals] if record else []


@pytest.mark.parametrize(
    ("changes", "as_of", "why"),
    [
        ({}, NOW, None),
        ({"interactions": 99}, NOW + 3_599_999, None),
        ({"interactions": 100}, NOW, "interactions"),
        ({}, NOW + 3_600_000, "interval"),
        ({"alive": 11}, NOW, "pressure"),
        ({"alive": 11, "interactions": 100}, NOW, "pressure"),
        ({"last_epoch": 0, "last_epoch_at": 0}, NOW, "interval"),
        ({"contested_at": NOW}, NOW, "contradiction"),
        ({"contested_at": NOW, "interactions": 100}, NOW, "interactions"),
        ({"contested_at": NOW}, NOW - 1, None),
        # A tick that was overtaken by an epoch, however much has happened since.
        ({"alive": 11, "interactions": 100}, NOW - 1, None),
    ],
)
def test_what_opens_an_epoch(changes: dict[str, int], as_of: int, why: str | None) -> None:
    assert nomination.trigger(replace(STANDING, **changes), as_of, POLICY) == why


def test_what_was_inferred_to_contradict_triggers_nothing() -> None:
    contested = replace(STANDING, contested_at=NOW)
    assert nomination.trigger(contested, NOW, POLICY, contested=nomination.nothing) is None
    later = NOW + POLICY.epoch.interval_ms
    assert nomination.trigger(contested, later, POLICY, contested=nomination.nothing) == "interval"


@pytest.mark.parametrize(
    ("changes", "after_ms", "expired", "why"),
    [
        ({}, 1_800_000, True, "triage"),
        ({}, 1_799_999, True, None),
        ({}, 1_800_000, False, None),
        ({}, 3_600_000, True, "interval"),
        ({"contested_at": NOW}, 1_800_000, False, "contradiction"),
        ({"contested_at": NOW}, 1_800_000, True, "triage"),
        ({"alive": 11}, 1_800_000, True, "pressure"),
    ],
)
def test_what_has_expired_opens_an_epoch_after_half_an_hour(
    changes: dict[str, int], after_ms: int, expired: bool, why: str | None
) -> None:
    asked: list[None] = []

    def answer() -> bool:
        asked.append(None)
        return expired

    assert nomination.trigger(replace(STANDING, **changes), NOW + after_ms, POLICY, answer) == why
    assert bool(asked) == (why not in {"interval", "pressure"} and after_ms >= 1_800_000), "asked only then"


@pytest.mark.parametrize(
    ("changes", "unsaid", "why"),
    [
        ({}, True, "anew"),
        ({}, False, None),
        ({"contested_at": NOW}, True, "anew"),
        ({"interactions": 100}, True, "interactions"),
        ({"last_epoch_at": NOW + 1}, True, None),
    ],
)
def test_what_is_found_nowhere_until_it_is_voted_for_opens_an_epoch_at_once(
    changes: dict[str, int], unsaid: bool, why: str | None
) -> None:
    assert nomination.trigger(replace(STANDING, **changes), NOW, POLICY, unsaid=lambda: unsaid) == why


def test_what_has_expired_comes_after_what_decayed_and_before_what_is_too_much() -> None:
    day = replace(candidate("day"), last_access=NOW - 24 * 3_600_000)
    spared = [replace(day, memory_id="wanted", fades=False), replace(day, memory_id="salient", salience_ppm=700_000)]
    record = build(
        crossed=[candidate("old", decayed=True)],
        expired=[candidate("touched"), day, *spared, replace(day, memory_id="promoted", tier="long-term")],
        evicted=[candidate("lowest"), candidate("next")],
        standing=replace(STANDING, alive=11),
    )
    assert named(record) == [
        ("lowest", "evict", "pressure"),
        ("old", "forget", "decayed"),
        ("day", "forget", "expired"),
    ], "by kind"


def test_when_it_may_be_nominated() -> None:
    """At a salience of 0.4 ln(8)/0.1 hours after its last use by its decay score, else a week after by D."""
    one = candidate("one")
    assert nomination.expiry(one, POLICY) == pytest.approx(NOW + 20.79 * 3_600_000, abs=20_000)
    assert nomination.due_at(one, POLICY) == nomination.expiry(one, POLICY)
    assert nomination.due_at(replace(one, salience_ppm=700_000), POLICY) == NOW + SPAN
    assert nomination.expiry(replace(one, fades=False), POLICY) is None
    assert nomination.due_at(replace(one, fades=False), POLICY) == NOW + SPAN
    assert nomination.due_at(replace(one, tier="long-term"), POLICY) > NOW + 5 * SPAN


def test_nothing_to_propose_is_no_epoch() -> None:
    assert build() is None
    assert build(crossed=[candidate("touched")], promotable=[candidate("dull")]) is None


def test_the_nomination_says_where_it_stands() -> None:
    record = build(crossed=[candidate("old", decayed=True)])
    assert record is not None
    assert (record.shard, record.epoch, record.as_of, record.accepted_offset) == (2, 7, NOW, 77)
    assert (record.cluster, record.config, record.trigger) == (GENESIS.cluster, 0, "interval")
    proposal = record.proposals[0]
    assert (proposal.namespace, proposal.created, proposal.last_access) == ("n", NOW - 60_000, NOW - SPAN)
    assert proposal.salience_ppm == 400_000


def test_predicates_are_evaluated_again() -> None:
    record = build(
        crossed=[candidate("old", decayed=True), candidate("touched since")],
        promotable=[candidate("young", salient=True, age=59_999), candidate("ready", salient=True)],
    )
    assert named(record) == [("old", "forget", "decayed"), ("ready", "promote", "salient")]


def test_a_memory_is_proposed_once_and_rather_to_be_forgotten() -> None:
    both = candidate("both", decayed=True, salient=True)
    record = build(crossed=[both, both], evicted=[both], promotable=[both], standing=replace(STANDING, alive=15))
    assert named(record) == [("both", "evict", "pressure")]
    record = build(crossed=[both, both], promotable=[both])
    assert named(record) == [("both", "forget", "decayed")]


def test_pressure_proposes_the_first_to_go_up_to_the_excess() -> None:
    crowded = replace(STANDING, alive=13)
    unused = [candidate(f"u{i}") for i in range(5)]
    record = build(standing=crowded, crossed=[candidate("old", decayed=True)], evicted=unused)
    assert named(record) == [
        ("u0", "evict", "pressure"), ("u1", "evict", "pressure"), ("u2", "evict", "pressure"),
        ("old", "forget", "decayed"),
    ]  # fmt: skip
    assert named(build(evicted=unused)) == []


def test_what_decayed_is_asked_as_too_much_where_it_is_and_counts_as_nothing_where_it_is_not() -> None:
    """A vote to forget may keep it: the shard would wait for it, epoch after epoch."""
    crowded = replace(STANDING, alive=12)
    old = [candidate(f"old{n}", decayed=True) for n in range(4)]
    record = build(standing=crowded, crossed=old, evicted=old)
    assert named(record) == [
        ("old0", "evict", "pressure"), ("old1", "evict", "pressure"),
        ("old2", "forget", "decayed"), ("old3", "forget", "decayed"),
    ]  # fmt: skip


def test_what_is_demoted_makes_no_shard_smaller() -> None:
    crowded = replace(STANDING, alive=12)
    slow = [replace(candidate(f"kept{n}"), tier="long-term", last_access=NOW - 20 * SPAN) for n in range(2)]
    record = build(standing=crowded, crossed=slow, evicted=[candidate(f"u{n}") for n in range(3)])
    assert sorted(named(record)) == [
        ("kept0", "demote", "decayed"), ("kept1", "demote", "decayed"),
        ("u0", "evict", "pressure"), ("u1", "evict", "pressure"),
    ]  # fmt: skip


def test_how_many_to_ask_for_that_are_to_go_first() -> None:
    assert nomination.evicted_limit(STANDING, 5, POLICY) == 0
    assert nomination.evicted_limit(replace(STANDING, alive=13), 5, POLICY) == 8
    assert nomination.evicted_limit(replace(STANDING, alive=1000), 5, POLICY) == 13
    assert nomination.excess(13, POLICY) == 3


def test_a_long_line_of_the_decayed_leaves_a_quarter_for_promotion() -> None:
    old = [candidate(f"old{i}", decayed=True) for i in range(20)]
    ready = [candidate(f"ready{i}", salient=True) for i in range(20)]
    record = named(build(crossed=old, promotable=ready))
    assert [name for name, _, _ in record] == [*(f"old{i}" for i in range(6)), "ready0", "ready1"]
    assert len(named(build(crossed=old))) == 8
    assert len(named(build(promotable=ready))) == 8
    assert len(named(build(crossed=old[:1], promotable=ready))) == 8


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 12), st.integers(0, 30))
def test_the_bound_holds_and_nothing_that_fits_is_left_out(old: int, ready: int, most: int, alive: int) -> None:
    policy = Policy(epoch=EpochPolicy(capacity=10, proposals_max=most))
    record = named(
        build(
            policy=policy,
            standing=replace(STANDING, alive=alive),
            crossed=[candidate(f"old{i}", decayed=True) for i in range(old)],
            promotable=[candidate(f"ready{i}", salient=True) for i in range(ready)],
        )
    )
    assert len(record) == min(most, old + ready)
    assert len({name for name, _, _ in record}) == len(record)


def test_an_epoch_under_vote_is_nominated_again_only_after_the_retry_time() -> None:
    last = Attempt(epoch=7, as_of=NOW, ticks=1)
    assert nomination.may_send(None, 7, NOW, POLICY)
    assert not nomination.may_send(last, 7, NOW + 9_999, POLICY)
    assert nomination.may_send(last, 7, NOW + 10_000, POLICY)
    assert nomination.may_send(last, 8, NOW, POLICY)


def test_retries_of_an_epoch_become_rare_however_fast_time_goes() -> None:
    """With each tick an hour later, only the number of ticks limits the retries."""
    last, waited = Attempt(epoch=7, as_of=NOW), list[int]()
    for tick in range(1, 100):
        last, as_of = last.ticked(), NOW + tick * 3_600_000
        if nomination.may_send(last, 7, as_of, POLICY):
            waited.append(last.ticks)
            last = last.again(7, as_of)
    assert waited == [1, 2, 4, 8, 16, 16, 16, 16, 16]
    assert last.again(8, NOW) == Attempt(8, NOW), "another epoch begins anew"


def test_kept_memories_rest_for_doubling_times() -> None:
    # Kept in epoch 10 for the first time: epoch 11 leaves it in peace, 12 may propose it.
    assert [nomination.rest_until(10, kept, POLICY) for kept in (1, 2, 3, 7, 8, 500)] == [12, 13, 15, 75, 75, 75]
    with pytest.raises(ValueError, match="kept is 0"):
        nomination.rest_until(10, 0, POLICY)


def test_of_several_waiting_ticks_the_last_counts() -> None:
    later = replace(TICK, journal_seq=51, crossed=(Crossing("m", NOW, 0),))
    other = replace(TICK, shard=3, journal_seq=9)
    assert nomination.latest([TICK, later, other]) == {2: later, 3: other}
    assert nomination.latest([later, TICK]) == {2: later}
