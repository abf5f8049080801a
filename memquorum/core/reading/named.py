"""Judges whether two texts speak of things of different names, so that neither confirms nor denies the other.

Rules and no model (English), and what they do not see is taken for the same thing. Two texts are apart where both name
a thing of one sort, by names of which each is nowhere in the other:

1. by a *label*, a number right behind a noun: "room 12" is not "room 14";
2. by an *identifier*, a word that begins with letters and ends with digits: "atlas-4" is not "atlas-5". Either has to
   be what the sentence of one of the two is about, or what was asked for. Elsewhere it is a value: "uses port 8443",
   "runs on atlas-4", "since ticket 7";
3. by a *word before a noun* that both have behind an article: "the billing service" is not "the mailing service". Words
   that have an opposite are no names here: whether they stand against each other `agreement` tells.
"""

from __future__ import annotations

import re

from msgspec import Struct

from memquorum.core.reading import claiming, conflict, parsing, wording
from memquorum.core.reading.claims import Statement
from memquorum.core.reading.content import stems_of
from memquorum.core.reading.memo import memo

_KEPT, _LONG = 16_384, 2_000
_WORD = re.compile(r"[^\W_]+(?:['’.,:/-][^\W_]+)*")
_LABEL = re.compile(r"(?<![\w'’.-])([^\W\d_]+) (\d+)(?![\w%°]|[.,:/-]\d)(?: ([^\W\d_]+))?")
"""A word, a number behind it, and the word behind that."""
_IDENTIFIER = re.compile(r"([a-z]+(?:-[a-z]+)*)-?(\d+)")
_BEFORE = frozenset(["the", "our", "your", "my", "his", "her", "their", "its"])
_AFTER_AN_ARTICLE = 4
"""Words: a longer run without a word such as "of" is more than one name."""

_Pairs = frozenset[tuple[str, str]]


class _Names(Struct, frozen=True):
    """`labels`: a sort, and what names one of it; `subjects`: those of them that the text is about; `modified`: a noun,
    and the word before it."""

    stems: frozenset[str] = frozenset()
    labels: _Pairs = frozenset()
    subjects: _Pairs = frozenset()
    modified: _Pairs = frozenset()


def unlike(one: str, other: str, told: str = "") -> bool:
    """Whether two sentences speak of things of other names. `told`: what came of the first, where that was asked: what
    both name is what was asked for."""
    a, b = _names(one), _names(other)
    return (
        _exchanged(a, b, a.subjects, b.labels)
        or _exchanged(a, b, a.labels, b.subjects)
        or _exchanged(a, b, a.modified, b.modified)
        or (bool(told) and _exchanged(a, b, a.labels & _names(told).labels, b.labels))
    )


def _exchanged(a: _Names, b: _Names, mine: _Pairs, theirs: _Pairs) -> bool:
    ones, others = _elsewhere(mine, b), _elsewhere(theirs, a)
    # A sort sets the texts apart if each has a name of it, and the names differ.
    return any(len(ones[sort] | others[sort]) > 1 for sort in ones.keys() & others.keys())


def _elsewhere(pairs: _Pairs, other: _Names) -> dict[str, set[str]]:
    """Groups by sort the names that another text does not have."""
    found: dict[str, set[str]] = {}
    for sort, name in pairs:
        if name not in other.stems:
            found.setdefault(sort, set()).add(name)
    return found


@memo(_KEPT, _LONG)
def _names(text: str) -> _Names:
    written = _WORD.findall(text)
    words = [one.casefold() for one in written]
    found = [(one[1], one[2], one[3] or "") for one in _LABEL.finditer(text.casefold()) if _numbers(one[1])]
    numbered = {(_stem(noun), number) for noun, number, _ in found}
    named = {(one[1], one[0]) for one in map(_IDENTIFIER.fullmatch, words) if one is not None}
    about = {pair for one in conflict.read(text).statements for pair in _subjects(one, numbered, named)}
    counts = {(_stem(noun), number) for noun, number, after in found if _counted(after)}
    labels = numbered - counts | named | about
    return _Names(
        frozenset(stem for word in words for stem in stems_of(word)) | {name for _, name in labels},
        frozenset(labels),
        frozenset(about),
        _modified(words, parsing.verb_of(written, words) if len(words) > 1 else None),
    )


def _subjects(one: Statement, numbered: set[tuple[str, str]], named: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The names of a statement's subject: identifiers, and numbers that end it or a part of it."""
    ends = {
        name
        for name, after in zip(one.frame, [*one.frame[1:], ""], strict=False)
        if not stems_of(after) or parsing.stemmed(after) == one.verb
    }
    return {pair for pair in numbered if pair[1] in one.marks & ends} | {pair for pair in named if pair[1] in one.marks}


def _modified(words: list[str], verb: int | None) -> _Pairs:
    """A noun and the word before it, behind an article: ("service", "billing")."""
    found = set[tuple[str, str]]()
    for at, word in enumerate(words):
        if word not in _BEFORE:
            continue
        for place in range(at + 1, min(at + _AFTER_AN_ARTICLE, len(words) - 1)):
            name, noun = words[place], words[place + 1]
            if not _noun(name) or not _noun(noun) or place == verb:
                break
            if place + 1 != verb and name not in wording.POLES:
                found.add((_stem(noun), _stem(name)))
    return frozenset(found)


def _noun(word: str) -> bool:
    """True if it may be a noun: of letters, and neither a function word nor a month."""
    return word.isalpha() and bool(stems_of(word)) and claiming.CLASSES.get(word) != "month" and word not in _NO_NOUNS


def _numbers(word: str) -> bool:
    """Whether a number behind it may name one of it: "featuring 16 gates" counts."""
    return _noun(word) and (not word.endswith("ing") or word in _THINGS)


_THINGS = frozenset(["building", "wing", "ring", "landing", "ceiling", "string", "crossing", "mooring", "housing"])
_NO_NOUNS = frozenset(
    {"may", "march", *wording.UNITS, *wording.CARDINALS, *wording.ORDINALS, *wording.MAGNITUDES, *wording.NEGATORS}
)


def _counted(after: str) -> bool:
    """Whether a number counts what stands behind it: "45 tonnes"."""
    return after in wording.UNITS or after in wording.MAGNITUDES or (len(after) > 3 and after.endswith("s"))


def _stem(word: str) -> str:
    return stems_of(word)[0]


KEPT = (_names,)
"""The functions that cache answers about texts."""
