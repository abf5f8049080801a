"""Members who have read a request where it stands restore what they know to rest; others cannot make them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import sealing
from memquorum.core.consensus.certificate import check_pre_prepare
from memquorum.core.orders import uses
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    DecayCrossed,
    Decided,
    NominationProposed,
    OrderAccepted,
    OrderFound,
    Proposal,
    Signed,
    Standing,
)
from memquorum.core.vote import asking
from memquorum.core.vote.tally import Outcome
from tests.builders import votes
from tests.builders.genesis import make
from tests.builders.seats import AS_OF, CODEC, Fleet
from tests.builders.shard import accepted, memory_id, scored
from tests.builders.worths import weighed
from workers.replica.seat import LOGS

GENESIS = make(4)
MINE = memory_id("umbrella")
KEY = bytes(range(32))
ORDER = votes.restore(GENESIS, MINE)
SIGNED = votes.signed(CODEC, GENESIS, "operator", ORDER)
# The accepted stream: a tick, the episode, a tick, the request, a tick.
STANDS = OrderFound(SIGNED, AS_OF, 3)


class Keys:
    """A vault with the memory's key."""

    def __init__(self) -> None:
        self.keys = {MINE: KEY}

    def open(self, wanted: set[str]) -> dict[str, bytes]:
        return {i: self.keys[i] for i in wanted if i in self.keys}


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Four members who have read and forgotten a memory, in epoch 1."""
    made = Fleet(tmp_path, GENESIS)
    text = "Somebody left an umbrella."
    episode = replace(
        accepted("umbrella", AS_OF - 400_000_000), sealed_content=sealing.seal_text(KEY, bytes(12), text, MINE),
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
    at = AS_OF - 400_000_000
    forget = Proposal((MINE,), votes.GREENHOUSE, "forget", "decayed", at, at, 600_000)
    decide(made, NominationProposed(GENESIS.cluster, 0, 0, 1, AS_OF, 2, "interval", (forget,)))
    assert [one.outcome for one in outcomes(made)] == ["forgotten"]
    yield made
    made.close()


def decide(fleet: Fleet, proposed: NominationProposed) -> None:
    fleet.logs[topics.NOMINATIONS].append(votes.signed(CODEC, GENESIS, "service:nomination", proposed))
    fleet.run()


def asks(found: OrderFound = STANDS) -> NominationProposed:
    tick = DecayCrossed(0, AS_OF, 4, 9, ())
    return asking.build(CODEC, GENESIS, Standing(1, AS_OF, 0, 0), tick, (REQUEST, found, ORDER))


def outcomes(fleet: Fleet) -> list[Outcome]:
    return [check_pre_prepare(CODEC, GENESIS, data).outcomes[0] for data in fleet.logs[topics.PRE_PREPARES]]


def known(fleet: Fleet) -> list[bool]:
    return [bool(view.known([MINE])) and not view.is_forgotten(MINE) for _, view in sorted(fleet.views.items())]


def test_what_everybody_knows_to_rest_is_restored_by_all(fleet: Fleet) -> None:
    assert known(fleet) == [False] * 4
    decide(fleet, asks())
    last = outcomes(fleet)[-1]
    assert (last.outcome, last.yes, last.votes) == ("restored", (0, 1, 2, 3), 2)
    assert known(fleet) == [True] * 4
    assert {view.known([MINE])[MINE].last_access for view in fleet.views.values()} == {AS_OF}
    rests = {tuple(view._db.execute("SELECT memory_id, until FROM back")) for view in fleet.views.values()}
    assert rests == {((MINE, 2 + 1 + GENESIS.policy.epoch.rest_epochs_max),)}, "as the journal has it"


@pytest.mark.parametrize("found", [replace(STANDS, offset=2), replace(STANDS, accepted_at=AS_OF - 1)])
def test_what_was_not_read_where_it_is_said_to_stand_is_not_restored(fleet: Fleet, found: OrderFound) -> None:
    decide(fleet, asks(found))
    last = outcomes(fleet)[-1]
    assert (last.outcome, last.yes) == ("kept", ()) and known(fleet) == [False] * 4


@pytest.mark.parametrize(("blind", "expected"), [((3,), "restored"), ((1, 3), "restored"), ((0, 1, 3), "kept")])
def test_who_has_lost_its_keys_or_lies_neither_withholds_nor_restores(
    fleet: Fleet, blind: tuple[int, ...], expected: str
) -> None:
    for member in blind:
        fleet.seats[member]._judge._vault.keys.clear()  # type: ignore[attr-defined]
    decide(fleet, asks())
    last = outcomes(fleet)[-1]
    assert last.outcome == expected and set(last.yes) == {0, 1, 2, 3} - set(blind)


def test_a_request_that_was_answered_is_not_voted_for_again(fleet: Fleet) -> None:
    decide(fleet, asks())
    forget = Proposal((MINE,), votes.GREENHOUSE, "forget", "decayed", AS_OF, AS_OF, 600_000)
    late = AS_OF + 400_000_000
    fleet.logs[topics.ACCEPTED].append(CODEC.encode(ClockTicked("much later", late)))
    decide(fleet, NominationProposed(GENESIS.cluster, 0, 0, 3, late, 5, "interval", (forget,)))
    assert [one.outcome for one in outcomes(fleet)] == ["forgotten", "restored", "forgotten"]
    again = asking.build(
        CODEC, GENESIS, Standing(3, AS_OF, 0, 0), DecayCrossed(0, AS_OF, 4, 9, ()), (REQUEST, STANDS, ORDER)
    )
    decide(fleet, again)
    last = outcomes(fleet)[-1]
    assert (last.outcome, last.yes) == ("kept", ()) and known(fleet) == [False] * 4


def journal(fleet: Fleet) -> list[Decided]:
    """The decisions as the journal holds them, each with its proof."""
    commits: dict[bytes, list[bytes]] = {}
    for data in fleet.logs[topics.COMMITS]:
        commits.setdefault(CODEC.decode(CODEC.decode_as(Signed, data).body).digest, []).append(data)
    found = []
    for data in fleet.logs[topics.PRE_PREPARES]:
        checked = check_pre_prepare(CODEC, GENESIS, data)
        said = tuple(commits[checked.digest][: GENESIS.quorum])
        found.append(Decided(checked.body.epoch, checked.body.view, checked.body.seq, data, said, ()))
    return found


def test_who_came_too_late_for_the_logs_knows_from_the_journal_what_was_answered(fleet: Fleet) -> None:
    """A liar and one member that has only followed the journal would be enough to answer an old request again."""
    decide(fleet, asks())
    forget = Proposal((MINE,), votes.GREENHOUSE, "forget", "decayed", AS_OF, AS_OF, 600_000)
    late = AS_OF + 400_000_000
    fleet.logs[topics.ACCEPTED].append(CODEC.encode(ClockTicked("much later", late)))
    decide(fleet, NominationProposed(GENESIS.cluster, 0, 0, 3, late, 5, "interval", (forget,)))
    fleet.lose(3, view=True)
    seat = fleet.sit(3)
    seat._judge._vault = Keys()  # type: ignore[assignment]
    # The logs were pruned: what they held of the decisions is read nowhere but in the journal.
    seat.positions |= {topic: len(fleet.logs[topic]) for topic in LOGS.values()}
    for decided in journal(fleet):
        with fleet.views[3].batch():
            seat.follow(decided)
    assert fleet.views[3].progress(0).seq == 4
    fleet.seats.pop(1)  # so that the others need its ballot
    again = asking.build(
        CODEC, GENESIS, Standing(3, AS_OF, 0, 0), DecayCrossed(0, AS_OF, 4, 9, ()), (REQUEST, STANDS, ORDER)
    )
    decide(fleet, again)
    assert fleet.views[3].order_at(0, STANDS.offset) is None
    last = check_pre_prepare(CODEC, GENESIS, fleet.logs[topics.PRE_PREPARES][-1])
    assert {ballot.member for ballot in last.ballots} == {0, 2, 3}
    assert (last.body.epoch, last.outcomes[0].outcome, last.outcomes[0].yes) == (4, "kept", ())


# Late uses -----------------------------------------------------------------------------------------------------------


def used(fleet: Fleet, at: int = AS_OF, memory: str = MINE) -> OrderFound:
    """A use that comes in now, and a tick."""
    use = AccessAccepted(f"use at {at}", memory, votes.GREENHOUSE, "reviewer", at)
    offset = len(fleet.logs[topics.ACCEPTED])
    fleet.logs[topics.ACCEPTED] += [CODEC.encode(use), CODEC.encode(ClockTicked("after", AS_OF))]
    fleet.run()
    return OrderFound(CODEC.encode(use), at, offset)


def nominate(fleet: Fleet, found: OrderFound, epoch: int = 2) -> Outcome:
    at = len(fleet.logs[topics.ACCEPTED]) - 1
    tick, order = DecayCrossed(0, AS_OF, at, 9, ()), uses.opened(CODEC, GENESIS, REQUEST, found)
    built = asking.build(CODEC, GENESIS, Standing(epoch - 1, AS_OF, 0, 0), tick, (REQUEST, found, order))
    decide(fleet, replace(built, accepted_offset=at))
    return outcomes(fleet)[-1]


@pytest.fixture(params=["crossed", "sealed"])
def after(request: pytest.FixtureRequest, fleet: Fleet) -> Fleet:
    """The members know the memory to rest, or it was forgotten only just now; by a vote that knew its last use."""
    for view in fleet.views.values():
        with view.batch():
            view.touch(MINE, votes.GREENHOUSE, at=AS_OF - 7, offset=2)
            if request.param == "sealed":
                view._seal(0, 1)
                view._forgotten[0] = view._load_forgotten_of(0)
    return fleet


def test_a_use_that_all_have_read_restores(after: Fleet) -> None:
    last = nominate(after, used(after, AS_OF - 5))
    assert (last.outcome, last.yes, last.votes) == ("restored", (0, 1, 2, 3), 2)
    assert known(after) == [True] * 4


def test_a_use_is_not_one_that_nobody_read(after: Fleet) -> None:
    """Not of another time, nor of a later place."""
    real = used(after, AS_OF - 5)
    use = CODEC.decode(real.order)
    younger = replace(real, order=CODEC.encode(replace(use, accessed_at=AS_OF)), accepted_at=AS_OF)
    for epoch, found in enumerate((younger, replace(real, offset=real.offset + 1)), 2):
        last = nominate(after, found, epoch)
        assert (last.outcome, last.yes) == ("kept", ())


def test_without_a_late_use_nobody_restores(after: Fleet) -> None:
    use = AccessAccepted("in time", MINE, votes.GREENHOUSE, "reviewer", AS_OF - 7)
    last = nominate(after, OrderFound(CODEC.encode(use), use.accessed_at, 2))
    assert (last.outcome, last.yes) == ("kept", ())


def test_a_use_that_was_decided_on_is_not_voted_for_again(after: Fleet) -> None:
    found = used(after)
    for seat in after.seats.values():
        seat._judge._vault.keys.clear()  # type: ignore[attr-defined]
    assert nominate(after, found).outcome == "kept"
    for seat in after.seats.values():
        seat._judge._vault.keys[MINE] = KEY  # type: ignore[attr-defined]
    last = nominate(after, found, 3)
    assert (last.outcome, last.yes) == ("kept", ())
