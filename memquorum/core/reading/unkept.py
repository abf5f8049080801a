"""Requests that what is said be not remembered: "Don't save this anywhere", "Off the record: …", in twelve
languages.

A clause has to be nothing else than such a request: "Don't store this drum near heat" is a rule like any other, and
"Don't forget to call" asks for the opposite. It is a listed idiom; or an order, of listed words alone, that has a verb
of keeping, what negates it, and "this" or another word for what is said. The request may itself contain what is said:
"Don't remember that I am ill", "Forget what I said about Ada".

A text is kept for what it states beside what the request is of: "Forget what I said about Ada. Hall 3 has no roof."
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from memquorum.core.reading import lists
from memquorum.core.reading.lists import CJK, LANGUAGES, MORE, SPACED, SPACELESS, Phrases, Words
from memquorum.core.reading.normal import normalised
from memquorum.core.reading.sentences import sentences
from memquorum.core.reading.talk import says_nothing, talk_of
from memquorum.core.reading.words import folded, words

VERSION = 6
"""Raise it with every change of a rule or a list: stages of two versions judge texts otherwise."""

_CLAUSE = re.compile(r"[.,;:!?…()\[\]\n。，、；：！？（）—–]+|\s-+\s")
_CJK_CLAUSE = re.compile(r"[^。,、;!?\n]++[。,、;!?\n]*")
_MEANING = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]+")
_COLONS, _COMMAS = (":", "：", "—", "–", "-"), (",", "，", "、")
# "s.v.p.", whose points end no clause.
_SHORTENED = re.compile(r"(?<![^\W_])(?:[a-z]\.){2,4}(?=\s)")
# "The customer said: "Don't save my number."" is what somebody else asked for; a number in it is asked not to be kept.
_REPORTED = re.compile(r"(?<=\w)\s\w{1,40}[:,]\s*[\"“„«][^\"“”„«»\d]{1,300}[\"”“»]")
LOOKED_AT = 2_000
"""So many characters are read of the beginning of a text and of its end: nobody asks for that in the middle."""
# A clause of a request has few words: a longer one is not looked at.
_MOST, _MOST_CHARACTERS = 24, 60
# So many words have clauses that commas join, "forget, what I said, about Ada", and so many commas.
_MOST_WORDS, _RUNS_ON = 60, 2
# What a request is of: what it names itself; what is said before it; "this"; or what a colon behind it leads to.
_OWN, _BEFORE, _THIS, _ON = "own", "before", "this", "on"
# "This" is of so many statements, and a statement has so many words, or more letters where words are not parted.
_NEAR, _STATES = 5, 3


def load() -> None:
    """Reads the lists of all languages, which the first text would wait for."""
    for language in (*LANGUAGES, *MORE):
        (_unspaced if language in SPACELESS else _spaced)(language)


def asks_not_to_be_kept(text: str) -> bool:
    """Whether a text asks that it be not remembered, in its beginning or at its end, and states nothing else."""
    plain = normalised("NFKC", text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}")
    plain = _REPORTED.sub("", plain)
    said = frozenset(map(folded, words(plain)))
    asked: list[_Spaced | _Unspaced] = [one for one in map(_spaced, (*SPACED, *MORE)) if said & one.keys]
    if CJK.search(plain):
        asked += map(_unspaced, SPACELESS)
    return any(_asks(one, plain, one.is_private(plain, said)) for one in asked)


def _asks(language: _Spaced | _Unspaced, text: str, private: bool) -> bool:
    """Whether a text has a request of a language, and states nothing but what the request is of."""
    text = _SHORTENED.sub(lambda short: short[0].replace(".", ""), text)
    parts = language.parts(text)
    reach = [language.asked(_clauses(one), private) for one in parts]
    if not any(reach):
        return bool(language.asked(_clauses(text), private))
    stating = [at for at, one in enumerate(parts) if not reach[at] and language.states(one) and not says_nothing(one)]
    left = set(stating)
    for at, how in enumerate(reach):
        left -= {at + 1} if how and language.goes_on(parts, at, how) else set()
        before = [one for one in stating if one < at]
        if how == _OWN:
            matter = language.matter(parts[at])
            left -= {one for one in stating if not matter.isdisjoint(language.matter(parts[one]))}
        elif how == _BEFORE or (how == _THIS and before):
            left -= {*before[-_NEAR:]}
        elif how:
            turn = next((one for one in range(at + 1, len(parts)) if language.turns(parts[one])), len(parts))
            behind = [one for one in stating if at < one < turn]
            left -= {*behind[: None if how == _ON else _NEAR]}
    return not left


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
        self._parts = {name: Phrases(language, name) for name in ("keep", "not", "weak", "forget", "anywhere")}
        self._parts["this"] = Phrases(language, "this", "said")
        self._idioms = Phrases(language, "unkept")
        self._forget = self._parts["forget"]
        self._said, self._told, self._that = (Phrases(language, name) for name in ("said", "told", "that"))
        self._polite, self._mine, self._it, self._after, self._first = (
            lists.single(language, name) for name in ("polite", "mine", "it", "read", "me")
        )
        self._about, self._but, self._and, self._secret = (
            lists.single(language, name) for name in ("about", "but", "and", "secret")
        )
        self.keys = self._idioms.keys | self._parts["keep"].keys | self._forget.keys
        """Words of which a request has one."""
        self._hold = Words(lists.strings(language, "hold"))
        self._turns = Phrases(language, "turns"), self._parts["keep"]
        but, also = ("|".join(map(re.escape, sorted(some))) or "$" for some in (self._but, self._and))
        self._joints = re.compile(rf"\s(?=(?:{but})\s)|,\s(?=(?:{also})\s)", re.IGNORECASE)

    def is_private(self, text: str, said: frozenset[str]) -> bool:
        """Whether a text has a word of secrets, so that "don't keep it" is of what was said."""
        return not said.isdisjoint(self._secret)

    def parts(self, text: str) -> list[str]:
        """The sentences of a text, and their parts from "but", or from "and" behind a comma."""
        return [part for one in sentences(text) for part in self._joints.split(one) if part.strip()]

    def states(self, part: str) -> bool:
        """Whether a part may state something by itself."""
        return not part.rstrip().endswith("?") and len(words(part)) >= _STATES

    def matter(self, part: str) -> frozenset[str]:
        """The words that say what a part is about."""
        return frozenset(word.casefold() for word in words(part) if len(word) > 2) - talk_of(part)

    def goes_on(self, parts: Sequence[str], at: int, how: str) -> bool:
        """Whether the part behind one says what that is: "Don't save my address? 12 Mill Lane."."""
        first = folded((words(parts[at + 1]) or ["-"])[0]) if how == _OWN and at + 1 < len(parts) else "-"
        return first.isdecimal() or first in self._it

    def turns(self, part: str) -> bool:
        """Whether a part begins with another matter, "By the way, …", or asks to keep it."""
        read = [folded(word) for word in words(part)]
        at = self._skipped(read, 0)
        return any(part.lengths(read, begin) for begin in {0, at} if begin < len(read) for part in self._turns)

    def asked(self, clauses: Sequence[_Clause], private: bool) -> str:
        """What the first of the clauses is of that is such a request and nothing else, or ends with one; else empty."""
        all_words = [[folded(word) for word in words(one.text)] for one in clauses]
        for at, clause in enumerate(clauses):
            if all(self.keys.isdisjoint(one) for one in all_words[at : at + 1 + (_RUNS_ON if clause.runs_on else 0)]):
                continue
            if how := self._asked(clauses, all_words, at, private):
                before, behind = (sum(map(len, some)) for some in (all_words[:at], all_words[at + 1 :]))
                if how != _OWN and before >= _STATES:
                    return _BEFORE
                return _OWN if how == _THIS and behind >= _STATES else how
        return ""

    def _asked(self, clauses: Sequence[_Clause], all_words: list[list[str]], at: int, private: bool) -> str:
        """What the clause is of, if it is a request or begins one."""
        clause, read = clauses[at], all_words[at]
        this = _ON if clause.names else _THIS
        if 0 < len(read) <= _MOST:
            if self._is_idiom(read):
                return _BEFORE if self._forgets(read) else this
            if (how := self._order(read, clause.names, private)) and not (how == _BEFORE and clause.runs_on):
                return how
        ways = (
            (read[:cut], read[cut + 1 :]) for cut, word in enumerate(read) if word in self._and and len(read) <= _MOST
        )
        if any(all(self._is_idiom(one) or self._order(one, False, private) for one in both) for both in ways):
            return this
        if self._ends_with_one(read, clause.names, private) or self._names_first(read):
            return _OWN
        joined, end = list(read), at
        while len(joined) <= _MOST_WORDS:
            if how := self._forgetting(joined, clauses[end].last):
                return how
            if end > at and (self._is_idiom(joined) or self._order(joined, False, False) == _BEFORE):
                return _BEFORE if self._forgets(joined) else this
            if end - at == _RUNS_ON or not clauses[end].runs_on or clauses[end].last:
                break
            if not joined or self._parts["not"].lengths(joined[-1:], 0):  # "No, note this" does not negate
                break
            end += 1
            joined += all_words[end]
        tells = clause.runs_on and not clause.last and self._that.lengths(all_words[at + 1] or [""], 0)
        return _OWN if tells and 0 < len(read) <= _MOST and self._order(read, True, private) else ""

    def _forgets(self, read: list[str]) -> bool:
        """Whether it begins with a verb of forgetting, which is of what was said before."""
        at = self._skipped(read, 0)
        return at < len(read) and bool(self._forget.lengths(read, at)) and self._after.isdisjoint(read)

    def _ends_with_one(self, read: list[str], names: bool, private: bool) -> bool:
        """Whether a request stands behind a conjunction, "I earn 80,000 but don't note that", or before one."""
        for at in range(1, len(read) - 1):
            but = read[at] in self._but
            sides = [(read[:at], False)] if but else []
            sides += [(read[at + 1 :], names)] if but or read[at] in self._and else []
            for some, named in sides:
                if len(some) <= _MOST and (self._is_idiom(some) or self._order(some, named, private, strictly=not but)):
                    return True
        return False

    def _names_first(self, read: list[str]) -> bool:
        """Whether it says of what it is, and then that it be not kept: "What I told you of Ben you need not keep"."""
        many = max(self._said.lengths(read, 0), default=0) if 0 < len(read) <= _MOST else 0
        if not many or many >= len(read) or read[many] not in self._about:
            return False
        return any(self._order(read[at:], True, False) for at in range(many + 2, len(read)))

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

    def _order(self, read: list[str], names: bool, private: bool, *, strictly: bool = False) -> str:
        """What it is of, if it is an order not to keep or to delete what is said, or begins with one not to keep it and
        tells what: "… that I am ill". `strictly`: "it" is not enough."""
        keys = {name for name in ("keep", "not", "forget") if not self._parts[name].keys.isdisjoint(read)}
        if not {"keep", "not"} <= keys and "forget" not in keys:
            return ""
        at, seen, holds, told, own = 0, set[str](), False, False, False
        while at < len(read):
            if {"keep", "not"} <= seen and (self._that.lengths(read, at) or (told and read[at] in self._about)):
                return _OWN
            lengths = {name: max(part.lengths(read, at), default=0) for name, part in self._parts.items()}
            name = max(lengths, key=lambda one: lengths[one])
            if lengths[name]:
                seen |= {name, "not"} if name == "this" and self._parts["not"].lengths(read[: at + 1], at) else {name}
                holds = holds or (name == "keep" and read[at] in self._hold)
                told = told or (name == "this" and lengths[name] in self._said.lengths(read, at))
                own = own or (name == "this" and not self._mine.isdisjoint(read[at : at + 2]))
            elif read[at] not in self._polite or read[at] in self._first:
                return ""
            at += lengths[name] or 1
        # "The milk is off, don't keep it" is of the milk.
        weak = "weak" in seen and not strictly and not holds
        if "forget" in seen:
            return _BEFORE if "this" in seen and not own and seen.isdisjoint(("keep", "not")) else ""
        if not {"keep", "not"} <= seen or not ("this" in seen or names or private or weak):
            return ""
        return _OWN if own else _ON if names else _THIS

    def _forgetting(self, read: list[str], last: bool) -> str:
        """What it is of, if it asks to forget what was said; at the end of a text it may tell of what, "… what I said
        of Ada"."""
        if self._forget.keys.isdisjoint(read):
            return ""
        at = self._skipped(read, 0)
        if at == len(read) or not (many := max(self._forget.lengths(read, at), default=0)):
            return ""
        if any(self._parts["not"].lengths(read[:at], one) for one in range(at)):
            return ""
        at += many
        end = self._skipped(read, at)
        while at < end and not (self._told.lengths(read, at) or self._said.lengths(read, at)):
            at += 1
        if at == len(read):
            return ""
        if many := max(self._told.lengths(read, at), default=0):
            return _BEFORE if last or self._skipped(read, at + many) == len(read) else ""
        if not (many := max(self._said.lengths(read, at), default=0)):
            return ""
        at = self._skipped(read, at + many)
        if at == len(read):
            return _BEFORE
        return _OWN if last and read[at] in self._about else ""

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
        names = ("keep", "not", "this", "forget", "anywhere", "polite")
        self._parts = {name: lists.strings(language, name) for name in names}
        self._idioms, self._names = lists.strings(language, "unkept"), lists.strings(language, "mine", "about")
        self._plain, self._after = lists.strings(language, "own"), lists.strings(language, "read")
        self._hold, self._simple = lists.strings(language, "hold"), lists.variants(language)
        self._tails, self._own, self._forget, self._said, self._secret, self._turns, self._topics = (
            tuple(sorted(lists.strings(language, name)))
            for name in ("tails", "own", "forget", "said", "secret", "turns", "topics")
        )

    def is_private(self, text: str, said: frozenset[str]) -> bool:
        """Whether a text has a word of secrets, so that a bare "don't keep" is of what was said."""
        return any(one in text for one in self._secret)

    def parts(self, text: str) -> list[str]:
        """The clauses of a text, each with its mark."""
        return [one for one in _CJK_CLAUSE.findall(text) if one.strip()]

    def states(self, part: str) -> bool:
        """Whether a part may state something by itself."""
        return not part.rstrip().endswith("?") and len(CJK.findall(part)) > _STATES + 1

    def matter(self, part: str) -> frozenset[str]:
        """Each two letters beside each other, without Hiragana."""
        return frozenset(a + b for run in _MEANING.findall(part) for a, b in pairwise(run)) - self._plain

    def goes_on(self, parts: Sequence[str], at: int, how: str) -> bool:
        """Whether the part behind a request tells of what it is: a number, or the same sentence, where the request
        names nothing itself or, in Japanese, no other topic follows."""
        part = parts[at + 1].lstrip() if at + 1 < len(parts) else "-"
        bare = how != _OWN or (bool(self._topics) and not any(one in part for one in self._topics))
        return part[0].isdecimal() or (bare and parts[at].rstrip().endswith((",", "、")))

    def turns(self, part: str) -> bool:
        """Whether a part begins with another matter, or asks to keep it."""
        return part.lstrip().startswith(self._turns)

    def asked(self, clauses: Sequence[_Clause], private: bool) -> str:
        """What the first of the clauses is of that is such a request and nothing else, or tells of what; else empty."""
        asked = (
            self._asked(piece, clause.names, private or len(clauses) == 1)
            for clause in clauses
            if 0 < len(piece := folded("".join(clause.text.translate(self._simple).split()))) <= _MOST_CHARACTERS
        )
        return next(filter(None, asked), "")

    def _asked(self, piece: str, names: bool, private: bool) -> str:
        if any(seen == "idiom" or _is_order(seen, told=names or private) for seen in self._read(piece)):
            if any(one in piece for one in self._names):
                return _OWN
            forgets = any(one in piece for one in self._forget) and not any(one in piece for one in self._after)
            return _BEFORE if forgets else _ON if names else _THIS
        for tail in self._tails:
            at = piece.find(tail)
            if at > 0 and any(_is_order(seen, told=True) for seen in self._read(piece[at + len(tail) :])):
                return _OWN
        for own in self._own:
            at = piece.find(own)
            if at > 0 and any(_is_order(seen, told=True) for seen in self._read(piece[:at])):
                return _OWN
        said = [at for one in self._said if (at := piece.find(one)) >= 0]
        return _OWN if any(self._asks_to_forget(piece, at) for at in said) else ""

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
    if "forget" in parts:
        return "this" in parts and "not" not in parts and "keep" not in parts
    return "keep" in parts and "not" in parts and (told or "this" in parts or "hold" not in parts)


_spaced, _unspaced = cache(_Spaced), cache(_Unspaced)
