"""Adds replaced memories to reads of the past: those that a newer memory replaced on purpose.

A read is of the past where it says `as_of`, or where its question asks about another time than now. As of a time it
shows the memories in service then, in their state of that time; later events mark nothing. For a question, a replaced
memory is shown beside its replacement, with a mark. These memories do not count as used (infra/decisions/0162).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum.core.api.answers import Hit
from memquorum.core.reading.times import AskedTime
from memquorum.core.retrieval.overtaken import NOTHING, Beside, Otherwise
from memquorum.core.retrieval.query import TIERS, Filters
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.tiers import SUPERSEDED


class Replaced(Struct, frozen=True):
    """A memory that was found although another one took its place. `newer`, `agent`: which, and who said that; None
    where the reader may not see it, or it is gone. `since`: when the newer one was said first, in milliseconds."""

    candidate: Candidate
    newer: str | None
    agent: str | None
    since: int

    @property
    def hit(self) -> Hit:
        """The hit."""
        return self.candidate.hit

    @property
    def mark(self) -> Otherwise:
        """The mark that names the newer memory."""
        return Otherwise(self.newer, self.agent, self.since, disputed=False)


class Past(Struct, frozen=True):
    """The replaced memories that a read of the past shows. As of a time they were in service, and are listed among the
    rest.
    """

    found: tuple[Replaced, ...] = ()
    as_of: int | None = None

    @property
    def vectors(self) -> dict[str, NDArray[np.float32]]:
        """The vectors of what was replaced, by id."""
        return {one.hit.memory_id: one.candidate.vector for one in self.found}

    @property
    def beside(self) -> tuple[Replaced, ...]:
        """The marked memories that are shown beside their replacements."""
        return self.found if self.as_of is None else ()

    @property
    def among(self) -> tuple[Replaced, ...]:
        """The memories that are listed among the rest, in their state at the requested time."""
        return () if self.as_of is None else self.found

    @property
    def names(self) -> frozenset[str]:
        """The ids of the marked memories."""
        return frozenset(one.hit.memory_id for one in self.beside)


def of_past(filters: Filters, asked: AskedTime | None) -> bool:
    """True if a read shows replaced memories. Their former tier is not recorded, so reads of one tier leave them out;
    so do reads of experience."""
    timed = filters.as_of is not None or asked is not None
    return timed and set(filters.tiers) == set(TIERS) and not filters.experience


def was_replaced(hit: Hit) -> bool:
    """Whether a hit is out of service, and shown by a read of the past."""
    return hit.tier == SUPERSEDED


def then(hit: Hit, as_of: int | None) -> Hit:
    """A hit as it stood at a time: of what was said again since only the first saying is known to be of before."""
    if as_of is None or hit.occurred_at <= as_of or hit.first_at is None:
        return hit
    return replace(hit, occurred_at=hit.first_at, first_at=None)


def candidate_then(one: Candidate, as_of: int | None) -> Candidate:
    """A candidate as it stood at a time."""
    return one if as_of is None else replace(one, hit=then(one.hit, as_of))


def by_nearness(hits: Iterable[Hit]) -> list[Hit]:
    """Hits of several questions to the store, nearest first."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory_id))


def marked(
    hits: Sequence[Hit], beside: Mapping[str, Beside], gone: Sequence[Replaced]
) -> tuple[list[Hit], dict[str, Beside]]:
    """The hits and what contradicts each, with the marks of what was replaced: each names what took its place, and that
    names it in turn, where both are given."""
    told, found = {one.hit.memory_id: one for one in gone}, dict(beside)
    overtakes: dict[str, list[str]] = {}
    for hit in hits:
        one = told.get(hit.memory_id)
        if one is not None:
            before = found.get(hit.memory_id, NOTHING)
            found[hit.memory_id] = replace(before, against=(*before.against, one.mark))
            overtakes.setdefault(one.newer or "", []).append(hit.memory_id)
    every = {hit.memory_id: (*hit.overtakes, *overtakes.get(hit.memory_id, ())) for hit in hits}
    return [replace(hit, overtakes=tuple(dict.fromkeys(every[hit.memory_id]))) for hit in hits], found


def marked_ranking(ranked: Sequence[Scored], gone: Sequence[Replaced]) -> list[Scored]:
    """A ranking with the same marks."""
    beside = {one.candidate.hit.memory_id: Beside(against=one.candidate.against) for one in ranked}
    hits, found = marked([one.candidate.hit for one in ranked], beside, gone)
    return [
        replace(one, candidate=replace(one.candidate, hit=hit, against=found[hit.memory_id].against))
        for one, hit in zip(ranked, hits, strict=True)
    ]
