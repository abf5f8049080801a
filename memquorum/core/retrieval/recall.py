"""A recall finds what surrounds a memory: what was said around it in its session, and what else occurred at that time.

It begins at anchors: a memory that is named, or those that answer a query best. Nearest to an anchor are the memories
it was made of and those made of it, then its neighbours in the session by their distance, then what is near in time
alone. A budget takes the nearest first; what was taken is told in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from memquorum.core.retrieval.packing import Item
from memquorum.core.retrieval.ranking import Candidate, Scored

ANCHOR, SOURCE, DERIVED, SESSION, TIME = _WAYS = ("anchor", "source", "derived", "session", "time")


class Reach(Struct, frozen=True):
    """How far is looked: so many steps before and after in the session; `nearby` of what occurred `within_ms`; so many
    links to what it was made of and what was made of it, `related` of each."""

    steps: int
    within_ms: int
    links: int = 0
    nearby: int = 10
    related: int = 50


class Neighbour(Struct, frozen=True):
    """A memory and the way by which it was come to. `apart`: steps in the session, links of derivation,
    or milliseconds; below 0 before, and of what it was made of."""

    candidate: Candidate
    anchor: str
    way: str
    apart: int


def in_order(found: Iterable[Neighbour], anchors: Sequence[str]) -> list[Neighbour]:
    """Each memory once, by its shortest way, in the order in which a budget takes them: the anchors as they are given,
    what they were made of, what was made of them, then what is nearest in a session, then in time. Of equally near ones
    those of the better anchor come first, and the later before the earlier, because an answer follows its question."""
    place = {memory_id: at for at, memory_id in enumerate(anchors)}

    def key(one: Neighbour) -> tuple[int, int, int, int, str]:
        return _WAYS.index(one.way), abs(one.apart), place[one.anchor], -one.apart, one.candidate.hit.memory_id

    ordered: dict[str, Neighbour] = {}
    for one in sorted(found, key=key):
        ordered.setdefault(one.candidate.hit.memory_id, one)
    return list(ordered.values())


def scored(ordered: Sequence[Neighbour]) -> list[Scored]:
    """The memories as a budget takes them: the first has score 1, the n-th 1/n."""
    return [Scored(one.candidate, 1 / place, 1.0, 1 / place) for place, one in enumerate(ordered, 1)]


def told(items: Iterable[Item]) -> list[Item]:
    """What was taken, in the order of time."""
    return sorted(items, key=lambda i: (i.scored.candidate.hit.occurred_at, i.scored.candidate.hit.memory_id))
