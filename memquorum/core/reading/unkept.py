"""Requests that what is said be not remembered: "Don't save this anywhere", "Off the record: …", in twelve
languages.

A clause has to be nothing else than such a request: "Don't store this drum near heat" is a rule like any other, and
"Don't forget to call" asks for the opposite. It is a listed idiom; or an order, of listed words alone, that has a verb
of keeping, what negates it, and "this" or another word for what is said. The request may itself contain what is said:
"Don't remember that I am ill", "Forget what I said about Ada".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from memquorum.core.reading import lists
from memquorum.core.reading.lists import CJK, LANGUAGES, SPACED, SPACELESS, Phrases, Words
from memquorum.core.reading.normal import normalised
from memquorum.core.reading.words import folded, words

VERSION = 4
"""Raise it with every change of a rule or a list: stages of two versions judge texts otherwise."""

_CLAUSE = re.compile(r"[.,;:!?…()\[\]\n。，、；：！？（）—–]+|\s-+\s")
_COLONS, _COMMAS = (":", "：", "—", "–", "-"), (",", "，", "、")
# "s.v.p.", whose points end no clause.
_SHORTENED = re.compile(r"(?<![^\W_])(?:[a-z]\.){2,4}(?=\s)")
# Languages of which nothing else is listed.
_MORE = ("ru", "tr")
LOOKED_AT = 2_000
"""So many characters are read of the beginning of a text and of its end: nobody asks for that in the middle."""
# A clause of a request has few words: a longer one is not looked at.
_MOST, _MOST_CHARACTERS = 24, 60
# So many words have clauses that commas join, "forget, what I said, about Ada", and so many commas.
_MOST_WORDS, _RUNS_ON = 60, 2


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
    if not asked:
        return False
    clauses = _clauses(_SHORTENED.sub(lambda short: short[0].replace(".", ""), plain))
    return any(one.asked(clauses, one.is_private(plain, said)) for one in asked)


class _Clause(NamedTuple):
    """A clause of a text. `names`: a colon behind it says what it is of, "Don't save: Ben is ill". `runs_on`: only a
    comma stands between it and the next. `last`: nothing stands behind it."""

    text: str
    names: bool
    runs_on: bool
    last: bool


def _clauses(text: str) -> list[_Clause]:
    found, start = list[_Clause](), 0
    for end in _CLAUSE.finditer(text):
        if (clause := text[start : end.start()]).strip():
            found.append(_Clause(clause, end[0].strip()[:1] in _COLONS, end[0].strip() in _COMMAS, False))
        start = end.end()
    if text[start:].strip() or not found:
        found.append(_Clause(text[start:], False, False, True))
    else:
        found[-1] = found[-1]._replace(last=True)
    return found


class _Spaced:
    """A language that is written with spaces."""

    def __init__(self, language: str) -> None:
        self._parts = {name: Phrases(language, name) for name in ("keep", "not", "weak", "anywhere")}
        self._parts["this"] = Phrases(language, "this", "said")
        self._idioms = Phrases(language, "unkept")
        self._forget, self._said, self._told, self._that = (
            Phrases(language, name) for name in ("forget", "said", "told", "that")
        )
        self._polite = lists.single(language, "polite")
        self._first = lists.single(language, "me")
        self._about, self._but, self._and, self._secret = (
            lists.single(language, name) for name in ("about", "but", "and", "secret")
        )
        self.keys = self._idioms.keys | self._parts["keep"].keys | self._forget.keys
        """Words of which a request has one."""
        self._hold = Words(lists.strings(language, "hold"))

    def is_private(self, text: str, said: frozenset[str]) -> bool:
        """Whether a text has a word of secrets, so that "don't keep it" is of what was said."""
        return not said.isdisjoint(self._secret)

    def asked(self, clauses: Sequence[_Clause], private: bool) -> bool:
        """Whether one of the clauses is such a request and nothing else, or ends with one."""
        all_words = [[folded(word) for word in words(one.text)] for one in clauses]
        for at, clause in enumerate(clauses):
            read = all_words[at]
            if all(self.keys.isdisjoint(one) for one in all_words[at : at + 1 + (_RUNS_ON if clause.runs_on else 0)]):
                continue
            if 0 < len(read) <= _MOST and (self._is_idiom(read) or self._is_order(read, clause.names, private)):
                return True
            if self._ends_with_one(read, clause.names, private) or self._names_first(read):
                return True
            joined, end = list(read), at
            while len(joined) <= _MOST_WORDS:
                if self._is_forgetting(joined, clauses[end].last) or (end > at and self._is_idiom(joined)):
                    return True
                if end - at == _RUNS_ON or not clauses[end].runs_on or clauses[end].last:
                    break
                if not joined or self._parts["not"].lengths(joined[-1:], 0):  # "No, note this" does not negate
                    break
                end += 1
                joined += all_words[end]
            tells = clause.runs_on and not clause.last and self._that.lengths(all_words[at + 1] or [""], 0)
            if tells and 0 < len(read) <= _MOST and self._is_order(read, True, private):
                return True
        return False

    def _ends_with_one(self, read: list[str], names: bool, private: bool) -> bool:
        """Whether a request stands behind a conjunction, "I earn 80,000 but don't note that", or before one."""
        for at in range(1, len(read) - 1):
            rest, before = read[at + 1 :], read[:at]
            if (
                read[at] in self._but
                and at <= _MOST
                and (self._is_idiom(before) or self._is_order(before, False, private))
            ):
                return True
            if len(rest) > _MOST:
                continue
            if read[at] in self._but and (self._is_idiom(rest) or self._is_order(rest, names, private)):
                return True
            if read[at] in self._and and (self._is_idiom(rest) or self._is_order(rest, names, private, strictly=True)):
                return True
        return False

    def _names_first(self, read: list[str]) -> bool:
        """Whether it says of what it is, and then that it be not kept: "What I told you of Ben you need not keep"."""
        many = max(self._said.lengths(read, 0), default=0) if 0 < len(read) <= _MOST else 0
        if not many or many >= len(read) or read[many] not in self._about:
            return False
        return any(self._is_order(read[at:], True, False) for at in range(many + 2, len(read)))

    def _is_idiom(self, read: list[str]) -> bool:
        """Whether it has idioms, and beside them what changes nothing."""
        if self._idioms.keys.isdisjoint(read):
            return False
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

    def _is_order(self, read: list[str], names: bool, private: bool, *, strictly: bool = False) -> bool:
        """Whether it is an order not to keep what is said, or begins with one and tells what: "… that I am ill".
        `strictly`: "it" is not enough."""
        if any(self._parts[name].keys.isdisjoint(read) for name in ("keep", "not")):
            return False
        at, seen, holds, told = 0, set[str](), False, False
        while at < len(read):
            if {"keep", "not"} <= seen and self._that.lengths(read, at):
                return True
            if {"keep", "not"} <= seen and told and read[at] in self._about:
                return True
            lengths = {name: max(part.lengths(read, at), default=0) for name, part in self._parts.items()}
            name = max(lengths, key=lambda one: lengths[one])
            if lengths[name]:
                seen.add(name)
                holds = holds or (name == "keep" and read[at] in self._hold)
                told = told or (name == "this" and lengths[name] in self._said.lengths(read, at))
            elif read[at] not in self._polite or read[at] in self._first:
                return False
            at += lengths[name] or 1
        # "The milk is off, don't keep it" is of the milk.
        weak = "weak" in seen and not strictly and not holds
        return {"keep", "not"} <= seen and ("this" in seen or names or private or weak)

    def _is_forgetting(self, read: list[str], last: bool) -> bool:
        """Whether it asks to forget what was said; at the end of a text it may tell of what, "… what I said of Ada"."""
        if self._forget.keys.isdisjoint(read):
            return False
        at = self._skipped(read, 0)
        if at == len(read) or not (many := max(self._forget.lengths(read, at), default=0)):
            return False
        if any(self._parts["not"].lengths(read[:at], one) for one in range(at)):
            return False
        at += many
        end = self._skipped(read, at)
        while at < end and not (self._told.lengths(read, at) or self._said.lengths(read, at)):
            at += 1
        if at == len(read):
            return False
        if many := max(self._told.lengths(read, at), default=0):
            return last or self._skipped(read, at + many) == len(read)
        if not (many := max(self._said.lengths(read, at), default=0)):
            return False
        at = self._skipped(read, at + many)
        return at == len(read) or (last and read[at] in self._about)

    def _skipped(self, read: list[str], at: int) -> int:
        """The place behind words that change nothing."""
        while at < len(read):
            many = max(self._parts["anywhere"].lengths(read, at), default=0)
            if not many and read[at] not in self._polite:
                break
            at += many or 1
        return at


class _Unspaced:
    """A language that is written without spaces."""

    def __init__(self, language: str) -> None:
        self._parts = {name: lists.strings(language, name) for name in ("keep", "not", "this", "anywhere", "polite")}
        self._idioms = lists.strings(language, "unkept")
        self._hold, self._simple = lists.strings(language, "hold"), lists.variants(language)
        self._tails, self._own, self._forget, self._said, self._secret = (
            tuple(sorted(lists.strings(language, name))) for name in ("tails", "own", "forget", "said", "secret")
        )

    def is_private(self, text: str, said: frozenset[str]) -> bool:
        """Whether a text has a word of secrets, so that a bare "don't keep" is of what was said."""
        return any(one in text for one in self._secret)

    def asked(self, clauses: Sequence[_Clause], private: bool) -> bool:
        """Whether one of the clauses is such a request and nothing else, or tells of what."""
        return any(
            self._asks(piece, clause.names, private or len(clauses) == 1)
            for clause in clauses
            if 0 < len(piece := folded("".join(clause.text.translate(self._simple).split()))) <= _MOST_CHARACTERS
        )

    def _asks(self, piece: str, names: bool, private: bool) -> bool:
        if any(seen == "idiom" or _is_order(seen, told=names or private) for seen in self._read(piece)):
            return True
        for tail in self._tails:
            at = piece.find(tail)
            if at > 0 and any(_is_order(seen, told=True) for seen in self._read(piece[at + len(tail) :])):
                return True
        for own in self._own:
            at = piece.find(own)
            if at > 0 and any(_is_order(seen, told=True) for seen in self._read(piece[:at])):
                return True
        return any(self._asks_to_forget(piece, at) for one in self._said if (at := piece.find(one)) >= 0)

    def _asks_to_forget(self, piece: str, at: int) -> bool:
        """Whether what begins at a place is to be forgotten: a verb stands behind or before it, and no negation."""
        if piece.endswith(self._forget):
            return not any("not" in seen.split() for end in range(1, at + 1) for seen in self._read(piece[:end]))
        before = piece[:at]
        verb = next((one for one in self._forget if before.endswith(one)), "")
        return bool(verb) and any("not" not in seen.split() for seen in self._read(before[: -len(verb)]))

    def _read(self, piece: str) -> set[str]:
        """The names of the parts that the piece may be made of."""
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
                        held = name == "keep" and part in self._hold
                        reached[end] |= {_with(seen, "hold keep" if held else name) for seen in reached[at]}
        return reached[-1]


def _with(seen: str, names: str) -> str:
    return "idiom" if seen == "idiom" else " ".join(sorted({*seen.split(), *names.split()}))


def _is_order(seen: str, *, told: bool) -> bool:
    """Whether parts are an order not to keep what is said; one to hold something has to name it. `told`: it is known
    of what."""
    parts = seen.split()
    return "keep" in parts and "not" in parts and (told or "this" in parts or "hold" not in parts)


_spaced, _unspaced = cache(_Spaced), cache(_Unspaced)
