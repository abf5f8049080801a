"""Finds in a text that is to be served what a text withheld from the same reader says, too: the second check of an
answer (SPEC D; MaRS 4.3).

1. By its surface: data with a format that both hold, as the same telephone number.
2. By its meaning: the vectors of both are near, and both hold sensitive data of one kind, or share words that are no
   names. Then the sentences that share such data or words are withheld, and all of the text if none does alone.

The numbers are those of the default encoder, chosen on one set of sentences and measured on another one
(tests/unit/core/privacy/test_nearly.py). Two texts about one person are near by the name alone, so names do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memquorum.core.privacy.finding import Span, kinds, spans
from memquorum.core.privacy.kinds import FORMATS, WITHHELD
from memquorum.core.reading import sentences
from memquorum.core.reading.content import stems_of
from memquorum.core.reading.words import words

NEAR, NEARER = 0.55, 0.75
"""From these cosines on texts are near: with sensitive data of one kind, and with a common word."""
LEAST = 0.3
"""Below this cosine a withheld text is not compared at all."""

NearText = tuple[str, float]
"""A withheld text, and the cosine of its vector to that of the text which is to be served."""


def find_nearly(text: str, near: Sequence[NearText]) -> Iterator[Span]:
    """Yields the spans of a text that are to be withheld, which may overlap."""
    values = {_bare(other, one) for other, _ in near for one in spans(other)}
    yield from (one for one in spans(text) if _bare(text, one) in values)
    own_kinds, own_words = _told_kinds(text), _words(text)
    close = [other for other, cosine in near if _says(own_kinds, own_words, other, cosine)]
    if not close:
        return
    held_kinds = set[str]().union(*map(_told_kinds, close))
    held_words = set[str]().union(*map(_words, close))
    found = [
        Span(start, end, WITHHELD)
        for start, end in sentences.spans(text)
        if held_kinds & _told_kinds(text[start:end]) or held_words & _words(text[start:end])
    ]
    yield from found or [Span(0, len(text), WITHHELD)]


def _says(own_kinds: set[str], own_words: set[str], other: str, cosine: float) -> bool:
    """Whether a text says nearly what a withheld one says."""
    if cosine >= NEAR and own_kinds & _told_kinds(other):
        return True
    return cosine >= NEARER and bool(own_words & _words(other))


def _told_kinds(text: str) -> set[str]:
    """Returns the kinds of data that words of a text show."""
    return {*kinds(text)} - {*FORMATS}


def _words(text: str) -> set[str]:
    """Returns the stems of the words that say something and are no names: they do not begin with a capital. Data with a
    format is compared as a whole, and is no word."""
    for one in spans(text):
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return {stem for word in words(text) if not word[0].isupper() for stem in stems_of(word.casefold())}


def _bare(text: str, span: Span) -> tuple[str, str]:
    """Returns the kind of a span and its letters and digits alone: a number is the same with blanks and without."""
    return span.kind, "".join(filter(str.isalnum, text[span.start : span.end])).casefold()
