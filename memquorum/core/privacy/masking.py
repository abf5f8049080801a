"""What is found is masked for a reader who asks for that, by kind: "call [phone]" (SPEC D, redaction).

Masking is deterministic, changes nothing that is masked already, and knows of what it masks by the whole text alone: of
a part that is given, what is cut by its ends is masked as well. Words (health, money, belief) are not masked: without
them a text says nothing, and they tell of nobody once what names him is gone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from memquorum.core.privacy.finding import Span, apart, spans
from memquorum.core.privacy.kinds import WITHHELD

ROUNDS = 4
"""So often at most a text is masked and read again."""

Second = Callable[[str], Iterable[Span]]
"""A second pass over a text: what a model finds in it."""


def mask(kind: str) -> str:
    """What stands in the place of a span."""
    return f"[{kind}]"


def found(text: str, second: Second | None = None) -> tuple[Span, ...]:
    """What is to be masked in a text, in order and apart: by patterns, then what the second pass finds beside it.

    What is masked is read again until nothing more is found, for a number may stand free only where its neighbour is
    gone: so masking what is masked changes nothing. A text of which more is found each time, after `ROUNDS` of them, is
    withheld as a whole.
    """
    there = spans(text)
    if second is not None:
        there = apart((*there, *sorted(second(text))), len(text))
    for _ in range(ROUNDS if there else 0):
        told, places = _told(text, there, 0, len(text))
        again = spans(told)
        joined = _joined((*there, *(Span(places[one.start][0], places[one.end - 1][1], one.kind) for one in again)))
        if joined == there:
            return there
        there = joined
    return (Span(0, len(text), WITHHELD),) if there else ()


def masked(text: str, second: Second | None = None) -> str:
    """The whole text with what is found in it masked."""
    return _within(text, found(text, second), 0, len(text))


def parts(text: str, pieces: Sequence[tuple[int, int]], second: Second | None = None) -> tuple[str, ...]:
    """The parts of a text from and to before these characters, masked by what is found in the whole."""
    there = found(text, second)
    starts, ends = [one.start for one in there], [one.end for one in there]
    return tuple(
        _within(text, there[bisect_right(ends, start) : bisect_left(starts, end)], start, end) for start, end in pieces
    )


def _within(text: str, there: Sequence[Span], start: int, end: int) -> str:
    return _told(text, there, start, end)[0]


def _told(text: str, there: Sequence[Span], start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """A part of a text with spans masked, and for each of its characters those of the text that it stands for."""
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
    """Spans in order, those that overlap as one of the first one's kind."""
    joined: list[Span] = []
    for one in sorted(found_):
        if joined and one.start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, one.end), joined[-1].kind)
        else:
            joined.append(one)
    return tuple(joined)
