"""The centred share alone as relevance, and with each of its parts left out; the line has it as half of R
(core/vote/centred).

The line's R is the mean of the three highest cosines to a member's late episodes. Talk that says little ("Yeah.",
"That's great!") lies near the middle of everything that an encoder makes, so it is near to any context, and most of all
to its own repetitions: R finds common talk relevant. Three changes, each of which a member can make with its own data:

1. the mean of its late episodes is taken off first, theirs and the memory's: their common part carries no information;
2. episodes that only repeat a memory count for that mean, and not for nearness;
3. R is the share of the episodes that are less at home among the others than the memory is. So it spans 0 to 1 whatever
   the encoder, as θ = 0.4 supposes, where cosines of this encoder lie between 0.2 and 0.7.

Taking the mean off against hubs: Suzuki et al. 2013, "Centering similarity measures to reduce hubs"; Mu and Viswanath
2018, "All-but-the-top".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import PPM
from memquorum.core.vote.centred import TOP
from memquorum.ports import Vector


class Centred:
    """The context of a member's vote, in place of a `MemberContext`."""

    def __init__(
        self,
        episodes: Sequence[tuple[str, Vector, bool]],
        *,
        centre: bool = True,
        repetitions: bool = False,
        shares: bool = True,
    ) -> None:
        """`episodes`: id, vector, and whether it only repeats a memory. `centre`, `shares`: whether changes 1 and 3 are
        made; `repetitions`: whether change 2 is not."""
        self._shares = shares
        told = [repetitions or not repeats for *_, repeats in episodes]
        self._ids = [memory_id for (memory_id, *_), counts in zip(episodes, told, strict=True) if counts]
        self._centre: NDArray[np.float64] | None = None
        if len(self._ids) < (2 if centre or shares else 1):
            return
        rows = np.stack([vector for _, vector, _ in episodes]).astype(np.float64)
        self._centre = rows.mean(axis=0) if centre else np.zeros(rows.shape[1])
        self._units = self._apart(rows[told])
        among = self._units @ self._units.T
        np.fill_diagonal(among, -np.inf)
        self._homes = np.sort(_nearest(among))

    def halves(
        self, memory_ids: Sequence[str], vectors: NDArray[np.float32], _: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """R is one thing here, and stands for both halves."""
        found = self.relevances(memory_ids, vectors)
        return found, found

    def relevances(self, memory_ids: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        """R of memories in millionths; 0 where there are too few episodes to compare with."""
        if self._centre is None or not memory_ids:
            return np.zeros(len(memory_ids), np.int64)
        near = self._apart(vectors.astype(np.float64)) @ self._units.T
        places = {memory_id: at for at, memory_id in enumerate(self._ids)}
        for row, memory_id in enumerate(memory_ids):
            if memory_id in places:
                near[row, places[memory_id]] = -np.inf
        if not self._shares:
            return np.clip(np.rint(_nearest(near) * PPM), 0, PPM).astype(np.int64)
        below = np.searchsorted(self._homes, _nearest(near), side="left")
        found: NDArray[np.int64] = (below * PPM // len(self._homes)).astype(np.int64)
        return found

    def _apart(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        assert self._centre is not None
        moved = rows - self._centre
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        units: NDArray[Any] = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
        return units


NEAREST = partial(Centred, centre=False, repetitions=True, shares=False)
"""The relevance that members voted by before they ranked worth: the mean of the three highest cosines to late episodes.
It stays as a row beside what followed it: worse than a coin on whole meetings."""


def _nearest(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each row's three highest, of what there is."""
    most = cosines.shape[1]
    highest = cosines if most <= TOP else np.partition(cosines, most - TOP, axis=1)[:, -TOP:]
    finite = np.isfinite(highest)
    means: NDArray[np.float64] = np.where(finite, highest, 0.0).sum(axis=1) / np.maximum(1, finite.sum(axis=1))
    return means
