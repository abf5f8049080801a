"""The proofs of a view change and a new view, their consequences, and one core on its way from view to view."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest
from msgspec.structs import replace

from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import BadCertificate
from memquorum.core.consensus.events import Message, Note, Timer
from memquorum.core.consensus.slots import read_slot
from memquorum.core.consensus.transitions import Phase
from memquorum.core.consensus.viewchange import check_new_view, check_view_change
from memquorum.core.identity import membership
from memquorum.core.identity.messages import digest
from memquorum.core.records import Commit, Prepared, Signed
from memquorum.ports import SignedSlot
from tests.builders.core import (
    ASKING,
    BALLOTS,
    CODEC,
    COMMITS,
    GENESIS,
    NOMINATION,
    OTHER,
    OTHER_PRE_PREPARE,
    PRE_PREPARE,
    SAID,
    Core,
    ballot,
    certificate,
    commit,
    forged,
    new_view,
    nomination,
    of,
    pre_prepare,
    prepare,
    proposed,
    sends,
    signed,
    terms,
    view_change,
)


def commit_of(member: int, shard: int) -> bytes:
    return signed(f"member:{member}", Commit(GENESIS.cluster, 0, shard, 0, 1, member, SAID))


# What holds -------------------------------------------------------------------------------------------------------

BAD_VIEW_CHANGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "view 0": (lambda: view_change(2, view=0), "both must be 1 or more"),
    "no sequence": (lambda: view_change(2, seq=0), "both must be 1 or more"),
    "far ahead, unproven": (lambda: view_change(2, seq=9, commits=()), "do not all decide sequence 8"),
    "far ahead, with commits of another sequence": (lambda: view_change(2, seq=9, commits=COMMITS), "sequence 8"),
    "commits before the first": (lambda: view_change(2, commits=COMMITS), "before the first"),
    "too few commits": (lambda: view_change(2, seq=2, commits=COMMITS[:2]), "commits of 2 members"),
    "one commit twice": (lambda: view_change(2, seq=2, commits=(*COMMITS[:2], COMMITS[0])), "commits of 2 members"),
    "commits on two proposals": (
        lambda: view_change(2, seq=2, commits=(*COMMITS[:2], commit(3, OTHER))), "in one view"),
    "commits of two views": (
        lambda: view_change(2, seq=2, commits=(*COMMITS[:2], commit(3, SAID, view=1))), "in one view"),
    "a forged commit": (
        lambda: view_change(2, seq=2, commits=(*COMMITS[:2], forged(commit(3, SAID)))), "signature"),
    "a certificate that is none": (lambda: view_change(2, prepared=b"rubbish"), "no single-object Avro"),
    "too few behind it": (lambda: view_change(2, prepared=certificate(others=(1,))), "2 members stand behind"),
    "one twice": (lambda: view_change(2, prepared=certificate(others=(1, 1))), "twice"),
    "its primary twice": (lambda: view_change(2, prepared=certificate(others=(0, 1))), "twice"),
    "of the view asked for": (lambda: view_change(2, prepared=certificate(view=1, others=(0, 2))), "asks for view 1"),
    "of another sequence": (lambda: view_change(2, seq=2, prepared=certificate()), "sequence 1"),
    "not the primary's": (lambda: view_change(2, prepared=anothers()), "not the primary of view 0"),
    "a prepare on another": (lambda: view_change(2, prepared=mixed(prepare(2, OTHER))), "not on the proposal"),
    "a prepare of another view": (lambda: view_change(2, prepared=mixed(prepare(2, SAID, view=3))), "not on the"),
    "a forged prepare": (lambda: view_change(2, prepared=mixed(forged(prepare(2, SAID)))), "signature"),
    "a forged proposal": (lambda: view_change(2, prepared=unsaid()), "signature"),
    "of a view below 0": (lambda: view_change(2, prepared=certificate(view=-4)), "not the primary of view -4"),
}  # fmt: skip


def anothers() -> bytes:
    body = CODEC.decode(CODEC.decode_as(Signed, PRE_PREPARE).body)
    return CODEC.encode(Prepared(signed("member:1", replace(body, member=1)), (prepare(0, SAID), prepare(2, SAID))))


def unsaid() -> bytes:
    """Prepares that hold, on a proposal that its primary never signed."""
    return CODEC.encode(Prepared(forged(PRE_PREPARE), (prepare(1, SAID), prepare(2, SAID))))


def mixed(last: bytes) -> bytes:
    return CODEC.encode(Prepared(PRE_PREPARE, (prepare(1, SAID), last)))


@pytest.mark.parametrize("what", BAD_VIEW_CHANGES)
def test_a_view_change_that_proves_nothing_is_refused(what: str) -> None:
    make_it, complaint = BAD_VIEW_CHANGES[what]
    with pytest.raises(BadCertificate, match=complaint):
        check_view_change(CODEC, GENESIS, make_it())


def test_a_view_change_reports_what_was_prepared() -> None:
    report = check_view_change(CODEC, GENESIS, view_change(2, view=3, prepared=certificate()))
    assert report.prepared is not None
    assert (report.record.view, report.prepared.view, report.prepared.digest) == (3, 0, SAID)


BAD_NEW_VIEWS: dict[str, tuple[Callable[[], bytes], str]] = {
    "not the primary": (lambda: new_view(ASKING, member=2), "does not open view 1"),
    "view 0": (lambda: new_view(ASKING, view=0), "does not open view 0"),
    "too few": (lambda: new_view(ASKING[:2]), "2 view changes"),
    "more than needed": (lambda: new_view([*ASKING, view_change(1)]), "4 view changes"),
    "one twice": (lambda: new_view([*ASKING[:2], ASKING[0]]), "two view changes of member 0"),
    "for another view": (lambda: new_view([*ASKING[:2], view_change(3, view=2)]), "another view"),
    "with one that does not hold": (lambda: new_view([*ASKING[:2], view_change(3, seq=9, commits=())]), "sequence 8"),
    "with a forged one": (lambda: new_view([*ASKING[:2], forged(ASKING[2])]), "signature"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD_NEW_VIEWS)
def test_a_new_view_that_proves_nothing_is_refused(what: str) -> None:
    make_it, complaint = BAD_NEW_VIEWS[what]
    with pytest.raises(BadCertificate, match=complaint):
        check_new_view(CODEC, GENESIS, make_it())


def test_nothing_prepared_obliges_to_nothing() -> None:
    opening = check_new_view(CODEC, GENESIS, new_view(ASKING))
    assert (opening.seq, opening.first) == (1, None)
    assert opening.allows(1, OTHER)


# By its digest alone, either of the two could win.
@pytest.mark.parametrize("lower", [SAID, OTHER])
def test_the_certificate_of_the_highest_view_wins_whatever_the_order(lower: bytes) -> None:
    ballots = {SAID: tuple(BALLOTS), OTHER: tuple(BALLOTS[:3])}
    higher = OTHER if lower == SAID else SAID
    old, new = certificate(view=0, ballots=ballots[lower]), certificate(view=2, others=(1, 3), ballots=ballots[higher])
    changes = [view_change(0, 5, prepared=old), view_change(2, 5, prepared=new), view_change(3, 5)]
    for order in permutations(changes):
        opening = check_new_view(CODEC, GENESIS, new_view(order, view=5))
        assert opening.first is not None
        assert (opening.first.view, opening.first.digest) == (2, higher)
        assert opening.allows(1, higher)
        assert not opening.allows(1, lower)
        assert opening.allows(2, lower)


def test_the_view_begins_where_the_foremost_is_and_forgets_what_is_decided() -> None:
    changes = [view_change(0, prepared=certificate()), view_change(2, seq=2), view_change(3)]
    opening = check_new_view(CODEC, GENESIS, new_view(changes))
    assert (opening.seq, opening.first) == (2, None)
    assert not opening.allows(1, SAID)


# One core -----------------------------------------------------------------------------------------------------------


def suspecting(core: Core) -> Core:
    """It waited in vain and asks for view 1."""
    core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    assert core.core.phase == Phase.VIEW_CHANGING
    return core


def test_f_plus_one_who_ask_are_joined_and_fewer_are_not() -> None:
    core = Core()
    assert core.read(Message.VIEW_CHANGE, view_change(2, view=3)) == []
    found = core.read(Message.VIEW_CHANGE, view_change(3, view=7))
    assert sends(found) == [(Message.VIEW_CHANGE, "0/0/3/view-change", of(found, t.Send)[0].digest)]


def test_an_older_word_takes_no_newer_one_back() -> None:
    core = Core()
    core.read(Message.VIEW_CHANGE, view_change(3, view=7), view_change(3, view=2))
    found = core.read(Message.VIEW_CHANGE, view_change(2, view=7))
    assert [s.slot for s in of(found, t.Send)] == ["0/0/7/view-change"]


def test_another_shards_view_changes_move_nothing_here() -> None:
    core = Core()
    assert core.read(Message.VIEW_CHANGE, *(view_change(m, shard=1) for m in (1, 2, 3))) == []


@pytest.mark.parametrize("data", [view_change(3), new_view(ASKING)], ids=["view change", "new view"])
def test_who_did_not_sign_it_is_not_accused_of_it(data: bytes) -> None:
    found = Core(me=2).read(Message.VIEW_CHANGE, forged(data))
    assert [n.note for n in of(found, t.Noted)] == []


def test_who_asks_for_a_later_view_opens_no_earlier_one() -> None:
    core = suspecting(Core(me=1).nominated())
    assert of(core.read(Message.VIEW_CHANGE, view_change(1), view_change(2), view_change(3, view=5)), t.Send) == []


def test_who_asked_neither_prepares_nor_commits_in_the_view_it_left() -> None:
    core = suspecting(Core().nominated())
    assert sends(core.read(Message.PRE_PREPARE, PRE_PREPARE)) == []
    assert sends(core.read(Message.PREPARE, prepare(2, SAID), prepare(3, SAID))) == []


def test_what_it_left_may_still_be_decided_and_then_it_waits_on() -> None:
    core = suspecting(Core().nominated())
    core.read(Message.PRE_PREPARE, PRE_PREPARE)
    found = core.read(Message.COMMIT, *COMMITS)
    assert [d.seq for d in of(found, t.Decided)] == [1]
    assert (core.core.phase, core.core.seq) == (Phase.VIEW_CHANGING, 2)


def test_it_reports_the_certificate_that_it_kept_with_its_commit() -> None:
    core = Core().pre_prepared()
    found = core.read(Message.PREPARE, prepare(2, SAID), prepare(1, SAID))
    (kept,) = of(found, t.Keep)
    assert [type(e) for e in found if isinstance(e, t.Keep | t.Send)] == [t.Keep, t.Send]
    assert (kept.slot, kept.digest) == ("0/0/0/1/prepared", SAID)
    found = core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    (ask,) = of(found, t.Send)
    report = check_view_change(CODEC, GENESIS, ask.data)
    assert report.prepared is not None
    assert report.prepared.digest == SAID
    # And after a crash that left nothing but the sign-state.
    again = Core(live=False)
    again.core.handle(t.Restarted({kept.slot: SignedSlot(kept.digest, kept.data)}))
    again.core.handle(t.CaughtUp())
    again.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    again.read(Message.VIEW_CHANGE, view_change(2, view=2))
    found = again.read(Message.VIEW_CHANGE, view_change(3, view=2))
    report = check_view_change(CODEC, GENESIS, of(found, t.Send)[-1].data)
    assert report.prepared is not None
    assert report.prepared.digest == SAID


def test_the_next_primary_opens_its_view_with_q_who_ask_and_proposes_what_was_prepared() -> None:
    core = suspecting(Core(me=1).nominated())
    mine = view_change(1)
    assert of(core.read(Message.VIEW_CHANGE, mine, view_change(2)), t.Send) == []
    found = core.read(Message.VIEW_CHANGE, view_change(3, prepared=certificate()))
    assert [s.message for s in of(found, t.Send)] == [Message.NEW_VIEW]
    assert [(s.timer, s.view) for s in of(found, t.SetTimer)] == [(Timer.VIEW_CHANGE, 1)]
    found = core.read(Message.VIEW_CHANGE, of(found, t.Send)[0].data)
    assert [(e.view, e.primary) for e in of(found, t.Entered)] == [(1, 1)]
    assert [k.slot for k in of(found, t.Keep)] == ["0/0/1/entered"]
    (proposal,) = of(found, t.Send)
    assert (proposal.slot, proposal.digest) == ("0/0/1/1/pre-prepare", SAID)  # the same proposal, whatever the view


def test_who_did_not_ask_enters_a_view_that_q_others_asked_for() -> None:
    core = Core(me=2)
    found = core.read(Message.VIEW_CHANGE, new_view([view_change(m) for m in (0, 1, 3)]))
    assert [e.view for e in of(found, t.Entered)] == [1]
    assert (core.core.view, core.core.phase) == (1, Phase.IDLE)
    # Messages of the view before do not count any more, and are not answered.
    assert sends(core.read(Message.PRE_PREPARE, PRE_PREPARE)) == []


def test_a_proposal_for_the_next_view_waits_until_that_is_open() -> None:
    core = Core(me=2)
    body = CODEC.decode(CODEC.decode_as(Signed, PRE_PREPARE).body)
    assert core.read(Message.PRE_PREPARE, signed("member:1", replace(body, view=1, member=1))) == []
    found = core.read(Message.VIEW_CHANGE, new_view([view_change(m) for m in (0, 1, 3)]))
    assert sends(found) == [(Message.PREPARE, "0/0/1/1/prepare", SAID)]


def test_a_primary_that_begins_with_another_proposal_is_left_at_once_and_proven_a_liar() -> None:
    core = Core(me=2)
    opened = new_view([view_change(0), view_change(1), view_change(3, prepared=certificate())])
    core.read(Message.VIEW_CHANGE, opened)
    other = signed("member:1", replace(CODEC.decode(CODEC.decode_as(Signed, OTHER_PRE_PREPARE).body), view=1, member=1))
    found = core.read(Message.PRE_PREPARE, other)
    assert [(n.note, n.originals) for n in of(found, t.Noted)] == [(Note.INVALID, (other, opened))]
    assert [s.slot for s in of(found, t.Send)] == ["0/0/2/view-change"]
    # If a quorum commits it all the same, it is decided all the same.
    found = core.read(Message.COMMIT, *(commit(m, OTHER, view=1) for m in (0, 1, 3)))
    assert [d.checked.digest for d in of(found, t.Decided)] == [OTHER]


def test_a_proposal_of_a_view_that_was_left_is_held_against_who_was_its_primary() -> None:
    core = Core(me=2)
    core.read(Message.VIEW_CHANGE, new_view([view_change(m) for m in (0, 1, 3)]))
    bad = pre_prepare(NOMINATION, BALLOTS[:2])
    core.read(Message.PRE_PREPARE, bad)
    found = core.read(Message.COMMIT, *(commit(m, proposed(bad)) for m in (0, 1, 3)))
    assert [(n.note, n.member, n.originals) for n in of(found, t.Noted)] == [(Note.INVALID, 0, (bad,))]


def test_the_time_limit_doubles_from_view_to_view_until_something_is_decided() -> None:
    core = Core(me=2)
    limits: list[int] = []
    for view in (1, 2, 3):
        core.read(Message.VIEW_CHANGE, *(view_change(m, view=view) for m in (0, 1, 3)))
        found = core.core.handle(t.TimerFired(Timer.VIEW_CHANGE, 1, view))
        assert [s.slot for s in of(found, t.Send)] == [f"0/0/{view + 1}/view-change"]
        limits += [s.ms for s in of(core.read(Message.VIEW_CHANGE, view_change(2, view=view + 1)), t.SetTimer)]
    again = Core(me=2)
    for view in (1, 2, 3):
        found = again.read(Message.VIEW_CHANGE, *(view_change(m, view=view) for m in (0, 1, 3)))
        limits += [s.ms for s in of(found, t.SetTimer) if s.timer == Timer.VIEW_CHANGE]
    assert limits == [1_000, 2_000, 4_000]


def test_views_never_go_back_over_a_restart() -> None:
    core = Core(me=2)
    (kept,) = of(core.read(Message.VIEW_CHANGE, new_view([view_change(m) for m in (0, 1, 3)])), t.Keep)
    (ask,) = of(core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0)), t.Send) or [None]
    assert ask is None  # a timer of the view before
    remembered = {kept.slot: SignedSlot(kept.digest, kept.data)}
    again = Core(me=2, live=False)
    again.core.handle(t.Restarted(remembered))
    assert (again.core.view, again.core.phase) == (1, Phase.IDLE)
    said = view_change(2, view=4)
    third = Core(me=2, live=False)
    third.core.handle(
        t.Restarted(remembered | {"0/0/4/view-change": SignedSlot(digest(CODEC.decode_as(Signed, said).body), said)})
    )
    assert third.core.phase == Phase.VIEW_CHANGING
    assert [s.data for s in of(third.core.handle(t.CaughtUp()), t.Send)] == [said]
    assert (
        of(third.read(Message.VIEW_CHANGE, new_view([view_change(m, view=2) for m in (0, 1, 3)], view=2)), t.Entered)
        == []
    )


def test_two_view_changes_of_one_member_for_one_view_are_evidence() -> None:
    core = Core(me=2)
    first, second = view_change(3), view_change(3, prepared=certificate())
    core.read(Message.VIEW_CHANGE, first)
    (noted,) = of(core.read(Message.VIEW_CHANGE, second), t.Noted)
    assert (noted.note, noted.member, noted.originals) == (Note.CONFLICT, 3, (first, second))


def test_a_view_change_that_does_not_hold_is_noted_and_hides_no_other() -> None:
    core = Core(me=2)
    bad = view_change(3, view=2, seq=9, commits=())
    (noted,) = of(core.read(Message.VIEW_CHANGE, bad), t.Noted)
    assert (noted.note, noted.member, noted.originals) == (Note.INVALID, 3, (bad,))
    core.read(Message.VIEW_CHANGE, view_change(3), view_change(0))
    assert core.core.phase == Phase.VIEW_CHANGING


def test_a_ballot_is_cast_while_another_primary_is_waited_for() -> None:
    """Else N−f ballots might never come together, and the others would never miss the primary."""
    core = Core(me=2)
    core.read(Message.VIEW_CHANGE, view_change(3), view_change(0))
    (need,) = of(core.read(Message.NOMINATION, NOMINATION), t.NeedBallot)
    found = core.core.handle(t.BallotReady(need.nominated.digest, terms()))
    assert [s.message for s in of(found, t.Send)] == [Message.BALLOT]


def test_a_primary_whose_proposal_does_not_hold_is_left_at_once() -> None:
    found = Core().read(Message.PRE_PREPARE, pre_prepare(NOMINATION, BALLOTS[:2]))
    assert [s.message for s in of(found, t.Send)] == [Message.VIEW_CHANGE]


# Decisions that a view change proves ---------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [1, 5])
def test_who_missed_a_decision_takes_it_from_a_view_change_of_any_view(view: int) -> None:
    """A liar's second commit may have been counted by others only: what they have left is proven by who goes on."""
    core = Core()
    core.read(Message.PRE_PREPARE, PRE_PREPARE)
    found = core.read(Message.VIEW_CHANGE, view_change(2, view=view, seq=2))
    (decided,) = of(found, t.Decided)
    assert (decided.seq, decided.checked.digest, decided.commits) == (1, SAID, COMMITS)
    assert core.core.seq == 2
    assert core.core.low_water(Message.VIEW_CHANGE) == 0  # as an ask; the decision is behind


def test_a_decision_is_taken_from_within_a_new_view_of_long_ago() -> None:
    entered = new_view([view_change(m, view=2) for m in (0, 2, 3)], view=2)
    core = Core(live=False)
    core.core.handle(t.Restarted({"0/0/2/entered": SignedSlot(b"d" * 32, entered)}))
    core.core.handle(t.CaughtUp())
    assert core.core.view == 2
    ahead = new_view([view_change(m, seq=2) for m in (0, 2, 3)])
    assert of(core.read(Message.VIEW_CHANGE, ahead), t.Decided) == []
    assert core.core.low_water(Message.VIEW_CHANGE) == 0
    (decided,) = of(core.read(Message.PRE_PREPARE, PRE_PREPARE), t.Decided)
    assert decided.commits == COMMITS
    assert core.core.low_water(Message.VIEW_CHANGE) is None


def test_the_decision_before_a_view_that_was_entered_is_known_after_a_restart() -> None:
    entered = new_view([view_change(m, view=2, seq=2) for m in (0, 2, 3)], view=2)
    core = Core(live=False)
    core.core.handle(t.Restarted({"0/0/2/entered": SignedSlot(b"d" * 32, entered)}))
    (decided,) = of(core.read(Message.PRE_PREPARE, PRE_PREPARE), t.Decided)
    assert decided.commits == COMMITS


def test_a_decision_that_is_not_proven_is_not_taken() -> None:
    core = Core()
    core.read(Message.PRE_PREPARE, PRE_PREPARE)
    for commits in (COMMITS[:2], (*COMMITS[:2], forged(commit(3, SAID))), (*COMMITS[:2], b"rubbish")):
        assert of(core.read(Message.VIEW_CHANGE, view_change(2, seq=2, commits=commits)), t.Decided) == []
    assert core.core.seq == 1


def test_two_new_views_of_one_primary_for_one_view_are_evidence() -> None:
    core = Core(me=2)
    first, second = (new_view([view_change(m) for m in members]) for members in ((0, 1, 3), (0, 2, 3)))
    core.read(Message.VIEW_CHANGE, first)
    assert of(core.read(Message.VIEW_CHANGE, first), t.Noted) == []
    anothers = new_view([view_change(m) for m in (1, 2, 3)], member=3)
    (noted,) = of(core.read(Message.VIEW_CHANGE, anothers, forged(second), second, second), t.Noted)
    assert (noted.note, noted.message, noted.member) == (Note.CONFLICT, Message.NEW_VIEW, 1)
    assert noted.originals == (first, second)


def test_who_proposes_in_a_view_that_another_opened_is_left_and_not_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that opened it may have shown it another new view."""
    monkeypatch.setattr(membership, "TURN", 1)
    core = Core(me=3, progress=t.Progress(2, 2, COMMITS))
    nominated = nomination(2)
    ballots = [ballot(m, nominated, 2) for m in range(4)]
    body = CODEC.decode(CODEC.decode_as(Signed, pre_prepare(nominated, ballots, seq=2, member=1)).body)
    first = signed("member:1", body)
    proof = CODEC.encode(Prepared(first, tuple(prepare(m, proposed(first), seq=2) for m in (0, 2))))
    opened = new_view([view_change(0, seq=2), view_change(1, seq=2), view_change(2, seq=2, prepared=proof)])
    assert [(e.view, e.primary) for e in of(core.read(Message.VIEW_CHANGE, opened), t.Entered)] == [(1, 2)]
    other = signed("member:2", replace(body, view=1, member=2, ballots=tuple(ballots[:3])))
    found = core.read(Message.PRE_PREPARE, other)
    assert [(n.note, n.member, n.originals) for n in of(found, t.Noted)] == [(Note.INVALID, 2, ())]
    assert [s.slot for s in of(found, t.Send) if s.message == Message.VIEW_CHANGE] == ["0/0/2/view-change"]


def test_who_has_not_voted_misses_the_proposal_too() -> None:
    """N−f ballots are here, its own is not: the time of the primary runs all the same."""
    core = Core(me=2).nominated()
    assert of(core.read(Message.BALLOT, BALLOTS[0], BALLOTS[1]), t.SetTimer) == []
    assert [s.timer for s in of(core.read(Message.BALLOT, BALLOTS[3]), t.SetTimer)] == [Timer.REQUEST]
    found = core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    assert [s.slot for s in of(found, t.Send)] == ["0/0/1/view-change"]


@pytest.mark.parametrize(("me", "kept"), [(1, []), (2, ["began", "entered"])], ids=["lost", "first life"])
def test_who_may_have_lost_its_sign_state_keeps_no_view_in_it_before_it_speaks(me: int, kept: list[str]) -> None:
    """A crash while it is silent must find the sign-state as empty as it was, and be silent again."""
    core = Core(me=me, live=False)
    core.core.handle(t.Restarted({}, fresh=True))
    opened = new_view([view_change(m) for m in (0, 2, 3)])  # it is signed by member 1
    assert not of(core.read(Message.VIEW_CHANGE, opened), t.Keep)
    assert core.core.view == 1
    assert [read_slot(k.slot).what for k in of(core.core.handle(t.CaughtUp()), t.Keep)] == kept


def test_who_opens_a_view_that_is_not_its_own_is_proven_a_liar() -> None:
    core = Core(me=2)
    opened = new_view([view_change(m) for m in (0, 1, 3)], member=3)
    found = core.read(Message.VIEW_CHANGE, opened)
    assert [(n.note, n.message, n.member, n.originals) for n in of(found, t.Noted)] == [
        (Note.INVALID, Message.NEW_VIEW, 3, (opened,))
    ]
    assert core.core.view == 0


@pytest.mark.parametrize(
    "said",
    [view_change(2, seq=2, shard=1, commits=tuple(commit_of(m, shard=1) for m in (0, 2, 3))), view_change(2, shard=1)],
    ids=["proven", "asked"],
)
def test_what_is_of_another_shard_is_not_held(said: bytes) -> None:
    core = Core()
    assert core.read(Message.VIEW_CHANGE, said) == []
    assert core.core.low_water(Message.VIEW_CHANGE) is None


def test_a_decision_that_is_behind_is_not_held() -> None:
    core = Core()
    core.decided()
    core.read(Message.VIEW_CHANGE, new_view([view_change(m, view=3, seq=2) for m in (0, 2, 3)], view=3))
    core.read(Message.VIEW_CHANGE, view_change(2, seq=2))  # of a view that was left
    assert core.core.low_water(Message.VIEW_CHANGE) is None


def test_who_asked_for_a_view_that_was_entered_is_not_held_any_more() -> None:
    core = Core(me=2)
    core.read(Message.VIEW_CHANGE, view_change(0), view_change(3))
    core.read(Message.VIEW_CHANGE, new_view([view_change(m) for m in (0, 1, 3)]))
    assert core.core.view == 1
    assert core.core.low_water(Message.VIEW_CHANGE) is None
    core.read(Message.VIEW_CHANGE, view_change(1))
    assert core.core.low_water(Message.VIEW_CHANGE) is None
    assert core.core.ignored["old view"] == 1
