"""Members go on in another configuration together, who was away follows, and nobody speaks where it has no voice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.consensus import events as t
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import open_any, read_signed
from memquorum.core.orders.configuration import POLICY, apply
from memquorum.core.policy import written
from memquorum.core.records import BallotCast, Checkpoint, Commit, Decided, Prepare, PrePrepare
from tests.builders.genesis import make
from tests.builders.seats import CODEC, Fleet, key
from tests.builders.votes import order
from workers.replica.seat import Seat
from workers.replica.worker import claim

GENESIS = make(5)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(tmp_path, GENESIS)
    for member in range(5):
        made.sit(member)
    yield made
    made.close()


class Lost(list[bytes]):
    """A log whose broker takes nothing."""

    def append(self, data: bytes) -> None:
        """It is gone."""


def change(fleet: Fleet, genesis: Genesis, epoch: int, action: str, **changes: Any) -> Genesis:
    """An order is voted on; what it makes of the configuration."""
    wanted = order(genesis, action, **changes)
    fleet.nominate(genesis, epoch, wanted)
    fleet.run()
    made = apply(genesis, wanted)
    return Genesis(**{f: getattr(made, f) for f in made.__struct_fields__} | {"begins": epoch + 1})


def test_a_weight_changes_at_a_stable_checkpoint_and_the_shard_goes_on(fleet: Fleet) -> None:
    fleet.nominate(GENESIS, 1)
    one = change(fleet, GENESIS, 2, "weight", member=2, weight_milli=1200)
    assert set(fleet.standing().values()) == {(1, 3)}
    said = [open_any(CODEC, GENESIS, data, Checkpoint)[0] for data in fleet.logs[topics.CHECKPOINTS]]
    assert {(body.config, body.seq) for body in said} == {(0, 2)} and len(said) >= GENESIS.quorum
    fleet.nominate(one, 3)
    fleet.run()
    assert set(fleet.standing().values()) == {(1, 4)}
    bodies = [open_any(CODEC, one, data, Commit)[0] for data in fleet.logs[topics.COMMITS]]
    assert {(body.config, body.seq) for body in bodies} == {(0, 1), (0, 2), (1, 3)}
    # Records for the configuration before have no effect any more.
    fleet.nominate(GENESIS, 4)
    fleet.run()
    assert set(fleet.standing().values()) == {(1, 4)}


def test_a_policy_is_voted_on_and_everybody_judges_by_it_from_the_next_sequence_on(fleet: Fleet) -> None:
    wanted = replace(GENESIS.policy, forget=replace(GENESIS.policy.forget, theta_ppm=300_000))
    one = change(fleet, GENESIS, 1, POLICY, policy=written(wanted))
    assert set(fleet.standing().values()) == {(1, 2)}
    assert {seat._casting._policy for seat in fleet.seats.values()} == {wanted}
    fleet.nominate(one, 2)
    fleet.run()
    assert set(fleet.standing().values()) == {(1, 3)}


def test_a_new_key_speaks_from_the_first_sequence_on_and_the_old_one_no_more(fleet: Fleet) -> None:
    one = change(fleet, GENESIS, 1, "rotate", member=3, public_key=key(3, 1))
    fleet.nominate(one, 2)
    fleet.run()
    ballots = [open_any(CODEC, one, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    assert {b.member for b in ballots if b.epoch == 2} == set(range(5))
    assert set(fleet.standing().values()) == {(1, 3)}


def test_who_was_removed_listens_and_the_others_decide(fleet: Fleet) -> None:
    one = change(fleet, GENESIS, 1, "remove", member=1)
    fleet.nominate(one, 2)
    fleet.run()
    assert set(fleet.standing().values()) == {(1, 3)}
    ballots = [open_any(CODEC, one, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    assert {b.member for b in ballots if b.epoch == 2} == {0, 2, 3, 4}
    proposals = [open_any(CODEC, one, data, PrePrepare)[0] for data in fleet.logs[topics.PRE_PREPARES]]
    assert [(p.config, p.member) for p in proposals] == [(0, 0), (1, 0)]


def test_nobody_goes_on_before_the_checkpoint_is_stable(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    spoke = fleet.logs[topics.CHECKPOINTS]
    fleet.logs[topics.CHECKPOINTS] = Lost()
    one = change(fleet, GENESIS, 1, "weight", member=2, weight_milli=1200)
    fleet.nominate(one, 2)
    fleet.nominate(GENESIS, 2)
    fleet.run()
    assert set(fleet.standing().values()) == {(1, 2)}
    # Nor after a start: a lost signed message is sent again, and then it goes on.
    fleet.logs[topics.CHECKPOINTS] = spoke
    for member in range(5):
        fleet.sit(member)
    fleet.run()
    assert set(fleet.standing().values()) == {(1, 3)}


class Withholding(Fleet):
    """A broker that shows some members not all: `hides` tells by the reader, the topic and who wrote."""

    def hides(self, reader: int, topic: str, writer: int) -> bool:
        return reader in (1, 2) and topic == topics.COMMITS and writer == 3

    def sit(self, member: int, **more: Any) -> Seat:
        seat = super().sit(member, **more)
        take = seat.take

        def taking(topic: str, offset: int, data: bytes) -> None:
            kind = {topics.COMMITS: Commit, topics.PREPARES: Prepare}.get(topic)
            if kind is not None and self.hides(member, topic, read_signed(CODEC, self.genesis, data, kind)[1].member):
                data = b"withheld"
            take(topic, offset, data)

        seat.take = taking  # type: ignore[method-assign]
        return seat


def test_who_has_decided_the_last_sequence_shows_it_to_who_asks_for_another_view(tmp_path: Path) -> None:
    """0, 1 and 3 commit. 1 does not get to see the commit of 3, 2 no prepares in time; then 3 is gone permanently."""
    fleet = Withholding(tmp_path, make(4))
    for member in range(4):
        fleet.sit(member)
    hides = fleet.hides
    fleet.hides = lambda reader, topic, writer: (  # type: ignore[method-assign]
        hides(reader, topic, writer) or (reader == 2 and topic == topics.PREPARES)
    )
    fleet.run()
    fleet.nominate(fleet.genesis, 1, order(fleet.genesis, "weight", member=2, weight_milli=1100))
    while len(fleet.logs[topics.COMMITS]) < 3:
        for member in range(4):
            fleet._turn(member)
        fleet.now += 0.05
    fleet._turn(0)
    fleet.lose(3)
    assert {m: seq for m, (_, seq) in fleet.standing().items()} == {0: 2, 1: 1, 2: 1}
    fleet.hides = hides  # type: ignore[method-assign]
    for _ in range(10):
        fleet.run()
        fleet.now += 12
    assert set(fleet.standing().values()) == {(1, 2)}
    assert {seat.core.phase for seat in fleet.seats.values()} == {"idle"}
    fleet.close()


@pytest.mark.parametrize("again", [False, True])
def test_who_lost_both_files_is_silent_whatever_is_claimed_for_other_shards(fleet: Fleet, again: bool) -> None:
    """`again`: its process starts once more before it has read its logs to their ends."""
    fleet.nominate(GENESIS, 1)
    fleet.run()
    read = {topic: len(log) for topic, log in fleet.logs.items()}
    one = change(fleet, GENESIS, 2, "weight", member=2, weight_milli=1200)
    fleet.nominate(one, 3)
    fleet.run()
    fleet.lose(4, view=True, signed=True)
    seat = fleet.sit(4)
    with fleet.views[4].batch():
        for topic, log in fleet.logs.items():
            for offset in range(read[topic]):
                seat.take(topic, offset, log[offset])
        seat.turn()
    other = SimpleNamespace(
        outbox=[t.Send(t.Message.BALLOT, "0/1/9//ballot", b"d", b"m", 9)], settles=lambda: ([], {})
    )  # fmt: skip
    claim(fleet.signed[4], [cast("Seat", other), seat])
    assert fleet.signed[4].fresh("0/0") and not fleet.signed[4].fresh("0/1")
    if again:
        fleet.sit(4)
    for epoch in (4, 5):
        fleet.run()
        fleet.nominate(one, epoch)
        fleet.run()
    ballots = [open_any(CODEC, one, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    # It was a member when the fourth was in flight, and cannot know what it said of it.
    assert [b.epoch for b in ballots if b.member == 4] == [1, 2, 3, 5]
    # Its held messages are settled once it speaks.
    assert fleet.signed[4].through("0/0") == 2 and fleet.signed[4].through("1/0") >= 4


def test_who_lost_its_view_says_its_last_checkpoint_again(fleet: Fleet) -> None:
    """It knows from its sign-state that the last sequence of the configuration is decided, and has to read it again."""
    spoke = fleet.logs[topics.CHECKPOINTS]
    fleet.logs[topics.CHECKPOINTS] = Lost()
    change(fleet, GENESIS, 1, "weight", member=2, weight_milli=1200)
    fleet.logs[topics.CHECKPOINTS] = spoke
    for member in range(5):
        fleet.lose(member, view=True)
        fleet.sit(member)
    fleet.run()
    assert len(spoke) >= GENESIS.quorum
    assert {seat.core.phase for seat in fleet.seats.values()} == {"idle"}


def test_what_the_journal_holds_proves_a_stable_checkpoint_only_where_it_holds(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    fleet.logs[topics.CHECKPOINTS] = Lost()
    change(fleet, GENESIS, 1, "weight", member=2, weight_milli=1200)
    seat, garbage = fleet.seats[0], Decided(2, 0, 2, b"garbage", (), ())
    core = seat.core
    with fleet.views[0].batch():
        seat.follow(garbage)
    assert seat.core is core and "the journal's sequence 2" in caplog.text


@pytest.mark.parametrize(("view", "signed"), [(False, False), (True, False), (False, True), (True, True)])
def test_who_was_away_follows(fleet: Fleet, view: bool, signed: bool) -> None:
    fleet.nominate(GENESIS, 1)
    fleet.run()
    fleet.lose(4, view=view, signed=signed)
    one = change(fleet, GENESIS, 2, "weight", member=2, weight_milli=1200)
    two = change(fleet, one, 3, "rotate", member=0, public_key=key(0, 1))
    fleet.nominate(two, 4)
    fleet.run()
    fleet.sit(4)
    fleet.run()
    assert set(fleet.standing().values()) == {(2, 5)}
    ballots = [open_any(CODEC, two, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    before = len([b for b in ballots if b.member == 4])
    for epoch in (5, 6):
        fleet.nominate(two, epoch)
        fleet.run()
    assert set(fleet.standing().values()) == {(2, 7)}
    ballots = [open_any(CODEC, two, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    spoken = [b.epoch for b in ballots if b.member == 4][before:]
    # A member that has lost its sign-state is silent until one sequence was decided without it.
    assert spoken == ([6] if signed else [5, 6])


@pytest.mark.parametrize("backwards", [False, True])
def test_who_missed_several_configurations_follows_them_all(fleet: Fleet, backwards: bool) -> None:
    """In whatever order it reads the logs."""
    fleet.backwards = {4} if backwards else set()
    fleet.lose(4, view=True)
    now = GENESIS
    for epoch, weight in enumerate((1100, 1200, 1000, 1100), 1):
        now = change(fleet, now, epoch, "weight", member=2, weight_milli=weight)
    fleet.sit(4)
    fleet.run()
    fleet.nominate(now, 5)
    fleet.run()
    assert set(fleet.standing().values()) == {(4, 6)}
    ballots = [open_any(CODEC, now, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    assert 4 in {b.member for b in ballots if b.epoch == 5}


def test_who_has_not_the_key_listens_until_it_has(fleet: Fleet) -> None:
    fleet.sit(3, signs=lambda genesis: genesis.config == 0)
    one = change(fleet, GENESIS, 1, "rotate", member=3, public_key=key(3, 1))
    fleet.nominate(one, 2)
    fleet.run()
    ballots = [open_any(CODEC, one, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    assert {b.member for b in ballots if b.epoch == 2} == {0, 1, 2, 4}
    assert set(fleet.standing().values()) == {(1, 3)}
    fleet.sit(3)
    fleet.nominate(one, 3)
    fleet.run()
    ballots = [open_any(CODEC, one, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    assert {b.member for b in ballots if b.epoch == 3} == set(range(5))


def test_who_only_listens_leaves_nothing_in_its_sign_state(tmp_path: Path) -> None:
    """A member that is added: its first word in the configuration that names it is not its second life."""
    fleet = Fleet(tmp_path, make(7))
    for member in range(1, 7):
        fleet.sit(member, signs=lambda genesis, me=member: me != 3)
    fleet.nominate(fleet.genesis, 1)
    for _ in range(3):  # member 0 proposes nothing: another view is entered
        fleet.run()
        fleet.now += 2
    assert set(fleet.standing().values()) == {(0, 2)} and fleet.seats[3].core.view > 0
    assert dict(fleet.signed[3].load("")) == {} and dict(fleet.signed[4].load("")) != {}
    fleet.close()


def test_the_core_of_a_configuration_decides_nothing_behind_its_last_sequence(fleet: Fleet) -> None:
    fleet.run()
    core: ShardReplica = fleet.seats[0].core
    change(fleet, GENESIS, 1, "weight", member=2, weight_milli=1200)
    assert core.phase == "closed" and fleet.seats[0].core is not core


def test_what_was_reached_before_is_not_signed_again(fleet: Fleet) -> None:
    """A follower of the journal goes on before it knows that the checkpoint is stable.

    The old members have to sign it.
    """
    one = change(fleet, GENESIS, 1, "weight", member=2, weight_milli=1200)
    progress = replace(fleet.views[0].progress(0), stable=0)
    assert progress.reached is not None and progress.reached.seq < one.begins
    core = ShardReplica(
        CODEC, one, shard=0, me=0, sign=lambda body: body, timings=t.Timings(), progress=progress
    )  # fmt: skip
    effects = [*core.handle(t.Restarted({})), *core.handle(t.StreamRead(progress.reached.seq, b"s"))]
    effects += core.handle(t.CaughtUp())
    assert not [e for e in effects if isinstance(e, t.NeedStream | t.Send)]


def test_who_is_added_listens_until_it_is_a_member_and_then_votes(fleet: Fleet) -> None:
    fleet.sit(5)
    new = {"member": 5, "name": "auditor", "role": "review", "weight_milli": 1000, "public_key": key(5, 0)}
    fleet.nominate(GENESIS, 1)
    one = change(fleet, GENESIS, 2, "add", **new)
    for epoch in (3, 4):
        fleet.nominate(one, epoch)
        fleet.run()
    assert set(fleet.standing().values()) == {(1, 5)}
    ballots = [open_any(CODEC, one, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    # It was there when nobody could have spoken in that configuration, so it has forgotten nothing.
    assert [b.epoch for b in ballots if b.member == 5] == [3, 4]
    # A member without a past may have spoken in it before.
    fleet.lose(5, view=True, signed=True)
    fleet.sit(5)
    for epoch in (5, 6):
        fleet.nominate(one, epoch)
        fleet.run()
    ballots = [open_any(CODEC, one, data, BallotCast)[0] for data in fleet.logs[topics.BALLOTS]]
    assert [b.epoch for b in ballots if b.member == 5] == [3, 4, 6]


def newcomer(member: int) -> dict[str, Any]:
    """Returns an order's fields for a member that is added."""
    told = {"member": member, "name": f"new-{member}", "role": "review", "weight_milli": 1000}
    return {**told, "public_key": key(member, 0)}


def test_a_second_member_is_not_added_before_the_first_one_votes(tmp_path: Path) -> None:
    """Both would be silent until a sequence is decided without them, and none can be: five of six have to vote."""
    fleet = Fleet(tmp_path, make(4))
    for member in range(4):
        fleet.sit(member)
    one = change(fleet, fleet.genesis, 1, "add", **newcomer(4))
    assert set(fleet.standing().values()) == {(1, 2)}
    change(fleet, one, 2, "add", **newcomer(5))
    assert set(fleet.standing().values()) == {(1, 3)}
    fleet.sit(4)
    for epoch in (3, 4, 5):
        fleet.run()
        fleet.nominate(one, epoch)
        fleet.run()
    two = change(fleet, one, 6, "add", **newcomer(5))
    fleet.sit(5)
    for epoch in (7, 8):
        fleet.nominate(two, epoch)
        fleet.run()
    assert set(fleet.standing().values()) == {(2, 9)}
    shown = fleet.views[0].shown(0)
    assert [sorted(shown[seq] - set(range(4))) for seq in range(1, 9)] == [[], [], [], [4], [4], [4], [4], [4, 5]]
    fleet.close()
