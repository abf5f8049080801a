"""The messages that a member has to send for the slot in flight and for the view that it asked for, each once.

Called after every event, once the rules of `replica` have no step left. It sends only messages that the phase calls
for, and repeats only those that a crash may have lost.
"""

from __future__ import annotations

from memquorum.core.consensus import events as t
from memquorum.core.consensus.buffers import EpochBuffer, Round, Slot
from memquorum.core.consensus.events import Kept, Message, Timer
from memquorum.core.consensus.gate import Gate
from memquorum.core.consensus.inbox import Inbox
from memquorum.core.consensus.recollection import ballots_to_repeat, to_repeat
from memquorum.core.consensus.transitions import Phase
from memquorum.core.consensus.viewchange import Opening
from memquorum.core.consensus.views import Views
from memquorum.core.consensus.voice import Voice
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import digest
from memquorum.ports import SignedSlot

# Ballots have no view: a member that withheld its own while it waits for another primary would stop the others.
BALLOTS_WANTED = (Phase.BALLOTING, Phase.VIEW_CHANGING)


class Speech:
    """The messages of one member in one shard, from the state of its inbox and its views."""

    def __init__(
        self, genesis: Genesis, voice: Voice, inbox: Inbox, views: Views, *, gate: Gate, timings: t.Timings
    ) -> None:
        self._genesis, self._voice, self._inbox, self._views, self._timings = genesis, voice, inbox, views, timings
        self._shard, self._me = gate.shard, gate.me
        self._effects: list[t.Effect] = []

    def speak(self, phase: Phase, commits: tuple[bytes, ...]) -> list[t.Effect]:
        """Returns the messages for a phase. `commits`: those that decided the last sequence."""
        self._effects = []
        slot, buffer = self._inbox.slot(), self._inbox.ballots()
        held = slot.round(self._inbox.view)
        self._repeat(slot, buffer)
        if phase in BALLOTS_WANTED:
            self._ask_for_ballots(buffer)
        if phase == Phase.VIEW_CHANGING:
            self._change_view(slot, commits)
        elif phase in (Phase.IDLE, Phase.BALLOTING):
            self._propose(slot, held, buffer)
        elif held.checked is not None:
            self._start_request(slot)
            if self._me != self._inbox.primary:
                self._vote(held, Message.PREPARE, held.checked.digest)
            if held.prepared is not None:
                self._commit(slot, held, held.prepared)
        return self._effects

    def ballot(self, named: bytes, terms: bytes) -> t.Send:
        """Sends this member's ballot on a nomination of the epoch in flight. `named`: the nomination's digest."""
        epoch = self._inbox.epoch
        self._inbox.ballots().own[named] = own = self._voice.ballot(epoch, named, terms)
        return t.Send(Message.BALLOT, self._voice.ballot_slot(epoch, named), own.digest, own.message, epoch)

    def _ask_for_ballots(self, buffer: EpochBuffer) -> None:
        for each in buffer.in_order():
            named = each.nominated.digest
            if named not in buffer.asked and buffer.awaits(named):
                buffer.asked.add(named)
                self._effects.append(t.NeedBallot(each.nominated))

    def entered(self, opening: Opening) -> t.Keep:
        """Keeps the message that opened a view: a restart goes on from there."""
        return t.Keep(self._view_slot(opening.view, Kept.ENTERED), digest(opening.data), opening.data)

    def began(self) -> t.Keep:
        """Keeps that this identity has sent nothing yet, so that a lost sign-state can be told from a first start."""
        slot = self._voice.view_slot(0, Kept.BEGAN)
        return t.Keep(slot, digest(slot.encode()), b"")

    def signed_for(self, slot: Slot) -> tuple[str, ...]:
        """Returns the names of the slots that this member may have signed or kept for the sequence in flight."""
        kinds = (Message.PRE_PREPARE, Message.PREPARE, Message.COMMIT, Kept.PREPARED)
        views = [view for view, held in slot.rounds.items() if held.own]
        names = [self._voice.slot(view, self._inbox.seq, what) for view in views for what in kinds]
        return (self._voice.ballot_slot(self._inbox.epoch), *names)

    # The slot in flight ----------------------------------------------------------------------------------------------

    def _propose(self, slot: Slot, held: Round, buffer: EpochBuffer) -> None:
        """Proposes, where this member is the primary: the proposal that the view has to begin with, else a nomination
        with all N ballots, or N−f after a grace. Once a proposal is due, the request timer runs."""
        opening, best, seq = self._views.opening, buffer.best(self._genesis.n - self._genesis.f), self._inbox.seq
        first = opening.first if opening is not None and opening.seq == seq else None
        if opening is not None and seq < opening.seq:
            return  # that sequence is decided, and its commits are in the log
        if first is None and best is None:
            return
        self._start_request(slot)
        if self._me != self._inbox.primary or Message.PRE_PREPARE in held.own:
            return
        if first is not None:
            signed = self._voice.propose_again(self._inbox.view, first.body)
        elif best is None or (len(best.usable) < self._genesis.n and not slot.grace_over):
            self._effects += slot.start(Timer.BALLOT_GRACE, self._timings.ballot_grace_ms, seq, self._inbox.view)
            return
        else:
            epoch, view = self._inbox.epoch, self._inbox.view
            signed = self._voice.pre_prepare(view, seq, epoch, best.nominated.data, best.usable)
        self._say(held, Message.PRE_PREPARE, signed)

    def _commit(self, slot: Slot, held: Round, proposal: bytes) -> None:
        """Sends its commit, and keeps the proof that the proposal is prepared: a later view has to rely on it."""
        if Message.COMMIT in held.own:
            return
        assert slot.proof is not None
        name = self._voice.slot(self._inbox.view, self._inbox.seq, Kept.PREPARED)
        self._effects.append(t.Keep(name, proposal, slot.proof[1]))
        self._vote(held, Message.COMMIT, proposal)

    def _vote(self, held: Round, message: Message, proposal: bytes) -> None:
        if message not in held.own:
            self._say(held, message, self._voice.vote(message, self._inbox.view, self._inbox.seq, proposal))

    def _start_request(self, slot: Slot) -> None:
        # The primary may wait for the last ballots: that is not a fault.
        limit = self._timings.ballot_grace_ms + self._timings.request_ms
        ms = self._views.patience(limit, self._inbox.view)
        self._effects += slot.start(Timer.REQUEST, ms, self._inbox.seq, self._inbox.view)

    def _say(self, held: Round, message: Message, signed: SignedSlot) -> None:
        held.own[message] = signed
        self._send(self._voice.slot(self._inbox.view, self._inbox.seq, message), message, signed, self._inbox.seq)

    # Another view ----------------------------------------------------------------------------------------------------

    def _change_view(self, slot: Slot, commits: tuple[bytes, ...]) -> None:
        """Asks for the view, once; opens it, if q members ask and this member is its opener; else waits for a limited
        time."""
        views, view = self._views, self._views.asked
        if Message.VIEW_CHANGE not in views.own:
            proof = slot.proof[1] if slot.proof is not None else None
            self._say_of_view(Message.VIEW_CHANGE, self._voice.view_change(view, self._inbox.seq, commits, proof))
        if views.supported() and views.timed < view:
            views.timed = view
            ms = views.patience(self._timings.view_change_ms, view - 1)
            self._effects.append(t.SetTimer(Timer.VIEW_CHANGE, ms, self._inbox.seq, view))
        changes = views.view_changes() if self._me == self._genesis.opener(self._shard, view) else None
        if changes is not None and Message.NEW_VIEW not in views.own:
            self._say_of_view(Message.NEW_VIEW, self._voice.new_view(view, changes))

    def _say_of_view(self, message: Message, signed: SignedSlot) -> None:
        self._views.own[message] = signed
        self._send(self._view_slot(self._views.asked, message), message, signed, self._views.asked)

    def _view_slot(self, view: int, what: Message | Kept) -> str:
        self._views.kept.add((view, what))
        return self._voice.view_slot(view, what)

    def help(self, view: int, seq: int, commits: tuple[bytes, ...]) -> list[t.Effect]:
        """Shows others that ask for a view that the sequence is decided: `commits` proves it, and `seq` is the next
        one."""
        self._effects = []
        self._views.ask(view)
        self._say_of_view(Message.VIEW_CHANGE, self._voice.view_change(view, seq, commits, None))
        return self._effects

    # All -------------------------------------------------------------------------------------------------------------

    def _repeat(self, slot: Slot, buffer: EpochBuffer) -> None:
        """Repeats messages that were signed before the start and have not been read from the log since."""
        epoch = self._inbox.epoch
        for nomination, signed in ballots_to_repeat(buffer, self._me):
            self._send(self._voice.ballot_slot(epoch, nomination), Message.BALLOT, signed, epoch)
        for view, message, signed in to_repeat(slot, self._me):
            self._send(self._voice.slot(view, self._inbox.seq, message), message, signed, self._inbox.seq)
        view = self._views.asked
        for message in self._views.to_repeat():
            self._send(self._view_slot(view, message), message, self._views.own[message], view)

    def _send(self, slot: str, message: Message, signed: SignedSlot, number: int) -> None:
        self._effects.append(t.Send(message, slot, signed.digest, signed.message, number))
