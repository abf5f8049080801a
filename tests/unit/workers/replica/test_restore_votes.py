"""Members who have read a request where it stands restore what they know to rest; others cannot make them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids
from memquorum.core.consensus.certificate import check_pre_prepare
from memquorum.core.orders import uses
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    DecayCrossed,
    Decided,
    NominationProposed,
    OrderFound,
    Signed,
    Standing,
)
from memquorum.core.vote import asking
from memquorum.core.vote.tally import Outcome
from tests.builders import requested, votes
from tests.builders.requested import AS_OF, GENESIS, KEY, MINE, Keys, decide, forgets, outcomes
from tests.builders.seats import CODEC, Fleet
from workers.replica.seat import LOGS

ORDER = votes.restore(GENESIS, MINE)
STANDS = requested.found_request(ORDER)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """The members forgot the memory, in epoch 1."""
    made = requested.fleet(tmp_path, ORDER)
    assert decide(made, forgets()).outcome == "forgotten"
    yield made
    made.close()


def asks(found: OrderFound = STANDS, epoch: int = 2) -> NominationProposed:
    return requested.asks(ORDER, found, epoch)


def known(fleet: Fleet) -> list[bool]:
    return [bool(view.known([MINE])) and not view.is_forgotten(MINE) for _, view in sorted(fleet.views.items())]


def test_what_everybody_knows_to_rest_is_restored_by_all(fleet: Fleet) -> None:
    assert known(fleet) == [False] * 4
    last = decide(fleet, asks())
    assert (last.outcome, last.yes, last.votes) == ("restored", (0, 1, 2, 3), 2)
    assert known(fleet) == [True] * 4
    assert {view.known([MINE])[MINE].last_access for view in fleet.views.values()} == {AS_OF}
    rests = {tuple(view._db.execute("SELECT memory_id, until FROM back")) for view in fleet.views.values()}
    assert rests == {((MINE, 2 + 1 + GENESIS.policy.epoch.rest_epochs_max),)}, "as the journal has it"


@pytest.mark.parametrize("found", [replace(STANDS, offset=2), replace(STANDS, accepted_at=AS_OF - 1)])
def test_what_was_not_read_where_it_is_said_to_stand_is_not_restored(fleet: Fleet, found: OrderFound) -> None:
    last = decide(fleet, asks(found))
    assert (last.outcome, last.yes) == ("kept", ()) and known(fleet) == [False] * 4


@pytest.mark.parametrize(("blind", "expected"), [((3,), "restored"), ((1, 3), "restored"), ((0, 1, 3), "kept")])
def test_who_has_lost_its_keys_or_lies_neither_withholds_nor_restores(
    fleet: Fleet, blind: tuple[int, ...], expected: str
) -> None:
    for member in blind:
        fleet.seats[member]._judge._vault.keys.clear()  # type: ignore[attr-defined]
    last = decide(fleet, asks())
    assert last.outcome == expected and set(last.yes) == {0, 1, 2, 3} - set(blind)


def test_a_request_that_was_answered_is_not_voted_for_again(fleet: Fleet) -> None:
    decide(fleet, asks())
    late = AS_OF + 400_000_000
    fleet.logs[topics.ACCEPTED].append(CODEC.encode(ClockTicked("much later", late)))
    decide(fleet, forgets(3, late, 5, used=AS_OF))
    assert [one.outcome for one in outcomes(fleet)] == ["forgotten", "restored", "forgotten"]
    last = decide(fleet, asks(epoch=4))
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
    late = AS_OF + 400_000_000
    fleet.logs[topics.ACCEPTED].append(CODEC.encode(ClockTicked("much later", late)))
    decide(fleet, forgets(3, late, 5, used=AS_OF))
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
    decide(fleet, asks(epoch=4))
    assert fleet.views[3].order_at(0, STANDS.offset) is None
    last = check_pre_prepare(CODEC, GENESIS, fleet.logs[topics.PRE_PREPARES][-1])
    assert {ballot.member for ballot in last.ballots} == {0, 2, 3}
    assert (last.body.epoch, last.outcomes[0].outcome, last.outcomes[0].yes) == (4, "kept", ())


# Late uses -----------------------------------------------------------------------------------------------------------


def used(fleet: Fleet, at: int = AS_OF, memory: str = MINE) -> OrderFound:
    """A use that comes in now, and a tick."""
    use = AccessAccepted(f"use at {at}", (memory,), votes.GREENHOUSE, "reviewer", at)
    offset = len(fleet.logs[topics.ACCEPTED])
    fleet.logs[topics.ACCEPTED] += [CODEC.encode(use), CODEC.encode(ClockTicked("after", AS_OF))]
    fleet.run()
    return OrderFound(CODEC.encode(use), at, offset)


def nominate(fleet: Fleet, found: OrderFound, epoch: int = 2) -> Outcome:
    at = len(fleet.logs[topics.ACCEPTED]) - 1
    tick, order = DecayCrossed(0, AS_OF, at, 9, ()), uses.opened(CODEC, GENESIS, REQUEST, found)
    built = asking.build(CODEC, GENESIS, Standing(epoch - 1, AS_OF, 0, 0), tick, (REQUEST, found, order))
    return decide(fleet, replace(built, accepted_offset=at))


@pytest.fixture(params=["crossed", "sealed"])
def after(request: pytest.FixtureRequest, fleet: Fleet) -> Fleet:
    """The members know the memory to rest, or it was forgotten only just now; by a vote that knew its last use."""
    for view in fleet.views.values():
        with view.batch():
            view.touch(MINE, votes.GREENHOUSE, at=AS_OF - 7, offset=2)
            if request.param == "sealed":
                view._seal(0, 1)
                view._forgotten.load_shard(0)
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


def test_of_a_use_with_several_memories_each_is_restored_by_who_read_a_use_of_it(after: Fleet) -> None:
    """A memory that no member has read blocks no other."""
    real, strange = used(after, AS_OF - 5), ids.memory_id(votes.GREENHOUSE, "elsewhere")
    use = CODEC.decode(real.order)
    nominate(after, replace(real, order=CODEC.encode(replace(use, memory_ids=(strange, MINE)))))
    first, second = check_pre_prepare(CODEC, GENESIS, after.logs[topics.PRE_PREPARES][-1]).outcomes
    assert (first.memory_ids, first.outcome, first.yes) == ((strange,), "kept", ())
    assert (second.memory_ids, second.outcome, second.yes) == ((MINE,), "restored", (0, 1, 2, 3))


def test_without_a_late_use_nobody_restores(after: Fleet) -> None:
    use = AccessAccepted("in time", (MINE,), votes.GREENHOUSE, "reviewer", AS_OF - 7)
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
    # Nor together with another memory: each is answered by itself.
    use = CODEC.decode(found.order)
    both = replace(found, order=CODEC.encode(replace(use, memory_ids=(MINE, ids.memory_id("n", "other")))))
    assert nominate(after, both, 4).outcome == "kept"
