"""The slots of the sign-state: their names, and their order, by which it drops settled slots."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from memquorum.core.consensus.events import Kept, Message


def ballot_slot(config: int, shard: int, epoch: int, nomination: bytes = b"") -> str:
    """Returns the name under which the sign-state keeps a ballot. A member has one opinion on each nomination of an
    epoch, whatever the view. `nomination`: its digest; without one the name is the epoch's, to drop all ballots up to
    it."""
    return f"{config}/{shard}/{epoch}/{nomination.hex()}/{Message.BALLOT}"


def slot_name(config: int, shard: int, view: int, seq: int, what: Message | Kept) -> str:
    """Returns the name under which the sign-state keeps a message of a slot, or the certificate that its commit rests
    on."""
    return f"{config}/{shard}/{view}/{seq}/{what}"


def view_slot(config: int, shard: int, view: int, what: Message | Kept) -> str:
    """Returns the name under which the sign-state keeps a view change, a new view, or that it was entered: one for each
    view, whatever the sequence."""
    return f"{config}/{shard}/{view}/{what}"


def checkpoint_slot(config: int, shard: int, seq: int) -> str:
    """Returns the name under which the sign-state keeps a checkpoint."""
    return f"{config}/{shard}/{seq}/{Message.CHECKPOINT}"


class SlotName(Struct, frozen=True):
    """The parts of a slot's name. `seq` is None for a message about a view, `view` for a ballot, `epoch` and
    `nomination` for other messages; a checkpoint has only its `covered` sequence, as it is signed after that
    decision."""

    what: str
    view: int | None = None
    seq: int | None = None
    epoch: int | None = None
    covered: int | None = None
    nomination: bytes | None = None


def read_slot(slot: str) -> SlotName:
    """Splits a name that one of the functions above made."""
    _, _, *numbers, what = slot.split("/")
    if what == Message.BALLOT:
        return SlotName(what, epoch=int(numbers[0]), nomination=bytes.fromhex(numbers[1]))
    if what == Message.CHECKPOINT:
        return SlotName(what, covered=int(numbers[0]))
    if what in (Message.VIEW_CHANGE, Message.NEW_VIEW, Kept.ENTERED, Kept.BEGAN):
        return SlotName(what, view=int(numbers[0]))
    return SlotName(what, view=int(numbers[0]), seq=int(numbers[1]))


def is_decided(slot: str, seq: int, epoch: int) -> bool:
    """True if a slot of this name lies before the next sequence and epoch to be decided."""
    name = read_slot(slot)
    return (name.epoch is not None and name.epoch < epoch) or (name.seq is not None and name.seq < seq)


@lru_cache(maxsize=4096)
def series(slot: str) -> tuple[str, int]:
    """Returns the series of a slot's name and its number in it: a shard's sequences, the epochs of its ballots, its
    checkpoints, or the views of one kind of message. Along a series slots are settled in order."""
    config, shard, *numbers, what = slot.split("/")
    if what == Message.BALLOT:
        return f"{config}/{shard}/{what}", int(numbers[0])
    return (seq_series(f"{config}/{shard}") if len(numbers) > 1 else f"{config}/{shard}/{what}"), int(numbers[-1])


def seq_series(scope: str) -> str:
    """Returns the series of the sequences of a scope, which is a shard in a configuration."""
    return f"{scope}/seq"
