"""One core, event by event: what it asks of the world, and what it refuses to be told."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.consensus import events as t
from memquorum.core.consensus.events import Message, Note, Timer
from memquorum.core.consensus.slots import ballot_slot, read_slot
from memquorum.core.consensus.transitions import Phase
from memquorum.core.identity.messages import digest
from memquorum.core.records import (
    Commit,
    Signed,
    ViewChange,
)
from memquorum.ports import SignedSlot
from tests.builders.core import (
    AS_OF,
    BALLOT_SLOT,
    BALLOTS,
    CODEC,
    GENESIS,
    LIES,
    NOMINATION,
    NOT_THE_PRIMARYS,
    OTHER,
    OTHER_PRE_PREPARE,
    PRE_PREPARE,
    SAID,
    Core,
    ballot,
    commit,
    named,
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

# The normal case, step by step ----------------------------------------------------------------------------------------


def test_a_nomination_asks_for_a_ballot_once() -> None:
    core = Core()
    (need,) = core.read(Message.NOMINATION, NOMINATION)
    assert isinstance(need, t.NeedBallot)
    assert need.nominated.record == CODEC.decode(CODEC.decode_as(Signed, NOMINATION).body)
    assert core.core.phase == Phase.BALLOTING
    assert core.read(Message.NOMINATION, NOMINATION) == []
    assert core.core.ignored == {"duplicate": 1}


def test_the_ballot_is_signed_for_its_epoch() -> None:
    core = Core().nominated()
    effects = core.core.handle(t.BallotReady(named(NOMINATION), terms()))
    (send,) = of(effects, t.Send)
    assert (send.message, send.slot, send.number, send.data) == (Message.BALLOT, BALLOT_SLOT, 1, BALLOTS[1])
    assert send.digest == digest(CODEC.decode_as(Signed, send.data).body)
    assert core.core.handle(t.BallotReady(named(NOMINATION), terms(False))) == []


def test_a_ballot_nobody_waits_for_is_not_signed() -> None:
    assert Core().core.handle(t.BallotReady(named(NOMINATION), terms())) == []
    assert Core().nominated().core.handle(t.BallotReady(b"other", terms())) == []
    late = Core().nominated().pre_prepared()
    assert late.core.handle(t.BallotReady(named(NOMINATION), terms())) == []


def test_the_primary_proposes_at_once_with_all_ballots() -> None:
    core = Core(me=0).nominated()
    effects = core.read(Message.BALLOT, *reversed(BALLOTS))
    (send,) = of(effects, t.Send)
    assert (send.message, send.slot, send.digest, send.data) == (
        Message.PRE_PREPARE,
        "0/0/0/1/pre-prepare",
        SAID,
        PRE_PREPARE,
    )
    assert core.core.phase == Phase.BALLOTING  # until it reads it from the log
    assert sends(core.pre_prepared().read(Message.PREPARE, prepare(1, SAID))) == []
    assert sends(core.read(Message.PREPARE, prepare(2, SAID))) == [(Message.COMMIT, "0/0/0/1/commit", SAID)]


def test_the_primary_waits_a_grace_for_the_last_ballot_and_then_proposes_without_it() -> None:
    core = Core(me=0).nominated()
    assert core.read(Message.BALLOT, *BALLOTS[:2]) == []
    assert core.read(Message.BALLOT, BALLOTS[2]) == [
        t.SetTimer(Timer.REQUEST, 333, 1, 0),
        t.SetTimer(Timer.BALLOT_GRACE, 111, 1, 0),
    ]
    assert core.core.handle(t.TimerFired(Timer.BALLOT_GRACE, 2, 0)) == []  # of another sequence
    assert sends(core.core.handle(t.TimerFired(Timer.BALLOT_GRACE, 1, 0))) == [
        (Message.PRE_PREPARE, "0/0/0/1/pre-prepare", OTHER)
    ]
    assert core.read(Message.BALLOT, BALLOTS[3]) == []  # one proposal for a slot


def test_others_do_not_propose_but_watch_the_clock() -> None:
    core = Core(me=2).nominated()
    assert core.read(Message.BALLOT, *BALLOTS) == [t.SetTimer(Timer.REQUEST, 333, 1, 0)]
    found = core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    assert [(noted.note, noted.member) for noted in of(found, t.Noted)] == [(Note.LATE, 0)]
    assert [(s.message, s.slot, s.number) for s in of(found, t.Send)] == [(Message.VIEW_CHANGE, "0/0/1/view-change", 1)]
    assert core.core.phase == Phase.VIEW_CHANGING


def test_a_good_pre_prepare_is_answered_with_a_prepare_even_without_the_nomination() -> None:
    core = Core()
    assert sends(core.read(Message.PRE_PREPARE, PRE_PREPARE)) == [(Message.PREPARE, "0/0/0/1/prepare", SAID)]
    assert core.core.phase == Phase.PRE_PREPARED


def test_a_quorum_behind_it_the_primary_included_is_answered_with_a_commit() -> None:
    core = Core().pre_prepared()
    assert sends(core.read(Message.PREPARE, prepare(0, SAID), prepare(2, SAID))) == []  # the primary counts once
    assert sends(core.read(Message.PREPARE, prepare(3, SAID))) == [(Message.COMMIT, "0/0/0/1/commit", SAID)]
    assert core.core.phase == Phase.PREPARED


def test_prepares_for_something_else_do_not_count() -> None:
    core = Core().pre_prepared()
    assert core.read(Message.PREPARE, prepare(2, OTHER), prepare(3, OTHER)) == []
    assert core.core.phase == Phase.PRE_PREPARED


def test_a_quorum_of_commits_decides_and_the_next_sequence_begins() -> None:
    core = Core().nominated()
    core.read(Message.BALLOT, *BALLOTS)
    effects = core.decided()
    (decided,) = of(effects, t.Decided)
    assert (decided.seq, decided.epoch, decided.checked.data) == (1, 1, PRE_PREPARE)
    assert decided.commits == (commit(0, SAID), commit(2, SAID), commit(3, SAID))
    assert [o.outcome for o in decided.checked.outcomes] == ["forgotten", "forgotten"]
    assert of(effects, t.CancelTimer) == [t.CancelTimer(Timer.REQUEST)]
    assert (core.core.seq, core.core.epoch, core.core.phase) == (2, 2, Phase.IDLE)


def test_a_buffered_nomination_starts_with_its_epoch() -> None:
    core = Core()
    assert core.read(Message.NOMINATION, nomination(2)) == []
    (need,) = of(core.decided(), t.NeedBallot)
    assert need.nominated.record.epoch == 2


def test_everything_ahead_of_its_time_is_kept_and_used() -> None:
    """The logs come in any order: commits first, the nomination last."""
    core = Core()
    second = nomination(2)
    later = pre_prepare(second, [ballot(m, second, 2) for m in range(4)], seq=2)
    said = proposed(later)
    # Four have gone on: what they have decided is most likely on its way.
    ahead = core.read(Message.COMMIT, *(commit(m, said, 2) for m in range(4)))
    assert ahead == [t.SetTimer(Timer.SEARCH, 222, 1, 0)]
    assert core.read(Message.PRE_PREPARE, PRE_PREPARE, later)
    found = core.read(Message.COMMIT, *(commit(m, SAID) for m in range(3)))
    assert [(d.seq, d.epoch) for d in of(found, t.Decided)] == [(1, 1), (2, 2)]
    assert sends(found) == []  # decided without it: there is nothing left to say


def test_a_certificate_is_enough_for_who_missed_the_rest() -> None:
    core = Core()
    core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    assert of(core.read(Message.PRE_PREPARE, PRE_PREPARE), t.Decided)


# Messages that do not count -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "data", "why"),
    [
        (Message.COMMIT, b"rubbish", "stranger"),
        (Message.COMMIT, prepare(2, SAID), "stranger"),
        (Message.COMMIT, signed("member:3", Commit(GENESIS.cluster, 0, 0, 0, 1, 2, SAID)), "stranger"),
        (Message.COMMIT, signed("member:2", Commit(b"x" * 32, 0, 0, 0, 1, 2, SAID)), "stranger"),
        (Message.COMMIT, signed("member:2", Commit(GENESIS.cluster, 0, 1, 0, 1, 2, SAID)), "other shard"),
        (Message.COMMIT, commit(2, SAID, view=-1), "old view"),
        (Message.COMMIT, commit(2, SAID, seq=0), "old"),
        (Message.COMMIT, commit(2, SAID, seq=99), "beyond the window"),
        (Message.PRE_PREPARE, NOT_THE_PRIMARYS, "not the primary"),
        (Message.NOMINATION, nomination(0), "old"),
        (Message.NOMINATION, nomination(proposals=()), "invalid nomination"),
        (
            Message.NOMINATION, CODEC.encode(replace(CODEC.decode(NOMINATION), signature=bytes(64))),
            "invalid nomination",
        ),
        (Message.NOMINATION, signed("member:0", CODEC.decode(CODEC.decode_as(Signed, NOMINATION).body)), "stranger"),
    ],
)  # fmt: skip
def test_what_is_ignored_is_counted(message: Message, data: bytes, why: str) -> None:
    core = Core()
    assert core.read(message, data) == []
    assert core.core.ignored == {why: 1}
    assert core.core.phase == Phase.IDLE


def test_a_forgery_does_not_take_a_members_place() -> None:
    core = Core().prepared()
    said = CODEC.decode_as(Signed, commit(2, OTHER))
    assert core.read(Message.COMMIT, CODEC.encode(replace(said, signature=bytes(64)))) == []
    assert of(core.read(Message.COMMIT, commit(0, SAID), commit(2, SAID), commit(3, SAID)), t.Decided)


def test_one_member_counts_once() -> None:
    core = Core().prepared()
    assert core.read(Message.COMMIT, *[commit(2, SAID)] * 5) == []
    assert core.core.ignored == {"duplicate": 4}


@pytest.mark.parametrize(
    ("message", "first", "second"),
    [
        (Message.PREPARE, prepare(2, SAID), prepare(2, OTHER)),
        (Message.COMMIT, commit(2, SAID), commit(2, OTHER)),
        (Message.BALLOT, BALLOTS[2], ballot(2, NOMINATION, yes=False)),
        (Message.PRE_PREPARE, PRE_PREPARE, OTHER_PRE_PREPARE),
    ],
)
def test_a_different_second_message_is_noted_once_and_does_not_count(
    message: Message, first: bytes, second: bytes
) -> None:
    core = Core()
    core.read(message, first)
    (noted,) = of(core.read(message, second, second, first), t.Noted)
    assert (noted.note, noted.message, noted.originals) == (Note.CONFLICT, message, (first, second))
    assert noted.member == (0 if message == Message.PRE_PREPARE else 2)


def test_a_forged_second_message_convicts_nobody() -> None:
    core = Core()
    core.read(Message.COMMIT, commit(2, SAID))
    forged = replace(CODEC.decode_as(Signed, commit(2, OTHER)), signature=bytes(64))
    assert core.read(Message.COMMIT, CODEC.encode(forged)) == []
    assert core.core.ignored == {"stranger": 1}


def test_a_ballot_whose_opinions_do_not_hold_is_noted_and_left_out() -> None:
    core = Core(me=0).nominated()
    bad = ballot(3, NOMINATION, terms=LIES)
    (noted,) = core.read(Message.BALLOT, bad)
    assert isinstance(noted, t.Noted)
    assert (noted.note, noted.member, noted.originals) == (Note.INVALID, 3, (NOMINATION, bad))
    core.read(Message.BALLOT, *BALLOTS[:3])
    (send,) = of(core.core.handle(t.TimerFired(Timer.BALLOT_GRACE, 1, 0)), t.Send)
    assert send.digest == OTHER


def test_a_ballot_before_its_nomination_is_judged_with_it() -> None:
    core = Core(me=0)
    assert core.read(Message.BALLOT, *BALLOTS) == []
    assert sends(core.read(Message.NOMINATION, NOMINATION)) == [(Message.PRE_PREPARE, "0/0/0/1/pre-prepare", SAID)]


def test_a_ballot_on_another_nomination_is_no_crime_and_no_vote() -> None:
    core = Core(me=0).nominated()
    assert core.read(Message.BALLOT, ballot(3, nomination(as_of=AS_OF + 5))) == []
    assert of(core.read(Message.BALLOT, *BALLOTS[:3]), t.SetTimer)


def test_a_refused_nomination_makes_room_for_another() -> None:
    core = Core().nominated()
    core.read(Message.BALLOT, BALLOTS[2])
    (noted,) = core.core.handle(t.BallotRefused(named(NOMINATION), "no such tick"))
    assert isinstance(noted, t.Noted)
    assert (noted.note, noted.detail) == (Note.REFUSED, "no such tick")
    assert core.core.phase == Phase.IDLE
    assert core.read(Message.NOMINATION, NOMINATION) == []
    other = nomination(as_of=AS_OF + 5)
    (need,) = core.read(Message.NOMINATION, other)
    assert isinstance(need, t.NeedBallot)
    assert need.nominated.data == other


def test_a_refused_nomination_leaves_the_others_open() -> None:
    core, other = Core().nominated(), nomination(as_of=AS_OF + 5)
    assert [need.nominated.data for need in of(core.read(Message.NOMINATION, other), t.NeedBallot)] == [other]
    (noted,) = core.core.handle(t.BallotRefused(named(NOMINATION), "no such tick"))
    assert isinstance(noted, t.Noted)
    assert core.core.phase == Phase.BALLOTING
    assert core.core.awaits_ballot(named(other)) and not core.core.awaits_ballot(named(NOMINATION))


def test_what_the_others_say_of_a_nomination_counts_though_this_member_refuses_it() -> None:
    """Else who alone refuses starts no time limit: with f liars beside it nobody could leave a silent primary."""
    core = Core().nominated()
    core.core.handle(t.BallotRefused(named(NOMINATION), "no such tick"))
    found = core.read(Message.BALLOT, BALLOTS[0], *BALLOTS[2:])
    assert [effect.timer for effect in of(found, t.SetTimer)] == [Timer.REQUEST]


# More nominations than one --------------------------------------------------------------------------------------------


def renominated(number: int) -> bytes:
    return nomination(as_of=AS_OF + 10_000 * number, accepted_offset=7 + number)


def test_a_member_votes_on_each_nomination_of_an_epoch_once() -> None:
    core, again = Core().nominated(), renominated(1)
    core.core.handle(t.BallotReady(named(NOMINATION), terms()))
    (need,) = core.read(Message.NOMINATION, again)
    assert need.nominated.data == again
    (send,) = core.core.handle(t.BallotReady(named(again), terms()))
    assert send.slot == ballot_slot(0, 0, 1, named(again)) != BALLOT_SLOT
    assert core.core.handle(t.BallotReady(named(again), terms(False))) == []


def test_two_votes_on_one_nomination_and_two_on_the_next_end_with_four_on_a_third() -> None:
    first, second, third = NOMINATION, renominated(1), renominated(2)
    core = Core(me=0)
    core.read(Message.NOMINATION, first, second)
    votes_on = [ballot(0, first), ballot(1, first), ballot(2, second), ballot(3, second)]
    assert core.read(Message.BALLOT, *votes_on) == []
    core.read(Message.NOMINATION, third)
    (proposal,) = of(core.read(Message.BALLOT, *(ballot(m, third) for m in range(4))), t.Send)
    body = CODEC.decode(CODEC.decode_as(Signed, proposal.data).body)
    assert (body.nomination, len(body.ballots)) == (third, 4)
    assert not core.core.ignored


def test_a_primary_proposes_the_nomination_with_the_most_ballots() -> None:
    core, again = Core(me=0), renominated(1)
    core.read(Message.NOMINATION, NOMINATION, again)
    assert of(core.read(Message.BALLOT, *BALLOTS[:3]), t.SetTimer)  # three: it waits a while for the fourth
    (proposal,) = of(core.read(Message.BALLOT, *(ballot(m, again) for m in range(4))), t.Send)
    assert CODEC.decode(CODEC.decode_as(Signed, proposal.data).body).nomination == again


def test_two_ballots_convict_if_they_are_on_one_nomination_and_not_if_on_two() -> None:
    core = Core().nominated()
    assert core.read(Message.BALLOT, BALLOTS[2], ballot(2, renominated(1), yes=False)) == []
    (noted,) = core.read(Message.BALLOT, ballot(2, NOMINATION, yes=False))
    assert (noted.note, noted.originals) == (Note.CONFLICT, (BALLOTS[2], ballot(2, NOMINATION, yes=False)))


def test_of_many_nominations_those_of_the_latest_ticks_are_open() -> None:
    core = Core()
    core.read(Message.NOMINATION, *map(renominated, range(1, 12)))
    assert [n for n in range(12) if core.core.awaits_ballot(named(renominated(n)))] == list(range(4, 12))
    # Repeated old nominations displace no new one.
    assert core.read(Message.NOMINATION, renominated(2), renominated(0)) == []
    assert core.core.ignored["too many nominations"] == 2
    assert [n for n in range(12) if core.core.awaits_ballot(named(renominated(n)))] == list(range(4, 12))


def test_nominations_of_times_that_never_come_make_room_once_they_are_refused() -> None:
    core = Core()
    never = [nomination(accepted_offset=2**62 + n) for n in range(8)]
    core.read(Message.NOMINATION, *never)
    assert core.read(Message.NOMINATION, NOMINATION) == []
    for each in never:
        core.core.handle(t.BallotRefused(named(each), "the stream ends before"))
    assert core.core.phase == Phase.IDLE
    (need,) = core.read(Message.NOMINATION, renominated(1))
    assert need.nominated.data == renominated(1)


def test_ballots_that_were_let_go_of_are_read_again_when_their_nomination_comes() -> None:
    core = Core(me=0)
    nominations = [renominated(n) for n in range(10)]
    core.read(Message.BALLOT, BALLOTS[1], *(ballot(2, each) for each in nominations))
    assert core.core.low_water(Message.BALLOT) == 0
    found = core.read(Message.NOMINATION, nominations[0])
    assert of(found, t.Reread) == [t.Reread(Message.BALLOT, 1)]  # two of member 2's were one too many each
    core.at[Message.BALLOT] = 1
    core.read(Message.BALLOT, ballot(2, nominations[0]), ballot(0, nominations[0]))
    assert of(core.read(Message.BALLOT, ballot(3, nominations[0])), t.Send)


def test_a_restart_says_each_ballot_again_that_the_log_does_not_hold() -> None:
    other = renominated(1)
    ballots = [ballot(m, other) for m in range(4)]
    core = Core(me=0, live=False)
    kept = {ballot_slot(0, 0, 1, named(n)): said_by(0, n) for n in (NOMINATION, other)}
    core.core.handle(t.Restarted(kept))
    core.read(Message.BALLOT, BALLOTS[0])
    assert [send.data for send in of(core.core.handle(t.CaughtUp()), t.Send)] == [ballots[0]]
    assert core.read(Message.NOMINATION, NOMINATION, other) == []  # it has voted on both
    (proposal,) = of(core.read(Message.BALLOT, *ballots), t.Send)
    assert proposal.message == Message.PRE_PREPARE


def said_by(member: int, nominated: bytes) -> SignedSlot:
    data = ballot(member, nominated)
    return SignedSlot(digest(CODEC.decode_as(Signed, data).body), data)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (pre_prepare(NOMINATION, BALLOTS[:2]), "2 ballots"),
        (pre_prepare(NOMINATION, BALLOTS, epoch=2), "epoch 2 with a nomination"),
        (pre_prepare(NOMINATION, BALLOTS, epoch=-1), "epoch -1 with a nomination"),
        (pre_prepare(nomination(2), [ballot(m, nomination(2), 2) for m in range(4)], epoch=2), "epoch 2, 1 is next"),
    ],
)
def test_a_pre_prepare_that_does_not_hold_is_noted_and_not_answered(data: bytes, complaint: str) -> None:
    core = Core(live=False)
    (noted,) = core.read(Message.PRE_PREPARE, data)
    assert isinstance(noted, t.Noted)
    # The next epoch depends on the member that is asked: that is no evidence.
    originals = () if "is next" in complaint else (data,)
    assert (noted.note, noted.member, noted.originals) == (Note.INVALID, 0, originals)
    assert complaint in noted.detail
    # It was the primary's one proposal for this slot.
    assert sends(core.read(Message.PRE_PREPARE, PRE_PREPARE)) == []
    assert core.read(Message.PREPARE, prepare(2, SAID)) == []
    assert core.core.phase == Phase.IDLE


def test_a_liar_that_votes_twice_is_counted_for_both() -> None:
    """Somebody may have read its second vote first, and decided by it."""
    core = Core().pre_prepared()
    core.read(Message.PREPARE, prepare(2, OTHER), prepare(2, SAID), prepare(3, SAID))
    assert core.core.phase == Phase.PREPARED
    core.read(Message.COMMIT, commit(2, OTHER), commit(2, SAID), commit(0, SAID))
    assert core.core.low_water(Message.COMMIT) == 0
    (decided,) = of(core.read(Message.COMMIT, commit(3, SAID)), t.Decided)
    assert decided.commits == (commit(0, SAID), commit(2, SAID), commit(3, SAID))


def test_a_liars_many_votes_are_bounded() -> None:
    core = Core().pre_prepared()
    core.read(Message.COMMIT, *(commit(2, bytes([n]) * 32) for n in range(20)))
    core.read(Message.COMMIT, commit(2, SAID), commit(0, SAID))
    assert of(core.read(Message.COMMIT, commit(1, SAID)), t.Decided) == []
    assert core.core.phase == Phase.PRE_PREPARED


def test_a_liars_vote_for_which_there_was_no_room_is_read_again_once_it_is_needed() -> None:
    """A member that read it first may have decided by it, and gone on alone."""
    core, lies = Core().prepared(), [commit(3, bytes([n]) * 32) for n in range(20)]
    core.read(Message.COMMIT, *lies, commit(3, SAID))
    assert of(core.read(Message.COMMIT, commit(0, SAID)), t.Reread) == [t.Reread(Message.COMMIT, 9)]
    core.at[Message.COMMIT] = 9
    found = core.read(Message.COMMIT, *lies[9:], commit(3, SAID), commit(0, SAID), commit(2, SAID))
    assert not of(found, t.Reread)
    (decided,) = of(found, t.Decided)
    assert decided.commits == (commit(0, SAID), commit(2, SAID), commit(3, SAID))


def test_a_forged_further_vote_has_nothing_read_again() -> None:
    core = Core().prepared()
    core.read(Message.COMMIT, *(commit(3, bytes([n]) * 32) for n in range(9)))
    forged = CODEC.encode(replace(CODEC.decode_as(Signed, commit(3, OTHER)), signature=bytes(64)))
    core.read(Message.COMMIT, forged)
    assert not of(core.read(Message.COMMIT, commit(0, SAID)), t.Reread)


def test_late_prepares_are_not_verified() -> None:
    core = Core().prepared()
    forged = replace(CODEC.decode_as(Signed, prepare(0, SAID)), signature=bytes(64))
    assert core.read(Message.PREPARE, CODEC.encode(forged)) == []
    assert core.core.ignored == {"not needed": 1}


# A primary that shows different things to different members -----------------------------------------------------------


def test_what_a_quorum_committed_replaces_what_the_primary_showed_first() -> None:
    core = Core()
    core.read(Message.PRE_PREPARE, OTHER_PRE_PREPARE)
    assert core.core.phase == Phase.PRE_PREPARED
    found = core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    assert found == [t.Reread(Message.PRE_PREPARE, 0)]
    found = core.read(Message.PRE_PREPARE, OTHER_PRE_PREPARE, PRE_PREPARE)
    assert [d.checked.digest for d in of(found, t.Decided)] == [SAID]
    assert [n.note for n in of(found, t.Noted)] == [Note.CONFLICT]
    assert sends(found) == []  # its prepare for this slot is spent


def test_a_proposal_that_was_committed_and_does_not_come_is_looked_for_in_the_log() -> None:
    core = Core()
    core.at[Message.PRE_PREPARE] = 30
    core.decided()
    second = nomination(2)
    later = pre_prepare(second, [ballot(m, second, 2) for m in range(4)], seq=2)
    said = proposed(later)
    found = core.read(Message.COMMIT, *(commit(m, said, 2) for m in (0, 2, 3)))
    assert found == [t.SetTimer(Timer.SEARCH, 222, 2, 0)]  # it is most likely on its way
    # It lies behind the one before: the ballots in it were cast after that was decided.
    again = core.core.handle(t.TimerFired(Timer.SEARCH, 2, 0))
    assert again == [t.Reread(Message.PRE_PREPARE, 30), t.SetTimer(Timer.SEARCH, 444, 2, 0)]
    assert of(core.read(Message.PRE_PREPARE, later), t.CancelTimer) == [t.CancelTimer(Timer.SEARCH)]
    assert (core.core.seq, core.core.epoch) == (3, 3)


def test_a_proposal_is_looked_for_from_the_beginning_by_who_decided_none_yet_and_only_at_the_logs_end() -> None:
    core = Core(live=False)
    assert core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3))) == []
    assert core.core.handle(t.CaughtUp()) == [t.SetTimer(Timer.SEARCH, 222, 1, 0)]
    again = core.core.handle(t.TimerFired(Timer.SEARCH, 1, 0))
    assert again == [t.Reread(Message.PRE_PREPARE, 0), t.SetTimer(Timer.SEARCH, 444, 1, 0)]


def test_who_is_overtaken_reads_the_logs_again_and_then_follows_the_journal() -> None:
    core = Core()
    for message in (Message.NOMINATION, Message.BALLOT, Message.PRE_PREPARE, Message.COMMIT):
        core.at[message] = 50
    core.nominated().pre_prepared()
    second = nomination(2)
    core.read(Message.NOMINATION, second)
    assert core.read(Message.BALLOT, ballot(2, second, 2)) == []  # one alone may lie
    search = [t.SetTimer(Timer.SEARCH, 222, 1, 0)]
    assert core.read(Message.BALLOT, ballot(3, second, 2)) == search
    read_again = [t.Reread(m, 50) for m in (Message.BALLOT, Message.NOMINATION, Message.PRE_PREPARE)]
    read_again.append(t.Reread(Message.VIEW_CHANGE, 0))
    first = core.core.handle(t.TimerFired(Timer.SEARCH, 1, 0))
    assert first == [*read_again, t.SetTimer(Timer.SEARCH, 444, 1, 0)]
    then = core.core.handle(t.TimerFired(Timer.SEARCH, 1, 0))
    assert then == [
        *read_again,
        t.NeedDecisions(1, "other members have gone on from it"),
        t.SetTimer(Timer.SEARCH, 888, 1, 0),
    ]
    found = core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    assert of(found, t.CancelTimer)[-1] == t.CancelTimer(Timer.SEARCH)
    assert core.core.handle(t.TimerFired(Timer.SEARCH, 1, 0)) == []  # it was on its way


def test_who_asks_for_a_view_alone_looks_for_what_it_may_have_missed() -> None:
    core = Core().nominated().prepared()
    asked = core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    assert t.SetTimer(Timer.SEARCH, 222, 1, 0) in asked
    found = core.core.handle(t.TimerFired(Timer.SEARCH, 1, 0))
    assert t.Reread(Message.PREPARE, 0) in found
    assert of(core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3))), t.Decided)


def test_who_waits_for_a_view_alone_does_not_look_for_a_sequence_that_has_not_begun() -> None:
    core = Core().nominated().prepared()
    core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    decided = core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    assert (core.core.seq, core.core.phase) == (2, Phase.VIEW_CHANGING)
    search = t.SetTimer(Timer.SEARCH, 222, 2, 0)
    assert decided[-1] == search
    views = t.Reread(Message.VIEW_CHANGE, 0)  # one that opened the view may have been withheld
    assert core.core.handle(t.TimerFired(Timer.SEARCH, 2, 0)) == [views, search]
    assert core.core.handle(t.TimerFired(Timer.SEARCH, 2, 0)) == [views]


def test_who_waits_for_a_view_alone_looks_for_a_sequence_that_has_begun() -> None:
    core = Core().nominated().prepared()
    core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    core.core.handle(t.TimerFired(Timer.SEARCH, 2, 0))
    core.core.handle(t.TimerFired(Timer.SEARCH, 2, 0))
    assert t.SetTimer(Timer.SEARCH, 222, 2, 0) in core.read(Message.NOMINATION, nomination(2))
    assert t.Reread(Message.NOMINATION, 0) in core.core.handle(t.TimerFired(Timer.SEARCH, 2, 0))
    (needed,) = of(core.core.handle(t.TimerFired(Timer.SEARCH, 2, 0)), t.NeedDecisions)
    assert (needed.seq, needed.why) == (2, "view 1, which this member asked for, is not open")


def test_view_changes_are_looked_for_from_the_beginning_of_their_log() -> None:
    # Messages that it was not shown may lie before the first that it was shown.
    core = Core().nominated().prepared()
    core.at[Message.VIEW_CHANGE] = 1
    core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0))
    core.read(Message.VIEW_CHANGE, signed("member:0", ViewChange(GENESIS.cluster, 0, 0, 1, 1, 0, (), None)))
    assert t.Reread(Message.VIEW_CHANGE, 0) in core.core.handle(t.TimerFired(Timer.SEARCH, 1, 0))


# Restarts -------------------------------------------------------------------------------------------------------------


def slot(said: bytes, data: bytes) -> SignedSlot:
    return SignedSlot(said, data)


def test_nothing_is_said_before_the_log_was_read() -> None:
    core = Core(live=False)
    assert core.read(Message.NOMINATION, NOMINATION) == []
    assert core.read(Message.PRE_PREPARE, PRE_PREPARE) == []
    assert core.read(Message.PREPARE, prepare(2, SAID), prepare(3, SAID)) == []
    assert core.core.phase == Phase.PREPARED
    assert sends(core.core.handle(t.CaughtUp())) == [
        (Message.PREPARE, "0/0/0/1/prepare", SAID),
        (Message.COMMIT, "0/0/0/1/commit", SAID),
    ]


def test_what_the_log_holds_under_its_name_is_not_said_again() -> None:
    core = Core(me=0, live=False)
    said = digest(CODEC.decode_as(Signed, BALLOTS[0]).body)
    known = {BALLOT_SLOT: slot(said, BALLOTS[0]), "0/0/0/1/pre-prepare": slot(OTHER, OTHER_PRE_PREPARE)}
    core.core.handle(t.Restarted(known))
    core.read(Message.NOMINATION, NOMINATION)
    core.read(Message.BALLOT, *BALLOTS)
    core.read(Message.PRE_PREPARE, OTHER_PRE_PREPARE)
    assert core.core.handle(t.CaughtUp()) == [t.SetTimer(Timer.REQUEST, 333, 1, 0)]
    assert core.core.phase == Phase.PRE_PREPARED


def test_what_was_signed_is_said_again_if_the_log_does_not_hold_it() -> None:
    core = Core(live=False)
    said_before = {
        BALLOT_SLOT: slot(b"b", BALLOTS[1]),
        "0/0/0/1/prepare": slot(SAID, prepare(1, SAID)),
        "0/0/0/1/commit": slot(SAID, commit(1, SAID)),
        "0/0/0/9/prepare": slot(SAID, b"later"),
    }
    assert core.core.handle(t.Restarted(said_before)) == []
    core.read(Message.PRE_PREPARE, PRE_PREPARE)
    core.read(Message.PREPARE, prepare(1, SAID))
    found = core.core.handle(t.CaughtUp())
    assert [(s.message, s.data) for s in of(found, t.Send)] == [
        (Message.BALLOT, BALLOTS[1]),
        (Message.COMMIT, commit(1, SAID)),
    ]


def test_a_restarted_member_keeps_its_opinion() -> None:
    core = Core(live=False)
    core.core.handle(t.Restarted({BALLOT_SLOT: slot(digest(b"?"), BALLOTS[1])}))
    core.core.handle(t.CaughtUp())
    assert core.read(Message.NOMINATION, NOMINATION) == []
    assert core.core.phase == Phase.BALLOTING


def test_a_restarted_member_does_not_prepare_a_second_proposal() -> None:
    """The broker shows it another pre-prepare than before; it follows, but its prepare is spent."""
    core = Core(live=False)
    core.core.handle(t.Restarted({"0/0/0/1/prepare": slot(SAID, prepare(1, SAID))}))
    core.core.handle(t.CaughtUp())
    assert sends(core.read(Message.PRE_PREPARE, OTHER_PRE_PREPARE)) == []
    assert core.core.phase == Phase.PRE_PREPARED


def test_what_was_signed_for_a_later_slot_waits_for_it() -> None:
    core = Core(live=False)
    second = nomination(2)
    name = ballot_slot(0, 0, 2, named(second))
    core.core.handle(t.Restarted({name: slot(b"b", ballot(1, second, 2))}))
    assert core.core.handle(t.CaughtUp()) == []
    assert [s.slot for s in of(core.decided(), t.Send)] == [name]


def test_with_its_view_lost_it_is_silent_until_it_is_where_it_was() -> None:
    """The broker withholds what was decided: what it signed for that is settled, so it knows nothing of it any more."""
    core = Core(live=False)
    core.core.handle(t.Restarted({}, through=1))
    assert core.core.handle(t.CaughtUp()) == []
    assert core.read(Message.NOMINATION, NOMINATION) == []
    assert core.read(Message.PRE_PREPARE, PRE_PREPARE) == []
    assert core.read(Message.BALLOT, *BALLOTS) == []
    core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    (need,) = of(core.read(Message.NOMINATION, nomination(2)), t.NeedBallot)
    assert need.nominated.record.epoch == 2


def test_with_its_sign_state_lost_it_is_silent_until_what_is_in_flight_is_decided() -> None:
    core = Core(live=False)
    core.core.handle(t.Restarted({}, fresh=True))
    core.read(Message.BALLOT, BALLOTS[1])  # its own: so there was a life before this one
    core.core.handle(t.CaughtUp())
    core.read(Message.NOMINATION, NOMINATION)
    assert sends(core.read(Message.PRE_PREPARE, PRE_PREPARE)) == []
    core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    assert not of(core.read(Message.NOMINATION, nomination(2)), t.NeedBallot)
    # Its sent messages are in the logs by now.
    assert of(core.core.handle(t.TimerFired(t.Timer.SILENCE, 0, 0)), t.NeedBallot)


@pytest.mark.parametrize("lost", ["ballot", "prepare", "view-change"])
def test_with_a_sign_state_that_went_back_it_is_silent_until_what_is_in_flight_is_decided(lost: str) -> None:
    """The log holds messages that the sign-state does not: a flipped bit or an old copy took it back.

    Other losses, such as what the member has prepared, are unknown.
    """
    said = digest(CODEC.decode_as(Signed, BALLOTS[1]).body)
    known = {BALLOT_SLOT: slot(said, BALLOTS[1]), "0/0/0/1/prepare": slot(SAID, prepare(1, SAID))}
    own = {
        "ballot": (Message.BALLOT, BALLOTS[1]),
        "prepare": (Message.PREPARE, prepare(1, SAID)),
        "view-change": (Message.VIEW_CHANGE, view_change(1, view=1)),
    }
    core = Core(live=False)
    core.core.handle(t.Restarted({name: held for name, held in known.items() if not name.endswith(lost)}))
    core.read(*own[lost])
    found = core.core.handle(t.CaughtUp())
    assert t.Reread(Message.VIEW_CHANGE, 0) in found and Timer.SILENCE in [e.timer for e in of(found, t.SetTimer)]
    core.read(Message.NOMINATION, NOMINATION)
    assert sends(core.read(Message.PRE_PREPARE, PRE_PREPARE)) == []
    assert sends(core.read(Message.PREPARE, prepare(2, SAID), prepare(3, SAID))) == []
    core.read(Message.COMMIT, *(commit(m, SAID) for m in (0, 2, 3)))
    assert not core.core.speaks
    core.core.handle(t.TimerFired(Timer.SILENCE, 0, 0))
    assert core.core.speaks


def test_what_is_settled_and_let_go_of_is_no_loss() -> None:
    """The view file is behind: it reads decided messages again, which the sign-state has dropped."""
    core = Core(live=False)
    core.core.handle(t.Restarted({}, through=1))
    core.read(Message.BALLOT, BALLOTS[1])
    core.read(Message.PREPARE, prepare(1, SAID))
    assert not of(core.core.handle(t.CaughtUp()), t.Reread)


def test_a_first_life_is_not_silent() -> None:
    core = Core(live=False)
    core.core.handle(t.Restarted({}, fresh=True))
    core.read(Message.BALLOT, BALLOTS[0], ballot(1, NOMINATION)[:-1], b"rubbish")
    core.core.handle(t.CaughtUp())
    assert of(core.read(Message.NOMINATION, NOMINATION), t.NeedBallot)


def test_a_first_life_is_kept_before_its_first_word() -> None:
    core = Core(live=False)
    core.core.handle(t.Restarted({}, fresh=True))
    (kept,) = core.core.handle(t.CaughtUp())
    assert isinstance(kept, t.Keep) and read_slot(kept.slot).what == t.Kept.BEGAN
    # A crash before that word: the view may have gone on, but nothing was lost.
    again = Core(live=False, progress=t.Progress(2, 2))
    again.core.handle(t.Restarted({kept.slot: SignedSlot(kept.digest, kept.data)}))
    assert again.core.handle(t.CaughtUp()) == []
    assert of(again.read(Message.NOMINATION, nomination(2)), t.NeedBallot)


def test_with_its_sign_state_lost_it_reads_again_which_views_it_asked_for() -> None:
    core = Core(live=False, progress=t.Progress(2, 2))
    assert t.Reread(Message.VIEW_CHANGE, 0) in core.core.handle(t.Restarted({}, fresh=True))


# Somebody else with this member's key ---------------------------------------------------------------------------------


def test_a_message_of_this_member_that_it_did_not_sign_halts_it() -> None:
    core = Core().pre_prepared()
    (halt,) = core.read(Message.PREPARE, prepare(1, OTHER))
    assert isinstance(halt, t.Halt)
    assert core.core.phase == Phase.HALTED
    assert core.read(Message.PREPARE, prepare(2, SAID)) == []
    assert core.core.handle(t.TimerFired(Timer.REQUEST, 1, 0)) == []


def test_two_different_messages_of_this_member_in_the_log_halt_it() -> None:
    core = Core()
    core.read(Message.COMMIT, commit(1, SAID))
    found = core.read(Message.COMMIT, commit(1, OTHER))
    assert of(found, t.Halt)
    assert core.core.phase == Phase.HALTED


def test_a_log_that_contradicts_the_sign_state_halts() -> None:
    core = Core(live=False)
    second = nomination(2)
    core.core.handle(t.Restarted({ballot_slot(0, 0, 2, named(second)): slot(b"other", b"other")}))
    core.core.handle(t.CaughtUp())
    core.read(Message.BALLOT, ballot(1, second, 2))
    found = core.decided()
    assert of(found, t.Decided)
    assert of(found, t.Halt)


def test_a_forgery_in_this_members_name_halts_nothing() -> None:
    core = Core().pre_prepared()
    forged = replace(CODEC.decode_as(Signed, prepare(1, OTHER)), signature=bytes(64))
    assert core.read(Message.PREPARE, CODEC.encode(forged)) == []
    assert core.core.phase == Phase.PRE_PREPARED


# The window -----------------------------------------------------------------------------------------------------------


def test_what_lies_beyond_the_window_is_read_again_when_the_window_reaches_it() -> None:
    core = Core(window=1)
    core.at[Message.COMMIT] = 40
    assert core.read(Message.COMMIT, commit(2, SAID, seq=3), commit(2, SAID, seq=4)) == []
    assert of(core.read(Message.COMMIT, commit(3, SAID, seq=9)), t.SetTimer)
    assert core.core.low_water(Message.COMMIT) == 40
    assert of(core.decided(), t.Reread) == [t.Reread(Message.COMMIT, 40)]
    # Member 3's is still beyond; member 2's was handed over to the reading again.
    assert core.core.low_water(Message.COMMIT) == 42


def test_a_strangers_message_beyond_the_window_moves_nothing() -> None:
    core = Core(window=1)
    forged = replace(CODEC.decode_as(Signed, commit(2, SAID, seq=3)), signature=bytes(64))
    core.read(Message.COMMIT, CODEC.encode(forged))
    assert of(core.decided(), t.Reread) == []


def test_one_member_far_ahead_does_not_send_the_reader_back() -> None:
    core = Core(window=1)
    core.read(Message.COMMIT, commit(2, SAID, seq=10**12), commit(2, SAID, seq=3))
    assert of(core.decided(), t.Reread) == []


def test_a_number_that_the_log_is_too_short_for_pins_nothing() -> None:
    core = Core(live=False)
    core.at[Message.COMMIT] = 100
    core.read(Message.COMMIT, commit(2, SAID, seq=10**12))
    assert core.core.low_water(Message.COMMIT) is None
    assert core.core.ignored == {"beyond the window": 1}
    core.read(Message.COMMIT, commit(2, SAID, seq=102))  # at 101, after 101 sequences with a commit each
    assert core.core.low_water(Message.COMMIT) == 101


def test_a_member_that_was_at_the_end_of_the_log_is_not_pinned_by_what_is_far_ahead() -> None:
    core = Core(live=False)
    core.at[Message.COMMIT] = 10**6
    core.read(Message.COMMIT, commit(2, SAID, seq=10**5), commit(3, SAID, seq=500))
    assert core.core.low_water(Message.COMMIT) == 10**6  # it may be behind by all of it
    core.core.handle(t.CaughtUp())
    assert core.core.low_water(Message.COMMIT) == 10**6 + 1
    core.read(Message.COMMIT, commit(0, SAID, seq=10**5))
    assert core.core.low_water(Message.COMMIT) == 10**6 + 1
    core.read(Message.COMMIT, commit(2, SAID, seq=500))
    assert core.core.low_water(Message.COMMIT) == 10**6 + 1


def test_what_was_on_its_way_when_a_log_is_read_again_does_not_hide_what_lies_before_it() -> None:
    core = Core(window=1)
    core.core.handle(t.Received(Message.COMMIT, commit(2, SAID, seq=7), 50))
    core.core.handle(t.Received(Message.COMMIT, commit(2, SAID, seq=6), 35))
    core.core.handle(t.Received(Message.COMMIT, commit(2, SAID, seq=8), 60))
    assert core.core.low_water(Message.COMMIT) == 35


def test_the_low_water_is_where_a_restart_must_read() -> None:
    core = Core()
    core.at = dict.fromkeys(Message, 100)
    assert core.core.low_water(Message.BALLOT) is None
    second = nomination(2)
    core.read(Message.NOMINATION, second)
    core.read(Message.BALLOT, BALLOTS[0], ballot(1, second, 2))
    assert core.core.low_water(Message.BALLOT) == 100
    core.decided()
    assert core.core.low_water(Message.BALLOT) == 101
    assert core.core.low_water(Message.NOMINATION) == 100
    assert core.core.low_water(Message.COMMIT) is None


def test_whose_ballots_a_proposal_lacks_though_they_were_read_before_it_is_told() -> None:
    for live, told in ((True, (3,)), (False, ())):
        core = Core(live=live)
        core.read(Message.NOMINATION, NOMINATION)
        core.read(Message.BALLOT, *BALLOTS[:2], BALLOTS[3])
        said = proposed(OTHER_PRE_PREPARE)  # of 0, 1 and 2
        core.read(Message.PRE_PREPARE, OTHER_PRE_PREPARE)
        (decided,) = of(core.read(Message.COMMIT, *(commit(m, said) for m in (0, 2, 3))), t.Decided)
        assert decided.left_out == told
