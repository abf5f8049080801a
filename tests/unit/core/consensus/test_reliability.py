"""Reliabilities follow from the history, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.consensus.reliability import LATE, PRIOR, WINDOW, enough, reliabilities, window
from memquorum.core.orders.configuration import apply
from tests import examples
from tests.builders.genesis import make
from tests.builders.seats import Fleet
from tests.builders.votes import order
from workers.replica import casting

GENESIS = make(5)
ALL = frozenset(range(5))


def test_who_was_always_there_is_reliable_and_absence_counts_over_the_window() -> None:
    shown = {seq: ALL - ({4} if seq % 2 else set()) for seq in range(1, 1001)}
    assert reliabilities(GENESIS, shown, 1000) == (1000, 1000, 1000, 1000, 1000 * (PRIOR + 128) // (PRIOR + WINDOW))
    assert window(1000) == range(745, 1001) and window(3) == range(1, 4)
    assert reliabilities(GENESIS, {1: ALL - {0}}, 1) == (984, 1000, 1000, 1000, 1000)
    never = {seq: ALL - {2} for seq in range(1, 300)}
    assert (reliabilities(GENESIS, never, 299) or ())[2] == 1000 * PRIOR // (PRIOR + WINDOW) == 200


def test_a_history_with_a_gap_tells_nothing() -> None:
    shown = {seq: ALL for seq in range(1, 300)}
    del shown[100]
    assert reliabilities(GENESIS, shown, 299) is None
    assert reliabilities(GENESIS, shown, 99) == (1000,) * 5
    assert reliabilities(GENESIS, shown, 356) is None


def test_who_was_no_member_was_not_absent() -> None:
    new = {"member": 5, "name": "new", "role": "r", "public_key": bytes(32), "weight_milli": 1000}
    made = replace(apply(GENESIS, order(GENESIS, "add", **new)), begins=11)
    shown = {seq: ALL if seq < 13 else ALL | {5} for seq in range(1, 21)}
    assert reliabilities(made, shown, 20) == (*(1000,) * 5, 1000 * (PRIOR + 8) // (PRIOR + 10))


def test_members_that_are_seen_must_be_enough_to_vote() -> None:
    new = {"member": 4, "name": "new", "role": "r", "public_key": bytes(32), "weight_milli": 1000}
    four = make(4)
    five = apply(four, order(four, "add", **new))
    early, late = frozenset({0, 1, 2}), frozenset({1, 2, 3})
    # Four of five have to vote. No single ballot has to be in every decision.
    assert enough(five, {}, 0)
    assert not enough(five, {1: early}, 1) and enough(five, {1: early, 2: late}, 2)
    assert enough(five, {1: early, **dict.fromkeys(range(2, LATE + 1), late)}, LATE)
    assert not enough(five, {1: early, **dict.fromkeys(range(2, LATE + 2), late)}, LATE + 1)
    # A removed member does not count: of seven five have to vote, and five of six.
    seven = make(7)
    six = apply(seven, order(seven, "remove", member=0))
    assert enough(six, {1: frozenset(range(6))}, 1) and not enough(six, {1: frozenset(range(5))}, 1)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=300),
    st.sampled_from([(1500, 1500, 1000, 1000), (1000,) * 4, (1300, 1300, 1300, 1000)]),
)
def test_whatever_the_history_they_can_be_ordered(history: list[set[int]], weights: tuple[int, ...]) -> None:
    genesis = make(4, weights=weights)
    shown = {seq: frozenset(members) for seq, members in enumerate(history, 1)}
    found = reliabilities(genesis, shown, len(history))
    assert found is not None and all(1 <= rate <= 1000 for rate in found)
    if found != (1000,) * 4:
        apply(genesis, order(genesis, "reliability", reliabilities=found))


def test_nobody_falls_so_far_that_the_loudest_other_holds_a_third() -> None:
    genesis, shown = make(4), {seq: frozenset({0, 2, 3}) for seq in range(1, 300)}
    assert reliabilities(genesis, shown, 299) == (1000, 667, 1000, 1000)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(tmp_path, GENESIS)
    for member in range(4):
        made.sit(member)
    for epoch in (1, 2):
        made.nominate(GENESIS, epoch)
        made.run()
    yield made
    made.close()


def test_what_follows_from_the_history_is_decided(fleet: Fleet) -> None:
    """Member 4 was not there."""
    rates = (1000, 1000, 1000, 1000, 1000 * PRIOR // (PRIOR + 2))
    fleet.nominate(GENESIS, 3, order(GENESIS, "reliability", reliabilities=rates, through=2))
    fleet.run()
    assert set(fleet.standing().values()) == {(1, 4)}
    assert [m.reliability_milli for m in fleet.seats[0].core._genesis.members] == list(rates)


@pytest.mark.parametrize(
    ("rates", "through"),
    [
        ((1000, 1000, 1000, 1000, 971), 2),  # of another history
        ((1000, 1000, 1000, 999, 969), 2),
        ((1000, 1000, 1000, 1000, 984), 3),  # of what is not decided yet
        ((1000, 1000, 1000, 1000, 999), 0),
    ],
)
def test_other_values_are_refused_and_nothing_is_lost(fleet: Fleet, rates: tuple[int, ...], through: int) -> None:
    fleet.nominate(GENESIS, 3, order(GENESIS, "reliability", reliabilities=rates, through=through))
    fleet.run()
    assert set(fleet.standing().values()) == {(0, 4)}
    fleet.nominate(GENESIS, 4)
    fleet.run()
    assert set(fleet.standing().values()) == {(0, 5)}


def test_a_history_that_ends_long_ago_is_refused(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(casting, "FRESH", 1)
    rates = (1000, 1000, 1000, 1000, 1000 * PRIOR // (PRIOR + 1))
    fleet.nominate(GENESIS, 3, order(GENESIS, "reliability", reliabilities=rates, through=1))
    fleet.run()
    assert set(fleet.standing().values()) == {(0, 4)}


def test_who_has_not_seen_the_history_says_no(fleet: Fleet) -> None:
    for member in (0, 1):
        fleet.views[member]._db.execute("DELETE FROM shown")
    rates = (1000, 1000, 1000, 1000, 1000 * PRIOR // (PRIOR + 2))
    fleet.nominate(GENESIS, 3, order(GENESIS, "reliability", reliabilities=rates, through=2))
    fleet.run()
    assert set(fleet.standing().values()) == {(0, 4)}
