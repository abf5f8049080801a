"""Numbers in words, and as normalised texts: no number of a text is too long to be compared.

Python refuses to turn more than 4,300 digits into a number, and the time that takes is the square of their count. So a
number is only calculated with where it is short; a longer one is the same as another only where both are written the
same.
"""

from __future__ import annotations

import unicodedata

from memquorum.core.reading import wording
from memquorum.core.reading.lists import named, ordered

MOST = 100
"""So many digits at most are calculated with."""
LARGEST = 10**MOST
"""A number in words ends before it would exceed this."""


def plain(digits: str) -> str:
    """A whole number as ASCII digits without leading noughts. `digits`: decimal digits of any script, at least one."""
    ascii_digits = digits if digits.isascii() else "".join(str(unicodedata.decimal(one)) for one in digits)
    return ascii_digits.lstrip("0") or "0"


def times(digits: str, by: int) -> str:
    """A whole number, as decimal digits of any script, multiplied; of a longer one than `MOST` digits the factor
    and its digits."""
    number = plain(digits)
    return str(int(number) * by) if len(number) <= MOST else f"{by}*{number}"


def _numbered(section: str, language: str) -> dict[str, int]:
    return {word: int(number) for word, number in named(section, language).items()}


_SMALL, _TENS = ordered("small", "de"), ordered("tens", "de")
_ONES = dict(zip(("ein", *_SMALL[2:10]), range(1, 10), strict=True))
_GERMAN = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_GERMAN |= {f"{one}und{ten}": 10 * n + m for n, ten in enumerate(_TENS, 2) for one, m in _ONES.items()}
_UNDER = {word: n for word, n in _GERMAN.items() if n and word != "eins"} | {"ein": 1}
_HUNDREDS = {
    f"{one}hundert{rest}": 100 * n + m
    for one, n in [("", 1), *_ONES.items()]
    for rest, m in [("", 0), *_UNDER.items()]
    if one or rest
}
_THOUSANDS = {f"{one}tausend": 1000 * n for one, n in (*_UNDER.items(), *_HUNDREDS.items())}
CARDINALS = {**wording.CARDINALS, **_GERMAN, **_HUNDREDS, **_THOUSANDS}
MAGNITUDES = wording.MAGNITUDES | _numbered("magnitudes-of-many", "en") | _numbered("magnitudes", "de")
ORDINALS = wording.ORDINALS | _numbered("more-ordinals", "en")
ORDINALS |= {word: n for n, word in enumerate(ordered("ordinals", "de"), 1)}
ADVERBS = wording.ADVERBS | {word: n for n, word in enumerate(ordered("times", "de"), 1)}
UNITS = {word: unit for word, unit in wording.UNITS.items() if word not in ("c", "f")}
UNITS |= named("more-units") | named("more-units", "de")


def cardinal(words: list[str], at: int) -> tuple[str | None, int]:
    """(value, place behind it) of the number in words that begins at a place, no value if none does: "two hundred and
    five" is 205. "One" is an article unless it counts. English and German."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word in ORDINALS:
        return str(ORDINALS[word]), at + 1
    if word in ("half", "halb", "halbe", "halben"):
        return "0.5", at + 1
    if word in ("one", "ein", "eine", "einen", "einem", "einer"):  # an article, unless it counts
        return ("1", at + 1) if after in UNITS or after in MAGNITUDES else (None, at + 1)
    if word in wording.PAIRS and after == "of":
        return "2", at + 2
    if word in MAGNITUDES:  # "a dozen", "hundreds"
        return (None, at + 1) if word.endswith("s") else (str(MAGNITUDES[word]), at + 1)
    total = current = 0
    start = at
    while at < len(words) and total + current < LARGEST:
        word = words[at]
        if word in CARDINALS:
            current += CARDINALS[word]
        elif word in MAGNITUDES and at > start:
            current = max(current, 1) * MAGNITUDES[word]
            if MAGNITUDES[word] >= 1000:
                total, current = total + current, 0
        elif not (word in ("and", "und") and at > start and words[at - 1] in MAGNITUDES and _counts(words, at + 1)):
            break
        at += 1
    return (str(total + current), at) if at > start else (None, at + 1)


def _counts(words: list[str], at: int) -> bool:
    return at < len(words) and words[at] in CARDINALS
