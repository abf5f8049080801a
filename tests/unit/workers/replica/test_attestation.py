"""Members attest an erasure that they have read where it is said to stand, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.orders.erase import ERASURE
from memquorum.core.records import (
    ClockTicked,
    DecayCrossed,
    ErasureOrdered,
    NominationProposed,
    OrderAccepted,
    OrderFound,
    Standing,
)
from memquorum.core.vote import asking
from memquorum.ports import Unattested
from streams.order_queue import OpenOrders
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.seats import AS_OF, CODEC, Fleet

GENESIS = make(4)
ORDER = votes.erasure(GENESIS)
SIGNED = votes.signed(CODEC, GENESIS, "operator", ORDER)
ACCEPTED = OrderAccepted(ORDER.order_id, "erase", ORDER.namespace, (), SIGNED, AS_OF, topics.ERASURES, 0, 7)
STANDS = OrderFound(SIGNED, AS_OF, 1)
TICK = DecayCrossed(0, AS_OF, 2, 9, (), Standing(0, 0, 0, 0, 1))


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Four members whose accepted stream holds a tick, the order at offset 1, and another tick."""
    made = Fleet(tmp_path, GENESIS)
    made.logs[topics.ACCEPTED] += [CODEC.encode(ACCEPTED), CODEC.encode(ClockTicked("later", AS_OF))]
    for member in range(4):
        made.sit(member)
    yield made
    made.close()


def nomination(found: OrderFound, order: ErasureOrdered = ORDER) -> NominationProposed:
    assert TICK.standing is not None
    return asking.build(CODEC, GENESIS, TICK.standing, TICK, (ERASURE, found, order))


def decide(fleet: Fleet, proposed: NominationProposed) -> None:
    fleet.logs[topics.NOMINATIONS].append(votes.signed(CODEC, GENESIS, "service:nomination", proposed))
    fleet.run()


def outcome(fleet: Fleet) -> list[str]:
    """Returns the outcome of the first sequence, by what the members who decided it were shown."""
    from memquorum.core.consensus.certificate import check_pre_prepare

    return [check_pre_prepare(CODEC, GENESIS, data).outcomes[0].outcome for data in fleet.logs[topics.PRE_PREPARES]]


def test_what_everybody_has_read_is_attested(fleet: Fleet) -> None:
    decide(fleet, nomination(STANDS))
    assert outcome(fleet) == ["attested"] and set(fleet.standing().values()) == {(0, 2)}


def test_what_was_attested_is_not_again_and_what_was_not_may_be(fleet: Fleet) -> None:
    decide(fleet, nomination(replace(STANDS, offset=0)))
    for epoch in (1, 2):
        standing = replace(TICK, standing=Standing(epoch, AS_OF, 0, 0, 1))
        assert standing.standing is not None
        decide(fleet, asking.build(CODEC, GENESIS, standing.standing, standing, (ERASURE, STANDS, ORDER)))
    assert outcome(fleet) == ["kept", "attested", "kept"]


@pytest.mark.parametrize(
    "found",
    [
        replace(STANDS, offset=0),
        replace(STANDS, accepted_at=AS_OF - 1),
        replace(STANDS, order=votes.signed(CODEC, GENESIS, "operator", replace(ORDER, value="another"))),
    ],
)
def test_what_nobody_has_read_there_is_not(fleet: Fleet, found: OrderFound) -> None:
    order = replace(ORDER, value="another") if found.order != SIGNED else ORDER
    decide(fleet, nomination(found, order))
    assert outcome(fleet) == ["kept"] and set(fleet.standing().values()) == {(0, 2)}


def test_a_nomination_that_proposes_something_else_is_voted_on_by_nobody(fleet: Fleet) -> None:
    proposed = nomination(STANDS)
    more = votes.proposal("7f0f3f3e-1111-5c3a-9d2f-0d5c0f6f1a12", "forget")
    decide(fleet, replace(proposed, proposals=(*proposed.proposals, more)))
    decide(fleet, replace(proposed, proposals=(replace(proposed.proposals[0], kind="forget"),)))
    decide(fleet, replace(proposed, accepted_offset=1))
    decide(fleet, replace(proposed, order=b"garbage"))
    assert not fleet.logs[topics.BALLOTS]


def test_who_starts_again_still_knows_where_it_stands(fleet: Fleet) -> None:
    fleet.run()
    for member in range(4):
        fleet.sit(member)
    decide(fleet, nomination(STANDS))
    assert outcome(fleet) == ["attested"]


class Shelf:
    """The rows that are not attested."""

    def __init__(self, *erasures: Unattested) -> None:
        self._erasures, self.asked = list(erasures), 0

    def unattested(self, _: int) -> list[Unattested]:
        self.asked += 1
        return self._erasures


def due(shelf: Shelf, standing: Standing, at: int = 2) -> OrderFound | None:
    orders = OpenOrders(CODEC, GENESIS, shelf)  # type: ignore[arg-type]
    found = next(orders.due(standing, replace(TICK, accepted_offset=at), GENESIS.policy), None)
    return None if found is None else found[1]


def test_a_tick_asks_only_where_something_is_to_be_attested() -> None:
    shelf = Shelf(Unattested(STANDS))
    assert due(shelf, Standing(5, 0, 0, 0)) is None and shelf.asked == 0
    assert due(shelf, Standing(5, 0, 0, 0, 1)) == STANDS


def test_what_was_not_attested_rests_and_what_the_tick_has_not_seen_waits() -> None:
    later = replace(STANDS, offset=2)
    assert due(Shelf(Unattested(STANDS, (5,))), Standing(5, 0, 0, 0, 1)) is None
    assert due(Shelf(Unattested(STANDS, (5,)), Unattested(later)), Standing(5, 0, 0, 0, 2), 3) == later
    assert due(Shelf(Unattested(STANDS, (5,))), Standing(9, 0, 0, 0, 1)) == STANDS
    assert due(Shelf(Unattested(later)), Standing(5, 0, 0, 0, 1)) is None


def test_what_cannot_be_attested_keeps_nobody_waiting(caplog: pytest.LogCaptureFixture) -> None:
    forged = replace(STANDS, order=votes.signed(CODEC, GENESIS, "member:1", ORDER))
    assert due(Shelf(Unattested(forged), Unattested(STANDS)), Standing(5, 0, 0, 0, 2)) == STANDS
    assert "cannot be voted on" in caplog.text
