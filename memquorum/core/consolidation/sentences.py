"""Where the sentences of a text lie.

A sentence ends with a line, or with its mark before a blank: not at an abbreviation, an initial, or the dot of an
ordinal ("12. März"). Chinese and Japanese marks need no blank.
"""

from __future__ import annotations

import re
from functools import lru_cache

_END = re.compile(r"(?P<mark>[.!?…]+)[\"'”’»)\]]*(?=\s)|[。！？]+[”」』）]*|\n+")
_LAST = re.compile(r"[^\W_]+(?:\.[^\W_]+)*\Z")
_ENGLISH = "dr mr mrs ms prof st jr sr inc ltd co corp vs etc e.g i.e eg approx ca cf nr vol al dept gov"
_OTHERS = "z.b d.h u.a bzw usw ggf inkl exkl evtl tel p.ex mme mlle dott sra"
_ABBREVIATED = frozenset(f"{_ENGLISH} {_OTHERS}".split())


@lru_cache(4_096)
def spans(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a text, each as its first character and the one behind its last; no blank at either end."""
    found: list[tuple[int, int]] = []
    start = 0
    for end in _END.finditer(text):
        if end["mark"] == "." and _goes_on(text, start, end.start("mark"), end.end()):
            continue
        found.append(_bare(text, start, end.end()))
        start = end.end()
    found.append(_bare(text, start, len(text)))
    return tuple((first, last) for first, last in found if first < last)


def _goes_on(text: str, start: int, dot: int, behind: int) -> bool:
    """Whether a dot ends no sentence."""
    last = _LAST.search(text, start, dot)
    if last is None:
        return False
    word = last[0].casefold()
    if word in _ABBREVIATED or (len(word) == 1 and word.isalpha() and last[0].isupper()):
        return True
    goes_on = text[behind:].lstrip()[:1].islower()
    if "." in word:  # "the U.S. team"
        return goes_on
    # "12. März", and "1. Open the valve" at the beginning of a line: what follows belongs to it.
    if not word.isdigit() or len(word) > _ORDINAL:
        return False
    begins = not text[start : last.start()].strip()
    return begins or goes_on or _MONTH.match(text, behind) is not None


_ORDINAL = 2
_MONTH = re.compile(r"\s*(jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec)", re.IGNORECASE)


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the blanks at its ends."""
    within = text[start:end]
    return start + len(within) - len(within.lstrip()), start + len(within.rstrip())
