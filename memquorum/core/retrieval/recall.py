"""Finds the surroundings of a memory: its neighbours in the session, and other memories of that time.

It begins at anchors: a memory that is named, or those that answer a query best. Nearest to an anchor are the memories
it was made of and those made of it, then its neighbours in the session by their distance, then what is near in time
alone. A budget takes the nearest first; what was taken is told in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.retrieval.packing import Item
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.retrieval.replaced import Past, Replaced, candidate_then

ANCHOR, SOURCE, DERIVED, SESSION, TIME = _WAYS = ("anchor", "source", "derived", "session", "time")


class Reach(Struct, frozen=True):
    """The reach of a recall: so many steps before and after in the session; `nearby` memories that occurred
    `within_ms`; so many links to sources and derived memories, `related` of each. `past`: what was
    replaced, too; of a read as of a time, what was in service then."""

    steps: int
    within_ms: int
    links: int = 0
    nearby: int = 10
    related: int = 50
    past: bool = False


class Neighbour(Struct, frozen=True):
    """A memory and the way by which it was come to. `apart`: steps in the session, links of derivation,
    or milliseconds; below 0 before, and of what it was made of. `gone`: what took its place, if it was replaced."""

    candidate: Candidate
    anchor: str
    way: str
    apart: int
    gone: Replaced | None = None


def in_order(found: Iterable[Neighbour], anchors: Sequence[str]) -> list[Neighbour]:
    """Returns each memory once, by its shortest way, in the order in which a budget takes them. The anchors come first,
    in their order, then their sources, then the memories made of them, then the nearest in a session, then in time.
    Among equally near ones, those of the better anchor come first, and the later before the earlier, because an answer
    follows its question."""
    place = {memory_id: at for at, memory_id in enumerate(anchors)}

    def key(one: Neighbour) -> tuple[int, int, int, int, str]:
        return _WAYS.index(one.way), abs(one.apart), place[one.anchor], -one.apart, one.candidate.hit.memory_id

    ordered: dict[str, Neighbour] = {}
    for one in sorted(found, key=key):
        ordered.setdefault(one.candidate.hit.memory_id, one)
    return list(ordered.values())


def then(found: Iterable[Neighbour], as_of: int | None) -> list[Neighbour]:
    """The memories as they stood at a time."""
    return [replace(one, candidate=candidate_then(one.candidate, as_of)) for one in found]


def gone(found: Iterable[Neighbour], as_of: int | None) -> Past:
    """The memories that were replaced, each once."""
    named = {one.gone.hit.memory_id: one.gone for one in found if one.gone is not None}
    return Past(tuple(named.values()), as_of)


def scored(ordered: Sequence[Neighbour]) -> list[Scored]:
    """The memories as a budget takes them: the first has score 1, the n-th 1/n."""
    return [Scored(one.candidate, 1 / place, 1.0, 1 / place) for place, one in enumerate(ordered, 1)]


def in_time_order(items: Iterable[Item]) -> list[Item]:
    """Returns the memories taken, in the order of time."""
    return sorted(items, key=lambda i: (i.scored.candidate.hit.occurred_at, i.scored.candidate.hit.memory_id))
