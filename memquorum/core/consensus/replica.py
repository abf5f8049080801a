"""One member's part in one shard's consensus: PBFT as a function of events (DESIGN 10 to 14).

No input, output, clock or randomness: `handle` takes an event and returns effects (`events`). The same events in
the same order give the same effects, so a simulator can drive it and a failure can be replayed.

Differences from the paper of 1999: the proposal is a ballot certificate whose outcome every replica computes itself;
one sequence is in flight; messages travel through a log that all members read, so they are sent again only after a
start; a replica that fell behind reads on and follows the commit certificates that it finds there; and a view change
proves its sequence by the decision before it instead of by a checkpoint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from operator import call

from memquorum.core.avro import Codec
from memquorum.core.consensus import events as t
from memquorum.core.consensus import rolling
from memquorum.core.consensus.buffers import Round, Slot
from memquorum.core.consensus.certificate import BadCertificate, Checked, check_pre_prepare
from memquorum.core.consensus.checkpoints import INTERVAL, Checkpoints
from memquorum.core.consensus.events import Message, Note, Timer
from memquorum.core.consensus.gate import SERVICE, Gate
from memquorum.core.consensus.inbox import Inbox
from memquorum.core.consensus.recollection import Recollection
from memquorum.core.consensus.search import Search
from memquorum.core.consensus.silence import Silence
from memquorum.core.consensus.speech import BALLOTS_WANTED, Speech
from memquorum.core.consensus.transitions import Phase, Step, after
from memquorum.core.consensus.viewchange import Committed
from memquorum.core.consensus.views import Views
from memquorum.core.consensus.voice import Voice
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import Prepared

_WAITING = (Phase.IDLE, Phase.BALLOTING)
_ACTING = (*_WAITING, Phase.PRE_PREPARED, Phase.PREPARED)
_LIVE = (*_ACTING, Phase.VIEW_CHANGING)
_BEGINNING = t.Progress()


class ShardReplica:
    """The state machine of member `me` in one shard.

    `progress` is where it begins; `sign` returns a body as an encoded `Signed` of this member; `window`: how many
    sequences ahead are kept; `interval`: the number of decisions between checkpoints; `closed`: another configuration
    follows.
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
        progress: t.Progress = _BEGINNING,
        window: int = 4,
        interval: int = INTERVAL,
        closed: bool = False,
    ) -> None:
        self.phase = Phase.CLOSED if closed else Phase.IDLE
        self._codec, self._genesis, self._timings, self._shard, self._me = codec, genesis, timings, shard, me
        self.gate = Gate(genesis, shard, me)
        self._views = Views(codec, genesis, self.gate)
        self._inbox = Inbox(
            codec, genesis, self.gate, self._views, seq=progress.seq, epoch=progress.epoch, window=window
        )
        self._commits = progress.commits
        voice = Voice(codec, genesis, shard=shard, me=me, sign=sign)
        self._checkpoints = Checkpoints(codec, genesis, self.gate, voice, progress=progress, interval=interval)
        self._speech = Speech(genesis, voice, self._inbox, self._views, gate=self.gate, timings=timings)
        self._search = Search(self._inbox, self._views, timings)
        self._recollection = Recollection({})
        self.silence = Silence(genesis, me, progress)
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
        return self._views.view

    @property
    def speaks(self) -> bool:
        """True if it may send messages: see rule 8 of `transitions`."""
        return self.silence.over(self.seq)

    @property
    def ignored(self) -> Counter[str]:
        """The number of messages that were not used, by reason."""
        return self.gate.ignored

    def handle(self, event: t.Event) -> list[t.Effect]:
        """Handles an event; returns the effects, to be carried out in this order."""
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
            case t.StreamRead():
                self._checkpoints.read(event)
                self._take_found()
            case t.TimerFired(Timer.SILENCE):
                self.silence.waited()
            case t.TimerFired() if self.phase in _LIVE:
                self._fired(event)
            case t.Restarted():
                self._restart(event)
            case t.CaughtUp():
                self._catch_up()
        self._run()
        # A member that may have lost its sign-state claims no slot in it before it speaks: else the next start would
        # not notice the loss.
        unkept = self._views.unkept
        if unkept is not None and (self.speaks or not self.silence.fresh):
            self._effects.append(self._speech.entered(unkept))
        if self.speaks and self.phase in _LIVE:
            self._effects += self._speech.speak(self.phase, self._commits)
        if self.speaks and self.phase in (*_LIVE, Phase.CLOSED):
            self._effects += self._checkpoints.speak()
        self._effects += self._search.look(live=self.gate.live and self.phase in _LIVE)
        return self._effects

    def awaits_ballot(self, nomination: bytes) -> bool:
        """True if this member's ballot on the nomination is still of use."""
        return self.phase in BALLOTS_WANTED and self._inbox.ballots().awaits(nomination)

    def low_water(self, message: Message) -> int | None:
        """Returns the first position of the log that a restart must read again; None: no message is held, read on."""
        if message == Message.CHECKPOINT:
            return self._checkpoints.low_water()
        return self._views.low_water() if message == Message.VIEW_CHANGE else self._inbox.low_water(message)

    # Events ------------------------------------------------------------------------------------------------------

    def _received(self, event: t.Received) -> None:
        if event.message == Message.VIEW_CHANGE:
            self._views.receive(event, self.seq)
        elif event.message == Message.CHECKPOINT:
            self._effects += self._checkpoints.receive(event)
        else:
            self._inbox.receive(event)
            self._effects += self._inbox.sought()
        self._take_found()

    def _take_found(self) -> None:
        for found in self.gate.take():
            if isinstance(found, t.Halt):
                return self._halt(found.reason)
            self._effects.append(found)
        return None

    def _restart(self, event: t.Restarted) -> None:
        self._recollection = Recollection(event.signed)
        self.gate.signed, self.gate.through = frozenset(event.signed), event.through
        self._effects += self.silence.begin(event, self._timings)
        self._views.restore(event.signed)
        self._effects += self._checkpoints.begin(event.signed)
        self._enter_slot()
        if self._views.waiting and self.phase in _LIVE:
            self._step(Step.SUSPECTED)

    def _catch_up(self) -> None:
        self.gate.live = True
        self._inbox.caught_up()
        if self.gate.unclaimed:
            self._effects += self.silence.went_back(self._timings)
        if self.silence.catch_up(self.seq, heard_itself=self.gate.heard_itself):
            # Its first start. Kept before everything else: a crash before its first message must not look like a loss.
            self._effects.append(self._speech.began())

    def _cast(self, event: t.BallotReady) -> None:
        if not self.awaits_ballot(event.nomination):
            self.ignored["ballot too late"] += 1
            return
        self._effects.append(self._speech.ballot(event.nomination, event.terms))

    def _refuse(self, event: t.BallotRefused) -> None:
        if self.awaits_ballot(event.nomination):
            self._effects.append(t.Noted(Note.REFUSED, Message.NOMINATION, SERVICE, event.reason))
            self._inbox.refuse(event.nomination)
            if self.phase == Phase.BALLOTING and not self._inbox.ballots().stands():
                self._step(Step.REFUSED)

    def _fired(self, event: t.TimerFired) -> None:
        if event.timer == Timer.VIEW_CHANGE:
            if self._views.waiting and event.view == self._views.asked:
                late = f"shard {self._shard}: nobody has opened view {event.view}"
                self._effects.append(
                    t.Noted(Note.LATE, Message.NEW_VIEW, self._genesis.opener(self._shard, event.view), late)
                )
                self._ask(event.view + 1)
            return
        if event.timer == Timer.SEARCH:
            self._effects += self._search.fired(event)
            return
        if (event.seq, event.view) != (self.seq, self.view) or self._views.waiting:
            return
        self._inbox.slot().timers.discard(event.timer)
        if event.timer == Timer.BALLOT_GRACE:
            self._inbox.slot().grace_over = True
        elif event.timer == Timer.REQUEST:
            late = f"shard {self._shard}, sequence {self.seq} is still {self.phase} in view {self.view}"
            self._effects.append(t.Noted(Note.LATE, Message.PRE_PREPARE, self._inbox.primary, late))
            self._ask(self.view + 1)

    # Rules: each moves the replica one step on, or returns False ------------------------------------------------------

    def _run(self) -> None:
        rules = (self._called, self._opened, self._nominated, self._proposed, self._prepared, self._committed)
        while any(map(call, rules)):
            pass

    def _called(self) -> bool:
        """Joins when f+1 members ask for a higher view: one of them is honest and has a reason."""
        view = self._views.called() if self.speaks and self.phase in (*_LIVE, Phase.CLOSED) else None
        if view is None:
            return False
        if self.phase != Phase.CLOSED:
            self._ask(view)
        else:  # it needs no other view, and shows the others that the sequence is decided
            self._effects += self._speech.help(view, self.seq + self.silence.ended, self._commits)
        return True

    def _opened(self) -> bool:
        """Enters a higher view when its opener has shown that q members asked for it."""
        opening = self._views.enter() if self.phase in _LIVE else None
        if opening is None:
            return False
        slot, buffer = self._inbox.slot(), self._inbox.ballots()
        self._effects += slot.stop_timers()
        # The grace of the ballots was over in the view before.
        slot.grace_over = True
        # An answer that arrived in the meantime was not used.
        buffer.asked.clear()
        self._effects.append(t.CancelTimer(Timer.VIEW_CHANGE))
        self._effects.append(t.Entered(opening.view, self._primary(opening.view)))
        self._settle(self._views.behind())
        self._step(Step.NEW_VIEW)
        return True

    def _nominated(self) -> bool:
        """Starts balloting when a nomination is here."""
        if self.phase != Phase.IDLE or not self._inbox.ballots().stands():
            return False
        self._step(Step.NOMINATED)
        return True

    def _proposed(self) -> bool:
        """Accepts the primary's pre-prepare: checks it whole, computes its outcome, and stands behind it."""
        held = self._inbox.round() if self.phase in _WAITING else None
        if held is None or held.pre_prepare is None or held.invalid or held.not_this_view:
            return False
        checked = self._check(held, self.view)
        if checked is not None and not self._views.allows(self.seq, checked.digest):
            held.not_this_view, opening = True, self._views.opening
            assert opening is not None
            # Another member that opened the view may have shown the proposer another new view: then it proves no fault.
            alone = self._genesis.opener(self._shard, self.view) == self._inbox.primary
            originals = (held.pre_prepare.data, opening.data) if alone else ()
            self._invalid(self.view, f"view {self.view} has to begin with another proposal", *originals)
        if checked is None or held.not_this_view:
            if self.speaks:
                # This view can prepare nothing else, whoever is at fault: waiting is useless.
                self._ask(self.view + 1)
            return False
        self._step(Step.PROPOSED)
        return True

    def _check(self, held: Round, view: int) -> Checked | None:
        """Returns the pre-prepare of a view's round, checked whole; None if it does not hold."""
        if held.checked is not None or held.pre_prepare is None or held.invalid:
            return held.checked
        data = held.pre_prepare.data
        try:
            checked = check_pre_prepare(self._codec, self._genesis, data, self._inbox.ballots().verified)
        except BadCertificate as error:
            held.invalid = True
            self._invalid(view, str(error), data)
            return None
        if checked.body.epoch != self.epoch:
            held.invalid = True
            # This member knows the next epoch, the message does not show it: no proof for others.
            self._invalid(view, f"pre-prepare: epoch {checked.body.epoch}, {self.epoch} is next")
            return None
        held.checked = checked
        return checked

    def _invalid(self, view: int, why: str, *originals: bytes) -> None:
        self._effects.append(t.Noted(Note.INVALID, Message.PRE_PREPARE, self._primary(view), why, originals))

    def _prepared(self) -> bool:
        """Commits when q members stand behind the proposal, the primary by its pre-prepare."""
        held = self._inbox.round() if self.phase == Phase.PRE_PREPARED else None
        if held is None or held.checked is None or held.pre_prepare is None:
            return False
        others = held.prepares_on(held.checked.digest, self._inbox.primary)
        if len(others) + 1 < self._genesis.quorum:
            return False
        held.prepared = held.checked.digest
        proof = Prepared(held.pre_prepare.data, tuple(others.values())[: self._genesis.quorum - 1])
        self._inbox.slot().prove(self.view, self._codec.encode(proof))
        self._step(Step.PREPARED)
        return True

    def _committed(self) -> bool:
        """Decides when q members have committed, in any view and whatever this replica has seen; the next sequence
        begins."""
        slot = self._inbox.slot()
        found = self._decision(slot) if self.phase in _LIVE else None
        if found is None:
            return False
        held, committed = slot.round(found.view), found.digest
        checked = self._check(held, found.view) if held.pre_prepare and held.pre_prepare.digest == committed else None
        if checked is None or held.pre_prepare is None:
            self._want(held, committed)
            return False
        self._commits = found.commits[: self._genesis.quorum]
        self._step(Step.COMMITTED)
        decided = rolling.decided(self._checkpoints.decisions, committed)
        left_out = held.had - {ballot.member for ballot in checked.ballots}
        decision = t.Decided(self.seq, self.epoch, checked, found.commits, decided, tuple(sorted(left_out)))
        self._effects += [decision, *self._checkpoints.decided(decision)]
        self._effects += [t.Settle(self._speech.signed_for(slot), self.seq), *slot.stop_timers()]
        # no further message of the slot is needed: the next configuration's come after it
        if checked.configures is not None:
            self.silence.end()
            self._step(Step.CONFIGURED)
            return True
        self._views.calm(self.seq)
        self._effects += self._inbox.advance(held.pre_prepare.at)
        self._step(Step.SUSPECTED if self._views.waiting else Step.NEXT)
        self._enter_slot()
        return True

    def _decision(self, slot: Slot) -> Committed | None:
        """Returns the proposal that q members committed, by the log of commits, or by the proof of a member that asks
        for a view."""
        found = slot.committed(self._genesis.quorum)
        if found is None:
            return self._views.decided(self.seq)
        view, committed = found
        return Committed(self.seq, view, committed, slot.round(view).commits_on(committed))

    def _want(self, held: Round, committed: bytes) -> None:
        """Notes a proposal that q members committed and that is not here. Most likely it is still on its way, as each
        log is read at its own pace; `search` looks for it when it does not arrive."""
        if held.wanted is None and held.pre_prepare is not None:
            # The primary showed this replica another proposal first; the committed one may have been passed over.
            self._effects.append(t.Reread(Message.PRE_PREPARE, held.pre_prepare.at))
        held.wanted = committed

    def _ask(self, view: int) -> None:
        """Asks for another primary; from now on this member acts in no lower view."""
        self._effects += self._inbox.slot().stop_timers()
        self._views.ask(view)
        self._settle(self._views.behind())
        self._step(Step.SUSPECTED)

    def _enter_slot(self) -> None:
        """Recalls the messages that were signed for the slot in flight before the start: they may not have reached the
        log."""
        conflict = self._recollection.enter(self._inbox.slot(), self._inbox.ballots(), self.seq, self.epoch)
        if conflict is not None:
            self._halt(conflict)

    def _halt(self, reason: str) -> None:
        if self.phase != Phase.HALTED:
            self._effects.append(t.Halt(reason))
            self._step(Step.BROKEN)

    def _settle(self, slots: tuple[str, ...]) -> None:
        if slots:
            self._effects.append(t.Settle(slots))

    def _primary(self, view: int) -> int:
        return self._genesis.primary(self._shard, view, self.seq)

    def _step(self, step: Step) -> None:
        self.phase = after(self.phase, step)
