"""The material of every row of this page: sessions as they are stored, and what a rule leaves of them."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path

from msgspec.structs import replace

from bench.consolidation.made import Consolidated, consolidate
from bench.consolidation.orders import ORDERS, Plain
from bench.consolidation.sessions import SETS, Stored, store
from bench.right import frame
from memquorum.core.policy import PPM, Policy
from memquorum.ports import Summariser
from workers.consolidator.extractive import Extractive

SHIPPED = "as it is"
RULES = (SHIPPED, *ORDERS)
_QUICK = 2


class Material(frame.Material):
    """`stored(set)` and `left(set, rule, share)`, each made once. A quick run has two conversations of each set."""

    def __init__(self, data: Path, cache_: Path, *, quick: bool = False) -> None:
        super().__init__(data, cache_, quick=quick)
        self.stored = cache(self._stored)
        self.left = cache(self._left)

    @cached_property
    def policy(self) -> Policy:
        """The one that is shipped."""
        return Policy()

    def _stored(self, name: str) -> list[Stored]:
        talks = self.some(list(SETS[name](self.data)), _QUICK)
        self.vectors.of([text for talk in talks for text in talk.texts])  # all at once
        found = [store(talk, self.vectors.of(talk.texts), self.policy) for talk in talks]
        said, own = sum(len(talk.texts) for talk in talks), sum(len(one.memories) for one in found)
        print(f"  {name}: {len(talks)} conversations, {own} memories of {said} turns", flush=True)
        return found

    def _left(self, name: str, rule: str = SHIPPED, share_ppm: int | None = None) -> list[Consolidated]:
        share, policy = share_ppm or self.policy.consolidate.share_ppm, self.policy
        if rule != SHIPPED or share_ppm is not None:
            # The row asks what a rule keeps of so many tokens, whatever is lost by it.
            lose = replace(policy.consolidate, share_ppm=share, lost_rank_ppm=PPM + 1)
            policy = replace(policy, consolidate=lose)
        return [consolidate(one, summariser(rule), policy) for one in self.stored(name)]


def summariser(rule: str) -> Summariser:
    """Returns the summariser that chooses sentences by a rule."""
    return Extractive() if rule == SHIPPED else Plain(rule)
