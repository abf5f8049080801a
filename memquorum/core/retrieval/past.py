"""Orders the best hits by the time that a question asks about: before an event, at a date, in the past, or first.

A question about the past gets the memories on its subject from that time, in order of time, and later ones behind them.
The event of a question ("before the move") is the hit that is nearest to its words. A hit is of the matter if its
cosine to the rest of the question is near enough to that of the nearest. All hits that are in service stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core.api.answers import Hit
from memquorum.core.moments import moment, read
from memquorum.core.reading import moments as spoken
from memquorum.core.reading.times import AFTER, AT, BEFORE, DURING, FIRST, TURN, WAS, AskedTime, Span

HEAD = 10
"""So many of the best hits are put in order."""
NEAR, SAME, ANY = 0.6, 0.8, 0.4
"""Shares of the nearest hit's cosine from which on a hit is of the same matter: among hits that were said by some
time; where no time is named, so that the order alone tells; among hits that came after something."""
Vector = NDArray[np.float32]


class _Head(Struct, frozen=True):
    """The best hits, how near each is to the rest of the question and to its event, and the ids of those that were
    replaced."""

    hits: list[Hit]
    near: Mapping[str, float]
    event: Mapping[str, float]
    replaced: Collection[str]

    @property
    def event_hit(self) -> Hit:
        """The one that is nearest to the words of the event."""
        return max(self.hits, key=lambda hit: self.event[hit.memory_id])


def in_time(
    asked: AskedTime,
    hits: Sequence[Hit],
    vectors: Mapping[str, Vector],
    anchor: Vector | None,
    rest: Vector | None,
    *,
    replaced: Collection[str] = (),
) -> list[Hit]:
    """The hits, the best of them in the order of the time that is asked for. `vectors`: of hits, by id; `anchor`,
    `rest`: of the parts of the question, where it has them. `replaced`: the ids of those that others took the place of:
    these are put in order with the best, and left out where they are of another matter than the question and its
    event."""
    there = [hit for hit in hits if hit.memory_id not in replaced]
    head = [*there[:HEAD], *(hit for hit in hits if hit.memory_id in replaced)]
    near, event = _nearness(head, vectors, rest), _nearness(head, vectors, anchor)
    meant = {hit.memory_id for of in (near, event) for hit in _of_matter(head, of)}
    head = [hit for hit in head if hit.memory_id not in replaced or hit.memory_id in meant]
    first = _SORTS[asked.sort](asked, _Head(head, near, event, replaced)) if len(head) > 1 else head
    places = {id(hit) for hit in first}
    return [*first, *(hit for hit in head if id(hit) not in places), *there[HEAD:]]


def _nearness(head: Sequence[Hit], vectors: Mapping[str, Vector], to: Vector | None) -> dict[str, float]:
    """The cosine of each hit to a part of the question; to all of it where there is no such part."""
    found = dict[str, float]()
    for hit in head:
        vector = vectors.get(hit.memory_id)
        if to is None or vector is None or vector.shape != to.shape:
            found[hit.memory_id] = hit.score
        else:
            lengths = float(np.linalg.norm(vector) * np.linalg.norm(to))
            found[hit.memory_id] = float(vector @ to) / lengths if lengths else 0.0
    return found


def _of_matter(hits: Sequence[Hit], near: Mapping[str, float], share: float = NEAR) -> list[Hit]:
    """Those that are near enough to the nearest."""
    most = max((near[hit.memory_id] for hit in hits), default=0.0)
    return [hit for hit in hits if near[hit.memory_id] >= share * most]


def _latest_first(hits: Sequence[Hit], near: Mapping[str, float], share: float = NEAR) -> list[Hit]:
    return sorted(_of_matter(hits, near, share), key=lambda hit: -hit.occurred_at)


def _before(asked: AskedTime, head: _Head) -> list[Hit]:
    if asked.span is not None:
        bounds = _bounds(asked.span, head.hits)
        earlier = [] if bounds is None else [hit for hit in head.hits if hit.occurred_at < bounds[0]]
        return _latest_first(earlier, head.near)
    then = head.event_hit
    return _latest_first([hit for hit in head.hits if hit.occurred_at < then.occurred_at], head.near)


def _after(asked: AskedTime, head: _Head) -> list[Hit]:
    if asked.span is not None:
        bounds = _bounds(asked.span, head.hits)
        later = [] if bounds is None else [hit for hit in head.hits if hit.occurred_at >= bounds[1]]
    else:
        then = head.event_hit
        later = [hit for hit in head.hits if hit.occurred_at > then.occurred_at]
    return sorted(_of_matter(later, head.near, ANY), key=lambda hit: hit.occurred_at)


def _during(asked: AskedTime, head: _Head) -> list[Hit]:
    then = head.event_hit
    # The memory of the event itself is an answer, too, if it is the nearest to the rest of the question.
    if head.near[then.memory_id] >= max(head.near.values()):
        return [then]
    return _latest_first([hit for hit in head.hits if hit.occurred_at < then.occurred_at], head.near)


def _at(asked: AskedTime, head: _Head) -> list[Hit]:
    bounds = None if asked.span is None else _bounds(asked.span, head.hits)
    return [] if bounds is None else _latest_first([h for h in head.hits if h.occurred_at < bounds[1]], head.near)


def _was(_: AskedTime, head: _Head) -> list[Hit]:
    """Puts the latest behind the rest, since it holds now, unless it was replaced by what the reader may not see, or
    says itself what was earlier: "Last year the ticket was 80 euros."."""
    matter = _latest_first(head.hits, head.near, SAME)
    latest = matter[0] if matter else None
    past = latest is None or latest.memory_id in head.replaced or spoken.moment(latest.answering).earlier
    holds = 0 if past else 1
    return [*matter[holds:], *matter[:holds]]


def _first(_: AskedTime, head: _Head) -> list[Hit]:
    return _latest_first(head.hits, head.near)[::-1]


def _turn(_: AskedTime, head: _Head) -> list[Hit]:
    """Puts the second value first: it says since when the first is not so any more."""
    matter = _latest_first(head.hits, head.near, SAME)[::-1]
    return [*matter[1:], *matter[:1]]


_SORTS: Mapping[str, Callable[[AskedTime, _Head], list[Hit]]] = {
    BEFORE: _before, AFTER: _after, DURING: _during, AT: _at, WAS: _was, FIRST: _first, TURN: _turn,
}  # fmt: skip


def _bounds(span: Span, head: Sequence[Hit]) -> tuple[int, int] | None:
    """Finds the beginning and the end of a date, in milliseconds; of several years the last that does not lie behind
    every hit. None where nothing had been said by its end, or all was said before it began: then the words alone
    decide."""
    oldest, newest = min(hit.occurred_at for hit in head), max(hit.occurred_at for hit in head)
    year = span.year if span.year is not None else int(moment(newest)[:4])
    for one in (year, year - 1) if span.year is None else (year,):
        start, end = _lasts(one, span)
        if start is not None and end is not None and start <= newest:
            return (start, end) if end > oldest else None
    return None


def _lasts(year: int, span: Span) -> tuple[int | None, int | None]:
    first, last = span.first or 1, span.last or 12
    if span.day is not None:
        start = read(f"{year:04}-{first:02}-{span.day:02}T00:00:00.000Z")
        return start, None if start is None else start + 86_400_000
    after = year + last // 12, last % 12 + 1
    return read(f"{year:04}-{first:02}-01T00:00:00.000Z"), read(f"{after[0]:04}-{after[1]:02}-01T00:00:00.000Z")
