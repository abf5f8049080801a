"""A dropped commit is read again where it may be the last one needed."""

from __future__ import annotations

from memquorum.core.consensus.buffers import Held, Slot
from memquorum.core.consensus.events import Message

QUORUM, LIAR = 3, 3
WANTED, OTHER = b"wanted", b"other"


def commit(slot: Slot, member: int, view: int, at: int, digest: bytes = WANTED, *, current: int = 9) -> None:
    slot.hold(Message.COMMIT, member, view, Held(digest, b"signed", at), current)


def flooded() -> Slot:
    """A liar committed in view 2, which others have counted, and then in six others."""
    slot = Slot()
    commit(slot, LIAR, 2, at=10)
    for at, view in enumerate((1, 3, 4, 5, 6, 7), 11):
        commit(slot, LIAR, view, at, OTHER)
    assert 2 not in slot.rounds
    return slot


def test_it_is_asked_for_once_others_lack_only_this_one() -> None:
    slot = flooded()
    commit(slot, 0, 2, at=20)
    assert slot.seek(QUORUM) is None
    commit(slot, 1, 2, at=21)
    assert slot.seek(QUORUM) == 10 and slot.seek(QUORUM) is None


def test_what_was_asked_for_is_held_whatever_comes_behind_it() -> None:
    slot = flooded()
    commit(slot, 0, 2, at=20)
    commit(slot, 1, 2, at=21)
    slot.seek(QUORUM)
    commit(slot, LIAR, 2, at=10)
    for at, view in enumerate((1, 3, 4, 5, 6, 7), 11):
        commit(slot, LIAR, view, at, OTHER)
    assert slot.committed(QUORUM) == (2, WANTED)


def test_a_liar_has_no_more_room_than_that() -> None:
    slot = flooded()
    for at, view in enumerate(range(100, 1_100), 30):
        commit(slot, LIAR, view, at, OTHER)
    assert len(slot.rounds) <= 5 and slot.let_go == {LIAR: 10}


def test_what_a_quorum_has_already_is_not_asked_for() -> None:
    slot = flooded()
    for member in (0, 1, 2):
        commit(slot, member, 2, at=20 + member)
    assert slot.seek(QUORUM) is None
