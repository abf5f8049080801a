"""Reads the time that a question asks about: before an event, at a date, an earlier state, since when. Ten languages,
by word lists.

`asked` says of a question what sort of time it asks about (`BEFORE`, `AFTER`, `DURING` an event; `AT` a date; `WAS`:
what was earlier; `FIRST`: what was at first; `TURN`: when something became otherwise), the words of the event
(`anchor`), the question without them (`rest`), and the time of a date. A question about the present has none of these.

Dates are read without a clock: of a day or a month without a year `Span` has the month and the day alone, and the
reader chooses the year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from memquorum.core.reading import lists
from memquorum.core.reading.lists import CJK, SPACED, Phrases
from memquorum.core.reading.normal import normalised
from memquorum.core.reading.words import folded

VERSION = 3
"""Raise it with every change of a rule or a list."""

BEFORE, AFTER, DURING, AT, WAS, FIRST, TURN = "before", "after", "during", "at", "was", "first", "turn"
LOOKED_AT = 1_000
"""So many characters of a question are read."""
_SECTIONS = {"prior": BEFORE, "later": AFTER, "during": DURING}
# The lists by which a language is known.
_COMMON = ("light", "pronouns", "is", "beside", "tense", "prior", "later", "during", "was", "first", "turn")
_WORD = re.compile(r"[^\W_]+")
_KANA = re.compile(r"[\u3040-\u30ff]")
_CLAUSE_END = re.compile(r"[,;:、，；：]")
_CJK_DATE = re.compile(r"(?:((?:19|20)\d\d)年)?(\d{1,2})月(?:(\d{1,2})[日号])?|((?:19|20)\d\d)年")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|ter|ten|te|e|º|ª)?\Z")


class Span(Struct, frozen=True):
    """A day, a month, a season or a year: the months from `first` to `last`, 1 to 12; None where it is not said."""

    year: int | None = None
    first: int | None = None
    last: int | None = None
    day: int | None = None


class AskedTime(Struct, frozen=True):
    """The time that a question asks about. `anchor`: the event, as it is written; empty for none."""

    sort: str
    anchor: str = ""
    rest: str = ""
    span: Span | None = None


def asked_time(question: str) -> AskedTime | None:
    """Reads the time that a question asks about; None for the present, or where it does not say."""
    text = normalised("NFKC", question[:LOOKED_AT])
    if CJK.search(text):
        return _unspaced(text)
    said = [(folded(one[0]), one.start(), one.end()) for one in _WORD.finditer(text)]
    words = [word for word, _, _ in said]
    for language in _languages(words):
        found = _spaced(language, text, said, words)
        if found is not None:
            return found
    return None


def _spaced(language: str, text: str, said: Sequence[tuple[str, int, int]], words: list[str]) -> AskedTime | None:
    span, tense = _date(language, words), _at(_phrases(language, "tense"), words) is not None
    idioms = {at + length - 1 for at, length in _found(_phrases(language, "idioms"), words)}
    if _at(_phrases(language, "turn"), words) is not None or _turns(language, words):
        return AskedTime(TURN, rest=text)
    for section, sort in _SECTIONS.items():
        for at, length in _found(_phrases(language, section), words):
            # "When does it open?" names no event, and neither does "how long before".
            if (at == 0 and "," not in text) or at + length >= len(words) or at + length - 1 in idioms:
                continue
            if sort == DURING and not tense:
                continue
            start = said[at + length][1]
            end = _CLAUSE_END.search(text, start)
            anchor = text[start : end.start() if end and at < 2 else len(text)].rstrip(" ?!.")
            rest = f"{text[: said[at][1]]} {text[end.end() :] if end and at < 2 else ''}".strip()
            dated = _date(language, words[at + length :])
            if sort != DURING and dated is not None:
                return AskedTime(sort, rest=rest, span=dated)
            if (dated is None and len(_WORD.findall(anchor)) > 1) or any(one.isdigit() for one in anchor):
                return AskedTime(sort, anchor, rest or text)
    if _at(_phrases(language, "first"), words) is not None:
        return AskedTime(FIRST, rest=text)
    if span is not None and (tense or span.year is not None or span.day is not None):
        return AskedTime(AT, rest=text, span=span)
    if _at(_phrases(language, "was"), words) is not None:
        return AskedTime(WAS, rest=text)
    return None


def _unspaced(text: str) -> AskedTime | None:
    """A question in a language without spaces: the event stands before what marks it."""
    code = "ja" if _KANA.search(text) else "zh"
    if _has(code, "turn", text):
        return AskedTime(TURN, rest=text)
    span, tense = _cjk_date(text), _has(code, "tense", text)
    for section, sort in _SECTIONS.items():
        for mark in sorted(lists.strings(code, section), key=lambda one: (-len(one), one)):
            at = text.find(mark)
            begins = max((one.end() for one in _CLAUSE_END.finditer(text[: max(0, at)])), default=0)
            anchor, behind = text[begins : max(0, at)], text[at + len(mark) :]
            if len(anchor) < 2 or (sort == DURING and not tense):
                continue
            dated = _cjk_date(anchor)
            if dated is None:
                return AskedTime(sort, anchor, text[:begins] + behind)
            if sort != DURING:
                return AskedTime(sort, rest=text[:begins] + behind, span=dated)
    if _has(code, "first", text):
        return AskedTime(FIRST, rest=text)
    if span is not None and (tense or span.year is not None or span.day is not None):
        return AskedTime(AT, rest=text, span=span)
    return AskedTime(WAS, rest=text) if _has(code, "was", text) else None


def _has(language: str, section: str, text: str) -> bool:
    return any(one in text for one in lists.strings(language, section))


def _languages(words: Sequence[str]) -> list[str]:
    """The languages that have most of the words, best first."""
    counts = {language: sum(word in _vocabulary(language) for word in words) for language in SPACED}
    most = max(counts.values(), default=0)
    return [language for language in SPACED if counts[language] == most > 0]


@cache
def _vocabulary(language: str) -> frozenset[str]:
    return Phrases(language, *_COMMON).vocabulary


@cache
def _phrases(language: str, section: str) -> Phrases:
    return Phrases(language, section)


@cache
def _turn_words(language: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(map(folded, _WORD.findall(normalised("NFKC", entry))))
        for entry in lists.sections(language).get("turn", ())
    )


def _turns(language: str, words: Sequence[str]) -> bool:
    """Whether the first and the last words of an entry stand in the question in that order: "when did it change"."""
    for entry in _turn_words(language):
        at = 0
        for word in words:
            at += at < len(entry) and word == entry[at]
        if at == len(entry) > 1 and words[0] == entry[0]:
            return True
    return False


def _found(phrases: Phrases, words: list[str]) -> Iterator[tuple[int, int]]:
    """Finds where phrases stand and how many words they have, the longest of each place."""
    for at in range(len(words)):
        lengths = phrases.lengths(words, at)
        if lengths:
            yield at, max(lengths)


def _at(phrases: Phrases, words: list[str]) -> int | None:
    return next((at for at, _ in _found(phrases, words)), None)


@cache
def _months(language: str) -> dict[str, tuple[int, int]]:
    """Months and seasons by their words: from which month to which."""
    found = dict[str, tuple[int, int]]()
    for section, spans in (
        ("months", [(n, n) for n in range(1, 13)]),
        ("seasons", [(3, 5), (6, 8), (9, 11), (12, 14)]),
    ):
        for entry, span in zip(lists.sections(language).get(section, ()), spans, strict=False):
            found.update((folded(word), span) for word in entry.split("/"))
    return found


def _date(language: str, words: Sequence[str]) -> Span | None:
    """The first date among words: a month with or without a day and a year, or a year alone."""
    year = next((int(word) for word in words if _YEAR.match(word)), None)
    for at, word in enumerate(words):
        months = _months(language).get(word)
        # A season without a year is any year's: "in summer".
        if months is not None and months[0] != months[1] and year is None:
            continue
        # "may" is a verb more often than a month.
        if months is None or (word == "may" and year is None and not _day(words, at)):
            continue
        return Span(year, months[0], months[1], _day(words, at) if months[0] == months[1] else None)
    return None if year is None else Span(year)


def _day(words: Sequence[str], at: int) -> int | None:
    """The day that stands beside a month."""
    beside = [*words[max(0, at - 1) : at], *words[max(0, at - 2) : max(0, at - 1)], *words[at + 1 : at + 2]]
    days = (int(found[1]) for word in beside if (found := _DAY.match(word)))
    return next((day for day in days if 1 <= day <= 31), None)


def _cjk_date(text: str) -> Span | None:
    found = _CJK_DATE.search(text)
    if found is None:
        return None
    year, month, day, alone = found.groups()
    if alone:
        return Span(int(alone))
    first = int(month)
    return Span(int(year) if year else None, first, first, int(day) if day else None) if 1 <= first <= 12 else None
