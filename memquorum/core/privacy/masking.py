"""Masks personal data by kind for a reader who asks for that: "call [phone]" (SPEC D, redaction).

Masking is deterministic, does not change a masked text again, and finds the spans in the whole text: in a part, a span
that the part's ends cut is masked as well. Words (health, money, belief) are not masked: a text would be empty without
them, and they identify nobody once names are masked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from memquorum.core.privacy.finding import Span, spans, without_overlaps
from memquorum.core.privacy.kinds import WITHHELD

ROUNDS = 4
"""The maximum number of times that a text is masked and read again."""

Second = Callable[[str], Iterable[Span]]
"""A second pass over a text: the spans that a model finds in it."""


def mask(kind: str) -> str:
    """Returns the mask of a span."""
    return f"[{kind}]"


def spans_to_mask(text: str, second: Second | None = None, *, formats: bool = True) -> tuple[Span, ...]:
    """Returns the spans to mask in a text, in order and without overlaps: by patterns, then those of the second pass.
    `formats`: whether by patterns at all.

    The masked text is read again until no more is found, as a number may match only once its neighbour is masked: so
    masking a masked text changes nothing. A text in which more is found each time is withheld as a whole after
    `ROUNDS`.
    """
    there = spans(text) if formats else ()
    if second is not None:
        there = without_overlaps((*there, *sorted(second(text))), len(text))
    if not formats:
        return there
    for _ in range(ROUNDS if there else 0):
        told, places = _told(text, there, 0, len(text))
        again = spans(told)
        joined = _joined((*there, *(Span(places[one.start][0], places[one.end - 1][1], one.kind) for one in again)))
        if joined == there:
            return there
        there = joined
    return (Span(0, len(text), WITHHELD),) if there else ()


def masked(text: str, second: Second | None = None, *, formats: bool = True) -> str:
    """Returns the whole text, masked."""
    return _within(text, spans_to_mask(text, second, formats=formats), 0, len(text))


def parts(
    text: str, pieces: Sequence[tuple[int, int]], second: Second | None = None, *, formats: bool = True
) -> tuple[str, ...]:
    """Returns parts of a text, as [from, to) each, masked by the spans in the whole text."""
    there = spans_to_mask(text, second, formats=formats)
    starts, ends = [one.start for one in there], [one.end for one in there]
    return tuple(
        _within(text, there[bisect_right(ends, start) : bisect_left(starts, end)], start, end) for start, end in pieces
    )


def _within(text: str, there: Sequence[Span], start: int, end: int) -> str:
    return _told(text, there, start, end)[0]


def _told(text: str, there: Sequence[Span], start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """Returns a part of a text with spans masked, and for each of its characters the characters of the text it stands
    for."""
    told: list[str] = []
    places: list[tuple[int, int]] = []
    at = start
    for one in (*(one for one in there if one.start < end and start < one.end), Span(end, end, "")):
        plain = range(at, max(at, one.start))
        told.append(text[plain.start : plain.stop])
        places += [(place, place + 1) for place in plain]
        if one.kind:
            told.append(mask(one.kind))
            places += [(one.start, one.end)] * len(told[-1])
            at = min(end, one.end)
    return "".join(told), places


def _joined(found_: Sequence[Span]) -> tuple[Span, ...]:
    """Joins overlapping spans; the kind is that of the first. Returns them in order."""
    joined: list[Span] = []
    for one in sorted(found_):
        if joined and one.start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, one.end), joined[-1].kind)
        else:
            joined.append(one)
    return tuple(joined)
