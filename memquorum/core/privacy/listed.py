"""Finds in a text the names and things that a subject wants never kept: whole words, in any case and spelling.

The list is looked up word by word. So a text takes time in proportion to its length, whatever the list holds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from msgspec import Struct

from memquorum.core.privacy.finding import Span
from memquorum.core.privacy.kinds import WITHHELD

ENTRIES_MOST = 200
ENTRY_CHARACTERS = 128
_WORDS_MOST = 8
"""The most words of an entry."""


class Matcher(Struct, frozen=True):
    """A list that is ready to be looked for. `lengths`: how many words its entries have."""

    entries: frozenset[tuple[str, ...]] = frozenset()
    lengths: tuple[int, ...] = ()

    def spans(self, text: str) -> tuple[Span, ...]:
        """Returns where the text says an entry, in order and without overlaps, the longest first."""
        return tuple(self._found(text)) if self.entries else ()

    def says(self, text: str) -> bool:
        """True if the text says an entry."""
        return bool(self.entries) and next(self._found(text), None) is not None

    def _found(self, text: str) -> Iterator[Span]:
        words, at = _words(text), 0
        while at < len(words):
            for length in self.lengths:
                if at + length <= len(words) and tuple(one[0] for one in words[at : at + length]) in self.entries:
                    yield Span(words[at][1], words[at + length - 1][2], WITHHELD)
                    at += length - 1
                    break
            at += 1


def matcher(entries: Iterable[str]) -> Matcher:
    """Makes a list ready."""
    found = frozenset(tuple(word for word, _, _ in _words(one)) for one in entries) - {()}
    return Matcher(found, tuple(sorted({len(one) for one in found}, reverse=True)))


def readable(entry: object) -> bool:
    """Whether an entry can be looked for: it has one to eight words, and no more than 128 characters."""
    if not isinstance(entry, str) or len(entry) > ENTRY_CHARACTERS:
        return False
    return 1 <= len(_words(entry)) <= _WORDS_MOST


def _words(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as they are compared, each with the characters from which to before which it stands. In
    scripts without spaces each character is a word."""
    found: list[tuple[str, int, int]] = []
    start = -1
    for at, one in enumerate(text):
        plain = one.isascii()
        wide = not plain and unicodedata.east_asian_width(one) in "WF"
        joins = one.isalnum() or (not plain and start >= 0 and unicodedata.category(one) in ("Mn", "Mc", "Cf"))
        if start >= 0 and (wide or not joins):
            found.append((_compared(text[start:at]), start, at))
            start = -1
        if wide and one.isalnum():
            found.append((_compared(one), at, at + 1))
        elif joins and start < 0 and not wide:
            start = at
    if start >= 0:
        found.append((_compared(text[start:]), start, len(text)))
    return found


def _compared(word: str) -> str:
    """A word in the form in which it equals its other cases and spellings; characters without a form of their own do
    not count."""
    if word.isascii():
        return word.lower()
    bare = "".join(one for one in word if unicodedata.category(one) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", bare).casefold())
