"""The checks that every message has to pass to count: authentic, the first of its member for its slot, and not forged
in this member's name."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

from msgspec import Struct

from memquorum.core.consensus.buffers import Held
from memquorum.core.consensus.events import Halt, Message, Note, Noted, Received
from memquorum.core.consensus.slots import ballot_slot, slot_name, view_slot
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, LaterFormat, verify
from memquorum.core.records import Signed
from memquorum.ports import SignedSlot

SERVICE = -1
LATER = "later format"
"""The reason for which authentic messages of a later release are not used."""
OF_EPOCHS = (Message.NOMINATION, Message.BALLOT)


class Incoming(Struct, frozen=True):
    """A record that was read but proves nothing yet.

    `member`: the member that signed it; SERVICE for a nomination. `number`: its place in the window, the epoch or the
    sequence.
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
        """The view of the message."""
        return int(self.record.view)


def incoming(event: Received, message: Message, signed: Signed, record: Any) -> Incoming:
    """Wraps a record of the log as it was read. `message`: its kind, as a log may hold two."""
    member = SERVICE if message == Message.NOMINATION else record.member
    number = getattr(record, "epoch" if message in OF_EPOCHS else "seq", 0)  # a new view speaks of none
    return Incoming(message, event.data, event.at, signed, record, member, number)


class Gate:
    """Checks the messages of one shard on behalf of member `me`.

    `ignored` counts the messages that were not used, by reason; `found` gathers observations until they are taken.
    """

    def __init__(self, genesis: Genesis, shard: int, me: int) -> None:
        self.shard, self.me = shard, me
        self.ignored: Counter[str] = Counter()
        # True once the log was seen to hold a message of this member, however old: then this is not its first start.
        self.heard_itself = False
        # True once the logs were read to their ends: from then on the order of arrival matters.
        self.live = False
        # The slots that the sign-state held at the start, and the last sequence that it knew to be decided: it may have
        # dropped the messages up to there.
        self.signed: frozenset[str] = frozenset()
        self.through = 0
        # True if the log holds a message of this member that the sign-state should hold and lacks.
        self.unclaimed = False
        self._genesis = genesis
        self._found: list[Noted | Halt] = []

    def take(self) -> list[Noted | Halt]:
        """Returns the observations since the last call."""
        found, self._found = self._found, []
        return found

    def listen(self, new: Incoming) -> None:
        """Takes every message that is read, even if it does not count, and notes those of this member."""
        if not self.heard_itself and new.member == self.me:
            self.heard_itself = self.authentic(new)

    def authentic(self, new: Incoming) -> bool:
        """True if the signature is valid."""
        try:
            verify(self._genesis, new.signed)
        except BadMessage:
            return self.ignore("stranger")
        return True

    def unread(self, error: BadMessage) -> None:
        """Counts a message that cannot be read. One of this cluster in a format of a later release has a reason of its
        own."""
        why = "stranger"
        if isinstance(error, LaterFormat):
            with suppress(BadMessage):
                verify(self._genesis, error.signed)
                why = LATER
        self.ignore(why)

    def genuine(self, new: Incoming, said: bytes, own: SignedSlot | None) -> bool:
        """True if a first message counts: it is authentic and, in this member's name, the one that this member
        signed."""
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
        """Notes a genuine message of this member in the log. `seq`: its sequence; None: it is about views. If the
        sign-state should hold its slot and does not, the file was restored from an older state."""
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
        """Handles a further message of a member for a slot: an equal one is ignored, a different one is evidence."""
        if said == first.digest or (new.message, new.member) in noted:
            self.ignore("duplicate")
        elif self.authentic(new):
            noted.add((new.message, new.member))
            detail = f"a different second {new.message} of member {new.member} in shard {self.shard}"
            self._found.append(Noted(Note.CONFLICT, new.message, new.member, detail, (first.data, new.data)))
            if new.member == self.me:
                self._found.append(Halt(f"{detail}, which is this one: another process has its key"))

    def halt(self, reason: str) -> None:
        """Stops this identity."""
        self._found.append(Halt(reason))

    def invalid(self, message: Message, member: int, why: str, *originals: bytes) -> None:
        """Notes an authentic message that an honest member would not have sent."""
        self._found.append(Noted(Note.INVALID, message, member, why, originals))

    def ignore(self, why: str) -> bool:
        """Counts a message that is not used. Returns False."""
        self.ignored[why] += 1
        return False
