"""Reads the matter of a text, word by word: its content in order, its names and numbers, and the values that it gives.

Two texts that are built alike and differ in one word speak of two things: "the appeal against Helvetia" and "the appeal
against Borealis". `says_instead` finds such a word by what stands beside it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from operator import eq

from memquorum.core.reading import claiming, wording
from memquorum.core.reading.content import stems_of
from memquorum.core.reading.lists import bag, months, weekdays

_PART = re.compile(
    r"(?P<word>\d+(?:[.,:/-]\d+)*[^\W\d_]*|[^\W_]+(?:['’][^\W_]+)*)|(?P<end>[.!?…:;](?=\s)|\n)|(?P<sign>[€$£])(?=\d)|(?P<unit>[%€$£])"
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MONEY = _set("€ $ £ eur euro dollar usd gbp pound franc chf buck")
_SHARES = _set("% percent prozent")
# Not "mon" and "jun", which may be stems of other words.
_DAYS = {one for one in (*weekdays("en", "de"), *months("en"), *months("de")) if len(one) > 3} | {"may", "mai"}
_SPELLED = _set("half quarter dozen").union(wording.CARDINALS, wording.ORDINALS) - {"second"}
NUMBER, NAME, WORD = "number", "name", "word"
_MONEYS, _SHARE, _TIME, _DAY, _NAME = "money", "share", "time", "day", "name"
_DETERMINERS = bag("determiners", "de")
_GRAMMARS = [bag("grammar", language) for language in claiming.OTHERS]
GRAMMAR = frozenset[str]().union(*_GRAMMARS)
"""Function words of other languages than English."""
# "d'estate", "l'idraulico": the noun behind the article counts, the article does not.
_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|un|all|dall|dell|nell|sull|quest|quell)['’](?=[^\W\d_]{3})", re.IGNORECASE)
# So many words behind a number say what it counts: "15 classification problems".
_COUNTED = 2


class Matter:
    """A text's words that say something, as stems and in order, and which of them are names and numbers."""

    def __init__(self, text: str) -> None:
        self.order: list[str] = []
        self.names: set[str] = set()
        self.numbers: set[str] = set()
        self.owners: set[str] = set()
        """Those to which something belongs: "Marta's brother"."""
        self._at: list[int] = []
        """At which of all words those of the order stand."""
        self._units: dict[int, str] = {}
        # A word that opens a sentence is grammar only in a language of the text: "Mia" is a name, and "my" in Italian.
        small = set(text.split()) & GRAMMAR
        spoken = [one for one in _GRAMMARS if len(small & one) > 1] if len(small) > 1 else []
        self._grammar = frozenset[str]().union(*spoken)
        first, unit, count, before = True, "", 0, ""
        for part in _PART.finditer(text):
            if part["end"]:
                first = True
            elif part["sign"]:
                unit = part["sign"]
            elif part["unit"]:
                self._units[len(self.order) - 1] = part["unit"]
            else:
                self._take(part["word"], count, first or before in _DETERMINERS, unit)
                first, unit, count, before = False, "", count + 1, part["word"].casefold()
        self.stems = frozenset(self.order)

    def _take(self, word: str, at: int, first: bool, unit: str) -> None:
        elided = _ELIDED.match(word) if "'" in word or "’" in word else None
        word = word[elided.end() :] if elided else word
        folded = word.casefold()
        # "Hall A": a letter by itself is a name, where it is neither the article nor the speaker.
        label = len(word) == 1 and word.isupper() and not first and word != "I"
        whole = label or folded in _SPELLED or word == "May"
        if not whole and (word in GRAMMAR or (first and folded in self._grammar)):
            return
        for stem in (folded,) if whole else stems_of(folded):
            if folded in _SPELLED or (not stem.isalpha() and any(map(str.isdigit, stem))):
                self.numbers.add(stem)
            elif label or (word[0].isupper() and not first):
                self.names.add(stem)
            if word[0].isupper() and folded.endswith(("'s", "’s")):
                self.owners.add(stem)
            if unit:
                self._units[len(self.order)] = unit
            self.order.append(stem)
            self._at.append(at)

    @cached_property
    def places(self) -> Mapping[str, list[int]]:
        """The places of each stem."""
        found: dict[str, list[int]] = defaultdict(list)
        for place, stem in enumerate(self.order):
            found[stem].append(place)
        return found

    def sort(self, stem: str) -> str:
        """A number, a name, or a word."""
        return NUMBER if stem in self.numbers else NAME if stem in self.names else WORD

    def around(self, place: int, *, apart: bool) -> tuple[str, str]:
        """Returns the neighbours of a place; for a number or a day its sort, for an end nothing. `apart`: with the
        distances."""
        sides = []
        for at in (place - 1, place + 1):
            stem = self.order[at] if 0 <= at < len(self.order) else ""
            kin = _DAY if stem in _DAYS else NUMBER if stem in self.numbers else stem
            sides.append(f"{kin} {self._at[at] - self._at[place]}" if apart and kin else kin)
        return sides[0], sides[1]

    def beside(self, stem: str) -> frozenset[str]:
        """The words that stand directly beside one."""
        return frozenset(
            self.order[at]
            for place in self.places.get(stem, ()) for at in (place - 1, place + 1) if 0 <= at < len(self.order)
        )  # fmt: skip

    def said_before(self, stem: str) -> frozenset[str]:
        """The words that stand directly before one, with nothing between, and do not own it: "pump" of "pump 7"."""
        before = ((place - 1, place) for place in self.places.get(stem, ()) if place)
        near = {self.order[at] for at, place in before if self._at[place] - self._at[at] == 1}
        return frozenset(near - self.owners)

    def said_behind(self, stem: str) -> frozenset[str]:
        """The words that stand directly behind one, with nothing between."""
        behind = ((place, place + 1) for place in self.places.get(stem, ()) if place + 1 < len(self.order))
        return frozenset(self.order[at] for place, at in behind if self._at[at] - self._at[place] == 1)

    def says_instead(self, stem: str, of: Matter, known: Set[str]) -> bool:
        """Whether it has a word, none of those that are known, where the other text has one that this lacks.

        A name or a number stands there with the same word on one side, as far away; another word with the same on both.
        """
        sort = of.sort(stem)
        named = sort != WORD
        theirs = [of.around(place, apart=named) for place in of.places.get(stem, ())]
        for place, mine in enumerate(self.order):
            if mine not in known and self.sort(mine) == sort:
                sides = self.around(place, apart=named)
                if any((_touch if named else eq)(sides, other) for other in theirs):
                    return True
        return False

    @cached_property
    def values(self) -> Mapping[str, Set[str]]:
        """The values that it gives, by what they are of: money, shares, days, names, or what is counted."""
        found: dict[str, set[str]] = defaultdict(set)
        for place, stem in enumerate(self.order):
            if stem in _DAYS:
                found[_DAY].add(stem)
            elif stem in self.numbers:
                for kind in self._kinds(place):
                    found[kind].add(stem)
            elif stem in self.names:
                found[_NAME].add(stem)
        return found

    def _kinds(self, place: int) -> Iterable[str]:
        """The kinds of quantity that a number may be."""
        if ":" in self.order[place]:
            return (_TIME,)
        behind = self.order[place + 1 : place + 1 + _COUNTED]
        before = self.order[place - 1 : place] if place else []
        unit = self._units.get(place)
        if unit or (behind and behind[0] in _MONEY | _SHARES):
            return (_SHARE if (unit or behind[0]) in _SHARES else _MONEYS,)
        if not _DAYS.isdisjoint({*behind[:1], *before}):
            return (_DAY,)
        return {word for word in (*behind, *before) if word not in self.numbers}


def _touch(mine: tuple[str, str], theirs: tuple[str, str]) -> bool:
    """Whether there is something on a side, and the same."""
    return any(one and one == two for one, two in zip(mine, theirs, strict=True))


def differ(mine: Matter, theirs: Matter, named: bool) -> bool:
    """Whether one text gives a value that the other, which gives some of the same sort, does not; and neither is about
    some day alone. `named`: a name is a value too."""
    return (_DAY in mine.values) == (_DAY in theirs.values) and any(
        mine.values[kind] - values
        for kind, values in theirs.values.items()
        if kind in mine.values and (named or kind != _NAME)
    )
