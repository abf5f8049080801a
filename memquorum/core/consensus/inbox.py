"""Decides which messages of slots and epochs count: of this shard, within the window, the first of their member.

The inbox knows nothing of phases. It fills the buffers of the sequence in flight and of those ahead, and notes faults.
A broker may have forged, repeated, reordered or withheld anything (DESIGN 13): nothing here trusts it.
"""

from __future__ import annotations

from typing import Any

from memquorum.core.avro import Codec
from memquorum.core.consensus.buffers import EpochBuffer, Held, OpenNomination, Round, Slot
from memquorum.core.consensus.certificate import BadCertificate, check_nominated, check_opinions, proposal_digest
from memquorum.core.consensus.events import Message, Received, Reread
from memquorum.core.consensus.gate import OF_EPOCHS, Gate, Incoming, incoming
from memquorum.core.consensus.trail import Trail
from memquorum.core.consensus.views import Views
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, digest, read_signed
from memquorum.core.records import BallotCast, Commit, NominationProposed, Prepare, PrePrepare
from memquorum.ports import SignedSlot

_RECORDS: dict[Message, Any] = {
    Message.NOMINATION: NominationProposed,
    Message.BALLOT: BallotCast,
    Message.PRE_PREPARE: PrePrepare,
    Message.PREPARE: Prepare,
    Message.COMMIT: Commit,
}
# A member at the end of every log falls behind by no more than the logs grow while it reads them; this is far more.
_REACH = 1_000


class Inbox:
    """The messages of one shard's log that a replica holds, for the sequences and epochs in flight and ahead.

    `seq` and `epoch` are in flight, in `view`; `window` is how many ahead are kept.
    """

    def __init__(
        self, codec: Codec, genesis: Genesis, gate: Gate, views: Views, *, seq: int, epoch: int, window: int
    ) -> None:
        self.seq, self.epoch, self.window = seq, epoch, window
        self._codec, self._genesis, self._gate, self._views = codec, genesis, gate, views
        self._slots: dict[int, Slot] = {}
        self._epochs: dict[int, EpochBuffer] = {}
        # (kind, member) → the first (number, position) seen beyond the window. An honest member's numbers rise along
        # the log (a restart may repeat the last ones), so the others lie after its first one.
        self._beyond: dict[tuple[Message, int], tuple[int, int]] = {}
        self._at_end = False
        # No proposal of the sequence in flight lies before: its ballots were cast after the previous decision.
        self.proposed_after = 0
        self.trail = Trail(genesis.f)
        # The positions to read again because a nomination arrived after ballots on it.
        self._again: list[Reread] = []

    @property
    def view(self) -> int:
        """The current view."""
        return self._views.view

    @property
    def primary(self) -> int:
        """The member that proposes for the sequence in flight in the current view."""
        return self._genesis.primary(self._gate.shard, self.view, self.seq)

    def slot(self, seq: int | None = None) -> Slot:
        """The buffer of a sequence, by default of the one in flight."""
        number = self.seq if seq is None else seq
        return self._slots.get(number) or self._slots.setdefault(number, Slot())

    def round(self) -> Round:
        """Returns the buffer of the sequence in flight in the current view."""
        return self.slot().round(self._views.view)

    def ballots(self, epoch: int | None = None) -> EpochBuffer:
        """The buffer of an epoch, by default of the one in flight."""
        number = self.epoch if epoch is None else epoch
        return self._epochs.get(number) or self._epochs.setdefault(number, EpochBuffer())

    def advance(self, proposed_at: int) -> list[Reread]:
        """Moves the window after a decision whose proposal stands at `proposed_at`. Returns where to read again."""
        self.trail.leave(self._slots.pop(self.seq, Slot()), self._epochs.pop(self.epoch, EpochBuffer()))
        self.proposed_after = proposed_at
        self.seq, self.epoch = self.seq + 1, self.epoch + 1
        again: dict[Message, int] = {}
        for (message, member), (number, at) in list(self._beyond.items()):
            if number <= self._current(message) + self.window:
                again[message] = min(at, again.get(message, at))
                del self._beyond[message, member]
        self.trail.go_on(self._slots, self._epochs, {member for _, member in self._beyond}, self.seq, self.epoch)
        return [Reread(message, at) for message, at in sorted(again.items())]

    def lacks_proposal(self) -> bool:
        """True if q members committed a proposal of the sequence in flight that has not arrived."""
        rounds = self.slot().rounds.values()
        return any(held.wanted is not None and held.pre_prepare is None for held in rounds)

    def search(self) -> list[Reread]:
        """Returns the positions from which the logs have to hold the missing messages."""
        if self.lacks_proposal():
            return [Reread(Message.PRE_PREPARE, self.proposed_after)]
        return self.trail.back()

    def caught_up(self) -> None:
        """Notes that every log was read up to its end: messages that are still far ahead are lies."""
        self._at_end = True
        self._beyond = {k: v for k, v in self._beyond.items() if v[0] - self._current(k[0]) <= _REACH}

    def low_water(self, message: Message) -> int | None:
        """Returns the first position of the log that a restart must read again; None if it holds no message."""
        buffers: tuple[Slot | EpochBuffer, ...] = (*self._slots.values(), *self._epochs.values())
        held = [h.at for buffer in buffers for kind, h in buffer.held() if kind == message]
        beyond = [at for (kind, _), (_, at) in self._beyond.items() if kind == message]
        if message == Message.BALLOT:
            beyond += [each.let_go for each in self._epochs.values() if each.let_go is not None]
        if message == Message.COMMIT:
            beyond += [at for slot in self._slots.values() for at in slot.let_go.values()]
        return min((*held, *beyond), default=None)

    def receive(self, event: Received) -> None:
        """Takes a record of the log, or counts why not."""
        self.trail.reads(event)
        try:
            signed, record = read_signed(self._codec, self._genesis, event.data, _RECORDS[event.message])
        except BadMessage as error:
            self._gate.unread(error)
            return
        new = incoming(event, event.message, signed, record)
        self._gate.listen(new)
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

    def refuse(self, nomination: bytes) -> None:
        """Notes that this member does not vote on a nomination in flight. Others' ballots on it still count."""
        self.ballots().nominations[nomination].refused = True

    def _in_window(self, new: Incoming) -> bool:
        if new.record.shard != self._gate.shard:
            return self._gate.ignore("other shard")
        if new.number < self._current(new.message):
            return self._gate.ignore("old")
        if new.message not in OF_EPOCHS and new.view < (self.view if new.message == Message.PREPARE else 0):
            return self._gate.ignore("old view")
        if new.number <= self._current(new.message) + self.window:
            return True
        # A record in transit while the log was read again lies behind the noted position, and must not replace it.
        known = self._beyond.get((new.message, new.member))
        if self._credible(new) and (known is None or new.at < known[1]) and self._gate.authentic(new):
            self._beyond[new.message, new.member] = (new.number, new.at)
            self.trail.meets(new.member)
        return self._gate.ignore("beyond the window")

    def _credible(self, new: Incoming) -> bool:
        """True if an honest member can be so far ahead. A liar could otherwise pin the position of a restart.

        A member that starts new may be behind by the whole log. But every number before this one has left a record in
        the same log, since no member goes on before it is decided: so a number cannot exceed the log's length.
        """
        ahead = new.number - self._current(new.message)
        return new.number <= new.at + 1 and (not self._at_end or ahead <= _REACH)

    def _nomination(self, new: Incoming, buffer: EpochBuffer) -> None:
        """Admits a valid nomination of an epoch, as far as there is room."""
        try:
            nominated = check_nominated(self._codec, self._genesis, new.signed, new.record, new.data)
        except BadCertificate:
            self._gate.ignore("invalid nomination")
            return
        if nominated.digest in buffer.nominations:
            self._gate.ignore("duplicate")
            return
        entry = buffer.admit(nominated, new.at)
        if entry is None:
            self._gate.ignore("too many nominations")
            return
        for held, cast in buffer.claim(nominated.digest).values():
            self._count(buffer, entry, held, cast)
        if (missed := buffer.missed()) is not None:
            self._again.append(Reread(Message.BALLOT, missed))

    def _ballot(self, new: Incoming, buffer: EpochBuffer) -> None:
        named, said = new.record.nomination, digest(new.signed.body)
        first = buffer.ballot(named, new.member)
        if first is not None:
            self._gate.second(new, said, first, buffer.noted)
        elif self._gate.genuine(new, said, buffer.own.get(named)):
            if new.member == self._gate.me:
                self._gate.recall(new, self.seq, named)
                buffer.own.setdefault(named, SignedSlot(said, new.data))
            if new.number > self.epoch:
                self.trail.meets(new.member)
            held, entry = Held(said, new.data, new.at), buffer.nominations.get(named)
            if entry is not None:
                self._count(buffer, entry, held, new.record)
            else:
                buffer.set_aside(new.member, held, new.record)

    def _count(self, buffer: EpochBuffer, entry: OpenNomination, held: Held, cast: BallotCast) -> None:
        """Adds a member's authentic ballot to a nomination; only valid opinions make it part of a certificate."""
        entry.ballots[cast.member] = held
        try:
            ballot = check_opinions(self._genesis, cast, entry.nominated)
        except BadCertificate as error:
            self._gate.invalid(Message.BALLOT, cast.member, str(error), entry.nominated.data, held.data)
            return
        buffer.verified.add_ballot(held.data, ballot)
        entry.usable[cast.member] = held.data

    def _pre_prepare(self, new: Incoming, slot: Slot) -> None:
        if new.member != self._genesis.primary(self._gate.shard, new.view, new.record.seq):
            self._gate.ignore("not the primary")
            return
        said, held = proposal_digest(new.record), slot.rounds.get(new.view) or Round()
        if held.pre_prepare is not None:
            self._gate.second(new, said, held.pre_prepare, held.noted)
            # Only a proposal that a quorum has committed replaces the one that the primary showed first.
            if said == held.pre_prepare.digest or said != held.wanted:
                return
        self._hold(new, said, slot, held)
        if self._gate.live and new.record.epoch == self.epoch:
            shown = new.record.nomination
            known = (each.usable for each in self.ballots().nominations.values() if each.nominated.data == shown)
            slot.round(new.view).had = frozenset(next(known, ()))

    def _vote(self, new: Incoming, slot: Slot) -> None:
        """Takes a prepare or a commit. Prepares are verified only up to the quorum."""
        held = slot.rounds.get(new.view) or Round()
        said, first = new.record.digest, held.votes(new.message).get(new.member)
        if first is not None:
            if self._more(new, said, first, held):
                self._gate.second(new, said, first, held.noted)
        elif new.message == Message.PREPARE and said == held.prepared:
            self._gate.ignore("not needed")
        else:
            self._hold(new, said, slot, held)

    def _more(self, new: Incoming, said: bytes, first: Held, held: Round) -> bool:
        """True if a liar's further vote may be its own. It counts too: others may have decided by it."""
        if said == first.digest or (new.message, new.member, said) in held.more:
            return True
        room, key = held.takes_more(new.message, new.member, said), (new.message, new.member)
        if room or new.at < held.over.get(key, new.at + 1):
            if not self._gate.authentic(new):
                return False
            if room:
                held.more[new.message, new.member, said] = Held(said, new.data, new.at)
            else:
                held.over[key] = new.at
        return True

    def sought(self) -> list[Reread]:
        """Returns the positions to read again because there was no room for a message when it was read."""
        again, self._again = self._again, []
        # A primary's pre-prepare stands for its prepare, so one prepare less makes a quorum.
        for held in self.slot().rounds.values():
            if held.over:
                again += [Reread(message, at) for message, at in held.seek(self._genesis.quorum - 1).items()]
        at = self.slot().seek(self._genesis.quorum) if self.slot().let_go else None
        return again if at is None else [*again, Reread(Message.COMMIT, at)]

    def _hold(self, new: Incoming, said: bytes, slot: Slot, held: Round) -> None:
        if not self._gate.genuine(new, said, held.own.get(new.message)):
            return
        slot.hold(new.message, new.member, new.view, Held(said, new.data, new.at), self.view)
        if new.number > self.seq:
            self.trail.meets(new.member)
        if new.member == self._gate.me:
            self._gate.recall(new, new.number)
            # A message of this member in the log counts like one in its sign-state.
            slot.round(new.view).own.setdefault(new.message, SignedSlot(said, new.data))

    def _current(self, message: Message) -> int:
        return self.epoch if message in OF_EPOCHS else self.seq
