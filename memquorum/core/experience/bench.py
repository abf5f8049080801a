"""The tasks of a namespace by their vectors alone: which of them are near enough to a candidate to judge it.

Vectors are a kilobyte each and texts may be hundreds; so who has many tasks looks here first, and reads the texts of
the few that are near. `near` answers as `trial.judges` orders; whether a task has anything to say, its texts tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core.experience.similarity import Units, similarities_ppm, units, whole
from memquorum.core.experience.view import Held
from memquorum.core.policy import ExperiencePolicy

_AT_ONCE = 4_096

Near = list[tuple[str, int]]
"""Tasks that are near enough to a candidate, as (id, accepted offset), the nearest first."""


class PlacedTask(Struct, frozen=True, gc=False):
    """A finished task: its id, where it stands in the accepted stream, and its vector, little-endian float16."""

    id: str
    accepted_offset: int
    encoder: str
    vector: bytes


class Bench:
    """Tasks that may judge; some 1.6 KB each at 384 dimensions."""

    def __init__(self, places: Iterable[PlacedTask]) -> None:
        """`places`: those that succeeded, in any order."""
        by_encoder: dict[str, list[PlacedTask]] = {}
        for one in places:
            by_encoder.setdefault(one.encoder, []).append(one)
        self._of = {encoder: _Rows(some) for encoder, some in by_encoder.items()}

        self._offsets = sorted(one.accepted_offset for some in by_encoder.values() for one in some)

    def __len__(self) -> int:
        return len(self._offsets)

    def latest(self, count: int) -> int:
        """The accepted offset from which on there are so many tasks, one at least; −1 where there are fewer."""
        return self._offsets[-count] if 0 < count <= len(self._offsets) else -1

    def near(self, candidates: Sequence[Held], policy: ExperiencePolicy) -> list[Near]:
        """Finds for each candidate the tasks that are near enough and that it was not made of: the nearest first, ties
        by id. It takes less for some candidates at once than one by one."""
        found: list[Near] = [[] for _ in candidates]
        for encoder, rows in self._of.items():
            asked = [at for at, one in enumerate(candidates) if one.encoder == encoder]
            if asked:
                near = rows.near(np.stack([units(candidates[at].vector) for at in asked]))
                for nth, at in enumerate(asked):
                    found[at] = rows.ordered(near[:, nth], policy.near_ppm, candidates[at].sources)
        return found


class _Rows:
    def __init__(self, places: list[PlacedTask]) -> None:
        places.sort(key=lambda one: one.id)
        self.places = [(one.id, one.accepted_offset) for one in places]
        # Whole numbers up to 2²⁰ are exact in float32: half of the memory.
        self.units: NDArray[np.float32] = np.stack([whole(one.vector).astype(np.float32) for one in places])

    def near(self, asked: Units) -> NDArray[np.int64]:
        """Returns the similarity of each task to each that is asked about, in millionths."""
        steps = range(0, len(self.places), _AT_ONCE)
        return np.concatenate(
            [similarities_ppm(self.units[at : at + _AT_ONCE].astype(np.float64), asked.T) for at in steps]
        )

    def ordered(self, near: NDArray[np.int64], least: int, without: Collection[str]) -> Near:
        """Those that are near enough, in order: they stand in that of their ids, which ties keep."""
        able = np.flatnonzero(near >= least)
        order = able[np.argsort(-near[able], kind="stable")]
        return [one for one in (self.places[at] for at in order.tolist()) if one[0] not in without]
