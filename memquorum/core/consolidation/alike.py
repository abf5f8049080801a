"""Finds summaries that say the same and may be merged (SPEC C, daily merge).

Two summaries say the same where their cosine reaches the policy's, their texts are provably the same (`sameness`), and
either may be served for the other (`merging.interchangeable`). Similarity is not transitive: of three that lie in a row
the ends may say different things. So only cliques are merged, in which every pair says the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from memquorum.core.consolidation.importance import left_ppm
from memquorum.core.contained import Failures
from memquorum.core.late_numpy import np
from memquorum.core.merging import Marks, interchangeable
from memquorum.core.policy import PPM
from memquorum.core.reading.agreement import ComparedText
from memquorum.ports import Peer, Vector

_ERROR = 1e-9
"""The largest rounding error of a sum of products in float64: a cosine of one must not count as less."""


class Telling(Protocol):
    """A summary, as a member has read it or the schedule knows it."""

    @property
    def text(self) -> str | None:
        """Its content; None where it cannot be read."""

    @property
    def vector(self) -> Vector | None:
        """Its embedding; None where it cannot be opened."""

    @property
    def marks(self) -> Marks | None:
        """The marks of the memory: its subject, its source, and its gates; None if they are not known."""


_T = TypeVar("_T", bound=Telling)


def stands_for(one: Telling, mine: ComparedText, other: Telling, theirs: ComparedText) -> bool:
    """Whether either may be served for the other, however near they lie. `mine`, `theirs`: their texts, as read."""
    if one.marks is None or other.marks is None:
        return False
    return interchangeable(one.marks, other.marks) and mine.agrees(theirs)


def cosine_ppm(a: Vector, b: Vector) -> int:
    """The cosine of two vectors in millionths, rounded down and not under 0; 0 where one is zero, or they differ in
    length."""
    if len(a) != len(b):
        return 0
    one, other = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    value = float(one @ other) / lengths if lengths > 0 else 0.0
    return min(PPM, max(0, math.floor((value + _ERROR) * PPM)))


def lowest_ppm(summaries: Sequence[Telling]) -> int:
    """The lowest cosine of any two of them; 0 where there are no two, or the embedding of one is not known."""
    vectors = [one.vector for one in summaries]
    return min(
        (0 if a is None or b is None else cosine_ppm(a, b) for at, a in enumerate(vectors) for b in vectors[at + 1 :]),
        default=0,
    )


def same(summaries: Sequence[_T], fits: Callable[[_T, ComparedText, _T, ComparedText], bool] = stands_for) -> bool:
    """Whether every two of them say the same and are bound alike, however near they lie; or `fits` says so of each with
    those after it."""
    if any(one.text is None for one in summaries):
        return False
    said = [ComparedText(one.text or "") for one in summaries]
    return all(
        fits(summaries[at], mine, other, theirs)
        for at, mine in enumerate(said)
        for other, theirs in zip(summaries[at + 1 :], said[at + 1 :], strict=True)
    )


def rank(salience_ppm: int, created: int, memory_id: str, as_of: int) -> tuple[int, int, str]:
    """The place of a summary among those that say the same, the first the one that stays: the higher score, which is
    its importance faded by its half-life; then the older, then the lower id."""
    return -left_ppm(salience_ppm, as_of - created, summary=True), created, memory_id


def cliques(
    peers: Sequence[Peer],
    least_ppm: int,
    most: int,
    as_of: int,
    *,
    by: Callable[[Peer, int], Any] | None = None,
    fits: Callable[[Peer, ComparedText, Peer, ComparedText], bool] = stands_for,
    failures: Failures | None = None,
) -> list[tuple[Peer, ...]]:
    """The groups that may become one, each of `most` at most: first the one that stays. None is in two.

    From the best on, each takes those that say the same as all that it has taken. Whatever their order, the same
    give the same groups. `by`: (one, as_of) → its place; None: that of a summary. `fits`: whether one says the same as
    another of a later place. `failures`: takes what a rule fails on, which says the same as nothing.
    """
    failures = failures or Failures()
    ranked = sorted(peers, key=lambda one: (by or _rank)(one, as_of))
    said = {one.candidate.memory_id: ComparedText(one.text) for one in ranked}
    taken: set[str] = set()
    found: list[tuple[Peer, ...]] = []

    def together(one: Peer, other: Peer) -> bool:
        if one.candidate.namespace != other.candidate.namespace or cosine_ppm(one.vector, other.vector) < least_ppm:
            return False
        pair = one.candidate.memory_id, other.candidate.memory_id
        return failures.answer("agreement", pair, False, fits, one, said[pair[0]], other, said[pair[1]])

    for at, first in enumerate(ranked):
        if first.candidate.memory_id in taken:
            continue
        group = [first]
        for other in ranked[at + 1 :]:
            if len(group) == most:
                break
            if other.candidate.memory_id not in taken and all(together(one, other) for one in group):
                group.append(other)
        if len(group) > 1:
            found.append(tuple(group))
            taken.update(one.candidate.memory_id for one in group)
    return found


def _rank(peer: Peer, as_of: int) -> tuple[int, int, str]:
    one = peer.candidate
    return rank(one.salience_ppm, one.created, one.memory_id, as_of)
