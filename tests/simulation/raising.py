r"""Rules that raise: in some simulated worlds the rules of some honest members fail on the texts of some proposals.

A member's opinion of a text is simulated; the product's own code handles a rule that raises
(`core.vote.judging.judged`). An error that it does not catch ends the member's process, which is started again and
reads the same nomination again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from memquorum.core.records import NominationProposed, Proposal
from memquorum.core.vote import judging
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Case, Kind, Opinion, Terms, Together
from tests.builders import votes
from tests.simulation.dice import Dice

if TYPE_CHECKING:
    from tests.simulation.node import Node
    from tests.simulation.world import World

_VECTOR = np.ones(2, np.float32)


class RuleFailed(ValueError):
    """The error of a simulated rule."""


def drawn(dice: Dice, honest: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Draws the members whose rules raise, and on how many of a thousand proposals; in most worlds none."""
    if not honest or not dice.chance(150, "rules raise"):
        return (), 0
    most = dice.pick((1, len(honest) // 2, len(honest)), "how many members' rules raise")
    order = sorted(honest, key=lambda m: dice.roll(1 << 30, "whose rules raise", m))
    return tuple(sorted(order[: max(1, most)])), dice.pick((300, 600, 1_000), "how often rules raise")


class Rules:
    """The honest members' rules in one world. They are one version, so they raise alike."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._members = frozenset(world.plan.raising) & frozenset(world.plan.honest)

    def raises(self, member: int, proposal: Proposal) -> bool:
        """True if a member's rules fail on a proposal's texts."""
        if member not in self._members:
            return False
        return self._world.dice.chance(self._world.plan.raising_permille, f"a rule raises: {proposal.memory_ids[0]}")

    def judged(self, node: Node, record: NominationProposed, thought: Sequence[Opinion]) -> list[Opinion]:
        """Returns the opinions of a member, as far as its rules return."""
        if node.me not in self._members or record.order is not None:
            return list(thought)
        world, found = self._world, list(thought)
        policy = (world.genesis.of(record.config) or world.genesis).policy
        by_kind = defaultdict[str, list[int]](list)
        for at, proposal in enumerate(record.proposals):
            by_kind[proposal.kind].append(at)
        for name, places in by_kind.items():
            asked = [(record.proposals[at], _facts(record.proposals[at])) for at in places]
            says = {record.proposals[at].memory_ids: thought[at].terms for at in places}
            kind = self._failing(node.me, KINDS[name], asked, says)
            context = MemberContext(asked[0][0].namespace)
            terms = judging.judged(kind, asked, context, as_of=record.as_of, policy=policy)
            for at, one in zip(places, terms, strict=True):
                found[at] = votes.following(KINDS[name], one, policy)
        world.watch.voted(node, record, thought, found)
        return found

    def _failing(
        self,
        member: int,
        kind: Kind,
        asked: Sequence[tuple[Proposal, Together]],
        says: dict[tuple[str, ...], Terms],
    ) -> Kind:
        """Returns the kind with a judge that gives the member's opinion, or raises."""
        proposals = {facts[0].memory_id: proposal for proposal, facts in asked}

        def judge(known: Sequence[Together], case: Case) -> Sequence[Terms]:
            for facts in known:
                if self.raises(member, proposals[facts[0].memory_id]):
                    self._world.tell(None, f"A rule of member {member} raises on {facts[0].memory_id}.")
                    raise RuleFailed(facts[0].memory_id)
            return [says[tuple(one.memory_id for one in facts)] for facts in known]

        return votes.varied(kind, judge=judge)


def _facts(proposal: Proposal) -> Together:
    return tuple(MemoryFacts(one, proposal.namespace, "ada", 0, 0, 0, _VECTOR) for one in proposal.memory_ids)
