r"""The scheduler: a heap of (time, tie-break, action), a clock that only it moves, and everything that runs by it.

Phase one is bad: the plan's faults and liars. Once all epochs but the last are decided, or `heal_by` has come, the
broker and the disks are well again, nodes that lost something restart, and the last epoch is nominated. From then on
every honest member must decide every epoch within a bounded time, though up to f members may still lie.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import Nominated, proposal_digest
from memquorum.core.consensus.events import Message
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.decay import decay_ppm
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import digest
from memquorum.core.ids import shard_of
from memquorum.core.orders.configuration import configuration_digest
from memquorum.core.policy import PPM
from memquorum.core.records import BallotCast, NominationProposed, Proposal, Signed
from memquorum.core.vote.columns import BadBallot, places_of, read
from memquorum.core.vote.kinds import (
    ADMIT,
    CONFIGURE,
    DEMOTE,
    ERASE,
    EVICT,
    FORGET,
    GENERALISE,
    KINDS,
    PROMOTE,
    RESTORE,
    SUPERSEDE,
    UNITE,
)
from memquorum.core.vote.kinds.consolidate import CONSOLIDATE
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.core.vote.kinds.merge import MERGE
from tests.builders import votes
from tests.simulation import faults
from tests.simulation.behaviours import LIBRARY, Twin
from tests.simulation.broker import Broker
from tests.simulation.dice import Dice
from tests.simulation.disk import ViewFile
from tests.simulation.invariants import ENDS, FAILS, PROGRESS, Violation, Watch
from tests.simulation.liars import Liar, Said
from tests.simulation.memories import Memories
from tests.simulation.node import WINDOW, Node
from tests.simulation.ordered import Desk
from tests.simulation.plan import MS, SHARDS, Plan
from tests.simulation.raising import Rules
from tests.simulation.signatures import SharedCodec, Signatures, genesis, key_name
from tests.simulation.story import Story

AS_OF = 1_000_000_000
NOMINATOR = "service:nomination"
_BY_ORDER = (CONFIGURE.name, ERASE.name)
_DROPS = (
    (FORGET.name,), (FORGET.name, DEMOTE.name), (SUPERSEDE.name, FORGET.name), (PROMOTE.name, PROMOTE.name),
    (CONSOLIDATE.name, FORGET.name), (MERGE.name, CONSOLIDATE.name), (EVICT.name, FORGET.name),
    (ADMIT.name, FORGET.name), (UNITE.name, FORGET.name), (GENERALISE.name, FORGET.name),
)  # fmt: skip
"""The proposals of an epoch. Two that would be promoted contradict each other."""
INTERVAL = 2  # decisions between two checkpoints
_AGAIN = 10_000 * MS  # the interval after which the nomination service repeats what was not decided
# The deadline after the heal: view changes back off, and up to f primaries in a row may lie.
PATIENCE = 600_000 * MS
_MOST_EVENTS = 400_000
_NAMESPACES = {
    shard: next(n for n in map("space-{}".format, range(1000)) if shard_of(n, SHARDS) == shard)
    for shard in range(SHARDS)
}


class Outcome(Struct, frozen=True):
    """The end of a simulation.

    `rounds`: epochs decided; `events`: events that the cores were told; `ended`: simulated µs; `asked`: how often each
    rule was.
    """

    plan: Plan
    violation: Violation | None
    rounds: int
    events: int
    decisions: int
    evidence: int
    highest_view: int
    ended: int
    asked: dict[str, int]


class World:
    """One simulation."""

    def __init__(self, plan: Plan, signatures: Signatures, story: Story) -> None:
        self.plan, self.signatures, self.story = plan, signatures, story
        self.dice, self.codec, self.first = Dice(plan.seed), SharedCodec(), genesis(plan.n, SHARDS)
        # The last configuration that any node decided; and each of them once, however many decode it.
        self.genesis = self.first
        self._known: dict[bytes, Genesis] = {}
        # Members that may be added listen until then, behind everybody else at the broker.
        added = {2 * plan.n + count: plan.n + count for count in range(plan.added)}
        self.honest = (*plan.honest, *added)
        self.orders, self.rules = Desk(self), Rules(self)
        self.namespace = _NAMESPACES[plan.shard]
        self.now = self.events = 0
        self.healed_at: int | None = None
        self.nominations: dict[bytes, NominationProposed] = {}
        self.watch = Watch(self)
        self.memories = Memories(self, AS_OF) if plan.rehearsals else None
        self.renominated = 0
        self.journal: dict[int, tuple[bytes, tuple[bytes, ...]]] = {}  # sequence → the proof of the decision
        self.shown: dict[int, frozenset[int]] = {}  # sequence → the members whose ballots it shows
        self._heap: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0
        self._nominated: dict[int, NominationProposed] = {}  # epoch → its last nomination
        self._trouble_until = 0
        lies = dict(plan.liars)
        twins = [m for m, names in plan.liars if Twin.name in names]
        self.broker = Broker(self.dice, plan.network, [*range(plan.n), *(plan.n + m for m in twins), *added])
        self.nodes: dict[int, Node] = {}
        for member in range(plan.n):
            for reader in (member, plan.n + member)[: 2 if member in twins else 1]:
                names = lies.get(member)
                kinds = [LIBRARY[name] for name in names or ()]
                self.nodes[reader] = Liar(self, member, reader, kinds) if names else Node(self, member, reader)
        self.nodes |= {reader: Node(self, member, reader) for reader, member in added.items()}
        if self.memories is not None:
            self.memories.begin()

    # Running --------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Runs to the end: everything decided, or a violation."""
        violation = None
        try:
            for node in self.nodes.values():
                node.start()
            self._nominate(1)
            self.at(self.plan.heal_by, self._heal)
            self._loop()
        except Violation as found:
            violation = found
        except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
            violation = Violation(FAILS, f"{type(error).__name__}: {error}")
            violation.__cause__ = error
        if violation is not None:
            self.story.tell(self.now, None, f"BROKEN — {violation}")
        watch = self.watch
        return Outcome(
            self.plan, violation, len(watch.decided), self.events, watch.decisions, watch.evidence,
            watch.highest_view, self.now, watch.counts(),
        )  # fmt: skip

    def at(self, when: int, action: Callable[..., None], *arguments: Any) -> None:
        """Schedules an action at a time."""
        self._count += 1
        heapq.heappush(self._heap, (when, self._count, action, arguments))

    def _loop(self) -> None:
        while self._heap:
            when, _, action, arguments = heapq.heappop(self._heap)
            if when > (self.healed_at or when) + PATIENCE or self.events > _MOST_EVENTS:
                break
            self.now = when
            action(*arguments)
            if self.healed_at is not None and self._done():
                if self.memories is not None:
                    self.memories.end()
                return
        watch, late = self.watch, (self.now - (self.healed_at or 0)) // MS
        left = {m: (watch.nodes_decided.get(m, 0), watch.nodes_stable.get(m, 0)) for m in self.honest}
        told = f"{late} ms after the heal, decided and stable by member: {left}"
        still_open = [n.epoch for n in self.nominations.values() if n.epoch not in self.watch.decided]
        if still_open:
            told = f"{len(still_open)} nominations of epoch {min(still_open)} are open, {told}"
        raise Violation(ENDS if still_open else PROGRESS, told)

    def _done(self) -> bool:
        decided, stable, epochs = self.watch.nodes_decided, self.watch.nodes_stable, self.plan.epochs
        last = epochs - epochs % INTERVAL
        return all(decided.get(m, 0) >= epochs and stable.get(m, 0) >= last for m in self.honest)

    @property
    def healed(self) -> bool:
        """True if this is the second phase."""
        return self.healed_at is not None

    def _heal(self) -> None:
        if self.healed:
            return
        self.tell(None, "The faults end.")
        deceived = self.broker.deceived()
        self.broker.heal()
        self.healed_at = self.now
        for node in self.nodes.values():
            faults.heal(node, deceived=node.reader in deceived)
            if isinstance(node, Liar) and self.plan.repent:
                node.quiet = True
        if len(self.watch.decided) == self.plan.epochs - 1:
            self._nominate(self.plan.epochs)

    # The processes beside the consensus -----------------------------------------------------------------------------

    def _nominate(self, epoch: int) -> None:
        """Nominates an epoch as the service does, and schedules its faults."""
        if epoch > self.plan.epochs or epoch in self._nominated:
            return
        if epoch == self.plan.epochs and not self.healed:
            soon = self.now + self.dice.roll(100, "a little more trouble") * MS
            self.at(max(soon, self._trouble_until), self._heal)
            return
        for fault in self.plan.faults:
            if fault.epoch == epoch:
                self.at(self.now + fault.after, faults.strike, self, fault)
                # Its consequence, often a view change, comes when it is over.
                ends = self.now + fault.after + fault.lasts + 2 * self.plan.timings.request_ms * MS
                self._trouble_until = max(self._trouble_until, ends)
        if self.dice.chance(self.plan.refused_permille, "refused", epoch):
            self.tell(None, f"Epoch {epoch} is nominated, and nobody will like it.")
            self._publish(epoch, "refused")
        if self.memories is not None:
            self.memories.before(epoch)
        self._steal(epoch)
        self.tell(None, f"Epoch {epoch} is nominated.")
        ordered = self.orders.nominated(epoch, self.as_of)
        if ordered is None and self.memories is not None:
            ordered = self.memories.nominated(epoch)
        if ordered is None:
            self._publish(epoch, "forget")
        else:
            self._say(ordered)
        self.at(self.now + _AGAIN, self._keep_nominating, epoch)

    def _keep_nominating(self, epoch: int) -> None:
        """Repeats the nomination while the epoch is open."""
        if epoch not in self.watch.decided:
            self.renominate(epoch)
            self.at(self.now + _AGAIN, self._keep_nominating, epoch)

    def renominate(self, epoch: int) -> None:
        """Nominates an open epoch again: of a later tick, so in other bytes; now and then in the same."""
        before = self._nominated.get(epoch)
        if before is None or epoch in self.watch.decided:
            return
        same = self.dice.chance(200, "nominated alike", epoch, self.now)
        self.tell(None, f"Epoch {epoch} is nominated again{', in the same bytes' if same else ''}.")
        self.renominated += not same
        self._say(before if same else replace(before, accepted_offset=before.accepted_offset + 1))

    @property
    def as_of(self) -> int:
        """Returns the shard's time."""
        return AS_OF if self.memories is None else self.memories.now

    def known(self, made: Genesis) -> Genesis:
        """Returns the one object for a configuration that was decided."""
        found = self._known.setdefault(configuration_digest(made), made)
        if found.config > self.genesis.config:
            self.genesis = found
        return found

    def _publish(self, epoch: int, name: str) -> None:
        self._say(self._proposed(epoch, name))

    def _proposed(self, epoch: int, name: str) -> NominationProposed:
        kinds = self.dice.pick(_DROPS, "proposals", epoch)
        named = [(f"{name}-{epoch}-{i}", f"{name}-{epoch}-{i}-older") for i in range(len(kinds))]
        proposals = tuple(
            Proposal(ids[: KINDS[kind].takes], self.namespace, kind, "decayed", 0, 0, 500_000)
            for ids, kind in zip(named, kinds, strict=True)
        )
        read = 0 if self.memories is None else self.memories.last
        return NominationProposed(
            self.genesis.cluster, self.genesis.config, self.plan.shard, epoch, self.as_of, read, "interval", proposals
        )

    def _steal(self, epoch: int) -> None:
        """Nominates, as of now, with a nomination key that was replaced: first, and without effect."""
        if self.genesis.key_of(NOMINATOR) == self.first.key_of(NOMINATOR) or not self.dice.chance(500, "stolen", epoch):
            return
        self.tell(None, f"Epoch {epoch} is nominated by who has the old key.")
        self._append(Message.NOMINATION, self.signed(NOMINATOR, self._proposed(epoch, "stolen"), by=self.first))

    def _say(self, record: NominationProposed) -> None:
        data = self.signed(NOMINATOR, record, by=self.orders.nominator(record))
        self.nominations[digest(self.codec.decode_as(Signed, data).body)] = record
        self._nominated[record.epoch] = record
        self._append(Message.NOMINATION, data)

    def refuses(self, nominated: Nominated) -> bool:
        """True if every honest view contradicts a nomination."""
        return nominated.record.proposals[0].memory_ids[0].startswith("refused")

    def terms(self, node: Node, nominated: Nominated) -> bytes:
        """Returns a member's ballot. A model need not judge twice alike: after a restart its opinion may differ."""
        record = nominated.record
        opinions = [
            self.opinion(
                proposal,
                (record.order is None or self.orders.holds(node, nominated, at))
                and (proposal.kind in _BY_ORDER or self._likes(node, record, at)),
                record,
            )
            for at, proposal in enumerate(record.proposals)
        ]
        return votes.terms(record.proposals, self.rules.judged(node, record, opinions))

    def _likes(self, node: Node, record: NominationProposed, at: int) -> bool:
        if record.proposals[0].kind == PROMOTE.name and at != self.dice.pick((0, 1), "rival", node.me, record.epoch):
            return False  # an honest member votes for at most one of two that contradict
        return self.dice.chance(self.plan.yes_permille, "yes", node.me, record.epoch, at, node.lives)

    def said(self, cast: BallotCast, nomination: NominationProposed) -> tuple[Opinion, ...]:
        """Returns a valid ballot's opinion of each proposal."""
        policy = (self.genesis.of(nomination.config) or self.genesis).policy
        return read(cast, nomination, places_of(nomination), policy).opinions

    def opinion(self, proposal: Proposal, yes: bool, nomination: NominationProposed) -> Opinion:
        """Returns a yes or no that every check of a nomination's configuration accepts."""
        policy, now = (self.genesis.of(nomination.config) or self.genesis).policy, nomination.as_of
        if proposal.kind in _BY_ORDER:
            return Opinion(yes, PPM * yes, (PPM * yes,))
        if proposal.kind == RESTORE.name:
            at = proposal.last_access
            told = (PPM, decay_ppm(at, now, policy), PPM, PPM, at) if yes else RESTORE.abstain(now)
            return Opinion(yes, RESTORE.score(told, policy), told)
        kind = KINDS[proposal.kind]
        for_it = {PROMOTE: (PPM, PPM, PPM, 0), SUPERSEDE: (PPM, 0, 900_000, 100_000, 0)}
        for_it |= {
            CONSOLIDATE: (PPM, 600_000, PPM, 400_000),
            MERGE: (PPM, 990_000),
            EVICT: (0, PPM // 2),
            ADMIT: (PPM, 200_000),
        }
        for_it |= {UNITE: (PPM, 990_000), GENERALISE: (PPM, PPM)}
        fades = (decay_ppm(0, now, kind.scaled(policy)), 0, 0, 0)
        terms = for_it.get(kind, fades) if yes else kind.abstain(now)
        return Opinion(yes, kind.score(terms, policy), terms)

    # Questions of nodes ---------------------------------------------------------------------------------------------

    def make_core(self, node: Node, view: ViewFile, genesis: Genesis, *, closed: bool) -> ShardReplica:
        """Makes a new core on the view file's state."""
        signer = f"member:{node.me}"
        key = key_name(genesis, signer)
        return ShardReplica(
            self.codec,
            genesis,
            shard=self.plan.shard,
            me=node.me,
            sign=lambda body: self.codec.encode(self.signatures.sign(genesis.cluster, signer, body, key=key)),
            timings=self.plan.timings,
            progress=view.progress,
            window=WINDOW,
            interval=INTERVAL,
            closed=closed,
        )

    def decided(self, node: Node, effect: t.Decided) -> None:
        """Notes a node's decision."""
        if not node.honest:
            return
        first = effect.seq not in self.watch.decided
        self.watch.decision(node, effect)
        if self.memories is not None:
            self.memories.followers[node.reader].decided(effect)
        self.tell(node, f"decides sequence {effect.seq}: {self.story.name(effect.checked.digest)}")
        self.broker.settle()
        if first:
            self.journal[effect.seq] = effect.checked.data, effect.commits
            if self.memories is not None:
                self.memories.decided(effect.checked.data, effect.commits)
            self.shown[effect.seq] = frozenset(ballot.member for ballot in effect.checked.ballots)
            self.at(self.now + self.plan.gap, self._nominate, effect.epoch + 1)

    def stable(self, node: Node, effect: t.Stable) -> None:
        """Notes that a node knows a checkpoint to be stable."""
        if node.honest:
            self.watch.stable(node, effect)
            self.tell(node, f"knows that sequence {effect.seq} is stable")
            self.broker.settle()

    def stream(self, reached: t.Reached) -> bytes:
        """Returns a digest of the accepted stream up to an offset."""
        return digest(b"the stream up to %d, %d" % (reached.accepted_offset, reached.seq))

    def signed(self, signer: str, record: Any, *, by: Genesis | None = None) -> bytes:
        """Signs a record in a signer's name, with its key in a configuration: by default the one that the
        record names.
        """
        genesis = by or self.genesis.of(getattr(record, "config", self.genesis.config)) or self.genesis
        said = self.signatures.sign(genesis.cluster, signer, self.codec.encode(record), key=key_name(genesis, signer))
        return self.codec.encode(said)

    def forged(self, liar: int, record: Any) -> bytes:
        """Signs a record in the name of the member that it speaks of, with another's key."""
        true = self.codec.decode_as(Signed, self.signed(f"member:{liar}", record))
        return self.codec.encode(replace(true, signer=f"member:{record.member}"))

    proposal_digest = staticmethod(proposal_digest)

    def say(
        self, node: Node, message: Message, data: bytes, *, late: int = 0, hidden_from: tuple[int, ...] = ()
    ) -> None:
        """Writes a member's record to the log; a well broker shows it to everybody."""
        hidden_from = () if self.healed else hidden_from
        if self.story.wanted:
            shown = f", hidden from {', '.join(map(str, hidden_from))}" if hidden_from else ""
            self.tell(node, f"says {self.story.record(self.codec, data, self._votes)}{shown}")
        if late:
            self.at(self.now + late, self._append, message, data, hidden_from)
        else:
            self._append(message, data, hidden_from)

    def _append(self, message: Message, data: bytes, hidden_from: tuple[int, ...] = ()) -> None:
        log = Message.VIEW_CHANGE if message == Message.NEW_VIEW else message
        for _ in range(2 if self.broker.repeats(log) else 1):
            for reader, when in self.broker.append(self.now, log, data, hidden_from):
                node = self.nodes[reader]
                if node.core is not None and (node.wake_at is None or when < node.wake_at):
                    node.expect(when)

    # The story ------------------------------------------------------------------------------------------------------

    def _votes(self, cast: BallotCast) -> str:
        nomination = self.nominations.get(cast.nomination)
        try:
            said = () if nomination is None else self.said(cast, nomination)
        except BadBallot:
            return "that do not hold"
        return "/".join("yes" if opinion.yes else "no" for opinion in said)

    def tell(self, node: Node | None, text: str, *, minor: bool = False) -> None:
        """Adds a line to the story."""
        if self.story.wanted:
            self.story.tell(self.now, None if node is None else node.me, text, minor=minor)

    def tell_lie(self, node: Node, said: Said) -> None:
        """Announces a lie in the story."""
        self.tell(node, f"lies, into {said.message}:")


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the warnings about what liars write."""
    log = logging.getLogger("memquorum.replica")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def simulate(plan: Plan, signatures: Signatures | None = None, story: Story | None = None) -> Outcome:
    """Runs a plan in this process."""
    chosen = signatures or Signatures()
    chosen.clear()
    with chosen.installed(), _quiet():
        return World(plan, chosen, story or Story(wanted=False)).run()
