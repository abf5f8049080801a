"""Replicas of one shard on a log in memory, driven step by step: any order, any repetition, crashes, liars.

The log is what Kafka is to the real replicas: append-only per kind of message, read by everybody from a position of its
own. A step is one thing that can happen next; a test picks steps. Invariants are checked as effects are carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from db.signstate import MemorySignState
from memquorum.core.avro import Codec
from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import check_decision
from memquorum.core.consensus.events import Message
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import digest, sign
from memquorum.core.records import BallotCast, NominationProposed, Proposal
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Opinion
from tests.builders import votes
from tests.builders.genesis import seed_of

KINDS_OF_LOG = (
    Message.NOMINATION, Message.BALLOT, Message.PRE_PREPARE, Message.PREPARE, Message.COMMIT, Message.VIEW_CHANGE
)  # fmt: skip
AS_OF = 1_000_000_000
WINDOW = 1

# The timers, the shortest first.
TIMERS = (t.Timer.BALLOT_GRACE, t.Timer.REQUEST, t.Timer.VIEW_CHANGE, t.Timer.SEARCH)

Step = Callable[[], None]


@dataclass
class Disk:
    """The state that survives a crash: what was signed, and how far the decisions and the log were read."""

    signed: MemorySignState = field(default_factory=MemorySignState)
    progress: t.Progress = field(default_factory=t.Progress)
    positions: dict[Message, int] = field(default_factory=lambda: dict.fromkeys(KINDS_OF_LOG, 0))

    def lose_view(self) -> None:
        """Deletes the rebuildable part; what was signed stays."""
        self.progress = t.Progress()
        self.positions = dict.fromkeys(KINDS_OF_LOG, 0)


@dataclass
class Node:
    """One honest replica: its core while it runs, its disk always."""

    me: int
    disk: Disk = field(default_factory=Disk)
    core: ShardReplica | None = None
    positions: dict[Message, int] = field(default_factory=dict)
    ballots_due: list[t.NeedBallot] = field(default_factory=list)
    unsent: list[tuple[Message, bytes]] = field(default_factory=list)  # claimed, and lost in a crash
    timers: dict[t.Timer, t.TimerFired] = field(default_factory=dict)
    ends: dict[Message, int] = field(default_factory=dict)  # the log's end when it started; empty once it speaks
    noted: list[t.Noted] = field(default_factory=list)
    halted: str | None = None
    view: int = 0
    searched: tuple[int, int] = (0, 0)  # sequence, and how often this node searched for its missing records

    def runs(self, timer: t.Timer) -> bool:
        """True if a timer runs that has an effect: a node that searched twice in vain finds nothing."""
        found = timer in self.timers
        return found and not (timer == t.Timer.SEARCH and self.searched >= (self.timers[timer].seq, 2))


class Cluster:
    """N members in one shard, some of them liars whose messages the test writes."""

    def __init__(self, codec: Codec, genesis: Genesis, liars: frozenset[int] = frozenset(), shard: int = 0) -> None:
        self.codec, self.genesis, self.shard, self.liars = codec, genesis, shard, liars
        self.scope = f"{genesis.config}/{shard}"
        self.log: dict[Message, list[bytes]] = {kind: [] for kind in KINDS_OF_LOG}
        self.nodes = {m: Node(m) for m in range(genesis.n) if m not in liars}
        # The offsets that each (node, log) skips: the broker's fork of the log for that reader.
        self.hidden: dict[tuple[int, Message], set[int]] = {}
        self.decided: dict[int, bytes] = {}
        self.decisions: dict[int, dict[int, t.Decided]] = {m: {} for m in self.nodes}
        self.said: dict[tuple[int, str], bytes] = {}
        self.votes: Callable[[int, Proposal], bool] = lambda member, proposal: True
        for node in self.nodes.values():
            self.start(node)

    # The world ------------------------------------------------------------------------------------------------------

    def nominate(self, epoch: int, count: int = 2, *, tick: int = 0) -> None:
        """Nominates an epoch, of the tick at this accepted offset: each time in other bytes."""
        proposals = tuple(
            Proposal((f"memory-{epoch}-{i}",), self._namespace(), "forget", "decayed", 0, 0, 500_000)
            for i in range(count)
        )
        nomination = NominationProposed(
            self.genesis.cluster, self.genesis.config, self.shard, epoch, AS_OF, tick, "interval", proposals
        )
        self.append(Message.NOMINATION, self.signed("service:nomination", nomination))

    def _namespace(self) -> str:
        from memquorum.core.ids import shard_of

        return next(n for n in map("space-{}".format, range(1000)) if shard_of(n, self.genesis.shards) == self.shard)

    def signed(self, signer: str, record: object) -> bytes:
        return self.codec.encode(sign(self.genesis.cluster, signer, seed_of(signer), self.codec.encode(record)))

    def append(self, message: Message, data: bytes) -> None:
        self.log[message].append(data)

    def ballot(self, member: int, nominated: bytes, yes: bool) -> bytes:
        """Builds a ballot of any member on a nomination of the log: for liars."""
        signed = self.codec.decode(nominated)
        nomination = self.codec.decode(signed.body)
        terms = votes.terms(nomination.proposals, [self.opinion(p, yes) for p in nomination.proposals])
        cast = BallotCast(self.genesis.cluster, 0, self.shard, nomination.epoch, member, digest(signed.body), terms)
        return self.signed(f"member:{member}", cast)

    def opinion(self, proposal: Proposal, yes: bool) -> Opinion:
        kind = KINDS[proposal.kind]
        terms = (0, 0, 0, 0) if yes else kind.abstain(AS_OF)
        return votes.following(kind, terms, self.genesis.policy)

    # A node's life --------------------------------------------------------------------------------------------------

    def start(self, node: Node) -> None:
        disk = node.disk
        signer, seed = f"member:{node.me}", seed_of(f"member:{node.me}")
        node.core = ShardReplica(
            self.codec,
            self.genesis,
            shard=self.shard,
            me=node.me,
            sign=lambda body: self.codec.encode(sign(self.genesis.cluster, signer, seed, body)),
            timings=t.Timings(),
            progress=disk.progress,
            window=WINDOW,
        )
        node.positions = dict(disk.positions)
        node.ends = {kind: len(records) for kind, records in self.log.items()}
        self.carry_out(node, node.core.handle(t.Restarted(disk.signed.load(""), disk.signed.through(self.scope))))
        self.catch_up(node)

    def catch_up(self, node: Node) -> None:
        """Lets a node speak once it has read what the log held when it started."""
        if node.core is not None and node.ends and all(node.positions[k] >= end for k, end in node.ends.items()):
            node.ends = {}
            self.carry_out(node, node.core.handle(t.CaughtUp()))

    def crash(self, node: Node) -> None:
        """Drops everything in memory, also what was signed but not yet sent."""
        node.core = None
        node.ballots_due, node.unsent, node.timers = [], [], {}

    def deliver(self, node: Node, message: Message, at: int | None = None) -> None:
        """Delivers the next record of a log, or the one at a position again."""
        assert node.core is not None
        position = node.positions[message] if at is None else at
        if at is None:
            node.positions[message] += 1
        if position not in self.hidden.get((node.me, message), ()):
            self.carry_out(node, node.core.handle(t.Received(message, self.log[message][position], position)))
        self.catch_up(node)

    def answer(self, node: Node) -> None:
        assert node.core is not None
        need = node.ballots_due.pop(0)
        asked = need.nominated.record.proposals
        terms = votes.terms(asked, [self.opinion(p, self.votes(node.me, p)) for p in asked])
        self.carry_out(node, node.core.handle(t.BallotReady(need.nominated.digest, terms)))

    def fire(self, node: Node, timer: t.Timer) -> None:
        assert node.core is not None
        fired = node.timers.pop(timer)
        if timer == t.Timer.SEARCH:
            seq, times = node.searched
            node.searched = (fired.seq, times + 1 if seq == fired.seq else 1)
        self.carry_out(node, node.core.handle(fired))

    def send(self, node: Node) -> None:
        """Appends the oldest claimed message to the log."""
        message, data = node.unsent.pop(0)
        self.append(Message.VIEW_CHANGE if message == Message.NEW_VIEW else message, data)

    def carry_out(self, node: Node, effects: list[t.Effect]) -> None:
        for effect in effects:
            match effect:
                case t.NeedBallot():
                    node.ballots_due.append(effect)
                case t.Send():
                    self._claim(node, effect)
                case t.SetTimer():
                    node.timers[effect.timer] = t.TimerFired(effect.timer, effect.seq, effect.view)
                case t.Keep():
                    node.disk.signed.claim([(effect.slot, effect.digest, effect.data)])
                case t.Settle():
                    node.disk.signed.settle(effect.slots, {self.scope: effect.through} if effect.through else None)
                case t.Entered():
                    assert effect.view > node.view, "views go back"
                    node.view = effect.view
                case t.CancelTimer():
                    node.timers.pop(effect.timer, None)
                case t.Decided():
                    self._decided(node, effect)
                case t.Reread():
                    for positions in (node.positions, node.disk.positions):  # a crash may come before it is read
                        positions[effect.message] = min(effect.at, positions[effect.message])
                case t.Noted():
                    node.noted.append(effect)
                case t.Halt():
                    node.halted = effect.reason

    def _claim(self, node: Node, send: t.Send) -> None:
        """Claims in the sign-state, and checks its invariant: an honest key signs one digest per slot."""
        (data,) = node.disk.signed.claim([(send.slot, send.digest, send.data)])
        assert self.said.setdefault((node.me, send.slot), send.digest) == send.digest
        node.unsent.append((send.message, data))

    def _decided(self, node: Node, decided: t.Decided) -> None:
        """Checks agreement, order, and that the certificate convinces a third party."""
        checked = check_decision(self.codec, self.genesis, decided.checked.data, decided.commits)
        assert checked.digest == decided.checked.digest
        assert self.decided.setdefault(decided.seq, checked.digest) == checked.digest, "two decisions for one slot"
        assert decided.seq == node.disk.progress.seq, "a slot was skipped or decided twice"
        self.decisions[node.me][decided.seq] = decided
        assert node.core is not None
        node.disk.progress = t.Progress(decided.seq + 1, decided.epoch + 1, decided.commits, decided.decisions)
        node.disk.positions = {
            kind: position if (low := node.core.low_water(kind)) is None else min(low, position)
            for kind, position in node.positions.items()
        }

    # Schedules ------------------------------------------------------------------------------------------------------

    def steps(self) -> list[Step]:
        """Returns the possible next steps without a fault: deliveries, answers, sends; timers only when all
        else rests.
        """
        found: list[Step] = []
        for node in self.nodes.values():
            if node.core is None or node.halted is not None:
                continue
            found += [
                lambda n=node, k=kind: self.deliver(n, k)  # type: ignore[misc]
                for kind in KINDS_OF_LOG
                if node.positions[kind] < len(self.log[kind])
            ]
            if node.ballots_due:
                found.append(lambda n=node: self.answer(n))  # type: ignore[misc]
            if node.unsent:
                found.append(lambda n=node: self.send(n))  # type: ignore[misc]
        return found

    def timer_steps(self) -> list[Step]:
        return [
            lambda n=node, k=timer: self.fire(n, k)  # type: ignore[misc]
            for node in self.nodes.values()
            if node.core is not None
            for timer in node.timers
        ]

    def settle(self, most: int = 20_000) -> None:
        """Runs the honest world to its end; when all else rests, the shortest timers run out."""
        for count in range(most):
            steps = self.steps() or self._shortest_timers()
            if not steps:
                return
            steps[count * 7919 % len(steps)]()
        raise AssertionError("no rest: the replicas go on for ever")

    def _shortest_timers(self) -> list[Step]:
        for timer in TIMERS:
            nodes = [node for node in self.nodes.values() if node.core is not None and node.runs(timer)]
            if nodes:
                return [lambda n=node, k=timer: self.fire(n, k) for node in nodes]  # type: ignore[misc]
        return []

    def heal(self) -> None:
        """Restarts all nodes. A node that the broker lied to reads the whole log again, without its view."""
        deceived = {member for (member, _), hidden in self.hidden.items() if hidden}
        self.hidden.clear()
        for node in self.nodes.values():
            self.crash(node)
            if node.me in deceived:
                node.disk.lose_view()
            self.start(node)
        self.settle()
