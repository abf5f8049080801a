"""Checkpoints: when a member says how far it is, when that is stable, and what it makes of others' words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.consensus import events as t
from memquorum.core.consensus import rolling
from memquorum.core.consensus.events import Message, Note
from memquorum.core.consensus.evidence import charge, convict
from memquorum.core.consensus.slots import checkpoint_slot
from memquorum.core.identity.messages import open_signed
from memquorum.core.records import Checkpoint, Signed
from memquorum.ports import SignedSlot
from tests.builders.core import CODEC, GENESIS, SAID, Core, commit, of, signed

STREAM, OTHERS = b"r" * 32, b"o" * 32
DECISIONS = rolling.decided(rolling.beginning(GENESIS.cluster, 0), SAID)
PLACE = t.Reached(seq=1, epoch=1, decisions=DECISIONS, accepted_offset=7)


def checkpoint(member: int, *, stream: bytes = STREAM, **changes: Any) -> bytes:
    body = Checkpoint(GENESIS.cluster, 0, 0, PLACE.seq, PLACE.epoch, 7, member, DECISIONS, stream)
    return signed(f"member:{member}", replace(body, **changes))


def reached(me: int = 1) -> Core:
    """A core that has decided the first sequence, after which a checkpoint is due."""
    core = Core(me, interval=1)
    assert of(core.decided(), t.NeedStream) == [t.NeedStream(PLACE)]
    return core


def sent_checkpoints(effects: list[t.Effect]) -> list[Checkpoint]:
    """Returns the checkpoints that the core sends."""
    sends = [s for s in of(effects, t.Send) if s.message == Message.CHECKPOINT]
    return [open_signed(CODEC, GENESIS, s.data, Checkpoint)[1] for s in sends]


def stable(effects: list[t.Effect]) -> list[tuple[int, int]]:
    return [(e.seq, e.epoch) for e in of(effects, t.Stable)]


def test_it_says_what_it_has_decided_and_read_once_it_has_read_so_far() -> None:
    core = reached()
    found = core.core.handle(t.StreamRead(1, STREAM))
    assert sent_checkpoints(found) == [Checkpoint(GENESIS.cluster, 0, 0, 1, 1, 7, 1, DECISIONS, STREAM)]
    (send,) = of(found, t.Send)
    assert (send.slot, send.number) == (checkpoint_slot(0, 0, 1), 1)
    assert core.core.handle(t.StreamRead(1, STREAM)) == []


def test_nothing_is_due_between_two_places() -> None:
    core = Core(interval=2)
    assert of(core.decided(), t.NeedStream) == []
    assert core.core.handle(t.StreamRead(1, STREAM)) == []


def test_an_answer_to_another_question_is_none() -> None:
    core = reached()
    assert core.core.handle(t.StreamRead(2, STREAM)) == []


def test_it_says_nothing_before_it_has_caught_up() -> None:
    core = Core(live=False, interval=1)
    core.decided()
    assert sent_checkpoints(core.core.handle(t.StreamRead(1, STREAM))) == []
    assert len(sent_checkpoints(core.core.handle(t.CaughtUp()))) == 1


def test_a_quorum_that_says_the_same_makes_it_stable_whoever_is_among_them() -> None:
    core = reached()
    words = [checkpoint(m) for m in (0, 2, 3)]
    assert stable(core.read(Message.CHECKPOINT, *words[:2])) == []
    (found,) = of(core.read(Message.CHECKPOINT, words[2]), t.Stable)
    assert found == t.Stable(1, 1, tuple(words))
    # Its own checkpoint is not needed any more.
    assert sent_checkpoints(core.core.handle(t.StreamRead(1, STREAM))) == []


@pytest.mark.parametrize(
    "changes",
    [{"stream": OTHERS}, {"decisions": OTHERS}, {"epoch": 2}, {"accepted_offset": 8}, {"seq": 2}],
    ids=lambda c: next(iter(c)),
)
def test_who_says_something_else_does_not_count(changes: dict[str, Any]) -> None:
    core = reached()
    assert stable(core.read(Message.CHECKPOINT, checkpoint(0), checkpoint(2), checkpoint(3, **changes))) == []
    assert stable(core.read(Message.CHECKPOINT, checkpoint(1))) == [(1, 1)]


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (checkpoint(3, shard=1), "stranger"),
        (checkpoint(3, config=1), "stranger"),
        (signed("member:2", Checkpoint(GENESIS.cluster, 0, 0, 1, 1, 7, 3, DECISIONS, STREAM)), "stranger"),
        (b"no record", "stranger"),
        (commit(3, SAID), "stranger"),
        (checkpoint(3, seq=0), "old"),
    ],
    ids=["another shard", "another configuration", "another's signature", "nothing", "another record", "of nothing"],
)
def test_what_is_no_checkpoint_is_counted_and_left(record: bytes, why: str) -> None:
    core = reached()
    before = core.core.ignored[why]
    assert core.read(Message.CHECKPOINT, checkpoint(0), checkpoint(2), record) == []
    assert core.core.ignored[why] == before + 1


def test_a_forged_one_does_not_count() -> None:
    core, body = reached(), Checkpoint(GENESIS.cluster, 0, 0, 1, 1, 7, 3, DECISIONS, STREAM)
    forged = CODEC.encode(replace(CODEC.decode(signed("member:2", body)), signer="member:3"))
    assert stable(core.read(Message.CHECKPOINT, checkpoint(0), checkpoint(2), forged)) == []
    assert stable(core.read(Message.CHECKPOINT, checkpoint(3))) == [(1, 1)]


@pytest.mark.parametrize("own_first", [True, False])
def test_who_has_read_something_else_than_what_is_stable_halts(own_first: bool) -> None:
    core = reached()
    words = [checkpoint(m) for m in (0, 2, 3)]
    found: list[t.Effect] = []
    if own_first:
        found += core.core.handle(t.StreamRead(1, OTHERS))
    found += core.read(Message.CHECKPOINT, *words)
    assert bool(of(found, t.Halt)) == own_first
    if not own_first:
        found += core.core.handle(t.StreamRead(1, OTHERS))
    (halt,) = of(found, t.Halt)
    assert "another stream than the others" in halt.reason


def test_who_lags_learns_what_is_stable_and_is_held_to_it_later() -> None:
    core = Core(interval=1)
    assert stable(core.read(Message.CHECKPOINT, *(checkpoint(m) for m in (0, 2, 3)))) == [(1, 1)]
    assert of(core.decided(), t.NeedStream) == [t.NeedStream(PLACE)]
    assert of(core.core.handle(t.StreamRead(1, OTHERS)), t.Halt)


def test_two_different_words_convict() -> None:
    core = reached()
    (noted,) = of(core.read(Message.CHECKPOINT, checkpoint(3), checkpoint(3, stream=OTHERS)), t.Noted)
    assert (noted.note, noted.message, noted.member) == (Note.CONFLICT, Message.CHECKPOINT, 3)
    record = charge(GENESIS, noted, shard=0, reporter=1)
    assert record is not None
    verdict = convict(CODEC, GENESIS, record)
    assert (verdict.accused, verdict.slot, verdict.detail) == (
        3, checkpoint_slot(0, 0, 1), "two different messages: checkpoint, sequence 1 of shard 0"
    )  # fmt: skip
    assert core.read(Message.CHECKPOINT, checkpoint(3), checkpoint(3, stream=STREAM[:31])) == []  # noted once


def test_a_liar_holds_no_more_than_its_own_few_places() -> None:
    core = reached()
    core.read(Message.CHECKPOINT, checkpoint(0), checkpoint(2), *(checkpoint(3, seq=n) for n in range(2, 100)))
    assert core.core.low_water(Message.CHECKPOINT) == 0
    assert stable(core.read(Message.CHECKPOINT, checkpoint(1))) == [(1, 1)]
    assert core.core.low_water(Message.CHECKPOINT) == 96  # of the liar's, the last four


def test_after_a_start_it_says_again_what_is_not_in_the_log() -> None:
    before = reached()
    (send,) = of(before.core.handle(t.StreamRead(1, STREAM)), t.Send)
    kept = {send.slot: SignedSlot(send.digest, send.data)}
    progress = t.Progress(2, 2, (), DECISIONS, 0, PLACE)
    for in_log in (False, True):
        core = Core(live=False, interval=1, progress=progress)
        assert of(core.core.handle(t.Restarted(kept, through=1)), t.NeedStream) == [t.NeedStream(PLACE)]
        if in_log:
            core.read(Message.CHECKPOINT, send.data)
        core.core.handle(t.CaughtUp())
        again = of(core.core.handle(t.StreamRead(1, STREAM)), t.Send)
        assert [s.data for s in again] == ([] if in_log else [send.data])


def test_what_was_signed_is_let_go_with_the_next() -> None:
    older = {checkpoint_slot(0, 0, seq): SignedSlot(b"said", b"data") for seq in (0, 1, 5)}
    core = Core(live=False, interval=1, progress=t.Progress(2, 2, (), DECISIONS, 0, PLACE))
    core.core.handle(t.Restarted(older, through=1))
    core.core.handle(t.CaughtUp())
    found = core.core.handle(t.StreamRead(1, STREAM))
    assert [s.slots for s in of(found, t.Settle)] == [(checkpoint_slot(0, 0, 0),)]


def test_what_is_stable_is_not_said_again() -> None:
    core = Core(live=False, interval=1, progress=t.Progress(2, 2, (), DECISIONS, 1, PLACE))
    core.core.handle(t.Restarted({}, through=1))
    core.core.handle(t.CaughtUp())
    assert sent_checkpoints(core.core.handle(t.StreamRead(1, STREAM))) == []
    assert core.read(Message.CHECKPOINT, checkpoint(0)) == []
    assert core.core.ignored["old"] == 1


def test_the_hashes_hold_everything_before_them() -> None:
    start = rolling.beginning(GENESIS.cluster, 0)
    assert start != rolling.beginning(GENESIS.cluster, 1)
    one, two = b"1" * 32, b"2" * 32
    assert rolling.decided(rolling.decided(start, one), two) != rolling.decided(rolling.decided(start, two), one)
    places = [(3, one, None), (4, one, None), (3, two, None), (3, one, two)]
    assert len({rolling.read(start, *place) for place in places}) == len(places)


def test_its_own_word_in_the_log_is_held_against_what_is_stable() -> None:
    core = Core(interval=1)
    found = core.read(Message.CHECKPOINT, checkpoint(1, stream=OTHERS), *(checkpoint(m) for m in (0, 2, 3)))
    assert (len(of(found, t.Stable)), len(of(found, t.Halt))) == (1, 1)


def test_strangers_leave_nothing_behind() -> None:
    core = reached()
    for member in range(100, 300):
        body = Checkpoint(GENESIS.cluster, 0, 0, 1, 1, 7, member, DECISIONS, STREAM)
        core.read(Message.CHECKPOINT, CODEC.encode(Signed(f"member:{member}", bytes(64), CODEC.encode(body))))
    assert not core.core._checkpoints._held
