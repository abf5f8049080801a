"""Splits a text into sentences.

A sentence ends with a line, or with its mark before a blank: not at an abbreviation, an initial, or the dot of an
ordinal ("12. März"). Chinese and Japanese marks need no blank.
"""

from __future__ import annotations

import re

from memquorum.core.reading.lists import bag
from memquorum.core.reading.memo import memo

# A run of marks is tried at its first one alone, or a text of dots would take the square of its length.
_END = re.compile(r"(?<![.!?…])(?P<mark>[.!?…]++)[\"'”’»)\]]*+(?=\s)|[。！？]++[”」』）]*+|\n++")
_BLANKS = re.compile(r"\s*+")
_ABBREVIATED = bag("abbreviations", "en", "de", "fr", "it")


@memo(4_096, longest=1_000)
def spans(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a text, each as its first character and the one behind its last; no blank at either end."""
    found: list[tuple[int, int]] = []
    start, first = 0, _behind_blanks(text, 0)
    for end in _END.finditer(text):
        if end["mark"] == "." and _goes_on(text, first, end.start("mark"), end.end()):
            continue
        found.append(_bare(text, start, end.end()))
        start, first = end.end(), _behind_blanks(text, end.end())
    found.append(_bare(text, start, len(text)))
    return tuple((first, last) for first, last in found if first < last)


_BETWEEN = re.compile(r"[,;]\s|\s(?:and|but|und|aber|y|pero|et|mais|e|ma)\s", re.IGNORECASE)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text."""
    return tuple(text[start:end] for start, end in spans(text))


def _goes_on(text: str, first: int, dot: int, behind: int) -> bool:
    """Whether a dot ends no sentence. `first`: the first character of the sentence that is no blank."""
    last = _last_word(text, first, dot)
    if last == dot:
        return False
    written = text[last:dot]
    word = written.casefold()
    if word in _ABBREVIATED or (len(word) == 1 and word.isalpha() and written.isupper()):
        return True
    following = _behind_blanks(text, behind)
    goes_on = text[following : following + 1].islower()
    if "." in word:  # "the U.S. team"
        return goes_on
    # "12. März", and "1. Open the valve" at the beginning of a line: what follows belongs to it.
    if not word.isdigit() or len(word) > _ORDINAL:
        return False
    return last <= first or goes_on or _MONTH.match(text, behind) is not None


def _last_word(text: str, first: int, end: int) -> int:
    """The start of the last word of a text up to `end`: letters and digits, in parts with a dot between them."""
    at = end
    while True:
        begin = at
        while begin > first and text[begin - 1].isalnum():
            begin -= 1
        if begin == at:  # no part in front of this dot, or none at all
            return min(at + 1, end)
        if begin <= first or text[begin - 1] != ".":
            return begin
        at = begin - 1


def _behind_blanks(text: str, at: int) -> int:
    """The first place from `at` on where no blank stands."""
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()


_ORDINAL = 2
_MONTH = re.compile(r"\s*(jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec)", re.IGNORECASE)


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the blanks at its ends."""
    within = text[start:end]
    return start + len(within) - len(within.lstrip()), start + len(within.rstrip())


def clauses(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence between commas, semicolons and words such as "and", in five languages; the sentence alone
    where it has none of them."""
    return tuple(part for one in _BETWEEN.split(sentence) if (part := one.strip()))
