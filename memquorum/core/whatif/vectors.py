"""The embeddings of a namespace in whole numbers, and what lies nearest to a query.

A component is a multiple of 1/2048. Of vectors of unit length no sum of products then exceeds 2²², so binary floating
point of 24 bits adds them without rounding, in whatever order: the nearest are the same on every machine, at the speed
of a matrix product. A cosine is right to about a thousandth.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

SCALE = 2_048
# Rows that are held as binary floating point at once.
_PART = 65_536
# Of so many that lie nearest the first that are kept are mostly found without looking at the rest.
_NEAR = 512
_NEVER = np.iinfo(np.int64).min

Numbers = NDArray[np.int16]
Flags = NDArray[np.bool_]


def whole(vector: NDArray[np.floating]) -> Numbers:
    """A vector of unit length, or one a row, in whole numbers."""
    found: Numbers = np.rint(np.clip(np.asarray(vector, np.float64), -1, 1) * SCALE).astype(np.int16)
    return found


class Vectors:
    """The vectors of memories, in the order of the ids: equally near is nearer what has the lower id."""

    def __init__(self, vectors: Mapping[str, Numbers]) -> None:
        """`vectors`: all of the same length, as `whole` makes them."""
        self.ids = tuple(sorted(vectors))
        self.row = {memory_id: at for at, memory_id in enumerate(self.ids)}
        self._rows: Numbers = np.stack([vectors[one] for one in self.ids]) if self.ids else np.zeros((0, 0), np.int16)

    def __len__(self) -> int:
        return len(self.ids)

    def ask(self, query: Numbers, among: Flags) -> Near:
        """What lies nearest, of the rows that are flagged."""
        wide = query.astype(np.float32)
        found = np.concatenate(
            [self._rows[at : at + _PART].astype(np.float32) @ wide for at in range(0, len(self.ids), _PART)]
        ).astype(np.int64)
        # Unlike each other, so that the order of equals is no matter of how they are sorted.
        keys = found * len(self.ids) - np.arange(len(self.ids))
        return Near(np.where(among, keys, _NEVER))

    def fits(self, query: Numbers) -> bool:
        """Whether a query can be asked: there is something, made by an encoder of as many dimensions."""
        return len(self.ids) > 0 and query.shape == self._rows.shape[1:]

    def digest_bytes(self) -> bytes:
        """What the hash of a replay covers of them."""
        return self._rows.tobytes()


class Near:
    """How near each memory lies to one query."""

    def __init__(self, keys: NDArray[np.int64]) -> None:
        self._keys = keys
        self._first = _highest(keys, _NEAR)

    def nearest(self, count: int, kept: Flags) -> list[int]:
        """The rows of the nearest that are kept, at most so many."""
        found = self._first[kept[self._first]][:count]
        if len(found) < count and len(self._first) == _NEAR:
            found = _highest(np.where(kept, self._keys, _NEVER), count)
        return [int(row) for row in found]


def _highest(keys: NDArray[np.int64], count: int) -> NDArray[np.intp]:
    part = np.argpartition(keys, len(keys) - count)[-count:] if count < len(keys) else np.arange(len(keys))
    part = part[keys[part] > _NEVER]
    found: NDArray[np.intp] = part[np.argsort(keys[part])[::-1]]
    return found
