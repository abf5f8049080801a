"""The messages that an identity signed before it started: they count as sent, and are sent again where the log lacks
them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memquorum.core.consensus.buffers import EpochBuffer, Slot
from memquorum.core.consensus.events import Kept, Message
from memquorum.core.consensus.slots import read_slot
from memquorum.ports import SignedSlot


class Recollection:
    """Holds the signed messages, by the name of their slot, until their sequence or epoch is in flight."""

    def __init__(self, signed: Mapping[str, SignedSlot]) -> None:
        self._signed = dict(signed)

    def enter(self, slot: Slot, buffer: EpochBuffer, seq: int, epoch: int) -> str | None:
        """Recalls the messages of the sequence and the epoch that are in flight now.

        Returns why this identity has to stop, if the log holds a message in its name that it did not sign; else None.
        """
        for name in list(self._signed):
            of = read_slot(name)
            if of.epoch != epoch and of.seq != seq:
                continue
            signed, logged = self._signed.pop(name), None
            if of.what == Kept.PREPARED:
                slot.prove(of.view or 0, signed.message)
            elif of.epoch is not None:
                assert of.nomination is not None
                logged = buffer.own.get(of.nomination)
                buffer.own[of.nomination] = signed
                buffer.repeat.add(of.nomination)
            else:
                message, held = Message(of.what), slot.round(of.view or 0)
                logged = held.own.get(message)
                held.own[message] = signed
                held.repeat.add(message)
                slot.repeat = True
            if logged is not None and logged.digest != signed.digest:
                return f"the log holds a {of.what} of this member for {name} that its sign-state does not know"
        return None


def ballots_to_repeat(buffer: EpochBuffer, me: int) -> Iterator[tuple[bytes, SignedSlot]]:
    """Yields (nomination, ballot) for ballots that may not have reached the log and were not read from it; only
    once."""
    again, buffer.repeat = sorted(buffer.repeat), set()
    for nomination in again:
        if buffer.ballot(nomination, me) is None:
            yield nomination, buffer.own[nomination]


def to_repeat(slot: Slot, me: int) -> Iterator[tuple[int, Message, SignedSlot]]:
    """Yields (view, kind, message) for such messages of a sequence."""
    if not slot.repeat:
        return
    slot.repeat = False
    for view, held in sorted(slot.rounds.items()):
        for message in sorted(held.repeat - held.logged(me)):
            yield view, message, held.own[message]
        held.repeat.clear()
