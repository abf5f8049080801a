"""The members of FiFA: their rule for what a policy names, and what holds for every vote."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from memquorum.core import caps
from memquorum.core.budgets.items import RESTING, Item
from memquorum.core.budgets.least import places
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.policy import Budget, Policy
from memquorum.core.vote.kinds import EVICT
from memquorum.core.vote.nomination import rest_until


class Members:
    """The members that vote on a namespace of one agent.

    All of them have read the same by then, so they share one order. They know of no goals and of no rests.
    """

    def __init__(self, ledger: Ledger, policy: Policy, budget: Budget) -> None:
        self._ledger, self._policy, self._budget = ledger, policy, budget
        self._epoch, self._epoch_at = 0, 0
        self._rests: list[tuple[int, str]] = []
        self._kept: Counter[str] = Counter()
        self._gone = caps.NOTHING.gone

    def may(self, as_of: int) -> bool:
        """Whether it is time for another epoch."""
        return as_of - self._epoch_at >= self._policy.budget.every_ms

    def room(self, as_of: int) -> int:
        """Returns how many memories may be forgotten now within the caps."""
        return caps.room(caps.Losses(len(self._ledger), self._gone), as_of, self._policy.caps)

    def begin(self, as_of: int) -> int:
        """An epoch begins: what has rested may be named again. Returns how many memories may be named."""
        self._epoch, self._epoch_at = self._epoch + 1, as_of
        while self._rests and self._rests[0][0] <= self._epoch:
            memory_id = heapq.heappop(self._rests)[1]
            item = self._ledger.get(memory_id)
            if item is not None and item.protected == RESTING:
                self._ledger.protect(memory_id, None)
        return min(self.room(as_of), self._policy.epoch.proposals_max)

    def used(self, memory_id: str) -> None:
        """It was read, or said again: how often it was kept counts no more."""
        self._kept.pop(memory_id, None)

    def vote(self, named: Sequence[str], there: Iterable[str], as_of: int) -> list[str]:
        """Returns the memories that are forgotten; the other named ones rest. `there`: all that lives."""
        items = [self._known(memory_id) for memory_id in there]
        found = places(items, self._budget, self._policy.budget, as_of, named)
        going = list[str]()
        for memory_id in named:
            terms = found[memory_id].before_ppm, found[memory_id].beyond_ppm
            if EVICT.yes(EVICT.score(terms, self._policy), self._policy):
                going.append(memory_id)
                continue
            self._kept[memory_id] += 1
            self._ledger.protect(memory_id, RESTING)
            heapq.heappush(self._rests, (rest_until(self._epoch, self._kept[memory_id], self._policy), memory_id))
        if going:
            self._gone = caps.gone(caps.Losses(0, self._gone), as_of, len(going)).gone
        return going

    def _known(self, memory_id: str) -> Item:
        """A memory as a member knows it."""
        item = self._ledger.get(memory_id)
        assert item is not None
        return replace(item, goals_ppm=0, protected=None if item.protected == RESTING else item.protected)
