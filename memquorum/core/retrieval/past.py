"""Orders the best hits by the time that a question asks about: before an event, at a date, what was, what was first.

A question about the past gets what was said of its matter at that time, in order of time, and what came later behind
it. The event of a question ("before the move") is the hit that is nearest to its words. A hit is of the matter
if its cosine to the rest of the question is near enough to that of the nearest. All hits stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memquorum.core.api.answers import Hit
from memquorum.core.moments import moment, read
from memquorum.core.reading.times import AFTER, AT, BEFORE, DURING, FIRST, TURN, WAS, Asked, Span

HEAD = 10
"""So many of the best hits are put in order."""
NEAR, SAME, ANY = 0.6, 0.8, 0.4
"""Shares of the nearest hit's cosine from which on a hit is of the same matter: among hits that were said by some
time; where no time is named, so that the order alone tells; among hits that came after something."""
Vector = NDArray[np.float32]


def in_time(
    asked: Asked, hits: Sequence[Hit], vectors: Mapping[str, Vector], anchor: Vector | None, rest: Vector | None
) -> list[Hit]:
    """The hits, the best of them in the order of the time that is asked for. `vectors`: of hits, by id; `anchor`,
    `rest`: of the parts of the question, where it has them."""
    head = list(hits[:HEAD])
    if len(head) < 2:
        return list(hits)
    near = _nearness(head, vectors, rest)
    first = _SORTS[asked.sort](asked, head, near, _nearness(head, vectors, anchor))
    places = {id(hit) for hit in first}
    return [*first, *(hit for hit in head if id(hit) not in places), *hits[HEAD:]]


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


def _before(asked: Asked, head: list[Hit], near: Mapping[str, float], event: Mapping[str, float]) -> list[Hit]:
    if asked.span is not None:
        bounds = _bounds(asked.span, head)
        return [] if bounds is None else _latest_first([hit for hit in head if hit.occurred_at < bounds[0]], near)
    then = max(head, key=lambda hit: event[hit.memory_id])
    return _latest_first([hit for hit in head if hit.occurred_at < then.occurred_at], near)


def _after(asked: Asked, head: list[Hit], near: Mapping[str, float], event: Mapping[str, float]) -> list[Hit]:
    if asked.span is not None:
        bounds = _bounds(asked.span, head)
        later = [] if bounds is None else [hit for hit in head if hit.occurred_at >= bounds[1]]
    else:
        then = max(head, key=lambda hit: event[hit.memory_id])
        later = [hit for hit in head if hit.occurred_at > then.occurred_at]
    return sorted(_of_matter(later, near, ANY), key=lambda hit: hit.occurred_at)


def _during(asked: Asked, head: list[Hit], near: Mapping[str, float], event: Mapping[str, float]) -> list[Hit]:
    then = max(head, key=lambda hit: event[hit.memory_id])
    # What was said of the event itself answers where it is nearest to the rest of the question, too.
    if near[then.memory_id] >= max(near.values()):
        return [then]
    return _latest_first([hit for hit in head if hit.occurred_at < then.occurred_at], near)


def _at(asked: Asked, head: list[Hit], near: Mapping[str, float], _: Mapping[str, float]) -> list[Hit]:
    bounds = None if asked.span is None else _bounds(asked.span, head)
    return [] if bounds is None else _latest_first([hit for hit in head if hit.occurred_at < bounds[1]], near)


def _was(_: Asked, head: list[Hit], near: Mapping[str, float], __: Mapping[str, float]) -> list[Hit]:
    matter = _latest_first(head, near, SAME)
    return [*matter[1:], *matter[:1]]


def _first(_: Asked, head: list[Hit], near: Mapping[str, float], __: Mapping[str, float]) -> list[Hit]:
    return _latest_first(head, near)[::-1]


def _turn(_: Asked, head: list[Hit], near: Mapping[str, float], __: Mapping[str, float]) -> list[Hit]:
    """Puts the second value first: it says since when the first is not so any more."""
    matter = _latest_first(head, near, SAME)[::-1]
    return [*matter[1:], *matter[:1]]


_SORTS: Mapping[str, Callable[[Asked, list[Hit], Mapping[str, float], Mapping[str, float]], list[Hit]]] = {
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
