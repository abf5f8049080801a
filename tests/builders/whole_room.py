"""Ranks what a nomination proposes from all memories of a namespace: what a member that reads the beginning of its
order must come to as well (`workers.replica.room`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from db.view import View
from memquorum.core import caps
from memquorum.core.budgets import least, outlived
from memquorum.core.budgets.claims import AGE, BUDGET, PRESSURE
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.weighing import item
from memquorum.core.caps import Losses
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.policy import Policy
from memquorum.core.records import NominationProposed
from memquorum.core.triage import fallen_ppm
from memquorum.core.vote.kinds import KINDS
from memquorum.ports import Candidate, Vault, Weighted

_BEFORE = """
SELECT w.memory_id FROM weight w
JOIN place p ON p.memory_id = w.memory_id
JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
WHERE w.namespace = ? AND m.accepted_offset <= ?
"""


class WholeRoom:
    """Reads everything that lives in a namespace, or in a shard, and opens all its keys."""

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
        known: dict[str, list[Weighted]] = {}
        found: dict[str, least.BudgetPlace] = {}
        for (reason, space), memory_ids in asked.items():
            spaces = self._spaces(nomination.shard) if reason == PRESSURE else [space]
            there = [one for name in spaces for one in known.setdefault(name, self._alive(name, known))]
            ask = _ASKS.get(reason)
            if ask is not None:
                found |= ask(there, space, policy, nomination.as_of, memory_ids)
        return self._within_caps(nomination, where, policy, known, found)

    def _within_caps(
        self,
        nomination: NominationProposed,
        where: Sequence[int],
        policy: Policy,
        known: Mapping[str, Sequence[Weighted]],
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
            through = {one for (one,) in self._view._db.execute(_BEFORE, (space, nomination.accepted_offset))}
            living = sum(one.candidate.memory_id in through for one in known.get(space, ()))
            room = caps.room(Losses(living, self._view.weights.gone(space)), nomination.as_of, policy.caps)
            # The quorum of honest votes for one memory, as a share of all honest votes.
            shared = room * (genesis.quorum - genesis.f) // (genesis.n - genesis.f)
            rooms[space] = room if asked[space] <= room else shared
        return least.within(found, [(p.namespace, one) for p in proposed for one in p.memory_ids], rooms)

    def _spaces(self, shard: int) -> list[str]:
        names = [name for (name,) in self._view._db.execute("SELECT DISTINCT namespace FROM weight")]
        return [name for name in names if shard_of(name, self._genesis.shards) == shard]

    def _alive(self, namespace: str, known: Mapping[str, list[Weighted]]) -> list[Weighted]:
        """Returns the live memories of a namespace. An erased one has no key any more, and takes no room."""
        if namespace in known:
            return known[namespace]
        alive = self._view.weights.alive(namespace)
        keys = self._vault.open(one.candidate.memory_id for one in alive)
        return [one for one in alive if one.candidate.memory_id in keys]


_Ask = Callable[[Sequence[Weighted], str, Policy, int, Sequence[str]], Mapping[str, least.BudgetPlace]]


def _budget(
    there: Sequence[Weighted], namespace: str, policy: Policy, as_of: int, asked: Sequence[str]
) -> Mapping[str, least.BudgetPlace]:
    budget = budget_of(policy.budget, namespace)
    if budget is None:
        return {}
    return least.places((item(one, as_of) for one in there), budget, policy.budget, as_of, asked)


def _age(
    there: Sequence[Weighted], namespace: str, policy: Policy, as_of: int, asked: Sequence[str]
) -> Mapping[str, least.BudgetPlace]:
    named = set(asked)
    return {
        one.candidate.memory_id: outlived.place(one, AGE, policy, as_of)
        for one in there
        if one.candidate.memory_id in named
    }


def _pressure(
    there: Sequence[Weighted], _: str, policy: Policy, as_of: int, asked: Sequence[str]
) -> Mapping[str, least.BudgetPlace]:
    def fallen(one: Candidate) -> int:
        return fallen_ppm(one.salience_ppm, one.replays, as_of - one.last_access, policy)

    return least.crowded(there, policy.epoch.capacity, fallen, asked)


_ASKS: Mapping[str, _Ask] = {
    BUDGET: _budget,
    AGE: _age,
    PRESSURE: _pressure,
}
