"""What an identity signed before it started: counted as said, and said again where the log does not hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memquorum.core.consensus.buffers import EpochBuffer, Slot
from memquorum.core.consensus.events import Kept, Message
from memquorum.core.consensus.slots import read_slot
from memquorum.ports import SignedSlot


class Recollection:
    """By slot name, until its sequence or epoch is in flight."""

    def __init__(self, signed: Mapping[str, SignedSlot]) -> None:
        self._signed = dict(signed)

    def enter(self, slot: Slot, buffer: EpochBuffer, seq: int, epoch: int) -> str | None:
        """Recalls what concerns the sequence and the epoch that are in flight now.

        Answers why this identity has to stop, if the log holds under its name what it did not sign.
        """
        for name in list(self._signed):
            of = read_slot(name)
            if of.epoch != epoch and of.seq != seq:
                continue
            signed, logged = self._signed.pop(name), None
            if of.what == Kept.PREPARED:
                slot.prove(of.view or 0, signed.message)
            elif of.epoch is not None:
                logged, buffer.own, buffer.repeat = buffer.own, signed, True
            else:
                message, held = Message(of.what), slot.round(of.view or 0)
                logged = held.own.get(message)
                held.own[message] = signed
                held.repeat.add(message)
                slot.repeat = True
            if logged is not None and logged.digest != signed.digest:
                return f"the log holds a {of.what} of this member for {name} that its sign-state does not know"
        return None


def to_repeat(slot: Slot, buffer: EpochBuffer, me: int) -> Iterator[tuple[int, Message, SignedSlot]]:
    """(view, kind, message) of what may not have reached the log and has not been read from it; answered once."""
    if buffer.repeat and buffer.own is not None and me not in buffer.ballots:
        yield 0, Message.BALLOT, buffer.own
    buffer.repeat = False
    if not slot.repeat:
        return
    slot.repeat = False
    for view, held in sorted(slot.rounds.items()):
        for message in sorted(held.repeat - held.logged(me)):
            yield view, message, held.own[message]
        held.repeat.clear()
