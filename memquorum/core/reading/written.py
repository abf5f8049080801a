"""One way to write what can be written in several: numbers in words, times of the day, dates (English).

"Two trays" and "2 trays", "7 pm" and "19:00", "May 3, 2021" and "2021-05-03" say the same, and a text that is looked
through word for word has one of them. Nothing is guessed: "at 7" stays, since it may be either half of the day. So do
"one", which is an article as often, and dates in figures, since their order is not known.
"""

from __future__ import annotations

import re

from memquorum.core.reading import wording
from memquorum.core.reading.lists import sections
from memquorum.core.reading.memo import memo

_KEPT, _LONG = 16_384, 2_000
_NOON = 12
_MONTHS = tuple(one.split("/")[0] for one in sections("en")["months"])
_MONTH = "|".join(one.capitalize() for one in _MONTHS)
_CLOCK = re.compile(r"\b(1[0-2]|0?[1-9])(?::([0-5]\d))? ?([ap])(?:m\b|\.m\.)", re.IGNORECASE)
_EARLY = re.compile(r"\b0(\d:[0-5]\d)\b")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b(?:,? (\d{{4}})\b)?")
_MONTH_FIRST = re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (\d{{4}})\b)?")
_COUNTS = {word: n for word, n in wording.CARDINALS.items() if n > 1}
_TENS = "|".join(word for word, n in _COUNTS.items() if n >= 20)
_ONES = "|".join(word for word, n in wording.CARDINALS.items() if 0 < n < 10)
_LARGE = "|".join(wording.MAGNITUDES)
_SPELLED = re.compile(
    rf"(?<![\w-])(?:({_TENS})[- ]({_ONES})|({'|'.join(_COUNTS)}))(?![\w-]|[ -](?:{_LARGE})\b)", re.IGNORECASE
)


@memo(_KEPT, _LONG)
def plainly(text: str) -> str:
    """The text with numbers, times and dates written in one way; itself where it has none that could be otherwise."""
    text = _SPELLED.sub(_figures, text)
    text = _EARLY.sub(r"\1", _CLOCK.sub(_hours, text))
    text = _DAY_FIRST.sub(lambda one: _date(one[1], one[2], one[3]), text)
    return _MONTH_FIRST.sub(lambda one: _date(one[2], one[1], one[3]), text)


def _figures(one: re.Match[str]) -> str:
    parts = [wording.CARDINALS[part.casefold()] for part in one.groups() if part]
    return str(sum(parts))


def _hours(one: re.Match[str]) -> str:
    hour = int(one[1]) % _NOON + (_NOON if one[3].casefold() == "p" else 0)
    return f"{hour}:{one[2] or '00'}"


def _date(day: str, month: str, year: str | None) -> str:
    at = _MONTHS.index(month.casefold()) + 1
    return f"{year}-{at:02}-{int(day):02}" if year else f"{int(day)} {month}"
