"""Ranks, in a member's own order, the memories that a nomination proposes to forget for lack of room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from db.view import View
from memquorum.core import caps
from memquorum.core.budgets import lazily, least, outlived
from memquorum.core.budgets.claims import BUDGET, FINISHED, OUTLIVED, PRESSURE
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.sort_keys import BudgetKeys
from memquorum.core.budgets.weighing import item
from memquorum.core.caps import Losses
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.policy import Policy
from memquorum.core.records import NominationProposed
from memquorum.core.triage import fallen_ppm
from memquorum.core.vote import crowding
from memquorum.core.vote.crowding import PressureKeys
from memquorum.core.vote.kinds import KINDS
from memquorum.ports import Candidate, Vault, Weighted

_MOST = 10_000
"""The number of memories that a vote asks the vault about at once."""
_SOME = 1_000
"""The number of memories that it is asked about between votes."""


class Room:
    """Reads the sums of a namespace or a shard, and the beginning of its order as far as a nomination asks for it."""

    def __init__(self, view: View, vault: Vault, genesis: Genesis) -> None:
        self._view, self._vault, self._genesis = view, vault, genesis

    def places(
        self, nomination: NominationProposed, where: Sequence[int], policy: Policy
    ) -> Mapping[str, least.BudgetPlace]:
        """Returns the ranks of the proposals' memories, by the reason of each nomination. Raises VaultUnavailable."""
        asked: dict[tuple[str, str], list[str]] = {}
        for at in where:
            proposal = nomination.proposals[at]
            space = "" if proposal.reason == PRESSURE else proposal.namespace
            asked.setdefault((proposal.reason, space), []).extend(proposal.memory_ids)
        self._learn({nomination.proposals[at].namespace for at in where}, nomination.shard)
        found: dict[str, least.BudgetPlace] = {}
        for (reason, space), memory_ids in asked.items():
            if reason == BUDGET:
                found |= self._budget(space, policy, nomination.as_of, memory_ids)
            elif reason in OUTLIVED:
                found |= self._outlived(reason, space, policy, nomination.as_of, memory_ids)
            elif reason == PRESSURE:
                found |= self._pressure(nomination.shard, policy, nomination.as_of, memory_ids)
        return self._within_caps(nomination, where, policy, found)

    def prepare(self) -> None:
        """Asks the vault for keys of memories that are new in the view, where there are many: a vote would wait for
        them. Raises VaultUnavailable."""
        unsure = self._view.holdings.unsure(None, _SOME)
        if len(unsure) == _SOME:
            self._learn_destroyed()
            self._ask(unsure)

    def _within_caps(
        self,
        nomination: NominationProposed,
        where: Sequence[int],
        policy: Policy,
        found: Mapping[str, least.BudgetPlace],
    ) -> Mapping[str, least.BudgetPlace]:
        """Limits the ranks that count as "goes" in namespaces with more proposals than their caps leave. All members
        together must not agree on more than the caps, as a memory that a cap keeps after the vote would be counted as
        gone."""
        asked = Counter[str]()
        for proposal in nomination.proposals:
            asked[proposal.namespace] += len(proposal.memory_ids) if KINDS[proposal.kind].capped else 0
        proposed = [nomination.proposals[at] for at in where]
        rooms, genesis = dict[str, int](), self._genesis
        for space in {proposal.namespace for proposal in proposed}:
            living = self._view.holdings.living(space, nomination.accepted_offset)
            room = caps.room(Losses(living, self._view.weights.gone(space)), nomination.as_of, policy.caps)
            # The quorum of honest votes for one memory, as a share of all honest votes.
            shared = room * (genesis.quorum - genesis.f) // (genesis.n - genesis.f)
            rooms[space] = room if asked[space] <= room else shared
        return least.within(found, [(p.namespace, one) for p in proposed for one in p.memory_ids], rooms)

    def _learn(self, namespaces: Collection[str], shard: int) -> None:
        """Learns which of the living memories have no key any more, and counts what changed. An erased memory takes no
        room. A memory that is new in the view is asked for once; of the others the vault tells what it destroyed
        since."""
        held = self._view.holdings
        held.settle()
        self._learn_destroyed()
        of_shard = {one for one in held.unsure_namespaces() if shard_of(one, self._genesis.shards) == shard}
        for space in of_shard.union(namespaces):
            while unsure := held.unsure(space, _MOST):
                self._ask(unsure)
        held.settle()

    def _ask(self, unsure: Collection[str]) -> None:
        there = self._vault.open(unsure).keys()
        self._view.holdings.keyed(there, there=True)
        self._view.holdings.keyed(set(unsure) - there, there=False)

    def _learn_destroyed(self) -> None:
        held = self._view.holdings
        last = held.destroyed()
        # Before the first time no memory is known to have a key.
        following = last is not None
        last = last or next(iter(self._vault.destroyed(None, 1)), (0, ""))
        while following:
            found = self._vault.destroyed(last[0], _MOST)
            if last[0] and found[:1] != [last]:
                last = 0, ""  # a backup of the vault was put back, and numbers are given anew
                continue
            held.keyed([memory_id for _, memory_id in found], there=False)
            last = found[-1] if found else last
            following = len(found) == _MOST
        held.destroys(*last)

    def _budget(
        self, namespace: str, policy: Policy, as_of: int, asked: Sequence[str]
    ) -> Mapping[str, least.BudgetPlace]:
        budget = budget_of(policy.budget, namespace)
        if budget is None:
            return {}
        try:
            shelf = self._view.holdings.of_namespace(namespace, BudgetKeys.of(budget.policy, policy.budget), as_of)
            shelf.read(asked)
            return lazily.places(shelf, budget, policy.budget, as_of, asked)
        except OverflowError:
            alive = (item(one, as_of) for one in self._alive([namespace]))
            return least.places(alive, budget, policy.budget, as_of, asked)

    def _outlived(
        self, reason: str, namespace: str, policy: Policy, as_of: int, asked: Sequence[str]
    ) -> Mapping[str, least.BudgetPlace]:
        """Returns the places of memories that may have outlived their use: by age, unused, or as steps of a task."""
        before = as_of - policy.consolidate.idle_ms
        steps = self._view.weights.steps(namespace, asked, before) if reason == FINISHED else frozenset()
        return {
            memory_id: outlived.place(one, reason, policy, as_of, steps)
            for memory_id, one in self._view.holdings.weighted(asked).items()
            if one.candidate.namespace == namespace
        }

    def _pressure(
        self, shard: int, policy: Policy, as_of: int, asked: Sequence[str]
    ) -> Mapping[str, least.BudgetPlace]:
        def fallen(one: Candidate) -> int:
            return fallen_ppm(one.salience_ppm, one.replays, as_of - one.last_access, policy)

        holdings, shards = self._view.holdings, self._genesis.shards
        holds = {name: count for name, count in holdings.holders().items() if shard_of(name, shards) == shard}
        held = sum(holds.values())
        if held <= policy.epoch.capacity:
            return dict.fromkeys(asked, least.NOWHERE)
        try:
            shelf = holdings.of_shard(shard, shards, PressureKeys.of(policy.triage), as_of)
            shelf.read(asked)
            return crowding.crowded(shelf, held, policy, as_of, asked)
        except OverflowError:
            return least.crowded(self._alive(holds), policy.epoch.capacity, fallen, asked)

    def _alive(self, namespaces: Iterable[str]) -> list[Weighted]:
        """Reads all memories of namespaces, where an order cannot be read from its beginning."""
        alive = [one for name in namespaces for one in self._view.weights.alive(name)]
        keys = self._vault.open(one.candidate.memory_id for one in alive)
        return [one for one in alive if one.candidate.memory_id in keys]
