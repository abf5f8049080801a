"""The members of FiFA: their rule for what a policy names, and what holds for every vote."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

import numpy as np

from memquorum.core import caps
from memquorum.core.budgets.items import RESTING
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.policy import Policy
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds import FORGET
from memquorum.core.vote.nomination import rest_until

_SPACE = "n"
_DIRECTION = np.ones(2, np.float32)


class Members:
    """Who votes on a namespace of one agent.

    Three of four members know of no late episodes there: to them all depends on worth and age, and they are enough.
    """

    def __init__(self, ledger: Ledger, policy: Policy, agent: str) -> None:
        self._ledger, self._policy, self._agent = ledger, policy, agent
        self._epoch, self._epoch_at = 0, 0
        self._rests: list[tuple[int, str]] = []
        self._kept: Counter[str] = Counter()
        self._gone = caps.NOTHING.gone

    def may(self, as_of: int) -> bool:
        """Whether it is time for another epoch."""
        return as_of - self._epoch_at >= self._policy.budget.every_ms

    def begin(self, as_of: int) -> int:
        """An epoch begins: what has rested may be named again. Returns how many memories may be named."""
        self._epoch, self._epoch_at = self._epoch + 1, as_of
        while self._rests and self._rests[0][0] <= self._epoch:
            memory_id = heapq.heappop(self._rests)[1]
            item = self._ledger.get(memory_id)
            if item is not None and item.protected == RESTING:
                self._ledger.protect(memory_id, None)
        room = caps.room(caps.Quota(len(self._ledger), self._gone), as_of, self._policy.caps)
        return min(room, self._policy.epoch.proposals_max)

    def used(self, memory_id: str) -> None:
        """It was read, or said again: how often it was kept counts no more."""
        self._kept.pop(memory_id, None)

    def vote(self, named: Sequence[tuple[str, int]], as_of: int) -> list[str]:
        """Of memories, each with the rank of its worth, those that are forgotten; the others rest."""
        facts = [(self._facts(memory_id, rank),) for memory_id, rank in named]
        judged = FORGET.judge(facts, MemberContext(_SPACE), as_of, self._policy, RULES)
        going = list[str]()
        for (memory_id, _), terms in zip(named, judged, strict=True):
            assert terms is not None
            if FORGET.yes(FORGET.score(terms, self._policy), self._policy):
                going.append(memory_id)
                continue
            self._kept[memory_id] += 1
            self._ledger.protect(memory_id, RESTING)
            heapq.heappush(self._rests, (rest_until(self._epoch, self._kept[memory_id], self._policy), memory_id))
        if going:
            self._gone = caps.gone(caps.Quota(0, self._gone), as_of, len(going)).gone
        return going

    def _facts(self, memory_id: str, rank_ppm: int) -> MemoryFacts:
        item = self._ledger.get(memory_id)
        assert item is not None
        return MemoryFacts(
            memory_id, _SPACE, self._agent, item.created, item.last_access, 0, _DIRECTION, rank_ppm=rank_ppm
        )
