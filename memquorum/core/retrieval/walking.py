"""Walks from memories along their relations to others, best first, within a budget (SPEC D, recall).

A round leaves the best places, at most `EXPANDED`, and their edges lead to new ones. A place is worth the product of
the weights on its path (`linking.RELATIONS`), times the nearness of its text to the question. The edges of a round come
from one statement, which tells only of memories that the reader may see: a memory that is out of sight ends the path.
For a goal, social relations are not followed, and social memories are left out unless the goal needs them.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core.api.answers import Step
from memquorum.core.late_numpy import np
from memquorum.core.linking import RELATIONS

EXPANDED = 16
"""So many places are left in one round, the best of those that are new."""
EACH = 8
"""So many relations of a kind are followed from one memory in each direction, to the latest memories."""
TAKEN = 50
"""So many memories a walk finds, the best of all."""
SOCIAL = "social"
"""The type of a memory about people, and the reason why such a one is left out."""


class Edge(Struct, frozen=True):
    """A relation from the memory `at`, which the walk has reached, to `other`. `forth`: `at` is where the relation
    begins."""

    at: str
    kind: str
    forth: bool
    other: str
    type: str
    encoder: str = ""
    vector: NDArray[np.float32] | None = None

    @property
    def step(self) -> Step:
        """The relation in its own direction."""
        return Step(self.kind, self.at, self.other) if self.forth else Step(self.kind, self.other, self.at)

    @property
    def causal(self) -> bool:
        """Whether `at` needs `other`."""
        relation = RELATIONS[self.kind]
        return relation.causal and (self.forth or relation.symmetric)


class Aim(Struct, frozen=True):
    """The thing that a walk looks for: a unit vector by an encoder, or nothing. `goal`: it is for a goal, which needs
    no social memory but those that its own memories need."""

    encoder: str = ""
    vector: NDArray[np.float32] | None = None
    goal: bool = False

    def near(self, encoder: str, vector: NDArray[np.float32] | None) -> float:
        """Returns how much a memory has to do with it, in [½, 1]; ½ if that is not known."""
        if self.vector is None or vector is None or encoder != self.encoder:
            return 0.5
        return 0.5 + 0.5 * max(0.0, float(self.vector @ vector))


class Place(Struct, frozen=True):
    """A memory that a walk has reached. `weight`: the product of the weights on its path. `needed`: each step of it is
    one that the memory before needs."""

    memory_id: str
    anchor: str
    path: tuple[Step, ...]
    weight: float
    score: float
    needed: bool


class Walk:
    """A walk from seeds: the anchors of a recall, what they were made of, and what was made of them."""

    def __init__(self, seeds: Iterable[Place], aim: Aim) -> None:
        self._aim = aim
        self._places = {one.memory_id: one for one in seeds}
        self._seeds = frozenset(self._places)
        self._left = set[str]()
        self._unneeded = set[str]()

    def next_round(self) -> list[str]:
        """Returns the places to go on from, best first, each once in a walk."""
        best = sorted(self._places.values(), key=_best_first)[: TAKEN + len(self._seeds)]
        chosen = [one.memory_id for one in best if one.memory_id not in self._left][:EXPANDED]
        self._left.update(chosen)
        return chosen

    def take(self, edges: Iterable[Edge]) -> None:
        """Takes the edges of the places of a round. A place keeps its best path."""
        for edge in sorted(edges, key=lambda one: (one.at, one.other, one.kind, one.forth)):
            before = self._places.get(edge.at)
            if before is None or edge.other in self._seeds:
                continue
            needed = before.needed and edge.causal
            if self._aim.goal and not needed and (RELATIONS[edge.kind].social or edge.type == SOCIAL):
                self._unneeded.add(edge.other)
                continue
            weight = before.weight * RELATIONS[edge.kind].weight
            score = weight * self._aim.near(edge.encoder, edge.vector)
            found = Place(edge.other, before.anchor, (*before.path, edge.step), weight, score, needed)
            if self._better(found, self._places.get(edge.other)):
                self._places[edge.other] = found

    def found(self) -> list[Place]:
        """Returns the memories that were found, best first, without the seeds."""
        new = (one for one in self._places.values() if one.memory_id not in self._seeds)
        return sorted(new, key=_best_first)[:TAKEN]

    def passed(self) -> list[str]:
        """Returns what was found, and the memories on the ways to it, without the seeds."""
        return sorted({own for one in self.found() for own in self.passed_by(one)})

    def passed_by(self, place: Place) -> set[str]:
        """Returns the memories on the way to a place that are no seeds, and the place itself."""
        return {end for step in place.path for end in (step.of, step.to)} - self._seeds

    def unneeded(self) -> set[str]:
        """Returns the social memories, and those at the end of a social relation, that the goal does not need."""
        return self._unneeded - self._places.keys()

    def _better(self, found: Place, known: Place | None) -> bool:
        """Whether a path takes the place of the one that is known. A place that was left keeps the path that those
        behind it have."""
        if known is None or found.memory_id in self._left:
            return known is None
        return (self._aim.goal and found.needed, found.score) > (self._aim.goal and known.needed, known.score)


def _best_first(one: Place) -> tuple[float, int, str]:
    return -one.score, len(one.path), one.memory_id
