"""Loads the learned coefficients that are in force in the shards of a batch (`memquorum.core.learning`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from memquorum.core import learning
from memquorum.core.policy import LearnedPolicy
from memquorum.core.records import EpisodeAccepted


class Learned:
    """The coefficients that a batch is scored by. They are asked for once a batch: each score says which they were."""

    def __init__(self, ask: Callable[[int], LearnedPolicy]) -> None:
        """`ask`: which are in force in a shard; raises what the store raises."""
        self._ask = ask
        self._of: dict[int, tuple[LearnedPolicy, str]] = {}

    def ready(self, shards: Iterable[int]) -> None:
        """Asks for these shards' coefficients. Raises what the store raises."""
        for shard, asked in {shard: self._ask(shard) for shard in shards}.items():
            if self._of.get(shard, (None,))[0] != asked:
                self._of[shard] = asked, learning.digest(asked)

    def score(self, shard: int, accepted: EpisodeAccepted, rank_ppm: int | None) -> Callable[[int], int] | None:
        """Returns a function from the episode's novelty to its likelihood of being used; None if no coefficients are in
        force."""
        learned, _ = self._of[shard]
        if not learning.in_force(learned):
            return None
        told = partial(learning.signals, accepted, accepted.characters, rank_ppm=rank_ppm)
        return lambda novelty: learning.score_ppm(learned, told(novelty_ppm=novelty))

    def name(self, shard: int) -> str:
        """The SHA-256 of the shard's coefficients."""
        return self._of[shard][1]
