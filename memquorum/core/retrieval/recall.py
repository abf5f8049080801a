"""Finds the surroundings of a memory: what it is linked with, its neighbours in the session, and other memories of that
time.

It begins at anchors: a memory that is named, or those that answer a query best. Nearest to an anchor are the memories
it was made of and those made of it. Then come those that a walk along relations finds (`walking`), its neighbours in
the session by their distance, those that a walk finds by names alone (`entities`), and what is near in time
alone. A budget takes the nearest first; what was taken is told in the order of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.api.answers import Step
from memquorum.core.linking import DERIVES, NAMES, NEXT, RELATIONS
from memquorum.core.linking import TIME as SAME_TIME
from memquorum.core.retrieval.packing import Item
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.retrieval.replaced import Past, Replaced, candidate_then
from memquorum.core.retrieval.walking import SOCIAL, Aim, Place

_WAYS = ("anchor", "source", "derived", "link", "session", "name", "time")
ANCHOR, SOURCE, DERIVED, LINK, SESSION, NAME, TIME = _WAYS

# The ways by which a goal is led to what it needs; a walk has left out what it does not need.
_NEEDED = (ANCHOR, SOURCE, LINK)
_BEGUN = (ANCHOR, SOURCE, DERIVED)
# The relation that each way but those of a walk follows.
_KINDS = {SOURCE: DERIVES, DERIVED: DERIVES, SESSION: NEXT, TIME: SAME_TIME}


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
    """A memory and the way by which it was come to. `apart`: steps in the session, links of derivation or of a walk, or
    milliseconds; below 0 before, and of what it was made of. `gone`: what took its place, if it was replaced. `path`
    and `rank`: of a walk."""

    candidate: Candidate
    anchor: str
    way: str
    apart: int
    gone: Replaced | None = None
    path: tuple[Step, ...] = ()
    rank: float = 0.0


def in_order(found: Iterable[Neighbour], anchors: Sequence[str]) -> list[Neighbour]:
    """Returns each memory once, by its shortest way, in the order in which a budget takes them. The anchors come first,
    in their order, then their sources, then the memories made of them. Next come the best of a walk over relations
    that were stated or made, then the nearest in a session, then the best of a walk over names, then in time. Among
    equally near ones, those of the better anchor come first, and the later before the earlier, because an answer
    follows its question."""
    place = {memory_id: at for at, memory_id in enumerate(anchors)}

    def key(one: Neighbour) -> tuple[int, float, int, int, int, str]:
        own = one.candidate.hit.memory_id
        return _WAYS.index(one.way), -one.rank, abs(one.apart), place[one.anchor], -one.apart, own

    ordered: dict[str, Neighbour] = {}
    for one in sorted(found, key=key):
        ordered.setdefault(one.candidate.hit.memory_id, one)
    return list(ordered.values())


def seeds(found: Iterable[Neighbour], aim: Aim) -> list[Place]:
    """Returns where a walk begins: at the anchors, at what they were made of, and at what was made of them."""
    near = sorted((one for one in found if one.way in _BEGUN), key=lambda one: (abs(one.apart), one.anchor))
    places: dict[str, Place] = {}
    for one in near:
        own, weight = one.candidate.hit.memory_id, RELATIONS[DERIVES].weight ** abs(one.apart)
        score = weight if one.way == ANCHOR else weight * aim.near(one.candidate.encoder, one.candidate.vector)
        places.setdefault(own, Place(own, one.anchor, path_of(one), weight, score, needed=one.way != DERIVED))
    return list(places.values())


def path_of(one: Neighbour) -> tuple[Step, ...]:
    """Returns the relations that lead to a memory: of a session, a time or a derivation one for the whole way."""
    own, kind = one.candidate.hit.memory_id, _KINDS.get(one.way)
    if kind is None:
        return one.path
    # A later memory is what its session goes on to, and a derived one states what it was made of.
    from_anchor = one.way == SOURCE or (one.way != DERIVED and one.apart >= 0)
    return (Step(kind, one.anchor, own) if from_anchor else Step(kind, own, one.anchor),)


def way_of(path: Iterable[Step]) -> str:
    """Returns the way of a walk: by a name where one of its relations is one that rules found in the texts."""
    return NAME if any(step.kind == NAMES for step in path) else LINK


def told(one: Neighbour) -> dict[str, Any]:
    """Returns how a memory was come to, as an answer tells it."""
    rank = round(one.rank, 6) if one.way in (LINK, NAME) else None
    return {"way": one.way, "anchor": one.anchor, "apart": one.apart, "walk": path_of(one), "rank": rank}


def needed(found: Sequence[Neighbour], aim: Aim) -> tuple[list[Neighbour], set[str]]:
    """Parts the memories from the social ones that a goal does not need; of these only the ids."""
    kept = [one for one in found if not aim.goal or one.way in _NEEDED or one.candidate.hit.type != SOCIAL]
    there = {one.candidate.hit.memory_id for one in kept}
    return kept, {one.candidate.hit.memory_id for one in found} - there


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
