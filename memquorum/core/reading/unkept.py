"""Requests that what is said be not remembered: "Don't save this anywhere", "Off the record: …", in twelve
languages.

A clause has to be nothing else than such a request: "Don't store this drum near heat" is a rule like any other, and
"Don't forget to call" asks for the opposite. It is a listed idiom; or an order, of listed words alone, that has a verb
of keeping, what negates it, and "this" or another word for what is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memquorum.core.reading import lists
from memquorum.core.reading.lists import CJK, LANGUAGES, SPACED, SPACELESS, Phrases, Words
from memquorum.core.reading.normal import normalised
from memquorum.core.reading.words import folded, words

VERSION = 2
"""Raise it with every change of a rule or a list: stages of two versions judge texts otherwise."""

_CLAUSE = re.compile(r"[.,;:!?…()\[\]\n。，、；：！？（）—–]+|\s-+\s")
_COLONS = (":", "：", "—", "–", "-")
# Languages of which nothing else is listed.
_MORE = ("ru", "tr")
LOOKED_AT = 2_000
"""So many characters are read of the beginning of a text and of its end: nobody asks for that in the middle."""
# A clause of a request has few words: a longer one is not looked at.
_MOST, _MOST_CHARACTERS = 24, 60


def load() -> None:
    """Reads the lists of all languages, which the first text would wait for."""
    for language in (*LANGUAGES, *_MORE):
        (_unspaced if language in SPACELESS else _spaced)(language)


def asks_not_to_be_kept(text: str) -> bool:
    """Whether a text asks that it be not remembered, in its beginning or at its end."""
    plain = normalised("NFKC", text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}")
    said = frozenset(map(folded, words(plain)))
    asked: list[_Spaced | _Unspaced] = [one for one in map(_spaced, (*SPACED, *_MORE)) if said & one.keys]
    if CJK.search(plain):
        asked += map(_unspaced, SPACELESS)
    return bool(asked) and any(one.asks(*clause) for clause in _clauses(plain) for one in asked)


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a text; with each, whether a colon behind it says what it is of: "Don't save: Ben is ill"."""
    start = 0
    for end in _CLAUSE.finditer(text):
        yield text[start : end.start()], end[0].strip()[:1] in _COLONS
        start = end.end()
    yield text[start:], False


class _Spaced:
    """A language that is written with spaces."""

    def __init__(self, language: str) -> None:
        self._parts = {name: Phrases(language, name) for name in ("keep", "not", "this", "weak", "anywhere")}
        self._idioms = Phrases(language, "unkept")
        self._polite = lists.single(language, "polite")
        self._first = lists.single(language, "me")
        self.keys = self._idioms.keys | self._parts["keep"].keys
        """Words of which a request has one."""
        self._hold = Words(lists.strings(language, "hold"))

    def asks(self, clause: str, names: bool) -> bool:
        """Whether a clause is such a request and nothing else. `names`: whether a colon behind it says of what."""
        said = words(clause)
        if not 0 < len(said) <= _MOST:
            return False
        read = [folded(word) for word in said]
        return self._is_idiom(read) or self._is_order(read, names)

    def _is_idiom(self, read: list[str]) -> bool:
        """Whether it has idioms, and beside them what changes nothing."""
        reached = [True, *[False] * len(read)]
        idiom = [False] * (len(read) + 1)
        for at, word in enumerate(read):
            if not reached[at]:
                continue
            for end in (at + many for many in self._idioms.lengths(read, at)):
                reached[end] = idiom[end] = True
            beside = {at + many for many in self._parts["anywhere"].lengths(read, at)}
            for end in beside | ({at + 1} if word in self._polite else set()):
                reached[end], idiom[end] = True, idiom[end] or idiom[at]
        return idiom[-1]

    def _is_order(self, read: list[str], names: bool) -> bool:
        at, seen, holds = 0, set[str](), False
        while at < len(read):
            lengths = {name: max(part.lengths(read, at), default=0) for name, part in self._parts.items()}
            name = max(lengths, key=lambda one: lengths[one])
            if lengths[name]:
                seen.add(name)
                holds = holds or (name == "keep" and read[at] in self._hold)
            elif read[at] not in self._polite or read[at] in self._first:
                return False
            at += lengths[name] or 1
        # "The milk is off, don't keep it" is of the milk.
        return {"keep", "not"} <= seen and ("this" in seen or names or ("weak" in seen and not holds))


class _Unspaced:
    """A language that is written without spaces."""

    def __init__(self, language: str) -> None:
        self._parts = {name: lists.strings(language, name) for name in ("keep", "not", "this", "anywhere", "polite")}
        self._idioms = lists.strings(language, "unkept")

    def asks(self, clause: str, names: bool) -> bool:
        """Whether a clause is such a request and nothing else. `names`: whether a colon behind it says of what."""
        piece = folded("".join(clause.split()))
        if not 0 < len(piece) <= _MOST_CHARACTERS:
            return False
        wanted = {"keep", "not"} if names else {"keep", "not", "this"}
        return any(seen == "idiom" or wanted <= set(seen.split()) for seen in self._read(piece))

    def _read(self, piece: str) -> set[str]:
        """What the piece may be made of: the names of its parts."""
        reached: list[set[str]] = [set() for _ in range(len(piece) + 1)]
        reached[0].add("")
        for at in range(len(piece)):
            for end in range(at + 1, len(piece) + 1) if reached[at] else ():
                part = piece[at:end]
                # "Don't forget what I said" asks for the opposite of "forget what I said".
                if part in self._idioms and any("not" not in seen.split() for seen in reached[at]):
                    reached[end].add("idiom")
                for name, some in self._parts.items():
                    if part in some:
                        reached[end] |= {_with(seen, name) for seen in reached[at]}
        return reached[-1]


def _with(seen: str, name: str) -> str:
    return "idiom" if seen == "idiom" else " ".join(sorted({*seen.split(), name}))


_spaced, _unspaced = cache(_Spaced), cache(_Unspaced)
