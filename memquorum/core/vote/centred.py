"""The centred share of a memory: how near it is to the late episodes of a member's own agents (SPEC A, Alg. 3).

The plain cosine finds small talk relevant: encoders give all texts a common component, and a text without content lies
next to it, and next to its own repetitions most of all. Measured on whole meetings that is worse than chance
(docs/measured/forgetting-quality.md). So

1. the mean of the member's late episodes is subtracted first, from them and from the memory: the common component
   carries no information;
2. episodes that only repeat a memory count for that mean, and memories are not compared with them;
3. the share is the fraction of the episodes whose nearness to the other episodes is below the memory's. It spans 0 to 1
   whatever the encoder, as θ requires.

Subtracting the mean against hubs: Suzuki et al. 2013, "Centering similarity measures to reduce hubs"; Mu and Viswanath
2018, "All-but-the-top".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeAlias

from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOP = 3
"""The number of nearest episodes whose mean cosine is a memory's nearness: one accidental likeness does not save it."""

Rows: TypeAlias = "NDArray[np.float64]"


class Centred:
    """The late episodes of a member's agents, which memories are compared with."""

    def __init__(self, memory_ids: Sequence[str], units: Rows, repeats: Collection[str] = ()) -> None:
        """`units`: rows of unit length, shape (len(memory_ids), d). `repeats`: the ids of episodes that only repeat a
        memory."""
        told = [memory_id not in repeats for memory_id in memory_ids]
        speaking = [memory_id for memory_id, tells in zip(memory_ids, told, strict=True) if tells]
        self._places = {memory_id: at for at, memory_id in enumerate(speaking)}
        self.speaks = len(self._places) >= 2
        """True if there are at least two episodes to compare with; with fewer there is no share."""
        if self.speaks:
            self._centre = units.mean(axis=0)
            self._units = self._apart(units[told])
            among = self._units @ self._units.T
            np.fill_diagonal(among, -np.inf)
            self._homes = np.sort(_nearest_ppm(among))

    def shares_ppm(self, memory_ids: Sequence[str], units: Rows) -> NDArray[np.int64]:
        """Returns the share of each memory, in millionths. Requires `speaks`. A memory is not compared with itself."""
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
        # A row that equals the mean, up to rounding, has no direction left.
        units: Rows = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 1e-9)
        return units


def _nearest_ppm(cosines: Rows) -> NDArray[np.int64]:
    """Returns the mean of each row's three highest finite values, in millionths: rounding makes equal rows equal,
    whatever the order of their sums."""
    most = cosines.shape[1]
    highest = cosines if most <= TOP else np.partition(cosines, most - TOP, axis=1)[:, -TOP:]
    finite = np.isfinite(highest)
    means = np.where(finite, highest, 0.0).sum(axis=1) / np.maximum(1, finite.sum(axis=1))
    ppm: NDArray[np.int64] = np.rint(means * PPM).astype(np.int64)
    return ppm
