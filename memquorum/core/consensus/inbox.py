"""Which messages count: authentic, of this shard and view, within the window, the first of its member for its slot.

The inbox knows nothing of phases. It fills the buffers of the sequence in flight and of those ahead, and answers what
is worth noting. A broker may have forged, repeated, reordered or withheld anything (DESIGN 13): nothing here trusts it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from memquorum.core.avro import Codec
from memquorum.core.consensus.buffers import EpochBuffer, Held, Slot
from memquorum.core.consensus.certificate import BadCertificate, check_nomination, check_opinions, proposal_digest
from memquorum.core.consensus.membership import Genesis
from memquorum.core.consensus.messages import BadMessage, digest, read_signed, verify
from memquorum.core.consensus.transitions import Halt, Message, Note, Noted, Received, Reread
from memquorum.core.records import BallotCast, Commit, NominationProposed, Prepare, PrePrepare, Signed
from memquorum.ports import SignedSlot

_RECORDS: dict[Message, Any] = {
    Message.NOMINATION: NominationProposed,
    Message.BALLOT: BallotCast,
    Message.PRE_PREPARE: PrePrepare,
    Message.PREPARE: Prepare,
    Message.COMMIT: Commit,
}
OF_EPOCHS = (Message.NOMINATION, Message.BALLOT)
SERVICE = -1
# Who was at the end of every log is behind by no more than the logs differ while it reads them. Far more than that.
_REACH = 1_000


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A record that was read but proves nothing yet."""

    message: Message
    data: bytes
    at: int
    signed: Signed
    record: Any

    @property
    def member(self) -> int:
        """Whose it is; SERVICE for a nomination."""
        return int(getattr(self.record, "member", SERVICE))

    @property
    def number(self) -> int:
        """What the window speaks of: the epoch or the sequence."""
        return int(self.record.epoch if self.message in OF_EPOCHS else self.record.seq)


class Inbox:
    """What one replica holds of one shard's log.

    `seq` and `epoch` are in flight; `window` is how many ahead are kept. `ignored` counts what was not used, by reason.
    """

    def __init__(
        self, codec: Codec, genesis: Genesis, *, shard: int, me: int, seq: int, epoch: int, window: int
    ) -> None:
        self.shard, self.me, self.view, self.seq, self.epoch, self.window = shard, me, 0, seq, epoch, window
        self.ignored: Counter[str] = Counter()
        self._codec, self._genesis = codec, genesis
        self._slots: dict[int, Slot] = {}
        self._epochs: dict[int, EpochBuffer] = {}
        # (kind, member) → the first (number, position) seen beyond the window. An honest member's numbers rise along
        # the log (a restart may repeat the last ones), so where its first one lies, the others follow.
        self._beyond: dict[tuple[Message, int], tuple[int, int]] = {}
        self._at_end = False
        # No proposal of the sequence in flight lies before: its ballots were cast after the one here was decided.
        self.proposed_after = 0
        self._found: list[Noted | Halt] = []

    @property
    def primary(self) -> int:
        """Who proposes in the current view."""
        return self._genesis.primary(self.shard, self.view)

    def slot(self, seq: int | None = None) -> Slot:
        """The buffer of a sequence, by default of the one in flight."""
        return self._slots.setdefault(self.seq if seq is None else seq, Slot())

    def ballots(self, epoch: int | None = None) -> EpochBuffer:
        """The buffer of an epoch, by default of the one in flight."""
        return self._epochs.setdefault(self.epoch if epoch is None else epoch, EpochBuffer())

    def advance(self) -> list[Reread]:
        """The sequence in flight is decided: what has to be read again now that the window has moved."""
        slot = self._slots.pop(self.seq, None)
        if slot is not None and slot.pre_prepare is not None:
            self.proposed_after = slot.pre_prepare.at
        self._epochs.pop(self.epoch, None)
        self.seq, self.epoch = self.seq + 1, self.epoch + 1
        again: dict[Message, int] = {}
        for (message, member), (number, at) in list(self._beyond.items()):
            if number <= self._current(message) + self.window:
                again[message] = min(at, again.get(message, at))
                del self._beyond[message, member]
        return [Reread(message, at) for message, at in sorted(again.items())]

    def caught_up(self) -> None:
        """Every log was read up to its end: what is still far ahead is a lie."""
        self._at_end = True
        self._beyond = {k: v for k, v in self._beyond.items() if v[0] - self._current(k[0]) <= _REACH}

    def low_water(self, message: Message) -> int | None:
        """The first position of the log that a restart must read again for what is held; None where nothing is."""
        buffers: tuple[Slot | EpochBuffer, ...] = (*self._slots.values(), *self._epochs.values())
        held = [h.at for buffer in buffers for kind, h in buffer.held() if kind == message]
        beyond = [at for (kind, _), (_, at) in self._beyond.items() if kind == message]
        return min((*held, *beyond), default=None)

    def receive(self, event: Received) -> list[Noted | Halt]:
        """Takes a record of the log, or counts why not. Halt means that somebody else has this member's key."""
        self._found = []
        try:
            signed, record = read_signed(self._codec, self._genesis, event.data, _RECORDS[event.message])
        except BadMessage:
            self._ignore("stranger")
            return []
        new = _Incoming(event.message, event.data, event.at, signed, record)
        if self._in_window(new):
            match new.message:
                case Message.NOMINATION:
                    self._nomination(new, self.ballots(new.number))
                case Message.BALLOT:
                    self._ballot(new, self.ballots(new.number))
                case Message.PRE_PREPARE:
                    self._pre_prepare(new, self.slot(new.number))
                case _:
                    self._vote(new, self.slot(new.number))
        return self._found

    def refuse(self) -> None:
        """Drops the nomination in flight: another one of the same epoch may take its place."""
        buffer = self.ballots()
        if buffer.nominated is not None:
            buffer.refused.add(buffer.nominated.digest)
            buffer.nominated, buffer.asked = None, False
            buffer.usable.clear()

    def _in_window(self, new: _Incoming) -> bool:
        if new.record.shard != self.shard:
            return self._ignore("stranger")
        if new.number < self._current(new.message):
            return self._ignore("old")
        if getattr(new.record, "view", self.view) != self.view:
            return self._ignore("other view")
        if new.number <= self._current(new.message) + self.window:
            return True
        if self._credible(new) and (new.message, new.member) not in self._beyond and self._authentic(new):
            self._beyond[new.message, new.member] = (new.number, new.at)
        return self._ignore("beyond the window")

    def _credible(self, new: _Incoming) -> bool:
        """Whether an honest member can be so far ahead: one that lies would pin where a restart reads until then.

        Whoever starts anew may be behind by the whole log. But every number before this one has left a record in the
        same log, since nobody goes on before one is decided, so a number says how long the log is at least.
        """
        ahead = new.number - self._current(new.message)
        return new.number <= new.at + 1 and (not self._at_end or ahead <= _REACH)

    def _nomination(self, new: _Incoming, buffer: EpochBuffer) -> None:
        """The first valid nomination of an epoch is the one that is voted on."""
        try:
            nominated = check_nomination(self._codec, self._genesis, new.data, buffer.verified)
        except BadCertificate:
            self._ignore("stranger")
            return
        if buffer.nominated is not None or nominated.digest in buffer.refused:
            self._ignore("duplicate")
            return
        buffer.nominated, buffer.nominated_at = nominated, new.at
        for member in sorted(buffer.ballots):
            self._judge(buffer, member)

    def _ballot(self, new: _Incoming, buffer: EpochBuffer) -> None:
        said, first = digest(new.signed.body), buffer.ballots.get(new.member)
        if first is not None:
            self._second(new, said, first, buffer.noted)
        elif self._genuine(new, said, buffer.own):
            if new.member == self.me:
                buffer.own = buffer.own or SignedSlot(said, new.data)
            buffer.ballots[new.member], buffer.casts[new.member] = Held(said, new.data, new.at), new.record
            self._judge(buffer, new.member)

    def _judge(self, buffer: EpochBuffer, member: int) -> None:
        """Whether a member's authentic ballot may stand in a certificate: on our nomination, every opinion good."""
        cast, data = buffer.casts[member], buffer.ballots[member].data
        if buffer.nominated is None or cast.nomination != buffer.nominated.digest:
            return
        try:
            check_opinions(self._genesis, cast, buffer.nominated)
        except BadCertificate as error:
            originals = (buffer.nominated.data, data)
            self._found.append(Noted(Note.INVALID, Message.BALLOT, member, str(error), originals))
            return
        buffer.verified.add_ballot(data, cast)
        buffer.usable[member] = data

    def _pre_prepare(self, new: _Incoming, slot: Slot) -> None:
        if new.member != self.primary:
            self._ignore("stranger")
            return
        said, first = proposal_digest(new.record), slot.pre_prepare
        if first is not None:
            self._second(new, said, first, slot.noted)
            # Only what a quorum has committed replaces what the primary showed first.
            if said == first.digest or said != slot.wanted:
                return
        if self._genuine(new, said, slot.own.get(new.message)):
            self._remember(new, said, slot)
            slot.pre_prepare, slot.rejected, slot.checked = Held(said, new.data, new.at), False, None

    def _vote(self, new: _Incoming, slot: Slot) -> None:
        """A prepare or a commit; prepares are verified only up to the quorum."""
        votes = slot.prepares if new.message == Message.PREPARE else slot.commits
        said, first = new.record.digest, votes.get(new.member)
        if first is not None:
            self._second(new, said, first, slot.noted)
        elif new.message == Message.PREPARE and said == slot.prepared:
            self._ignore("not needed")
        elif self._genuine(new, said, slot.own.get(new.message)):
            self._remember(new, said, slot)
            votes[new.member] = Held(said, new.data, new.at)

    def _second(self, new: _Incoming, said: bytes, first: Held, noted: set[tuple[Message, int]]) -> None:
        """A further message of a member for a slot: the same again is nothing, another one is evidence."""
        if said == first.digest or (new.message, new.member) in noted:
            self._ignore("duplicate")
        elif self._authentic(new):
            noted.add((new.message, new.member))
            detail = f"a different second {new.message} of member {new.member} in shard {self.shard}"
            self._found.append(Noted(Note.CONFLICT, new.message, new.member, detail, (first.data, new.data)))
            if new.member == self.me:
                self._found.append(Halt(f"{detail}, which is this one: another process has its key"))

    def _genuine(self, new: _Incoming, said: bytes, own: SignedSlot | None) -> bool:
        """Whether a first message counts: authentic and, where it bears this member's name, what this member signed."""
        if new.member != self.me or own is None:
            return self._authentic(new)
        if own.message == new.data:
            return True
        if not self._authentic(new):
            return False
        if own.digest != said:
            self._found.append(Halt(f"a {new.message} of this member that it did not sign: another has its key"))
        return own.digest == said

    def _remember(self, new: _Incoming, said: bytes, slot: Slot) -> None:
        """A message of this member that stands in the log is as good as one in its sign-state."""
        if new.member == self.me:
            slot.own.setdefault(new.message, SignedSlot(said, new.data))

    def _authentic(self, new: _Incoming) -> bool:
        try:
            verify(self._genesis, new.signed)
        except BadMessage:
            return self._ignore("stranger")
        return True

    def _current(self, message: Message) -> int:
        return self.epoch if message in OF_EPOCHS else self.seq

    def _ignore(self, why: str) -> bool:
        self.ignored[why] += 1
        return False
