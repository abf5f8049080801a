"""What surrounds a memory: what was said before and after it in its session, and what else occurred at that time.

A recall begins at anchors: a memory that is named, or those that answer a query best. What surrounds an anchor is as
near as its links to what it was made of, or was made of it, then as its steps in the session, then what is near in
time alone. A budget takes the nearest in first; what is in is
told in the order of time, as it happened.
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
    """Each memory once, by the shortest way, in the order in which a budget takes them in: the anchors as they are
    given, what they were made of, what was made of them, then what is nearest in a session, then in time; of equally
    near ones the better anchor's, later before earlier, for what follows answers."""
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
    """What is in, in the order of time."""
    return sorted(items, key=lambda i: (i.scored.candidate.hit.occurred_at, i.scored.candidate.hit.memory_id))
