"""Finds personal data in a text: spans that do not overlap, each of one kind."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core.privacy import formats, numbers, words
from memquorum.core.privacy.kinds import FORMATS

RULES = "patterns-2"
"""The version of these rules. A change that finds other spans in the same text needs another version."""


class Span(Struct, frozen=True, order=True):
    """The characters of a text from `start` to before `end`, with their kind."""

    start: int
    end: int
    kind: str


def spans(text: str) -> tuple[Span, ...]:
    """Returns the personal data with a format of its own, in order.

    Where two overlap, the kind that stands first in `FORMATS` wins, and within a kind the longer: a card's number is
    not also a telephone number.
    """
    order = {kind: at for at, kind in enumerate(FORMATS)}
    there = [
        Span(start, end, kind)
        for look in (formats.find_formats, numbers.find_numbers)
        for kind, start, end in look(text)
    ]
    return without_overlaps(sorted(there, key=lambda one: (order[one.kind], one.start - one.end, one.start)), len(text))


def kinds(text: str) -> tuple[str, ...]:
    """Returns the kinds of data in a text, with those of words; sorted by name."""
    return tuple(sorted({span.kind for span in spans(text)} | {kind for kind, _, _ in words.find_words(text)}))


def without_overlaps(wanted: Iterable[Span], length: int) -> tuple[Span, ...]:
    """Returns the spans that overlap none before them, in the order of the text. `length`: the number of its
    characters."""
    taken, chosen = bytearray(length), []
    for one in wanted:
        if 0 <= one.start < one.end <= length and not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            chosen.append(one)
    return tuple(sorted(chosen))
