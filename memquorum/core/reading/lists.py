"""Word lists by language: data files (`data/<code>.txt`) of sections, an entry a line.

In an entry of several words `a/b` stands for either in that place, and `a/-` for one that may be missing. In a
language without spaces an entry is a string, and `/` separates whole ones. `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from memquorum.core.reading.words import drawn_out, folded, squeezed, words

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "ja", "zh")
SPACELESS = frozenset({"ja", "zh"})
"""Languages that are written without spaces."""
SPACED = tuple(one for one in LANGUAGES if one not in SPACELESS)
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""A letter of a language without spaces."""
_LONG = 6
"""A word of so many letters is read with a letter once where it stands twice."""
Place = tuple[tuple[str, ...], ...]
"""The words of which one stands in a place; () where it may be missing."""


@cache
def sections(language: str) -> Mapping[str, tuple[str, ...]]:
    """The entries of each section of a language, as they are written in its file."""
    found: dict[str, list[str]] = {}
    section = found.setdefault("", [])
    told = files(__package__).joinpath("data", f"{language}.txt").read_text(encoding="utf-8")
    for line in told.splitlines():
        entry = line.partition("#")[0].strip()
        if entry.startswith("[") and entry.endswith("]"):
            section = found.setdefault(entry[1:-1], [])
        elif entry:
            section.append(entry)
    return MappingProxyType({name: tuple(entries) for name, entries in found.items()})


def strings(language: str, *names: str) -> frozenset[str]:
    """The strings of sections of a language without spaces, folded."""
    entries = (entry for name in names for entry in sections(language).get(name, ()))
    return frozenset(folded(one.strip()) for entry in entries for one in entry.split("/") if one.strip())


def single(language: str, *names: str) -> frozenset[str]:
    """The folded words of sections whose entries are single words; other entries are left out."""
    return frozenset(one[0] for entry in strings(language, *names) if len(one := words(entry)) == 1)


class Words:
    """Words, and beginnings of words, which end in ~."""

    def __init__(self, entries: frozenset[str]) -> None:
        self._whole = frozenset(word for word in entries if not word.endswith("~"))
        self._beginnings = tuple(word[:-1] for word in entries if word.endswith("~"))

    def __contains__(self, word: str) -> bool:
        return word in self._whole or word.startswith(self._beginnings)


class Phrases:
    """The entries of sections of a language with spaces, found by their first words."""

    def __init__(self, language: str, *names: str) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], tuple[Place, ...], bool]]] = {}
        self._drawn: dict[str, str] = {}
        entries = [
            tuple(_place(one) for one in entry.split()) for name in names for entry in sections(language).get(name, ())
        ]
        for places in entries:
            self._add(places)
        self.vocabulary = frozenset(word for places in entries for place in places for one in place for word in one)
        """Every word of the entries."""
        self.keys = frozenset(max(one, key=len) for places in entries for one in max(places, key=_shortest) if one)
        """Words of which each entry has one."""

    def _add(self, places: tuple[Place, ...]) -> None:
        for at, place in enumerate(places):
            for words_ in filter(None, place):
                self._by_first.setdefault(words_[0], []).append((words_, places[at + 1 :], len(places) == 1))
                self._drawn.update((squeezed(word), word) for word in words_)
            if () not in place:
                break

    def spelled(self, word: str) -> str:
        """A folded word as the entries spell it: "sooo" is "so", and "tomorow" is "tomorrow"."""
        short = squeezed(word) if len(word) >= _LONG else drawn_out(word)
        return word if short is None or word in self.vocabulary else self._drawn.get(short, word)

    def lengths(self, said: list[str], start: int) -> set[int]:
        """How many words the entries have that stand at a word. Of an entry of several places one word is too little,
        whichever of the others may be missing."""
        found = set[int]()
        for first, rest, single in self._by_first.get(said[start], ()):
            if tuple(said[start : start + len(first)]) == first:
                lengths = {one - start for one in _ends(rest, said, start + len(first))}
                found |= lengths if single else lengths - {1}
        return found


def _ends(places: tuple[Place, ...], said: list[str], start: int) -> set[int]:
    """Where the words may end that stand in the places, from a word on."""
    ends = {start}
    for place in places:
        ends = {at + len(one) for at in ends for one in place if tuple(said[at : at + len(one)]) == one}
    return ends


def _shortest(place: Place) -> int:
    return min((max(map(len, one), default=0) for one in place), default=0)


def _place(written: str) -> Place:
    return tuple(() if one == "-" else tuple(folded(word) for word in words(one)) for one in written.split("/"))
