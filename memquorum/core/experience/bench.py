"""The tasks of a namespace by their vectors alone: which of them are near enough to a candidate to judge it.

Vectors are a kilobyte each and texts may be hundreds; so who has many tasks looks here first, and reads the texts of
the few that are near. `near` answers as `trial.judges` orders; whether a task has anything to say, its texts tell.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core.experience.similarity import similarities_ppm, units, whole
from memquorum.core.experience.view import Held
from memquorum.core.policy import ExperiencePolicy

_AT_ONCE = 4_096


class Place(Struct, frozen=True, gc=False):
    """A finished task: its id, where it stands in the accepted stream, and its vector, little-endian float16."""

    id: str
    accepted_offset: int
    encoder: str
    vector: bytes


class Bench:
    """Tasks that may judge; some 1.6 KB each at 384 dimensions."""

    def __init__(self, places: Iterable[Place]) -> None:
        """`places`: those that succeeded, in any order."""
        by_encoder: dict[str, list[Place]] = {}
        for one in places:
            by_encoder.setdefault(one.encoder, []).append(one)
        self._of = {encoder: _Rows(some) for encoder, some in by_encoder.items()}

    def __len__(self) -> int:
        return sum(len(one.places) for one in self._of.values())

    def near(self, candidate: Held, policy: ExperiencePolicy) -> list[tuple[str, int]]:
        """Those near enough that it was not made of, as (id, accepted offset): the nearest first, ties by id."""
        rows = self._of.get(candidate.encoder)
        if rows is None:
            return []
        near, me = list[tuple[int, str, int]](), units(candidate.vector)
        for start in range(0, len(rows.places), _AT_ONCE):
            found = similarities_ppm(rows.units[start : start + _AT_ONCE].astype(np.float64), me)
            for at in np.nonzero(found >= policy.near_ppm)[0].tolist():
                one = rows.places[start + at]
                near.append((-int(found[at]), one[0], one[1]))
        return [(name, offset) for _, name, offset in sorted(near) if name not in candidate.sources]


class _Rows:
    def __init__(self, places: list[Place]) -> None:
        self.places = [(one.id, one.accepted_offset) for one in places]
        # Whole numbers up to 2²⁰ are exact in float32: half of the memory.
        self.units: NDArray[np.float32] = np.stack([whole(one.vector).astype(np.float32) for one in places])
