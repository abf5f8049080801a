"""Members who have read a request to roll a weight back are for it where they have seen the memory admitted and it is
alive; others cannot make them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from db.view_rows import Admitted
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.consensus.certificate import check_pre_prepare
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import (
    ClockTicked,
    DecayCrossed,
    NominationProposed,
    OrderAccepted,
    OrderFound,
    Proposal,
    Standing,
)
from memquorum.core.vote import asking
from memquorum.core.vote.tally import Outcome
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.seats import AS_OF, CODEC, Fleet
from tests.builders.shard import accepted, memory_id, scored
from tests.builders.worths import weighed

GENESIS = make(4)
MINE = memory_id("umbrella")
KEY = bytes(range(32))
ORDER = votes.rollback(GENESIS, MINE, 1)
SIGNED = votes.signed(CODEC, GENESIS, "operator", ORDER)
# The accepted stream: a tick, the episode, a tick, the request, a tick.
STANDS = OrderFound(SIGNED, AS_OF, 3)
LONG_AGO = AS_OF - 400_000_000


class Keys:
    """A vault with the memory's key."""

    def open(self, wanted: set[str]) -> dict[str, bytes]:
        return {i: KEY for i in wanted if i == MINE}


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Four members who have read a memory and a request about it."""
    made = Fleet(tmp_path, GENESIS)
    text = "Somebody left an umbrella."
    episode = replace(
        accepted("umbrella", LONG_AGO), sealed_content=sealing.seal_text(KEY, bytes(12), text, MINE),
        commitment=sealing.commitment(KEY, text),
    )  # fmt: skip
    score = replace(
        scored(episode, 1),
        sealed_embedding=sealing.seal_vector(KEY, bytes(12), np.ones(4, np.float32), MINE),
        **weighed(KEY, text, MINE),
    )
    request = OrderAccepted(ORDER.order_id, "restore", ORDER.namespace, (MINE,), SIGNED, AS_OF, topics.RESTORES, 0, 7)
    later = ClockTicked("later", AS_OF)
    made.logs[topics.ACCEPTED] += [CODEC.encode(record) for record in (episode, later, request, later)]
    made.logs[topics.SCORED] = [CODEC.encode(score)]
    for member in range(4):
        made.sit(member)
        made.seats[member]._judge._vault = Keys()  # type: ignore[assignment]
    made.run()
    yield made
    made.close()


def admit(fleet: Fleet, *members: int) -> None:
    for member, view in sorted(fleet.views.items()):
        if member in (members or range(4)):
            view.experience.weigh([Admitted(votes.GREENHOUSE, MINE, 1, 0, 1_000_000)])


def decided(fleet: Fleet, found: OrderFound = STANDS, epoch: int = 1) -> Outcome:
    tick, stands = DecayCrossed(0, AS_OF, 4, 9, ()), Standing(epoch - 1, AS_OF, 0, 0)
    proposed = asking.build(CODEC, GENESIS, stands, tick, (REQUEST, found, ORDER))
    return voted(fleet, proposed)


def voted(fleet: Fleet, proposed: NominationProposed) -> Outcome:
    fleet.logs[topics.NOMINATIONS].append(votes.signed(CODEC, GENESIS, "service:nomination", proposed))
    fleet.run()
    return check_pre_prepare(CODEC, GENESIS, fleet.logs[topics.PRE_PREPARES][-1]).outcomes[0]


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
    gone = Proposal((MINE,), votes.GREENHOUSE, "forget", "decayed", LONG_AGO, LONG_AGO, 600_000)
    first = NominationProposed(GENESIS.cluster, 0, 0, 1, AS_OF, 2, "interval", (gone,))
    assert voted(fleet, first).outcome == "forgotten"
    told = decided(fleet, epoch=2)
    assert (told.outcome, told.yes) == ("kept", ())
