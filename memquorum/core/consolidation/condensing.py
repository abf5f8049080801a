"""Groups the episodes of a namespace over its budget, so that a summary may take the place of each group (SPEC D; MaRS
4.1 and appendix D).

The distortion of a summary is D = 1/|C| Σ ‖φ(c_i) − φ(c̄)‖, over vectors of unit length: at most 2. It bounds how far
the mean of the group's vectors lies from the summary's. Before there is a summary, the middle of the group stands for
it: that is the predicted distortion. Members compute D from the vectors that they read themselves.

Two episodes are linked if they are near in time and one of them is among the next ones of the other. Groups are joined
by their nearest links, as long as the predicted distortion stays within the policy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from memquorum.core.access import covers
from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.consolidation.parting import MOST, bound
from memquorum.core.facets import SENSITIVE_PPM
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM, ConsolidatePolicy
from memquorum.core.records import Summary
from memquorum.ports import Placed, Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

OVER = "budget"
"""The reason to summarise what is of no one session: its namespace holds more than its budget."""
OF_NO_SESSION = ""
"""The session that such a summary names."""
SLICE = 512
"""So many episodes are grouped at a time, those that were unused for longest."""
_LINKED = 32
_TOGETHER_MS = 24 * 3600 * 1000
FARTHEST_PPM = 2 * PPM
"""The largest distance of two vectors of unit length."""


def makes_room(namespace: str, policy: ConsolidatePolicy) -> bool:
    """Returns True if a summary in a namespace takes the place of its sources, so that it makes room."""
    return not any(covers(one.split(), namespace) for one in (policy.strict, policy.retained, policy.off))


def gated(summary: Summary) -> bool:
    """Whether a summary was made for want of room. One in the place of an erased one is not: it says what is left."""
    return summary.session == OF_NO_SESSION and summary.renews is None and bool(summary.quotes)


def distortion_ppm(summary: Vector, sources: Sequence[Vector]) -> int:
    """Returns D of a summary, in millionths, rounded up; the largest there is where vectors are zero or not alike."""
    rows = [summary, *sources]
    if len(rows) < 2 or any(one.shape != summary.shape or not np.any(one) for one in rows):
        return FARTHEST_PPM
    units = _units(rows)
    return _mean_ppm(units[1:], units[0])


def predicted_ppm(sources: Sequence[Vector]) -> int:
    """Returns the predicted distortion of a group, in millionths: with its middle in the place of a summary."""
    units = _units(sources)
    return _mean_ppm(units, _middle(units))


def groups(episodes: Sequence[Placed], most_ppm: int) -> list[tuple[Placed, ...]]:
    """Returns the groups whose predicted distortion is within `most_ppm`, each by time, the oldest first. Episodes of a
    group are of one agent, bound alike and of one encoder."""
    alike: dict[Hashable, list[Placed]] = {}
    for one in sorted(episodes[:SLICE], key=lambda one: (one.memory.at, one.memory.memory_id)):
        key = one.memory.agent, bound(one.memory), one.encoder, one.vector.shape
        if one.memory.sensitivity_ppm < SENSITIVE_PPM and np.any(
            one.vector
        ):  # a summary inherits its sources' sensitivity
            alike.setdefault(key, []).append(one)
    found = [group for some in alike.values() for group in _grouped(some, most_ppm) if len(group) >= LEAST]
    return sorted(found, key=lambda group: (group[0].memory.at, group[0].memory.memory_id))


def _grouped(episodes: Sequence[Placed], most_ppm: int) -> list[tuple[Placed, ...]]:
    units = _units([one.vector for one in episodes])
    of, members = list(range(len(episodes))), {at: [at] for at in range(len(episodes))}
    for one, other in _links(units, lambda at: episodes[at].memory.at, most_ppm):
        a, b = sorted((of[one], of[other]))
        together = members[a] + members[b]
        if a == b or len(together) > MOST or _mean_ppm(units[together], _middle(units[together])) > most_ppm:
            continue
        members[a] = together
        for at in members.pop(b):
            of[at] = a
    return [tuple(episodes[at] for at in sorted(group)) for group in members.values()]


def _links(units: NDArray[np.float64], at: Callable[[int], int], most_ppm: int) -> list[tuple[int, int]]:
    """Returns the pairs that are near in time and might be a group by themselves, the nearest by their vectors
    first."""
    found: list[tuple[float, int, int]] = []
    for one in range(len(units)):
        ahead = range(one + 1, min(len(units), one + 1 + _LINKED))
        near = [other for other in ahead if at(other) - at(one) <= _TOGETHER_MS]
        cosines = units[near] @ units[one] if near else ()
        apart = ((_apart(float(cosine)), other) for cosine, other in zip(cosines, near, strict=True))
        found += [(distance, one, other) for distance, other in apart if distance * PPM <= most_ppm]
    return [(one, other) for _, one, other in sorted(found)]


def _apart(cosine: float) -> float:
    """Returns the distance of two unit vectors from their middle: 2·sin(θ/4) of the angle between them."""
    return 2 * math.sin(math.acos(min(1.0, max(-1.0, cosine))) / 4)


def _middle(units: NDArray[np.float64]) -> NDArray[np.float64]:
    middle: NDArray[np.float64] = units.mean(axis=0)
    length = float(np.linalg.norm(middle))
    return middle / length if length > 0 else middle


def _mean_ppm(units: NDArray[np.float64], middle: NDArray[np.float64]) -> int:
    return min(FARTHEST_PPM, math.ceil(PPM * float(np.linalg.norm(units - middle, axis=1).mean())))


def _units(vectors: Sequence[Vector]) -> NDArray[np.float64]:
    rows = np.stack(vectors).astype(np.float64)
    units: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units
