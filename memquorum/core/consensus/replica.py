"""One member's part in one shard's consensus: PBFT's normal case as a function of events (DESIGN 10 to 14).

No input, output, clock or randomness: `handle` takes an event and answers effects (`transitions`). The same events in
the same order give the same effects, so a simulator can drive it and a failure can be replayed.

How it differs from the paper of 1999: the proposal is a ballot certificate whose outcome every replica computes itself;
one sequence is in flight; messages travel through a log that everybody reads, so nothing is retransmitted but on a
start; and a replica that fell behind reads on and follows the commit certificates that it finds there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from memquorum.core.avro import Codec
from memquorum.core.consensus import transitions as t
from memquorum.core.consensus.buffers import EpochBuffer, Slot
from memquorum.core.consensus.certificate import BadCertificate, Nominated, check_pre_prepare, proposal_digest
from memquorum.core.consensus.inbox import SERVICE, Inbox
from memquorum.core.consensus.membership import Genesis
from memquorum.core.consensus.messages import digest
from memquorum.core.consensus.transitions import Message, Note, Phase, Step, Timer
from memquorum.core.records import BallotCast, Commit, Prepare, PrePrepare
from memquorum.ports import SignedSlot

_WAITING = (Phase.IDLE, Phase.BALLOTING)
_LIVE = (*_WAITING, Phase.PRE_PREPARED, Phase.PREPARED)


class ShardReplica:
    """The state machine of member `me` in one shard.

    `seq` and `epoch` are the next to be decided; `sign` gives a body as an encoded `Signed` of this member; `window` is
    how many sequences ahead are kept.
    """

    def __init__(
        self,
        codec: Codec,
        genesis: Genesis,
        *,
        shard: int,
        me: int,
        sign: Callable[[bytes], bytes],
        timings: t.Timings,
        seq: int = 1,
        epoch: int = 1,
        window: int = 4,
    ) -> None:
        self.phase = Phase.IDLE
        self._codec, self._genesis, self._sign, self._timings = codec, genesis, sign, timings
        self._inbox = Inbox(codec, genesis, shard=shard, me=me, seq=seq, epoch=epoch, window=window)
        # What this identity signed before the start, by slot name, until its sequence or epoch comes.
        self._restored: dict[str, SignedSlot] = {}
        self._speaks = False
        self._effects: list[t.Effect] = []

    @property
    def seq(self) -> int:
        """The next sequence to be decided."""
        return self._inbox.seq

    @property
    def epoch(self) -> int:
        """The next epoch to be decided."""
        return self._inbox.epoch

    @property
    def view(self) -> int:
        """The current view."""
        return self._inbox.view

    @property
    def ignored(self) -> Counter[str]:
        """How many messages were not used, by reason."""
        return self._inbox.ignored

    def handle(self, event: t.Event) -> list[t.Effect]:
        """What follows from an event, to be carried out in this order."""
        if self.phase == Phase.HALTED:
            return []
        self._effects = []
        match event:
            case t.Received():
                self._received(event)
            case t.BallotReady():
                self._cast(event)
            case t.BallotRefused():
                self._refuse(event)
            case t.TimerFired():
                self._fired(event)
            case t.Restarted():
                self._restored = dict(event.signed)
                self._enter()
            case t.CaughtUp():
                self._speaks = True
                self._inbox.caught_up()
        self._run()
        if self._speaks and self.phase in _LIVE:
            self._speak()
        return self._effects

    def awaits_ballot(self, nomination: bytes) -> bool:
        """Whether this member's ballot on the nomination is still of use."""
        buffer = self._inbox.ballots()
        nominated = buffer.nominated
        return (
            self.phase == Phase.BALLOTING
            and buffer.own is None
            and nominated is not None
            and nominated.digest == nomination
        )

    def low_water(self, message: Message) -> int | None:
        """The first position of the log that a restart must read again; None: nothing is held, read on."""
        return self._inbox.low_water(message)

    # Events ------------------------------------------------------------------------------------------------------

    def _received(self, event: t.Received) -> None:
        for found in self._inbox.receive(event):
            if isinstance(found, t.Halt):
                return self._halt(found.reason)
            self._effects.append(found)
        return None

    def _cast(self, event: t.BallotReady) -> None:
        if not self.awaits_ballot(event.nomination):
            self.ignored["ballot too late"] += 1
            return
        cast = BallotCast(
            cluster=self._genesis.cluster,
            config=self._genesis.config,
            shard=self._inbox.shard,
            epoch=self.epoch,
            member=self._inbox.me,
            nomination=event.nomination,
            opinions=event.opinions,
        )
        body = self._codec.encode(cast)
        self._inbox.ballots().own = own = SignedSlot(digest(body), self._sign(body))
        self._send(Message.BALLOT, own, self.epoch)

    def _refuse(self, event: t.BallotRefused) -> None:
        if self.awaits_ballot(event.nomination):
            self._effects.append(t.Noted(Note.REFUSED, Message.NOMINATION, SERVICE, event.reason))
            self._inbox.refuse()
            self._step(Step.REFUSED)

    def _fired(self, event: t.TimerFired) -> None:
        if event.seq != self.seq:
            return
        if event.timer == Timer.BALLOT_GRACE:
            self._inbox.slot().grace_over = True
        elif event.timer == Timer.REQUEST:
            late = f"shard {self._inbox.shard}, sequence {self.seq} is still {self.phase} in view {self.view}"
            self._effects.append(t.Noted(Note.LATE, Message.PRE_PREPARE, self._inbox.primary, late))
        elif event.timer == Timer.SEARCH and self._inbox.slot().pre_prepare is None:
            self._effects.append(t.Reread(Message.PRE_PREPARE, self._inbox.proposed_after))

    # Phases: each rule takes the slot in flight one step on, or answers that it cannot -------------------------------

    def _run(self) -> None:
        rules = (self._nominated, self._proposed, self._prepared, self._committed)
        while any(rule() for rule in rules):
            pass

    def _nominated(self) -> bool:
        """A nomination is here."""
        if self.phase != Phase.IDLE or self._inbox.ballots().nominated is None:
            return False
        self._step(Step.NOMINATED)
        return True

    def _proposed(self) -> bool:
        """The primary's pre-prepare is here: check it whole, compute its outcome, stand behind it."""
        slot = self._inbox.slot()
        if self.phase not in _LIVE or slot.pre_prepare is None or slot.rejected or slot.checked is not None:
            return False
        data = slot.pre_prepare.data
        try:
            checked = check_pre_prepare(self._codec, self._genesis, data, self._inbox.ballots().verified)
            if checked.body.epoch != self.epoch:
                raise BadCertificate(f"pre-prepare: epoch {checked.body.epoch}, {self.epoch} is next")
        except BadCertificate as error:
            slot.rejected = True
            invalid = t.Noted(Note.INVALID, Message.PRE_PREPARE, self._inbox.primary, str(error), (data,))
            self._effects.append(invalid)
            return False
        slot.checked = checked
        if self.phase in _WAITING:
            self._step(Step.PROPOSED)
        return True

    def _prepared(self) -> bool:
        """q members stand behind the proposal; the primary does by its pre-prepare."""
        slot = self._inbox.slot()
        if self.phase != Phase.PRE_PREPARED or slot.checked is None:
            return False
        behind = {member for member, held in slot.prepares.items() if held.digest == slot.checked.digest}
        if len(behind | {self._inbox.primary}) < self._genesis.quorum:
            return False
        slot.prepared = slot.checked.digest
        self._step(Step.PREPARED)
        return True

    def _committed(self) -> bool:
        """q members committed: decided, whatever this replica has seen before. On with the next."""
        slot = self._inbox.slot()
        committed = slot.committed(self._genesis.quorum)
        if self.phase not in _LIVE or committed is None:
            return False
        if slot.checked is None or slot.checked.digest != committed:
            if slot.wanted is None and slot.pre_prepare is not None:
                # The primary showed this replica another proposal first; the one that counts may have gone by.
                self._effects.append(t.Reread(Message.PRE_PREPARE, slot.pre_prepare.at))
            slot.wanted = committed
            if slot.pre_prepare is None and self._speaks:
                # Most likely on its way: each log is read at its own pace. It is looked for only when it does not come.
                self._set(slot, Timer.SEARCH, self._timings.request_ms)
            return False
        self._step(Step.COMMITTED)
        self._effects.append(t.Decided(self.seq, self.epoch, slot.checked, slot.commits_on(committed)))
        self._effects += [t.CancelTimer(Timer(timer)) for timer in sorted(slot.timers)]
        self._effects += self._inbox.advance()
        self._step(Step.NEXT)
        self._enter()
        return True

    # Speaking: what this member owes the slot in flight, each once ---------------------------------------------------

    def _speak(self) -> None:
        slot, buffer = self._inbox.slot(), self._inbox.ballots()
        self._repeat(slot, buffer)
        if self.phase == Phase.BALLOTING and buffer.nominated is not None:
            if buffer.own is None and not buffer.asked:
                buffer.asked = True
                self._effects.append(t.NeedBallot(buffer.nominated))
            self._propose(slot, buffer, buffer.nominated)
        if self.phase in (Phase.PRE_PREPARED, Phase.PREPARED) and slot.checked is not None:
            if self._inbox.me != self._inbox.primary:
                self._vote(slot, Message.PREPARE, slot.checked.digest)
            if slot.prepared is not None:
                self._vote(slot, Message.COMMIT, slot.prepared)

    def _propose(self, slot: Slot, buffer: EpochBuffer, nominated: Nominated) -> None:
        """With N−f ballots the request timer starts; the primary proposes with all N, or with these after a grace."""
        if len(buffer.usable) < self._genesis.n - self._genesis.f:
            return
        self._set(slot, Timer.REQUEST, self._timings.request_ms)
        if self._inbox.me != self._inbox.primary or Message.PRE_PREPARE in slot.own:
            return
        if len(buffer.usable) < self._genesis.n and not slot.grace_over:
            self._set(slot, Timer.BALLOT_GRACE, self._timings.ballot_grace_ms)
            return
        body = PrePrepare(
            cluster=self._genesis.cluster,
            config=self._genesis.config,
            shard=self._inbox.shard,
            view=self.view,
            seq=self.seq,
            member=self._inbox.me,
            epoch=self.epoch,
            nomination=nominated.data,
            ballots=tuple(data for _, data in sorted(buffer.usable.items())),
        )
        self._say(slot, Message.PRE_PREPARE, body, proposal_digest(body))

    def _vote(self, slot: Slot, message: Message, proposal: bytes) -> None:
        if message in slot.own:
            return
        kind = Prepare if message == Message.PREPARE else Commit
        body = kind(
            cluster=self._genesis.cluster,
            config=self._genesis.config,
            shard=self._inbox.shard,
            view=self.view,
            seq=self.seq,
            member=self._inbox.me,
            digest=proposal,
        )
        self._say(slot, message, body, proposal)

    def _say(self, slot: Slot, message: Message, body: PrePrepare | Prepare | Commit, proposal: bytes) -> None:
        slot.own[message] = signed = SignedSlot(proposal, self._sign(self._codec.encode(body)))
        self._send(message, signed, self.seq)

    def _send(self, message: Message, signed: SignedSlot, number: int) -> None:
        slot = self._ballot_slot() if message == Message.BALLOT else self._slot_name(message)
        self._effects.append(t.Send(message, slot, signed.digest, signed.message, number))

    def _enter(self) -> None:
        """Recalls what was signed before the start for the slot in flight: it may not have reached the log."""
        slot, buffer = self._inbox.slot(), self._inbox.ballots()
        ballot = self._recall(Message.BALLOT, self._ballot_slot(), buffer.own)
        if ballot is not None:
            buffer.own, buffer.repeat = ballot, True
        for message in (Message.PRE_PREPARE, Message.PREPARE, Message.COMMIT):
            signed = self._recall(message, self._slot_name(message), slot.own.get(message))
            if signed is not None:
                slot.own[message] = signed
                slot.repeat.add(message)

    def _recall(self, message: Message, name: str, logged: SignedSlot | None) -> SignedSlot | None:
        signed = self._restored.pop(name, None)
        if signed is not None and logged is not None and logged.digest != signed.digest:
            self._halt(f"the log holds a {message} of this member for {name} that its sign-state does not know")
        return signed

    def _repeat(self, slot: Slot, buffer: EpochBuffer) -> None:
        """Says again what was signed before the start and has not been read from the log since."""
        me = self._inbox.me
        if buffer.repeat and buffer.own is not None and me not in buffer.ballots:
            self._send(Message.BALLOT, buffer.own, self.epoch)
        for message in sorted(slot.repeat - slot.logged(me)):
            self._send(message, slot.own[message], self.seq)
        buffer.repeat = False
        slot.repeat.clear()

    def _halt(self, reason: str) -> None:
        if self.phase != Phase.HALTED:
            self._effects.append(t.Halt(reason))
            self._step(Step.BROKEN)

    def _set(self, slot: Slot, timer: Timer, ms: int) -> None:
        if timer not in slot.timers:
            slot.timers.add(timer)
            self._effects.append(t.SetTimer(timer, ms, self.seq))

    def _ballot_slot(self) -> str:
        return t.ballot_slot(self._genesis.config, self._inbox.shard, self.epoch)

    def _slot_name(self, message: Message) -> str:
        return t.slot_name(self._genesis.config, self._inbox.shard, self.view, self.seq, message)

    def _step(self, step: Step) -> None:
        self.phase = t.after(self.phase, step)
