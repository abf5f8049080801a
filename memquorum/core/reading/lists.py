"""Word lists by language: data files (`data/<code>.txt`) of sections, an entry a line.

In an entry of several words `a/b` stands for either in that place, and `a/-` for one that may be missing. In a
language without spaces an entry is a string, and `/` separates whole ones. In `[short]` an entry is what is
short, `=` and what it is short for. `#` begins a comment.

In `data/rules/<code>.txt` a line holds several words, a phrase, or a name, a colon and the words that it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any

from memquorum.core.reading.memo import WORD
from memquorum.core.reading.words import drawn_out, folded, squeezed, words

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "ja", "zh")
MORE = ("ru", "tr")
"""Languages of which little is listed."""
SPACELESS = frozenset({"ja", "zh"})
"""Languages that are written without spaces."""
SPACED = tuple(one for one in LANGUAGES if one not in SPACELESS)
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""A letter of a language without spaces."""
_LONG = 6
"""A word of so many letters is read with a letter once where it stands twice."""
_LONGER = 9
"""A word of so many letters is known with a letter that is another, too many or missing."""
Place = tuple[tuple[str, ...], ...]
"""The words of which one stands in a place; () where it may be missing."""
_Found = tuple[frozenset[tuple[str, ...]], tuple[int, ...], frozenset[str]]
"""A place to look for: its phrases, their lengths in words, and their first words, none if it is optional."""


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


def phrases(section: str, language: str = "en") -> tuple[str, ...]:
    """The lines of a section of the rules' lists."""
    return sections(f"rules/{language}")[section]


def ordered(section: str, language: str = "en") -> tuple[str, ...]:
    """The words of a section of the rules' lists, in their order."""
    return tuple(word for line in phrases(section, language) for word in line.split())


def bag(section: str, *languages: str) -> frozenset[str]:
    """The words of a section of the rules' lists, in these languages, or in English."""
    return frozenset(word for language in languages or ("en",) for word in ordered(section, language))


def table(section: str, language: str = "en") -> dict[str, tuple[str, ...]]:
    """The names of a section of the rules' lists, each with its words."""
    found: dict[str, tuple[str, ...]] = {}
    for name, _, rest in (line.partition(":") for line in phrases(section, language)):
        found[name.strip()] = (*found.get(name.strip(), ()), *rest.split())
    return found


def named(section: str, language: str = "en") -> dict[str, str]:
    """The words of such a section, each with its name."""
    return {word: name for name, words_ in table(section, language).items() for word in words_}


def everywhere(section: str) -> tuple[str, ...]:
    """The lines of a section of the rules' lists, of all languages that have it."""
    return tuple(one for language in (*LANGUAGES, *MORE) for one in sections(f"rules/{language}").get(section, ()))


def either(section: str) -> str:
    """A pattern for the phrases of a section of the rules' lists, of all languages that have it. `a/b` stands for
    either, and `a/-` for one that may be missing."""
    return "|".join(re.escape(one).replace("'", "['’]") for one in dict.fromkeys(spelled_out(section)))


def any_of(told: Iterable[str]) -> str:
    """A pattern that matches where one of some phrases stands. Those that begin alike are tried together, which takes
    less time than one after the other; it finds that there is one, not the first of them."""
    tree: dict[str, Any] = {}
    for phrase in told:
        at = tree
        for character in phrase:
            at = at.setdefault(character, {})
        at[""] = {}
    return _pattern(tree)


def spelled_out(section: str) -> Iterator[str]:
    """The phrases of `either`; one may come twice."""
    for entry in everywhere(section):
        for one in product(*(place.split("/") for place in entry.split())):
            yield " ".join(one).replace("- ", "").removesuffix(" -")


def _pattern(tree: Mapping[str, Any]) -> str:
    """The pattern for the rest of the phrases that begin alike."""
    ways = [re.escape(one).replace("'", "['’]") + _pattern(rest) for one, rest in tree.items() if one]
    if not ways:
        return ""
    end = "?" if "" in tree else ""
    return f"(?:{'|'.join(ways)}){end}"


@cache
def months(language: str) -> Mapping[str, int]:
    """The names of months and their short forms, each with its number."""
    names = enumerate(sections(language).get("months", ()), 1)
    return MappingProxyType({name: number for number, entry in names for name in entry.split("/")})


def weekdays(*languages: str) -> dict[str, str]:
    """The names of weekdays in some languages, each with its English one."""
    return {name: day for language in languages for name, day in named("weekdays", language).items()}


def strings(language: str, *names: str) -> frozenset[str]:
    """The strings of sections of a language without spaces, folded."""
    entries = (entry for name in names for entry in sections(language).get(name, ()))
    return frozenset(folded(one.strip()) for entry in entries for one in entry.split("/") if one.strip())


def variants(language: str) -> dict[int, str]:
    """Other forms of characters, and those of the lists: 謝 is read as 谢."""
    return {ord(pair[0]): pair[1] for entry in sections(language).get("variants", ()) for pair in entry.split()}


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


class Long:
    """Long words, found by what one mistypes in them: two letters changed about, "probelm", and in a longer one a
    letter that is another, too many or missing between its beginning and its end, "definately"."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._alike: dict[tuple[str, str], list[str]] = {}
        for word in sorted(one for one in entries if len(one) >= _LONG and one.isalpha()):
            for end in {word[-2:], word[-1] + word[-2], word[-3] + word[-1]}:
                self._alike.setdefault((word[0], end), []).append(word)

    def meant(self, word: str) -> str:
        """The first word that may be mistyped so; empty if there is no such word."""
        if not _LONG <= len(word) <= WORD:
            return ""
        return next((one for one in self._alike.get((word[0], word[-2:]), ()) if _is_mistyped(word, one)), "")


def _is_mistyped(written: str, word: str) -> bool:
    if abs(len(written) - len(word)) > 1 or written == word:
        return False
    at = next((at for at, (one, other) in enumerate(zip(written, word, strict=False)) if one != other), 0)
    if len(written) == len(word) and written[at : at + 2] == word[at : at + 2][::-1]:
        return written[at + 2 :] == word[at + 2 :]
    if len(word) < _LONGER or written[-2:] != word[-2:]:
        return False
    return written[at + (len(written) >= len(word)) :] == word[at + (len(word) >= len(written)) :]


class Phrases:
    """The entries of sections of a language with spaces, found by their first words."""

    def __init__(self, language: str, *names: str) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], tuple[_Found, ...], bool]]] = {}
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
        found = tuple((frozenset(p), tuple(set(map(len, p))), frozenset(w[0] for w in p if all(p))) for p in places)
        for at, place in enumerate(places):
            for words_ in filter(None, place):
                self._by_first.setdefault(words_[0], []).append((words_, found[at + 1 :], len(places) == 1))
                self._drawn.update((squeezed(word), word) for word in words_)
            if () not in place:
                break

    def spelled(self, word: str) -> str:
        """A folded word as the entries spell it: "sooo" is "so", and "tomorow" is "tomorrow"."""
        short = squeezed(word) if len(word) >= _LONG else drawn_out(word)
        return word if short is None or word in self.vocabulary else self._drawn.get(short, word)

    def lengths(self, said: list[str], start: int) -> set[int]:
        """Returns the lengths, in words, of the entries that match from a word on. An entry of several places needs at
        least two words, even if some of its places are optional."""
        found, follows = set[int](), said[start + 1] if start + 1 < len(said) else ""
        for first, rest, single in self._by_first.get(said[start], ()):
            if rest and rest[0][2] and len(first) == 1 and follows not in rest[0][2]:
                continue  # hundreds of entries begin with "I"
            if tuple(said[start : start + len(first)]) == first:
                lengths = {one - start for one in _ends(rest, said, start + len(first))}
                found |= lengths if single else lengths - {1}
        return found


def _ends(places: tuple[_Found, ...], said: list[str], start: int) -> set[int]:
    """Returns the ends of all matches of the places, from a word on."""
    ends = {start}
    for place, lengths, _ in places:
        ends = {
            at + many
            for at in ends
            for many in lengths
            if at + many <= len(said) and tuple(said[at : at + many]) in place
        }
        if not ends:
            break
    return ends


def _shortest(place: Place) -> int:
    return min((max(map(len, one), default=0) for one in place), default=0)


def _place(written: str) -> Place:
    return tuple(() if one == "-" else tuple(folded(word) for word in words(one)) for one in written.split("/"))
