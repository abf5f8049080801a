"""One replica as its process runs it: it reads, passes to the core, keeps its view, claims and sends, in this order.

It does what `workers.replica.seat` and `workers.replica.worker` do, on a fake disk and a fake broker, and can be made
to die at every point between two of these.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memquorum.core.consensus import events as t
from memquorum.core.consensus.events import Message
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.slots import is_decided
from memquorum.ports import SignConflict
from tests.simulation.broker import LOGS
from tests.simulation.disk import Disk, DiskError, ViewFile
from tests.simulation.ordered import answered
from tests.simulation.plan import MS
from tests.simulation.raising import RuleFailed

if TYPE_CHECKING:
    from memquorum.core.identity.membership import Genesis
    from tests.simulation.world import World

WINDOW = 2
_TURN = 100  # µs: the shortest time of a turn
_BATCH = 50
_LAG = 10_000 * MS
_AGAIN = 1_000 * MS  # the supervisor restarts a process that an error has ended
_LOOK = 250 * MS
_WHEN = itemgetter(0)
_OF_PRIMARIES = (t.Timer.REQUEST, t.Timer.VIEW_CHANGE, t.Timer.SEARCH)


class Crash(Exception):
    """The process has crashed."""


class Node:
    """A member's process. `face` tells the twins of one identity apart; `reader` is its name at the broker."""

    honest = True

    def __init__(self, world: World, me: int, reader: int) -> None:
        self.world, self.me, self.reader = world, me, reader
        self.disk = Disk(sync_every=1 + world.dice.roll(6, "sync", reader))
        self.core: ShardReplica | None = None
        self.armed: list[tuple[str, int, int]] = []  # faults that wait for a turn: (kind, number, down for)
        self.lost: list[bool] = []  # the next records: lost, and whether the process is told
        self.thrice = 0
        self.mute_until = 0
        self.stalled: dict[Message, int] = {}
        self.rate = 100  # per cent: the speed of its clock
        self.amiss = False  # messages were lost that only a restart sends again
        self.wake_at: int | None = None
        self.lives = 0
        self._busy_until = 0
        self._begin(ViewFile())

    def _begin(self, view: ViewFile) -> None:
        """Sets everything that a crash loses."""
        self.positions = dict(zip(LOGS, view.positions, strict=True))
        self.rereads: dict[Message, int] = {}
        self.timers: dict[t.Timer, tuple[int, t.TimerFired]] = {}
        self.ballots: list[tuple[int, t.NeedBallot]] = []
        self.streams: list[tuple[int, t.Reached]] = []
        self.outbox: list[t.Send | t.Keep] = []
        self.settled: list[str] = []
        self.through: dict[str, int] = {}
        # The configuration that begins once the decision for it is stable, and where its messages may stand by log.
        self.next: Genesis | None = None
        self.pinned: dict[Message, int] = {}
        self.lived = False
        self.since = dict(self.positions)
        self.live = False
        self.behind = False  # the logs do not show what the others have decided
        self.ends: dict[Message, int] = {}
        self.view = view

    # Life and death -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts a new process on the disk's state."""
        logs = self.world.broker.logs
        if any(at > len(logs[message]) for message, at in zip(LOGS, self.disk.view.positions, strict=True)):
            self.world.tell(self, "finds the log shorter than it has read it: its view file is deleted")
            self.disk.wipe()
        self._begin(self.disk.view)
        self.lives += 1
        self.ends = {message: len(log) for message, log in logs.items()}
        world, view = self.world, self.view
        world.tell(self, f"starts at sequence {view.progress.seq}")
        low = world.broker.low
        late = any(at < low[message] for message, at in self.positions.items())
        self.positions = {message: max(at, low[message]) for message, at in self.positions.items()}
        genesis, progress = view.configured[-1] if view.configured else world.first, view.progress
        if genesis.previous and progress.seq == genesis.begins and progress.stable < genesis.begins - 1:
            self.next, genesis, self.pinned = genesis, genesis.previous, dict(self.positions)
        self._sit(genesis)
        if late:
            self._follow_journal()
        self.turn()

    def _sit(self, genesis: Genesis, *, lived: bool = False) -> None:
        """Takes the member's part in a configuration, as `workers.replica.configuration_role`."""
        world, signed, shard = self.world, self.disk.signed, self.world.plan.shard
        self.genesis, self.scope = genesis, f"{genesis.config}/{shard}"
        self.listens = genesis.member(self.me) is None
        said, progress = signed.load(f"{self.scope}/"), self.view.progress
        over = [slot for slot in said if is_decided(slot, progress.seq, progress.epoch)]
        self.settled += over
        self.core = world.make_core(self, self.view, genesis, closed=self.next is not None)
        through = 2**62 if self.listens else signed.through(self.scope)
        known = lived or self.listens or any(not signed.fresh(f"{c}/{shard}") for c in range(genesis.config + 1))
        self._do(t.Restarted({s: v for s, v in said.items() if s not in over}, through, not known))

    def _goes_on(self) -> bool:
        stable = self.next is not None and self.view.progress.stable >= self.next.begins - 1
        return stable and not self.streams

    def _reconfigure(self) -> None:
        """Goes on in another configuration, as `Seat`, and reads its messages again."""
        assert self.next is not None
        genesis, self.next = self.next, None
        logs, low = self.world.broker.logs, self.world.broker.low
        for message in LOGS:
            self.rereads[message] = max(low[message], self.pinned[message])
        lived, self.lived, self.live = self.lived, False, False
        self.since, self.pinned = self.pinned, {}
        self.ends = {message: len(log) for message, log in logs.items()}
        self.timers.clear()
        self.ballots.clear()
        self.world.tell(self, f"goes on in configuration {genesis.config}")
        self._sit(genesis, lived=lived)
        self._keep_places()

    def _follow_journal(self) -> None:
        """Takes decisions that the logs hold no more from the journal, with their proofs."""
        for seq, (pre_prepare, commits) in sorted(self.world.journal.items()):
            for message, data in ((Message.PRE_PREPARE, pre_prepare), *((Message.COMMIT, data) for data in commits)):
                # A liar's core may have ended.
                if self.next is not None and seq >= self.next.begins:
                    self._reconfigure()
                if self.core is not None and seq >= self.core.seq:
                    self._do(t.Received(message, data, self.positions[message]))

    def crash(self, down: int) -> None:
        """Ends the process, and restarts it after a while."""
        if self.core is None:
            return
        self.core = None
        self.world.tell(self, "is down")
        self.world.at(self.world.now + max(down, MS), self._restart)

    def _restart(self) -> None:
        if self.core is None:
            self.start()

    # Turns ----------------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Runs a turn if one is due now; the scheduler calls it."""
        if self.wake_at == self.world.now:
            self.wake_at = None
            self.turn()

    def expect(self, when: int) -> None:
        """Schedules a turn at a time."""
        when = max(when, self._busy_until, self.world.now)
        if self.wake_at is None or when < self.wake_at:
            self.wake_at = when
            self.world.at(when, self.wake)

    def turn(self) -> None:
        """Handles everything that is due, then the disk, then the log."""
        if self.core is None:
            return
        self._busy_until = self.world.now + _TURN
        try:
            if self._goes_on():
                self._reconfigure()
                self._finish()
            self._read_all()
            if not self.live:
                self._catch_up()
            if self.ballots:
                self._vote()
            if self.streams:
                self._read_streams()
            if self.behind:
                self.behind = False
                self._follow_journal()
                if self.core is None:
                    return  # the core of a liar
            if self.timers and min(self.timers.values(), key=_WHEN)[0] <= self.world.now:
                self._fire()
            self._live()
            self._finish()
        except Crash as crash:
            self.crash(int(crash.args[0]))
        except DiskError as error:
            self.world.tell(self, f"stops: {error}")
            self.crash(50 * MS)
        except RuleFailed:
            self.world.tell(self, "ends: a rule raised")
            self.crash(_AGAIN)
        if self.core is not None:
            self._plan()

    def _read_all(self) -> None:
        """Reads what Kafka has fetched, log by log, from any of them first."""
        now, lines, stalled = self.world.now, self.world.broker.arrivals[self.reader], self.stalled
        due = [
            message
            for message, at in self.positions.items()
            if at < len(line := lines[message]) and line[at] <= now and (not stalled or now >= stalled.get(message, 0))
        ]
        if len(due) > 1:
            first = self.world.dice.roll(len(due), "first log", self.reader, now)
            due = due[first:] + due[:first]
        for message in due:
            self._read(message, lines[message])
        if not self.rereads and all(at == len(lines[message]) for message, at in self.positions.items()):
            self.since = dict(self.positions)

    def _read(self, message: Message, line: list[int]) -> None:
        broker, now = self.world.broker, self.world.now
        for _ in range(_BATCH):
            at = self.positions[message]
            if at < broker.low[message]:
                raise Crash(20 * MS)  # Kafka has no such offset any more
            if at >= len(line) or line[at] > now:
                return
            self.positions[message] = at + 1
            data = broker.read(self.reader, message, at)
            if data is not None and (self.honest or self.hears(message, data)):
                self._do(t.Received(message, data, at))

    def hears(self, message: Message, data: bytes) -> bool:
        """True if the core takes a record."""
        return True

    def _fire(self) -> None:
        for timer, (when, fired) in sorted(self.timers.items()):
            if when > self.world.now or (timer in _OF_PRIMARIES and self._lags(self.world.now - when)):
                continue
            if self.timers.get(timer) == (when, fired):
                del self.timers[timer]
                self.world.tell(self, f"its {timer} timer runs out", minor=True)
                self._do(fired)

    def _lags(self, overdue: int) -> bool:
        """Delays accusations of a primary while the member has not read its logs to their ends, as `Seat`."""
        now, lines = self.world.now, self.world.broker.arrivals[self.reader]
        # A log with a hanging fetch looks like one without anything new.
        behind = any(
            at < len(lines[m]) and lines[m][at] <= now and self.stalled.get(m, 0) <= now
            for m, at in self.positions.items()
        )
        return overdue < _LAG and behind

    def _vote(self) -> None:
        due = [need for when, need in self.ballots if when <= self.world.now]
        self.ballots = [(when, need) for when, need in self.ballots if when > self.world.now]
        for need in due:
            assert self.core is not None
            digest = need.nominated.digest
            if not self.core.awaits_ballot(digest):
                continue
            if self.world.refuses(need.nominated):
                self._do(t.BallotRefused(digest, "its own view says otherwise"))
            else:
                self._do(t.BallotReady(digest, self.world.terms(self, need.nominated)))

    def _catch_up(self) -> None:
        if self.rereads or any(self.positions[m] < end for m, end in self.ends.items()):
            return
        self.live = True
        self._do(t.CaughtUp())

    def _plan(self) -> None:
        """Plans the next turn."""
        now, lines = self.world.now, self.world.broker.arrivals[self.reader]
        times = [when if when > now else now + _LOOK for when, _ in self.timers.values()]
        times += [when for when, _ in (*self.ballots, *self.streams)]
        times += [now] if self._goes_on() or self.behind else []
        for message, at in self.positions.items():
            if at < len(line := lines[message]):
                times.append(max(line[at], self.stalled.get(message, 0)) if self.stalled else line[at])
        if times:
            self.expect(min(times))

    # Effects --------------------------------------------------------------------------------------------------------

    def _do(self, event: t.Event) -> None:
        assert self.core is not None
        effects = self.core.handle(event)
        self.world.events += 1
        for effect in effects:
            self._carry_out(effect)
        if self.honest:
            self.world.watch.stepped(self)

    def _carry_out(self, effect: t.Effect) -> None:
        world = self.world
        match effect:
            case t.Send() | t.Keep() if not self.listens:
                self.outbox.append(effect)
            case t.NeedBallot():
                wait = world.dice.pick((0, 1, 20), "judging", self.me, effect.nominated.record.epoch) * MS
                self.ballots.append((world.now + wait, effect))
            case t.NeedStream():
                self.view = replace(self.view, progress=replace(self.view.progress, reached=effect.reached))
                wait = world.dice.pick((0, 1, 20), "reading", self.me, effect.reached.seq) * MS
                self.streams.append((world.now + wait, effect.reached))
            case t.Stable():
                self._stable(effect)
            case t.SetTimer():
                when = world.now + effect.ms * MS * 100 // self.rate
                self.timers[effect.timer] = (when, t.TimerFired(effect.timer, effect.seq, effect.view))
            case t.CancelTimer():
                self.timers.pop(effect.timer, None)
            case t.Decided():
                self._decided(effect)
            case t.Noted():
                world.tell(self, f"notes {effect.note}: {effect.detail}", minor=True)
                if self.honest:
                    world.watch.noted(self, effect)
            case t.NeedDecisions():
                self.behind = True
            case t.Reread():
                self.rereads[effect.message] = min(effect.at, self.rereads.get(effect.message, effect.at))
                self._keep_places()
            case t.Settle():
                self.settled += effect.slots
                if effect.through:
                    self.through[self.scope] = effect.through
            case t.Entered():
                world.tell(self, f"enters view {effect.view}, member {effect.primary} is primary")
            case t.Halt():
                self.halted(effect.reason)

    def halted(self, reason: str) -> None:
        """Notes that the core stops for good. No honest one ever has a reason to."""
        self.world.watch.halted(self, reason)

    def _decided(self, effect: t.Decided) -> None:
        self.world.decided(self, effect)
        before = self.view.progress
        after = replace(
            before, seq=effect.seq + 1, epoch=effect.epoch + 1, commits=effect.commits, decisions=effect.decisions
        )
        shown = (*self.view.shown, (effect.seq, frozenset(ballot.member for ballot in effect.checked.ballots)))
        self.view = replace(self.view, progress=after, shown=shown)
        order = answered(self.world.codec, effect.checked)
        if order is not None:
            self.view = replace(self.view, answered=self.view.answered | {order})
        configures = effect.checked.configures
        if configures is not None:
            self.next, self.lived = self.world.known(configures), self.live
            self.view = replace(self.view, configured=(*self.view.configured, self.next))
            assert self.core is not None
            held = {message: self.core.low_water(message) for message in LOGS}
            self.pinned = {m: at if (low := held[m]) is None else min(low, at) for m, at in self.since.items()}
        self._keep_places()

    def _stable(self, effect: t.Stable) -> None:
        progress = self.view.progress
        reached = progress.reached if progress.reached is not None and progress.reached.seq >= effect.seq else None
        self.view = replace(self.view, progress=replace(progress, stable=effect.seq, reached=reached))
        self._keep_places()
        self.world.stable(self, effect)

    def _read_streams(self) -> None:
        """Reports progress late where a member lags in the accepted stream."""
        due = [reached for when, reached in self.streams if when <= self.world.now]
        self.streams = [(when, reached) for when, reached in self.streams if when > self.world.now]
        for reached in due:
            self._do(t.StreamRead(reached.seq, self.world.stream(reached)))

    def _keep_places(self) -> None:
        """Keeps the offset from which a restart reads each log: what the core holds for the slots ahead, or wants read
        again.
        """
        assert self.core is not None
        places = {}
        for message in LOGS:
            held, again = self.core.low_water(message), self.rereads.get(message)
            wanted = (self.positions[message], held, again, self.pinned.get(message))
            places[message] = min(place for place in wanted if place is not None)
        self.view = self.view.at(places)

    # The end of a turn ----------------------------------------------------------------------------------------------

    def _live(self) -> None:
        """Goes live, as `Seat`: the view knows that the log had a message of its own."""
        assert self.core is not None
        if not self.view.progress.lived and self.core.gate.heard_itself:
            self.view = replace(self.view, progress=replace(self.view.progress, lived=True))

    def _finish(self) -> None:
        if not self.outbox and not self.rereads and self.view is self.disk.view:
            return  # no fault hits a turn that keeps and sends nothing
        self._die_at(0)
        if self.view != self.disk.view:
            if self._strikes("view-fails"):
                raise DiskError("its view file cannot be written")
            self.disk.commit(self.view)
        self._die_at(1)
        sends = self._claim()
        if sends:
            self._die_at(2)
        for number, (message, data) in enumerate(sends):
            self.produce(message, data)
            if number < len(sends) - 1:
                self._die_at(3)
        if sends:
            self._die_at(4)
        for message, at in self.rereads.items():
            self.positions[message] = min(at, self.positions[message])
        self.rereads.clear()

    def _claim(self) -> list[tuple[Message, bytes]]:
        """Claims everything that the core wants said, kept or dropped, in one transaction of the sign-state."""
        wanted, self.outbox = self.outbox, []
        if not wanted:
            return []
        failing = self._strikes("claim-fails")
        if failing is not None and failing % 2 == 0:
            raise DiskError("its sign-state cannot be written")
        self.disk.signed.settle(self.settled, self.through)
        self.settled, self.through = [], {}
        try:
            answers = self.disk.signed.claim([(e.slot, e.digest, e.data) for e in wanted])
        except SignConflict as error:
            self.halted(str(error))
            raise Crash(MS) from None
        if failing is not None:
            raise DiskError("its sign-state says that it could not be written, but it was")
        found = []
        for effect, data in zip(wanted, answers, strict=True):
            if isinstance(effect, t.Send):
                if self.honest:
                    self.world.watch.claimed(self, effect, data)
                found.append((effect.message, data))
        return found

    def _strikes(self, kind: str) -> int | None:
        for at, (armed, number, _) in enumerate(self.armed):
            if armed == kind:
                del self.armed[at]
                return number
        return None

    def _die_at(self, point: int) -> None:
        if not self.armed:
            return
        for at, (kind, number, down) in enumerate(self.armed):
            if kind in ("crash", "power") and number % 6 == point and (self.outbox or point > 1):
                del self.armed[at]
                if kind == "power":
                    self.disk.cut(number >> 4)
                self.world.tell(self, f"{'loses power' if kind == 'power' else 'crashes'} at point {point} of its turn")
                raise Crash(down)

    def produce(self, message: Message, data: bytes) -> None:
        """Sends a record to the broker, unless a fault prevents it."""
        world = self.world
        world.watch.produced(self, message, data)
        if self.lost:
            told = self.lost.pop(0)
            world.tell(self, f"its {message} is lost on the way{', and it is told' if told else ''}")
            if told:
                raise Crash(20 * MS)
            self.amiss = True
            return
        world.say(self, message, data, late=max(0, self.mute_until - world.now))
        if self.thrice:
            self.thrice -= 1
            for _ in range(2):
                world.say(self, message, data, late=max(0, self.mute_until - world.now))
