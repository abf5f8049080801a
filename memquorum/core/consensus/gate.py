"""What any message must pass to count: authentic, first of its member for its slot, and not forged in our name."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct

from memquorum.core.consensus.buffers import Held
from memquorum.core.consensus.events import Halt, Message, Note, Noted, Received
from memquorum.core.consensus.slots import ballot_slot, slot_name, view_slot
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, verify
from memquorum.core.records import Signed
from memquorum.ports import SignedSlot

SERVICE = -1
OF_EPOCHS = (Message.NOMINATION, Message.BALLOT)


class Incoming(Struct, frozen=True):
    """A record that was read but proves nothing yet.

    `member`: whose it is; SERVICE for a nomination. `number`: what the window speaks of, the epoch or the sequence.
    """

    message: Message
    data: bytes
    at: int
    signed: Signed
    record: Any
    member: int
    number: int

    @property
    def view(self) -> int:
        """The view that it speaks of."""
        return int(self.record.view)


def incoming(event: Received, message: Message, signed: Signed, record: Any) -> Incoming:
    """A record of the log as it was read; `message`: its kind, as a log may hold two."""
    member = SERVICE if message == Message.NOMINATION else record.member
    number = getattr(record, "epoch" if message in OF_EPOCHS else "seq", 0)  # a new view speaks of none
    return Incoming(message, event.data, event.at, signed, record, member, number)


class Gate:
    """Asks it of one shard's messages on behalf of member `me`.

    `ignored` counts what was not used, by reason; `found` gathers what is worth noting until it is taken.
    """

    def __init__(self, genesis: Genesis, shard: int, me: int) -> None:
        self.shard, self.me = shard, me
        self.ignored: Counter[str] = Counter()
        # Whether the log holds anything that this member signed, however old: then this is not its first life.
        self.heard_itself = False
        # Whether the logs were read to their ends: from then on it matters what came first.
        self.live = False
        # The slots that the sign-state held at the start, and the last sequence that it knew to be decided: of what was
        # said up to there it may have let go.
        self.signed: frozenset[str] = frozenset()
        self.through = 0
        # Whether the log holds a message of this member that the sign-state should hold and does not.
        self.unclaimed = False
        self._genesis = genesis
        self._found: list[Noted | Halt] = []

    def take(self) -> list[Noted | Halt]:
        """What was found since this was last asked."""
        found, self._found = self._found, []
        return found

    def listen(self, new: Incoming) -> None:
        """Every message that is read passes here, also those that do not count."""
        if not self.heard_itself and new.member == self.me:
            self.heard_itself = self.authentic(new)

    def authentic(self, new: Incoming) -> bool:
        """Whether its signer signed it."""
        try:
            verify(self._genesis, new.signed)
        except BadMessage:
            return self.ignore("stranger")
        return True

    def genuine(self, new: Incoming, said: bytes, own: SignedSlot | None) -> bool:
        """Whether a first message counts: authentic and, where it bears this member's name, what this member signed."""
        if new.member != self.me or own is None:
            return self.authentic(new)
        if own.message == new.data:
            return True
        if not self.authentic(new):
            return False
        if own.digest != said:
            self._found.append(Halt(f"a {new.message} of this member that it did not sign: another has its key"))
        return own.digest == said

    def recall(self, new: Incoming, seq: int | None = None, nomination: bytes = b"") -> None:
        """Takes note of a genuine message of this member that the log holds. `seq`: the sequence that it is for; None:
        it concerns views. Where the sign-state should hold its slot and does not, the file went back."""
        if self.live or (seq is not None and seq <= self.through):
            return
        of = (self._genesis.config, self.shard)
        if new.message == Message.BALLOT:
            slot = ballot_slot(*of, new.number, nomination)
        elif seq is None:
            slot = view_slot(*of, new.view, new.message)
        else:
            slot = slot_name(*of, new.view, seq, new.message)
        self.unclaimed = self.unclaimed or slot not in self.signed

    def second(self, new: Incoming, said: bytes, first: Held, noted: set[tuple[Message, int]]) -> None:
        """A further message of a member for a slot: the same again is nothing, another one is evidence."""
        if said == first.digest or (new.message, new.member) in noted:
            self.ignore("duplicate")
        elif self.authentic(new):
            noted.add((new.message, new.member))
            detail = f"a different second {new.message} of member {new.member} in shard {self.shard}"
            self._found.append(Noted(Note.CONFLICT, new.message, new.member, detail, (first.data, new.data)))
            if new.member == self.me:
                self._found.append(Halt(f"{detail}, which is this one: another process has its key"))

    def halt(self, reason: str) -> None:
        """This identity has to stop."""
        self._found.append(Halt(reason))

    def invalid(self, message: Message, member: int, why: str, *originals: bytes) -> None:
        """An authentic message that an honest member would not have sent."""
        self._found.append(Noted(Note.INVALID, message, member, why, originals))

    def ignore(self, why: str) -> bool:
        """Counts a message that is not used."""
        self.ignored[why] += 1
        return False
