"""A member's seat in one shard: its consensus core, its walk along the accepted stream, its timers and its ballot.

It has no Kafka and no sign-state: messages to send go to `outbox`, logs to read again to `rereads`, proofs of faults to
`accuser`, and the loop of `workers.replica.worker` handles all three.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from db.view import View
from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.commit.applying import Accepted
from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import BadCertificate, Checked, check_decision, follow
from memquorum.core.consensus.reliability import FRESH, WINDOW
from memquorum.core.experience.rounds import Round
from memquorum.core.identity.keys import Sign
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal import resting
from memquorum.core.records import Decided, EpisodeScored, MemoryReencoded
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import MemoryState
from memquorum.core.vote.tally import Outcome
from memquorum.ports import SignConflict, SignState
from memquorum.telemetry.bundle import Stage
from workers.kafka.own_clock import OwnClock
from workers.replica.accuser import Accuser
from workers.replica.casting import Casting, answers
from workers.replica.configuration_role import Part, mute, take
from workers.replica.judge import Judge
from workers.replica.repeated_trials import settle
from workers.replica.stream_follower import Walk
from workers.replica.vote_telemetry import VoteWatch

_LOG = logging.getLogger("memquorum.replica")

LOGS: Mapping[t.Message, str] = {
    t.Message.NOMINATION: topics.NOMINATIONS,
    t.Message.BALLOT: topics.BALLOTS,
    t.Message.PRE_PREPARE: topics.PRE_PREPARES,
    t.Message.PREPARE: topics.PREPARES,
    t.Message.COMMIT: topics.COMMITS,
    t.Message.VIEW_CHANGE: topics.VIEW_CHANGES,
    t.Message.CHECKPOINT: topics.CHECKPOINTS,
}
"""The logs, by the kind of message that they are read for."""
TOPIC_OF = {**LOGS, t.Message.NEW_VIEW: topics.VIEW_CHANGES}
"""The topic of each kind of message."""
_MESSAGES = {topic: message for message, topic in LOGS.items()}

# A lagging member must not accuse a primary whose message it has not read yet: an expired time limit counts only once
# the logs were read to their ends. It counts after `_LAG_S` in any case: otherwise a flood of the logs could keep a bad
# primary in office. It also does not search for messages that it has merely not read yet.
_FOR_GOOD = 2**53
_LAG_S = 10.0
_LAG_LOOK_S = 0.25
_OF_PRIMARIES = (t.Timer.REQUEST, t.Timer.VIEW_CHANGE, t.Timer.SEARCH)


class Seat:
    """One shard of one replica. Everything runs within the view's batch of the turn."""

    def __init__(
        self,
        codec: Codec,
        genesis: Genesis,
        view: View,
        judge: Judge,
        *,
        shard: int,
        me: int,
        sign: Callable[[Genesis], Sign | None],
        timings: t.Timings,
        signed: SignState,
        clock: Callable[[], float],
        own_clock: OwnClock | None = None,
        shown: Stage | None = None,
        prepares: bool = True,
    ) -> None:
        """`genesis`: the genesis file's configuration; the seat continues from there to the one that its view knows.
        `sign`: signs for this member in a configuration; None if it is no member of that, or lacks its key there.

        `clock`: seconds that never run backwards. `own_clock`: the clock to compare a vote's time with; None if the
        fleet's time is driven. `prepares`: see `Casting`; of a process's seats one does.
        """
        genesis = follow(codec, genesis, view.configured(shard))
        self.shard, self.walk = shard, Walk(codec, view, genesis, me=me, shard=shard)
        self.outbox: list[t.Send | t.Keep] = []
        self.settled: list[str] = []
        # By scope of the sign-state, the last decided sequence.
        self.through: dict[str, int] = {}
        self.rereads: dict[t.Message, int] = {}
        self.positions: dict[str, int] = {}
        self.live = False
        # The reason to follow the journal, where the logs do not show the others' decisions; empty: it need not be.
        self.wants_journal = ""
        self._ended: set[str] = set()
        # The logs without further records when they were last read.
        self._at_end: set[str] = set()
        self._codec, self._view, self._judge, self._clock = codec, view, judge, clock
        # The positions of the logs when all of them had been read to their ends; before that, the positions at the
        # start. Decisions at later positions were not made by then, so no message can have been signed in a
        # configuration that follows from them.
        self._since: dict[str, int] = {}
        # The configuration that begins once its decision is stable, and the first offsets of its messages by topic.
        self._next: Genesis | None = None
        self._pinned: dict[str, int] = {}
        # True if the logs had been read to their ends when it was decided.
        self._lived = False
        self._timers: dict[t.Timer, tuple[float, t.TimerFired]] = {}
        # The place of a checkpoint that waits for the walk.
        self._reached: t.Reached | None = None
        progress = view.progress(shard)
        self._heard_itself = progress.lived
        self.watch = VoteWatch(genesis, shard, progress.epoch, shown)
        self._casting = Casting(codec, view, self.walk, judge, self.watch, shard=shard, clock=clock,
                                own_clock=own_clock, prepares=prepares)  # fmt: skip
        self.accuser = Accuser(codec, genesis, shard=shard, me=me, sign=mute, meters=self.watch.shown.meters)
        self._take_part = partial(take, codec, view, signed, shard=shard, me=me, sign=sign, timings=timings)
        if genesis.previous is not None and progress.seq == genesis.begins and progress.stable < genesis.begins - 1:
            self._next, genesis = genesis, genesis.previous
            self._pinned = {topic: view.position(topic, shard) or 0 for topic in LOGS.values()}
        self._begin(genesis, None)

    def _begin(self, genesis: Genesis, before: Part | None, *, lived: bool = False) -> None:
        """Takes part in a configuration, from the view's position; silent until the logs are read to their ends."""
        self.genesis = genesis
        self._part = part = self._take_part(genesis, closed=self._next is not None, before=before, lived=lived)
        self.core = part.core
        self.settled += part.over
        self.walk.follow(genesis)
        self.watch.follow(genesis)
        self._casting.follow(genesis)
        self.accuser.follow(genesis, part.sign)
        self._carry_out(self.core.handle(part.began))

    def _reconfigure(self, genesis: Genesis) -> None:
        """Enters another configuration. Messages of faster members in it were ignored: they are read again."""
        self.rereads |= {message: self._pinned[topic] for message, topic in LOGS.items()}
        lived, self._lived, self.live = self._lived, False, False
        # Messages read meanwhile were read for the previous configuration.
        self._next, self._since, self._pinned = None, self._pinned, {}
        self._ended.clear()
        self._at_end.clear()
        self._timers.clear()
        self._casting.drop()
        self._begin(genesis, self._part, lived=lived)
        self._keep_places()
        _LOG.warning("shard %d: configuration %d begins at sequence %d", self.shard, genesis.config, genesis.begins)

    # Records -------------------------------------------------------------------------------------------------------

    def take(self, topic: str, offset: int, data: bytes) -> None:
        """Takes a record of one of the shard's partitions."""
        self._since = self._since or dict(self.positions)
        self.positions[topic] = offset + 1
        message = _MESSAGES.get(topic)
        if message is not None:
            self._at_end.discard(topic)
            self._carry_out(self.core.handle(t.Received(message, data, offset)))
            return
        try:
            record = self._codec.decode(data)
        except DecodeError as error:
            _LOG.warning("%s/%d@%d is passed over: %s", topic, self.shard, offset, error)
            record = None
        if topic == topics.REENCODED:
            if isinstance(record, MemoryReencoded):
                self._view.reencoded(
                    record.memory_id,
                    record.previous,
                    record.encoder,
                    memory_seq=record.memory_seq,
                    sealed_embedding=record.sealed_embedding,
                )
            self._view.move(self.shard, {topic: offset + 1})
        elif topic == topics.REHEARSED:
            self.walk.rehearse(offset, data)
        elif topic == topics.SCORED and isinstance(record, EpisodeScored):
            self.walk.score(offset, record, data)
        elif topic == topics.ACCEPTED and isinstance(record, Accepted):
            self.walk.accept(offset, record, data)
        elif topic == topics.ACCEPTED:
            self.walk.skip(offset)

    def follow(self, decided: Decided) -> None:
        """Takes a decision from the journal, where the logs begin too late: the core checks it like any other."""
        self._since = self._since or dict(self.positions)
        if self._next is not None:
            # It has not read yet whether the checkpoint is stable. But the members of the next configuration knew it.
            try:
                check_decision(self._codec, self._next, decided.pre_prepare, decided.commits)
            except BadCertificate as error:
                where = f"shard {self.shard}: the journal's sequence {decided.seq}"
                _LOG.warning("%s does not hold and is passed over: %s", where, error)
                return
            self._reconfigure(self._next)
        said = [(t.Message.PRE_PREPARE, decided.pre_prepare), *((t.Message.COMMIT, data) for data in decided.commits)]
        for message, data in said:
            self._carry_out(self.core.handle(t.Received(message, data, self.positions[LOGS[message]])))

    def skip(self, topic: str, offset: int) -> None:
        """Skips a record without reading it."""
        self._at_end.discard(topic)
        self.positions[topic] = offset + 1
        if topic == topics.ACCEPTED:
            self.walk.skip(offset)

    # Time ----------------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Advances the walk, casts ballots that can be cast, fires timers."""
        # Not before it has compared the records it read itself with the stable state, too: a member that differs halts.
        waits = self._next is None or self._reached is not None
        if self._next is not None and not waits and self._view.progress(self.shard).stable >= self._next.begins - 1:
            self._reconfigure(self._next)
        if self.core.gate.heard_itself and not self._heard_itself:
            self._heard_itself = True
            self._view.lives(self.shard)
        self.walk.go()
        self._tell_stream()
        while (answer := self._casting.answer(self.core)) is not None:
            self._carry_out(self.core.handle(answer))
        now = self._clock()
        for timer, (when, fired) in list(self._timers.items()):
            # Another timer of this turn may have stopped or restarted it.
            if self._timers.get(timer) != (when, fired):
                continue
            if when <= now and not (timer in _OF_PRIMARIES and self._lags(now - when)):
                del self._timers[timer]
                self._carry_out(self.core.handle(fired))

    def _lags(self, overdue_s: float) -> bool:
        return overdue_s < _LAG_S and len(self._at_end) < len(LOGS)

    def end(self, topic: str) -> None:
        """Notes that a partition was read to its end. Once all logs were, and none is to be read again, it may sign."""
        message = _MESSAGES.get(topic)
        if message is not None and message not in self.rereads:
            self._at_end.add(topic)
            if len(self._at_end) == len(LOGS):
                self._since = dict(self.positions)
        if self.live or message is None or message in self.rereads:
            return
        self._ended.add(topic)
        if len(self._ended) == len(LOGS):
            self.live = True
            self._carry_out(self.core.handle(t.CaughtUp()))
            if self.core.silence.behind:
                _LOG.critical(
                    "shard %d: the log holds what this member signed and its sign-state does not: the file went back, "
                    "by a damaged disk or an old copy. It is silent until what is in flight is decided without it",
                    self.shard,
                )

    def wake_at(self) -> float:
        """Returns the time at which `turn` has work without a new record; infinity: never."""
        # A time limit that waits for the logs is examined again when a record or an end comes, and at intervals.
        now = self._clock()
        soon = now + _LAG_LOOK_S if len(self._at_end) < len(LOGS) else 0.0
        times = [max(when, soon) if timer in _OF_PRIMARIES else when for timer, (when, _) in self._timers.items()]
        return min([*times, self._casting.look_at(now)])

    def unsure_of_end(self) -> bool:
        """True if a nomination names an offset of the accepted stream that has not been read for a while."""
        return self._casting.unsure_of_end()

    def told_end(self, end: int | None) -> None:
        """Takes the broker's answer: the next offset of the accepted stream; None if it does not answer."""
        self._casting.told_end(end)

    def _tell_stream(self) -> None:
        """Tells the core the stream's state at the offset that it asked for, once it is read."""
        if self._reached is None or self.walk.next_accepted <= self._reached.accepted_offset:
            return
        seq, at, self._reached = self._reached.seq, self._reached.accepted_offset, None
        stream = self._view.stream_at(self.shard, at)
        if stream is None:
            # A vote is only cast on a tick that is known, so q members read one there, or it is long ago.
            _LOG.warning("shard %d: no checkpoint of sequence %d: no tick at accepted offset %d", self.shard, seq, at)
            return
        self._carry_out(self.core.handle(t.StreamRead(seq, stream)))

    # Effects -------------------------------------------------------------------------------------------------------

    def _carry_out(self, effects: list[t.Effect]) -> None:
        for effect in effects:
            match effect:
                case t.Send() | t.Keep():
                    self._say(effect)
                case t.Settle():
                    self._settle(effect)
                case t.NeedBallot():
                    self._casting.ask(effect)
                case t.NeedStream():
                    self._reached = effect.reached
                    self._view.reached(self.shard, effect.reached)
                case t.Stable():
                    self._stable(effect)
                case t.SetTimer() | t.CancelTimer():
                    self._time(effect)
                case t.Decided():
                    self._decided(effect)
                case t.Entered() | t.Noted():
                    self._tell(effect)
                case t.NeedDecisions():
                    self.wants_journal = effect.why
                case t.Reread():
                    self.rereads[effect.message] = min(effect.at, self.rereads.get(effect.message, effect.at))
                    self._ended.discard(LOGS[effect.message])
                    self._keep_places()
                case t.Halt():
                    raise SignConflict(f"shard {self.shard}: {effect.reason}")

    def _time(self, effect: t.SetTimer | t.CancelTimer) -> None:
        if isinstance(effect, t.CancelTimer):
            self._timers.pop(effect.timer, None)
            return
        fired = t.TimerFired(effect.timer, effect.seq, effect.view)
        self._timers[effect.timer] = (self._clock() + effect.ms / 1000, fired)

    def _tell(self, effect: t.Entered | t.Noted) -> None:
        if isinstance(effect, t.Entered):
            self.watch.entered(effect)
            _LOG.warning("shard %d: view %d, member %d is primary", self.shard, effect.view, effect.primary)
            return
        _LOG.warning("shard %d: %s (%s): %s", self.shard, effect.note, effect.message, effect.detail)
        self.accuser.noted(effect)

    def _settle(self, effect: t.Settle) -> None:
        if self._part.listens:
            return
        self.settled += effect.slots
        if effect.through:
            self.through[self._part.scope] = effect.through

    def settles(self) -> tuple[list[str], dict[str, int]]:
        """Returns, once, what may be deleted of the sign-state: slots, and by scope the last decided sequence."""
        if self._part.unsure:
            return [], {}
        found, self.settled, self.through = (self.settled, self.through), [], {}
        return found

    def _say(self, effect: t.Send | t.Keep) -> None:
        # A listener writes nothing to the sign-state: it would look like the record of sent messages.
        if not self._part.listens:
            self.outbox.append(effect)
            if isinstance(effect, t.Send):
                self.watch.says(effect)

    def _keep_places(self) -> None:
        """Notes the offset at which a restart begins each log: of the messages that the core holds for later slots, or
        asked to read again.

        The core forgets an offset as soon as it has asked, and the loop seeks there only after this batch.
        """
        places: dict[str, int] = {}
        for message, topic in LOGS.items():
            wanted = (
                self.positions.get(topic), self.core.low_water(message), self.rereads.get(message),
                self._pinned.get(topic),
            )  # fmt: skip
            if topic in self.positions:
                places[topic] = min(place for place in wanted if place is not None)
        self._view.move(self.shard, places)

    def _stable(self, stable: t.Stable) -> None:
        self._view.stable(self.shard, stable.seq)
        self._keep_places()
        self.watch.stable(stable)
        _LOG.info("shard %d: sequence %d, epoch %d, is a stable checkpoint", self.shard, stable.seq, stable.epoch)

    def _decided(self, decided: t.Decided) -> None:
        checked = decided.checked
        self.watch.decided(decided)
        decided_now = [o for o in checked.outcomes if o.decided]
        taken = [o for o in decided_now if KINDS[o.kind].seals]
        forgotten = [i for o in taken for i in KINDS[o.kind].taken(o.memory_ids)]
        # A superseded memory may be restored at any time; so forgotten ones are remembered as long, without a key.
        kept = any(KINDS[o.kind].supersedes for o in taken)
        self._view.decided(
            self.shard,
            seq=decided.seq,
            epoch=decided.epoch,
            commits=decided.commits,
            decisions=decided.decisions,
            forgotten=forgotten,
            until=_FOR_GOOD if kept else checked.nomination.as_of + self._part.genesis.policy.forget.grace_ms,
            restored=[i for o in decided_now for i in KINDS[o.kind].revived(o.memory_ids)],
            restored_at=checked.nomination.proposals[0].last_access,
            accepted_offset=checked.nomination.accepted_offset,
            read=self.walk.next_accepted,
        )
        at = Round(decided.epoch, checked.nomination_digest, checked.nomination.accepted_offset)
        self._view.experience.decided(self.shard, at)
        settle(self._codec, self._view, checked, self._part.genesis)
        self._view.weights.went(decided.epoch, checked.nomination.as_of, _went(checked))
        self._move(checked, decided_now)
        back = [i for o in decided_now if KINDS[o.kind].brings_back for i in KINDS[o.kind].revived(o.memory_ids)]
        until = resting.brought_back(decided.epoch, self._part.genesis.policy)
        self._view.weights.rest(self.shard, decided.epoch, back, until)
        for order in answers(self._codec, checked):
            self._view.answer(self.shard, *order)
        self._view.show(self.shard, decided.seq, (b.member for b in checked.ballots), keep=WINDOW + FRESH)
        if checked.configures is not None:
            self._next, self._lived = checked.configures, self.live
            self._view.configure(self.shard, checked.configures.config, checked.data, decided.commits)
            held = {topic: self.core.low_water(message) for message, topic in LOGS.items()}
            since = {topic: self._since[topic] for topic in LOGS.values()}
            self._pinned = {topic: at if (low := held[topic]) is None else min(low, at) for topic, at in since.items()}
        self._keep_places()
        self._judge.forget(forgotten)
        if not all(KINDS[o.kind].about_memories for o in decided_now):
            self._judge.close()
        _LOG.info(
            "shard %d: epoch %d decided in view %d by %d ballots: %d of %d proposals passed",
            self.shard,
            decided.epoch,
            checked.body.view,
            len(checked.ballots),
            len(decided_now),
            len(checked.outcomes),
        )

    def _move(self, checked: Checked, decided: Sequence[Outcome]) -> None:
        """Notes the new tiers of memories, as far as the member knows their old ones."""
        weights, policy, spaces = self._view.weights, self._part.genesis.policy, checked.nomination.proposals
        names = {proposal.memory_ids: proposal.namespace for proposal in spaces}
        for one in decided:
            kind, namespace = KINDS[one.kind], names[one.memory_ids]
            tiers = [weights.tier(namespace, memory_id) for memory_id in one.memory_ids]
            if not kind.about_memories or None in tiers:
                continue
            found = [
                MemoryState(tier=tier or "", alive=True, namespace=namespace, memory_id=memory_id)
                for memory_id, tier in zip(one.memory_ids, tiers, strict=True)
            ]
            fates = kind.effect(found, one.confidence_ppm, checked.nomination.as_of, policy)
            moved = {i: fate.tier for i, fate in zip(one.memory_ids, fates, strict=True) if fate is not None}
            weights.moved(namespace, moved)


def _went(checked: Checked) -> Mapping[str, int]:
    """Counts the memories of each namespace that a decision removes and that count against its caps."""
    went = Counter[str]()
    for proposal, outcome in zip(checked.nomination.proposals, checked.outcomes, strict=True):
        if outcome.decided and KINDS[outcome.kind].capped:
            went[proposal.namespace] += len(proposal.memory_ids)
    return went
