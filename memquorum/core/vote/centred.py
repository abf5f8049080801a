"""How much a memory means to a member beside its own agents' late episodes: its centred share (SPEC A, Alg. 3).

The plain cosine says "relevant" of what is common: encoders give all texts something in common, and what says little
lies next to it, most of all next to its own repetitions. Measured on whole meetings that is worse than a coin
(docs/forgetting-quality.md). So

1. the mean of the member's late episodes is taken off first, theirs and the memory's: what all have in common says
   nothing;
2. episodes that only repeat a memory count for that mean, and are nothing to be near to;
3. the share is that of the episodes which are less at home among the others than the memory is. It spans 0 to 1
   whatever the encoder, as θ supposes.

Taking the mean off against hubs: Suzuki et al. 2013, "Centering similarity measures to reduce hubs"; Mu and Viswanath
2018, "All-but-the-top".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import PPM

TOP = 3
"""A memory is as near as its mean cosine to so many nearest episodes: one chance likeness does not save it."""

Rows = NDArray[np.float64]


class Centred:
    """Late episodes of a member's agents, to hold memories against."""

    def __init__(self, memory_ids: Sequence[str], units: Rows, repeats: Collection[str] = ()) -> None:
        """`units`: rows of unit length, shape (len(memory_ids), d). `repeats`: those that only repeat a memory."""
        told = [memory_id not in repeats for memory_id in memory_ids]
        speaking = [memory_id for memory_id, tells in zip(memory_ids, told, strict=True) if tells]
        self._places = {memory_id: at for at, memory_id in enumerate(speaking)}
        self.speaks = len(self._places) >= 2
        """Whether there are two episodes to compare with: of fewer there is no share."""
        if self.speaks:
            self._centre = units.mean(axis=0)
            self._units = self._apart(units[told])
            among = self._units @ self._units.T
            np.fill_diagonal(among, -np.inf)
            self._homes = np.sort(_nearest_ppm(among))

    def shares_ppm(self, memory_ids: Sequence[str], units: Rows) -> NDArray[np.int64]:
        """The share of each memory, in millionths. Ask only where it `speaks`. No memory is near to itself."""
        near = self._apart(units) @ self._units.T
        for row, memory_id in enumerate(memory_ids):
            if memory_id in self._places:
                near[row, self._places[memory_id]] = -np.inf
        below = np.searchsorted(self._homes, _nearest_ppm(near), side="left")
        found: NDArray[np.int64] = (below * PPM // len(self._homes)).astype(np.int64)
        return found

    def _apart(self, rows: Rows) -> Rows:
        moved = rows - self._centre
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        # Whole as the mean is, but for rounding: that has no direction.
        units: Rows = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 1e-9)
        return units


def _nearest_ppm(cosines: Rows) -> NDArray[np.int64]:
    """The mean of each row's three highest, of what there is, in millionths: so equals are equal whatever was summed
    first."""
    most = cosines.shape[1]
    highest = cosines if most <= TOP else np.partition(cosines, most - TOP, axis=1)[:, -TOP:]
    finite = np.isfinite(highest)
    means = np.where(finite, highest, 0.0).sum(axis=1) / np.maximum(1, finite.sum(axis=1))
    ppm: NDArray[np.int64] = np.rint(means * PPM).astype(np.int64)
    return ppm
