"""Members who have read a request to roll a weight back are for it where they have seen the memory admitted and it is
alive; others cannot make them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from db.view_rows import Admitted
from memquorum.core.records import OrderFound
from memquorum.core.vote.tally import Outcome
from tests.builders import requested, votes
from tests.builders.requested import AS_OF, GENESIS, MINE, decide, forgets
from tests.builders.seats import Fleet

ORDER = votes.rollback(GENESIS, MINE, 1)
STANDS = requested.found_request(ORDER)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = requested.fleet(tmp_path, ORDER)
    yield made
    made.close()


def admit(fleet: Fleet, *members: int) -> None:
    for member, view in sorted(fleet.views.items()):
        if member in (members or range(4)):
            view.experience.weigh([Admitted(votes.GREENHOUSE, MINE, 1, 0, 1_000_000)])


def decided(fleet: Fleet, found: OrderFound = STANDS, epoch: int = 1) -> Outcome:
    return decide(fleet, requested.asks(ORDER, found, epoch))


def test_whoever_has_read_it_and_seen_the_memory_admitted_is_for_it(fleet: Fleet) -> None:
    admit(fleet)
    told = decided(fleet)
    assert (told.kind, told.outcome, told.votes, told.yes) == ("rollback", "rolled back", 3, (0, 1, 2, 3))


def test_what_was_not_admitted_has_no_weight_to_be_rolled_back(fleet: Fleet) -> None:
    told = decided(fleet)
    assert (told.outcome, told.yes) == ("kept", ())


def test_a_member_that_does_not_know_it_admitted_changes_nothing_and_two_do(fleet: Fleet) -> None:
    admit(fleet, 0, 1, 2)
    told = decided(fleet)
    assert (told.outcome, told.yes) == ("rolled back", (0, 1, 2))


def test_two_of_four_who_know_it_admitted_are_too_few(fleet: Fleet) -> None:
    admit(fleet, 0, 1)
    told = decided(fleet)
    assert (told.outcome, told.yes) == ("kept", (0, 1))


@pytest.mark.parametrize("found", [replace(STANDS, offset=2), replace(STANDS, accepted_at=AS_OF - 1)])
def test_a_request_that_was_not_read_where_it_is_said_to_stand_is_not_followed(fleet: Fleet, found: OrderFound) -> None:
    admit(fleet)
    told = decided(fleet, found)
    assert (told.outcome, told.yes) == ("kept", ())


def test_what_was_forgotten_meanwhile_is_left_as_it_is(fleet: Fleet) -> None:
    admit(fleet)
    assert decide(fleet, forgets()).outcome == "forgotten"
    told = decided(fleet, epoch=2)
    assert (told.outcome, told.yes) == ("kept", ())
