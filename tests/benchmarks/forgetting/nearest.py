"""The relevance that members voted by before they ranked worth: the mean of the three highest cosines to late episodes.

It stays as a row beside what followed it: worse than a coin on whole meetings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import PPM
from memquorum.core.vote.centred import TOP
from memquorum.ports import Vector


class Nearest:
    """What a member voted by."""

    def __init__(self, episodes: Sequence[tuple[str, Vector, bool]]) -> None:
        """`episodes`: id, vector, and whether it only repeats a memory, which changes nothing here."""
        self._ids = [memory_id for memory_id, *_ in episodes]
        self._units = np.stack([vector for _, vector, _ in episodes]).astype(np.float64) if episodes else None
        if self._units is not None:
            self._units /= np.linalg.norm(self._units, axis=1, keepdims=True)

    def halves(
        self, memory_ids: Sequence[str], vectors: NDArray[np.float32], _: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """R is one thing here, and stands for both halves."""
        found = self.relevances(memory_ids, vectors)
        return found, found

    def relevances(self, memory_ids: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        """R of memories in millionths; 0 without an episode. None is near to itself."""
        if self._units is None or not memory_ids:
            return np.zeros(len(memory_ids), np.int64)
        rows = vectors.astype(np.float64)
        cosines = rows @ self._units.T / np.linalg.norm(rows, axis=1, keepdims=True)
        for row, memory_id in enumerate(memory_ids):
            cosines[row, [at == memory_id for at in self._ids]] = -np.inf
        highest = np.sort(cosines, axis=1)[:, -TOP:]
        finite = np.isfinite(highest)
        means = np.where(finite, highest, 0.0).sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
        found: NDArray[np.int64] = np.clip(np.rint(means * PPM), 0, PPM).astype(np.int64)
        return found
