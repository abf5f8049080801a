"""The invariants: they hold after every event, whoever lies and whatever breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memquorum.core.consensus import events as t
from memquorum.core.consensus import rolling
from memquorum.core.consensus.certificate import BadCertificate, check_decision, decider
from memquorum.core.consensus.events import Message, Reached
from memquorum.core.consensus.evidence import BadEvidence, UnknownRelease, charge, convict
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import digest, open_signed
from memquorum.core.records import BallotCast, Checkpoint, NominationProposed, PrePrepare, Signed
from memquorum.core.vote.kinds import KINDS, PROMOTE
from memquorum.core.vote.kinds.kind import Opinion
from tests.simulation.ordered import answered

if TYPE_CHECKING:
    from tests.simulation.node import Node
    from tests.simulation.world import World

# The rules.
_VIEWS, _ONCE, _HALTS = "views never regress", "one digest per slot", "no honest member halts"
_PROVEN, _AGREEMENT, _ORDER, _HISTORY = "a decision is proven", "agreement", "order", "one history"
_BALLOTS, _MAJORITY, _STABLE = "ballots are their members'", "an honest majority", "what is stable is true"
_RIVALS = "no two claims that contradict"
_NOMINATED, _ANSWERED = "what is decided was nominated", "an order is answered once"
_ALONE = "a rule that raises spoils its own proposal alone"
_CONVICTS, _PROVES = "evidence convicts no honest member", "evidence proves"
FAILS, PROGRESS, ENDS = "the core does not fail", "progress", "every open nomination ends"
_OF_A_DECISION = (_PROVEN, _AGREEMENT, _ORDER, _HISTORY)

_VOTES = (Message.PRE_PREPARE, Message.PREPARE, Message.COMMIT)


class Violation(AssertionError):
    """An invariant is broken. `rule` names it, the text says how."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(rule, text)
        self.rule, self.text = rule, text

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


class Watch:
    """Looks at the honest members' effects, and remembers what they must not contradict."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._liars = {member for member, _ in world.plan.liars}
        self.decided: dict[int, bytes] = {}
        self.nodes_decided: dict[int, int] = {}  # reader → its highest decided sequence
        self.nodes_stable: dict[int, int] = {}  # reader → its last stable sequence
        self.history: dict[int, bytes] = {}  # sequence → the rolling hash of what was decided up to there
        self.decisions = 0
        self.evidence = 0
        self.highest_view = 0
        self.steps = 0
        self.asked = Counter[str]()  # rule → how often it was asked, for rules that are not asked after every step
        self._claims: dict[tuple[int, str], bytes] = {}
        self._said: dict[tuple[Any, ...], bytes] = {}
        self._asked: dict[tuple[int, int], int] = {}  # (member, configuration) → highest view that it asked for
        self._views: dict[int, tuple[Any, int]] = {}
        self._answered: dict[bytes, int] = {}  # order → the sequence that answered it
        self._convicted: set[tuple[str, int, tuple[bytes, ...]]] = set()
        self._proven: set[tuple[bytes, tuple[bytes, ...]]] = set()

    def stepped(self, node: Node) -> None:
        """Checks after each event that a core's view never falls."""
        self.steps += 1
        core = node.core
        if core is None:
            return
        life, before = self._views.get(node.reader, (None, 0))
        view = core.view
        if life is core and view == before:
            return
        if life is core and view < before:
            raise Violation(_VIEWS, f"member {node.me} is in view {view}, it was in {before}")
        self._views[node.reader] = (core, view)
        self.highest_view = max(self.highest_view, view)

    def forgot(self, node: Node) -> None:
        """Drops the view requests of a member that forgot them before they stood in the log: it is a fault
        among the f.
        """
        self._asked = {key: view for key, view in self._asked.items() if key[0] != node.me}

    def claimed(self, node: Node, send: t.Send, data: bytes) -> None:
        """Checks that each slot is claimed once by its name in the sign-state, and that no new vote is below a
        requested view.
        """
        self.asked[_ONCE] += 1
        self.asked[_VIEWS] += 1
        known = self._claims.get((node.me, send.slot))
        if known not in (None, send.digest):
            raise Violation(_ONCE, f"member {node.me} claims {send.slot} for a second digest")
        self._claims[node.me, send.slot] = send.digest
        body = self._body(data)
        asked = self._asked.get((node.me, body.config), 0)
        if send.message == Message.VIEW_CHANGE:
            self._asked[node.me, body.config] = max(body.view, asked)
        elif known is None and send.message in _VOTES and body.view < asked:
            raise Violation(
                _VIEWS,
                f"member {node.me} votes ({send.message}) in view {body.view} after it asked for {asked}",
            )

    def produced(self, node: Node, message: Message, data: bytes) -> None:
        """Checks that each slot is produced once, by the content of the message, whatever the sign-state calls it."""
        self.asked[_ONCE] += 1
        body = self._body(data)
        view = getattr(body, "view", None)
        kind = type(body).__name__
        said = digest(self._world.codec.decode_as(Signed, data).body)
        if isinstance(body, BallotCast):
            slot: tuple[Any, ...] = (node.me, kind, body.epoch, body.nomination)
        elif isinstance(body, Checkpoint):
            slot, said = (node.me, kind, body.seq), rolling.checkpoint_digest(body)
        elif kind in ("ViewChange", "NewView"):
            slot = (node.me, kind, body.config, view)
        else:
            slot = (node.me, kind, view, body.seq)
            said = self._world.proposal_digest(body) if isinstance(body, PrePrepare) else body.digest
        if self._said.setdefault(slot, said) != said:
            raise Violation(_ONCE, f"member {node.me} signs two different {kind} for {slot[2:]}")

    def voted(
        self, node: Node, record: NominationProposed, thought: Sequence[Opinion], said: Sequence[Opinion]
    ) -> None:
        """Checks that a member abstains where its rules raise, and votes as it should on every other proposal."""
        for proposal, thinks, says in zip(record.proposals, thought, said, strict=True):
            self.asked[_ALONE] += 1
            kind = KINDS[proposal.kind]
            raised = self._world.rules.raises(node.me, proposal)
            if says.terms != (kind.abstain(record.as_of) if raised else thinks.terms):
                told = f"member {node.me} says {says.terms} of {proposal.memory_ids}, its rules raise: {raised}"
                raise Violation(_ALONE, told)

    def decision(self, node: Node, effect: t.Decided) -> None:
        """Checks agreement, order, and that the certificate convinces a third party."""
        self.asked.update(_OF_A_DECISION)
        world, proof = self._world, (effect.checked.data, effect.commits)
        if proof not in self._proven:
            try:
                by = decider(world.codec, node.genesis, effect.checked.data)
                checked = check_decision(world.codec, by, *proof)
            except BadCertificate as error:
                raise Violation(_PROVEN, f"member {node.me}, sequence {effect.seq}: {error}") from None
            self._honest_majority(checked, by)
            self._ordered(checked)
            self._proven.add(proof)
        found = effect.checked.digest
        if (effect.checked.body.seq, effect.checked.body.epoch) != (effect.seq, effect.epoch):
            raise Violation(_PROVEN, f"member {node.me} decides {effect.seq} by another's certificate")
        if self.decided.setdefault(effect.seq, found) != found:
            raise Violation(_AGREEMENT, f"member {node.me} decides sequence {effect.seq} unlike another before it")
        if (effect.seq, effect.epoch) != (node.view.progress.seq, node.view.progress.epoch):
            raise Violation(_ORDER, f"member {node.me} decides {effect.seq}, {node.view.progress.seq} was next")
        before = self.history.get(effect.seq - 1, rolling.beginning(world.genesis.cluster, world.plan.shard))
        if self.history.setdefault(effect.seq, rolling.decided(before, found)) != effect.decisions:
            raise Violation(_HISTORY, f"member {node.me} has another hash of the decisions up to {effect.seq}")
        self.decisions += 1
        self.nodes_decided[node.reader] = max(effect.seq, self.nodes_decided.get(node.reader, 0))

    def stable(self, node: Node, effect: t.Stable) -> None:
        """Checks that q members signed the same of the sequence, and that it is true."""
        self.asked[_STABLE] += 1
        world, members = self._world, set[int]()
        for data in effect.certificate:
            signed, body = open_signed(world.codec, node.genesis, data, Checkpoint)
            place = Reached(body.seq, body.epoch, body.decisions, body.accepted_offset)
            told = (body.seq, body.epoch, body.decisions, body.stream)
            if told != (effect.seq, effect.epoch, self.history.get(effect.seq), world.stream(place)):
                raise Violation(_STABLE, f"member {node.me}: {signed.signer} says {told}")
            members.add(body.member)
        if len(members) < node.genesis.quorum:
            raise Violation(_STABLE, f"member {node.me}: {effect.seq} by {sorted(members)}")
        self.nodes_stable[node.reader] = max(effect.seq, self.nodes_stable.get(node.reader, 0))

    def _honest_majority(self, checked: Any, by: Genesis) -> None:
        """Checks that every honest member's ballot is the one that it cast, and that forgetting takes f + 1 honest
        ones.
        """
        self.asked.update((_BALLOTS, _MAJORITY))
        for data in checked.body.ballots:
            body = self._world.codec.decode_as(Signed, data).body
            ballot, said = self._world.codec.decode_as(BallotCast, body), digest(body)
            cast = self._said.get((ballot.member, "BallotCast", ballot.epoch, ballot.nomination))
            if ballot.member not in self._liars and cast != said:
                raise Violation(_BALLOTS, f"member {ballot.member} never cast a ballot of {checked}")
        for outcome in checked.outcomes:
            honest = [m for m in outcome.yes if m not in self._liars]
            # An outcome that another vote can undo takes f + 1 members, so one of them is honest.
            least = KINDS[outcome.kind].votes(by.quorum, by.f) - by.f
            if outcome.decided and len(honest) < least:
                raise Violation(_MAJORITY, f"{outcome.memory_ids[0]}: {outcome.outcome} by {len(honest)} honest votes")
        rivals = [outcome for outcome in checked.outcomes if outcome.kind == PROMOTE.name]
        self.asked.update([_RIVALS] if rivals else [])
        if sum(outcome.decided for outcome in rivals) > 1:
            raise Violation(_RIVALS, f"{[outcome.memory_ids[0] for outcome in rivals]}: all promoted")

    def _ordered(self, checked: Any) -> None:
        """Checks that the service's present key signed the nomination, and that an order is answered once."""
        self.asked.update((_NOMINATED, _ANSWERED))
        world, seq = self._world, checked.body.seq
        if checked.nomination_digest not in world.nominations:
            raise Violation(_NOMINATED, f"sequence {seq}: its nomination is not the service's")
        order = answered(world.codec, checked)
        if order is None:
            return
        decided = any(outcome.decided for outcome in checked.outcomes)
        if self._answered.setdefault(order, seq) != seq and decided:
            raise Violation(_ANSWERED, f"sequence {seq} answers what sequence {self._answered[order]} has answered")

    def noted(self, node: Node, effect: t.Noted) -> None:
        """Checks that evidence convicts liars only, and convinces a third party."""
        world = self._world
        record = charge(node.genesis, effect, shard=world.plan.shard, reporter=node.me)
        if record is None:
            return
        self.evidence += 1
        self.asked.update((_CONVICTS, _PROVES))
        where = f"{effect.note} by member {node.me} ({effect.detail})"
        if record.accused not in self._liars:
            raise Violation(_CONVICTS, f"member {record.accused} is convicted: {where}")
        case = (record.rule, record.accused, record.originals)
        if case not in self._convicted:
            try:
                convict(world.codec, node.genesis, record)
            except UnknownRelease:
                pass  # A spoilt part can look like a later schema: better miss a liar than convict an honest one.
            except BadEvidence as error:
                raise Violation(_PROVES, f"{error}: {where}") from None
            self._convicted.add(case)

    def counts(self) -> dict[str, int]:
        """Counts how often each rule was asked. A core that fails or halts is seen after every step."""
        every = {
            _VIEWS: self.steps + self.asked[_VIEWS],
            _HALTS: self.steps,
            FAILS: self._world.events,
            PROGRESS: 1,
            ENDS: len(self._world.nominations),
        }
        return dict(sorted({**self.asked, **every}.items()))

    def halted(self, node: Node, reason: str) -> None:
        """An honest member never halts."""
        raise Violation(_HALTS, f"member {node.me}: {reason}")

    def _body(self, data: bytes) -> Any:
        return self._world.codec.decode(self._world.codec.decode_as(Signed, data).body)
