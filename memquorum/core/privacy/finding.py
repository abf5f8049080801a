"""What is found in a text, where: spans that do not overlap, each of one kind."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core.privacy import formats, numbers, words
from memquorum.core.privacy.kinds import FORMATS

RULES = "patterns-2"
"""The version of all that is found here. Another finding of the same text is another version."""


class Span(Struct, frozen=True, order=True):
    """Characters of a text, from `start` to before `end`, of a kind."""

    start: int
    end: int
    kind: str


def spans(text: str) -> tuple[Span, ...]:
    """What in a text has a form of its own, in order.

    Where two overlap, the kind that stands first in `FORMATS` counts, of one kind the longer: a card's number is no
    telephone number.
    """
    order = {kind: at for at, kind in enumerate(FORMATS)}
    there = [Span(start, end, kind) for look in (formats.found, numbers.found) for kind, start, end in look(text)]
    return apart(sorted(there, key=lambda one: (order[one.kind], one.start - one.end, one.start)), len(text))


def kinds(text: str) -> tuple[str, ...]:
    """Which kinds of things a text holds, those of words too; sorted by name."""
    return tuple(sorted({span.kind for span in spans(text)} | {kind for kind, _, _ in words.found(text)}))


def apart(wanted: Iterable[Span], length: int) -> tuple[Span, ...]:
    """Those of a text of so many characters that overlap none before them, in the order of the text."""
    taken, chosen = bytearray(length), []
    for one in wanted:
        if 0 <= one.start < one.end <= length and not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            chosen.append(one)
    return tuple(sorted(chosen))
