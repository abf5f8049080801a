"""A member's view knows whether it has spoken before, whatever its sign-state has lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memquorum import topics
from memquorum.core.identity.messages import read_signed
from memquorum.core.records import BallotCast
from tests.builders.genesis import make
from tests.builders.seats import CODEC, Fleet

GENESIS = make(4)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(tmp_path, GENESIS)
    yield made
    made.close()


def read_once(fleet: Fleet, member: int, *, through: dict[str, int] | None = None) -> None:
    """A process starts, reads what there is, or a part of it, keeps that, and dies before it comes to the ends."""
    seat = fleet.sit(member)
    with fleet.views[member].batch():
        for topic, log in fleet.logs.items():
            for offset in range(seat.positions[topic], len(log) if through is None else through[topic]):
                seat.take(topic, offset, log[offset])
        seat.turn()


def decide(fleet: Fleet, epoch: int) -> None:
    fleet.nominate(GENESIS, epoch)
    fleet.run()


def ballots(fleet: Fleet, member: int) -> list[int]:
    """The epochs that a member has voted in."""
    said = [read_signed(CODEC, GENESIS, data, BallotCast)[1] for data in fleet.logs[topics.BALLOTS]]
    return [body.epoch for body in said if body.member == member]


def test_who_crashed_while_it_read_for_the_first_time_speaks_beside_one_that_is_gone(fleet: Fleet) -> None:
    for member in (0, 1, 2):
        fleet.sit(member)
    decide(fleet, 1)
    read_once(fleet, 3)
    assert fleet.views[3].progress(0).seq == 2 and not fleet.views[3].progress(0).lived
    fleet.sit(3)
    fleet.lose(1)
    decide(fleet, 2)
    assert ballots(fleet, 3) == [2] and fleet.standing()[3] == (0, 3)


@pytest.mark.parametrize("reads_on", [False, True])
def test_who_spoke_and_lost_its_sign_state_alone_is_silent(fleet: Fleet, reads_on: bool) -> None:
    """`reads_on`: it starts a second time from where its view has read to, behind all that it said."""
    for member in range(4):
        fleet.sit(member)
    decide(fleet, 1)
    fleet.lose(3, signed=True)
    if reads_on:
        read_once(fleet, 3)
    fleet.sit(3)
    decide(fleet, 2)
    decide(fleet, 3)
    assert ballots(fleet, 3) == [1, 3]


def test_who_heard_itself_before_it_started_again_is_silent(fleet: Fleet) -> None:
    """With both files gone it knows from the log alone that it spoke, and the second start reads behind that."""
    for member in range(4):
        fleet.sit(member)
    decide(fleet, 1)
    fleet.lose(3, view=True, signed=True)
    read_once(fleet, 3)
    assert fleet.views[3].progress(0).lived
    fleet.sit(3)
    decide(fleet, 2)
    decide(fleet, 3)
    assert ballots(fleet, 3) == [1, 3]
