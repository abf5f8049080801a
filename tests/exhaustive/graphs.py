"""A member's graph without redundant steps: the other members cannot tell the two apart.

A node is a member's state; a step is what it reads and then says. One node *covers* another where both have said the
same and each step of the other is matched: by a step that says the same, needs nothing else, and leads to a node that
covers the other's next. Words stay readable, so the first can say whatever the other can. A step is left out where
another step of its node says the same, needs no more, and leads to a node that covers; nodes that have said and do the
same are one. Steps lead only onward, since a word is said once: so the nodes can be compared one after the other, from
the last.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from tests.exhaustive.alphabet import Word

Words = tuple[Word, ...]
Said = frozenset[Word]


class Step(Struct, frozen=True):
    """A step: the units read, in this order; the words said then; the node after it."""

    reads: Words
    says: Words
    to: int
    needs: frozenset[Word]


class Graph:
    """The steps of nodes by number; `said` is what was said until then. 0 is the first node."""

    def __init__(self, said: Mapping[int, Said], steps: Mapping[int, list[Step]]) -> None:
        self.said, self.steps = said, dict(steps)
        self._covers: dict[tuple[int, int], bool] = {}
        self._same: dict[int, int] = {}

    def pruned(self) -> Graph:
        """The same without steps that another covers, and with one node for all that can do exactly the same."""
        kept: dict[int, list[Step]] = {}
        alike: dict[tuple[Said, frozenset[tuple[Said, Words, int]]], int] = {}
        for node in self._onward():
            steps = [replace(step, to=self._same[step.to]) for step in self._needed(self.steps[node])]
            does = frozenset((step.needs, step.says, step.to) for step in steps)
            self._same[node] = alike.setdefault((self.said[node], does), node)
            kept[node] = steps
        first = self._same[0]
        reached, todo = {first}, [first]
        while todo:
            for step in kept[todo.pop()]:
                if step.to not in reached:
                    reached.add(step.to)
                    todo.append(step.to)
        return Graph({node: self.said[node] for node in reached}, {node: kept[node] for node in reached})

    def _onward(self) -> list[int]:
        """The nodes, each after all that its steps lead to: they have said more."""
        return sorted(self.steps, key=lambda node: -len(self.said[node]))

    @property
    def count(self) -> int:
        """Counts the steps."""
        return sum(len(steps) for steps in self.steps.values())

    def _needed(self, steps: list[Step]) -> list[Step]:
        kept: list[Step] = []
        for step in sorted(steps, key=lambda each: (len(each.needs), each.to)):
            if not any(self._better(other, step) for other in kept):
                kept = [other for other in kept if not self._better(step, other)]
                kept.append(step)
        return kept

    def _better(self, one: Step, other: Step) -> bool:
        return one.says == other.says and one.needs <= other.needs and self.covers(one.to, other.to)

    def covers(self, one: int, other: int) -> bool:
        """Whether a node can do all that another can."""
        if one == other:
            return True
        found = self._covers.get((one, other))
        if found is None:
            found = self._covers[one, other] = self.said[one] == self.said[other] and all(
                any(self._better(mine, step) for mine in self.steps[one]) for step in self.steps[other]
            )
        return found
