"""Reads facts that a paraphrase must not make up: numbers, times, names, negations, sides. English, German.

Everything is read into values that are equal where two texts say the same: "two hundred" and "200", "2 pm" and "14:00",
"12 March" and "12. März", "Keller's" and "Keller". A text that can be read in two ways has the values of both. Pure,
and data more than code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec import Struct

from memquorum.core.reading import digits, wording
from memquorum.core.reading.content import content
from memquorum.core.reading.lists import bag, months, named, weekdays
from memquorum.core.reading.memo import memo
from memquorum.core.reading.negation import negations

Date = tuple[int | None, int | None, int | None]
"""Year, month and day, what is not said None."""


class Stated(Struct, frozen=True):
    """The facts that a text states. Made by `stated`."""

    numbers: tuple[tuple[frozenset[str], str], ...]
    """Each as the values that it may have, and its unit, '' where it has none that is known."""
    clocks: tuple[frozenset[int], ...]
    """Each as the minutes of the day that it may mean."""
    dates: tuple[Date, ...]
    moments: frozenset[str]
    """Weekdays, parts of a day, and what counts from now: 'monday', 'tomorrow', 'next week'."""
    names: tuple[tuple[str, bool], ...]
    """Names and codes, and whether each stands where a sentence begins, so that it may be an ordinary word."""
    pairs: frozenset[tuple[str, str]]
    """Names that stand side by side."""
    words: frozenset[str]
    stems: frozenset[str]
    negated: frozenset[str]
    """The stems that it negates; '' where it negates all of it."""
    denials: int
    """The number of negations."""
    only: frozenset[bool]
    """Whether "only" stands in it, True, and whether "not only" or "not just" does, False."""
    poles: frozenset[tuple[int, bool]]
    foreign: bool
    """Whether it is mostly in a script whose words these rules do not know."""

    @property
    def facts(self) -> frozenset[object]:
        """The facts in which two sentences with the same words may still differ."""
        numbers = ((values, unit) for values, unit in self.numbers)
        names = (name for name, opens in self.names if not opens)
        negated = (("not", stem) for stem in self.negated)
        return frozenset((*numbers, *self.clocks, *self.dates, *self.moments, *names, *negated, *self.only))

    @property
    def timed(self) -> bool:
        """Whether it says when."""
        return bool(self.clocks or self.dates or self.moments)


_NUMBER = re.compile(
    r"(?P<sign>(?<![\w.])[-−+])?(?P<before>[$€£¥#])?"
    r"(?P<value>\d{1,3}(?:[,.'’ ]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
    r"(?: ?(?P<unit>%|°[CcFf]?|[€$£])|(?P<ordinal>st|nd|rd|th)\b)?"
)
_GROUPED = re.compile(r"\d{1,3}(?:[,.]\d{3})+")
_MIXED = re.compile(r"(\d{1,3}(?:,\d{3})+)\.(\d+)|(\d{1,3}(?:\.\d{3})+),(\d+)")
_UNGROUPED, _UNMARKED = str.maketrans("", "", "'’ "), str.maketrans("", "", ",.")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NEXT = re.compile(r"[ \u00a0-]?(?P<unit>%|°[CcFf]?|[€$£]|[^\W\d_]{1,12})")


def _values(text: str) -> frozenset[str]:
    """Returns the values that digits may have: "1,200" is 1200, "3,8" is 3.8, "1.200" is either 1.2 or 1200."""
    bare = text.translate(_UNGROUPED)
    found = set()
    if _GROUPED.fullmatch(bare):
        found.add(bare.translate(_UNMARKED))
    mixed = _MIXED.fullmatch(bare)
    if mixed:
        whole = (mixed[1] or mixed[3]).translate(_UNMARKED)
        found.add(_plain(f"{whole}.{mixed[2] or mixed[4]}"))
    elif bare.count(".") + bare.count(",") <= 1:
        found.add(_plain(bare.replace(",", ".")))
    return frozenset(found)


def _plain(value: str) -> str:
    whole, dot, part = value.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if dot and part else "")


def _digits(text: str) -> Iterator[tuple[int, int, frozenset[str], str]]:
    """(begin, end, values, unit) of each number written in digits that belongs to no word."""
    for found in _NUMBER.finditer(text):
        if found.start() and (text[found.start() - 1].isalnum() or text[found.start() - 1] == "_"):
            continue
        values, end, unit = _values(found["value"]), found.end(), found["unit"] or found["before"] or ""
        unit = "" if unit == "#" else digits.UNITS.get(unit.casefold(), unit)
        if not unit and not found["ordinal"]:
            after = _NEXT.match(text, end)
            word = after["unit"].casefold() if after else ""
            if after and word in digits.MAGNITUDES:
                values = frozenset(_plain(_times(value, digits.MAGNITUDES[word])) for value in values)
                end, after = after.end(), _NEXT.match(text, after.end())
                word = after["unit"].casefold() if after else ""
            if after and word in digits.UNITS:
                unit, end = digits.UNITS[word], after.end()
        if (found["sign"] or "+") in "-−":
            values = frozenset(f"-{value}" for value in values)
        yield found.start(), end, values, unit


def _times(value: str, by: int) -> str:
    whole, _, part = value.partition(".")
    if len(whole) + len(part) > digits.MOST:
        return f"{by}*{value}"
    scaled = int(whole + part) * by
    shift = 10 ** len(part)
    return str(scaled // shift) if scaled % shift == 0 else str(scaled / shift)


def _spelled(words: list[str]) -> list[tuple[int, int, str, str]]:
    """(first word, word behind, value, unit) of each number in words."""
    found, at = [], 0
    while at < len(words):
        if words[at] in digits.ADVERBS:
            found.append((at, at + 1, str(digits.ADVERBS[words[at]]), "x"))
            at += 1
            continue
        value, after = digits.cardinal(words, at)
        if value is None:
            at += 1
            continue
        unit = digits.UNITS.get(words[after], "") if after < len(words) else ""
        found.append((at, after, value, unit))
        at = after
    return found


# Times --------------------------------------------------------------------------------------------------------------

_MONTH = {**months("en"), **months("de")}
_NAMED = "|".join(sorted(_MONTH, key=len, reverse=True))
_LONG = "|".join(sorted((name for name in _MONTH if len(name) > 3 and name != "sept"), key=len, reverse=True))
_YEAR = r"(?:1[89]|20|21)\d\d"
_DATES = (
    re.compile(rf"\b(?P<y>{_YEAR})-(?P<m>\d\d)-(?P<d>\d\d)\b"),
    re.compile(rf"\b(?P<a>\d{{1,2}})(?P<sep>[./])(?P<b>\d{{1,2}})(?P=sep)(?P<y>{_YEAR}|\d\d)\b"),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?(?:\s+of)?\s+(?P<n>{_NAMED})\b\.?(?:,?\s+(?P<y>{_YEAR})\b)?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<n>{_NAMED})\.?\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d|\s*[ap]\.?m\b|\s+Uhr\b)"
        rf"(?:,?\s+(?P<y>{_YEAR})\b)?", re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<n>{_NAMED})\.?,?\s+(?P<y>{_YEAR})\b", re.IGNORECASE),
    re.compile(rf"\b(?!May\b|March\b)(?P<n>{_LONG.title()})\b"),
    re.compile(r"\b(?:in|of|since|until|till|by|during|this|last|next|early|mid|late|from|im|seit|bis|Ende|Anfang|Mitte)"
               r"[ -](?P<n>May|March|Mai|Mar|Jan|Feb|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Okt|Dez)\b"),
    re.compile(rf"\b(?:in|since|until|by|during|from|of|im Jahr|seit|year)\s+(?P<y>{_YEAR})\b", re.IGNORECASE),
)  # fmt: skip
_CLOCKS = (
    re.compile(r"\b(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?::[0-5]\d)?(?:\s*(?P<half>[ap])\.?m\b\.?)?(?:\s*Uhr)?",
               re.IGNORECASE),
    re.compile(r"\b(?P<h>[01]?\d|2[0-4])(?:[.:](?P<m>[0-5]\d))?\s*Uhr(?:\s+(?P<m2>[0-5]?\d)\b)?", re.IGNORECASE),
    re.compile(r"\b(?P<h>1[0-2]|0?[1-9])(?:[.:](?P<m>[0-5]\d))?\s*(?P<half>[ap])\.?m\b\.?", re.IGNORECASE),
    re.compile(r"\b(?P<h>1[0-2]|[1-9]|[a-z]{3,6})\s+o['’]?clock\b", re.IGNORECASE),
    re.compile(r"\b(?P<half2>half past|halb|quarter past|quarter to|viertel nach|viertel vor)\s+"
               r"(?P<h>1[0-2]|[1-9]|[^\W\d_]{3,6})\b", re.IGNORECASE),
)  # fmt: skip
_PAST = {"half past": 30, "halb": -30, "quarter past": 15, "quarter to": -15, "viertel nach": 15, "viertel vor": -15}

_DAY = weekdays("en", "de")
_SHORT = frozenset({"mon", "tue", "tues", "wed", "thu", "thurs", "fri"})
_MOMENT = named("moments") | named("moments", "de")
_PHRASES = {"day after tomorrow", "day before yesterday"}
_SIDE = named("sides") | named("sides", "de")
_SPAN = named("spans") | named("spans", "de") | {day: key for day, key in _DAY.items() if day not in _SHORT}
_QUARTER = re.compile(r"\bQ([1-4])\b")
_UNTIL_END = re.compile(r"\b(?:end of|ende|beginning of|anfang|middle of|mitte)\b", re.IGNORECASE)
_AGO = re.compile(r"\bago\b|\bvor \w+ (?:tag|woche|monat|jahr|stunde|minute)", re.IGNORECASE)
# "Morgen" is tomorrow, "der Morgen" and "am Morgen" the morning.
_MORGEN = re.compile(
    r"(?P<article>\b(?:am|der|den|jeden|heute|guten|diesen)\s+)?\b(?P<word>morgen|morgens)\b", re.IGNORECASE
)
_VAGUE = bag("vague-times")
"""They count as times that nobody may make up only where they say when: seasons behind a preposition."""


def _clocks(text: str) -> Iterator[tuple[int, int, frozenset[int]]]:
    for pattern in _CLOCKS:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            said = parts["h"].casefold()
            hour = int(said) if said.isdigit() else digits.CARDINALS.get(said)
            if hour is None or hour > 24:
                continue
            minute = int(parts.get("m") or parts.get("m2") or 0) + _PAST.get((parts.get("half2") or "").casefold(), 0)
            half = (parts.get("half") or "").casefold()
            hours = {hour % 12 + 12 * (half == "p")} if half else {hour % 24}
            if not half and 1 <= hour <= 12:
                hours.add((hour + 12) % 24)
            yield found.start(), found.end(), frozenset((60 * one + minute) % 1440 for one in hours)


def _dates(text: str) -> Iterator[tuple[int, int, Date]]:
    for pattern in _DATES:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            year = int(parts["y"]) if parts.get("y") else None
            year = 2000 + year if year is not None and year < 100 else year
            if parts.get("a"):
                one, two = int(parts["a"]), int(parts["b"])
                for day, month in {(one, two), (two, one) if parts["sep"] == "/" else (one, two)}:
                    if 1 <= month <= 12 and 1 <= day <= 31:
                        yield found.start(), found.end(), (year, month, day)
                continue
            named = parts.get("n")
            month_said = _MONTH[named.casefold()] if named else int(parts["m"]) if parts.get("m") else None
            yield found.start(), found.end(), (year, month_said, int(parts["d"]) if parts.get("d") else None)


def _moments(text: str, words: list[str], capitals: list[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        if word in _DAY and (word not in _SHORT or capitals[at][:1].isupper()):
            yield _DAY[word]
        if word in _MOMENT and _MOMENT[word] not in _VAGUE:
            yield _MOMENT[word]
        side = _SIDE.get(word)
        span = _SPAN.get(words[at + 1]) if side and at + 1 < len(words) else None
        if side and span and not (side == "this" and span in ("time", "meeting", "session")):
            yield f"{side} {span}"
        said = at and words[at - 1] in ("in", "by", "until", "since", "im", "till", "before")
        if said and _MOMENT.get(word) in _VAGUE:
            yield _MOMENT[word]
    flat = " ".join(words)
    yield from (phrase for phrase in _PHRASES if phrase in flat)
    yield from (f"q{found[1]}" for found in _QUARTER.finditer(text))
    if _AGO.search(text):
        yield "ago"
    yield from (found[0].casefold().split()[0].replace("ende", "end").replace("anfang", "beginning").replace(
        "mitte", "middle") for found in _UNTIL_END.finditer(text))  # fmt: skip
    for found in _MORGEN.finditer(text):
        yield "morning" if found["article"] or found["word"].casefold() == "morgens" else "tomorrow"


# Names --------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[^\W_](?:[^\s()\[\]{}<>,;!?…—|\"“”„«»]*[^\W_])?")
_TITLES = named("titles-as") | named("titles-as", "de")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_CODE = re.compile(r"[_/\\@#=~^*&+|]|[a-z][A-Z]|[^\W\d_]\.[^\W\d_]")
_COUNTED = re.compile(r"[\d.,:]+(?:st|nd|rd|th|[^\W\d_]{1,3})?")
_IDENTIFIER = re.compile(r"\d+[^\W\d_]+\d")
_ENDS = re.compile(r"(?<![.!?…:;])[.!?…:;]++[\"'”’)]*+\s|\n|^\s*[-*•]\s")
_OPENING = bag("opening", "en", "de")


_POSSESSIVE = re.compile(r"['’]s?$")
_JOINS = re.compile(r"[-–/]")


def _bare(token: str) -> str:
    bare = _POSSESSIVE.sub("", token.strip(".-–'’:/")).casefold()
    return _TITLES.get(bare, bare)


def _begins(text: str) -> frozenset[int]:
    """The places at which sentences may begin."""
    first = len(text) - len(text.lstrip())
    return frozenset([first, *(found.end() for found in _ENDS.finditer(text))])


def _names(text: str, timed: Covered) -> tuple[tuple[tuple[str, bool], ...], frozenset[tuple[str, str]]]:
    names: dict[str, bool] = {}
    pairs, begins = set(), _begins(text)
    before: tuple[str, int, bool] | None = None
    for found in _TOKEN.finditer(text):
        for start, token in _parts(found):
            bare = _bare(token)
            opens = start in begins
            code = _coded(token) and not _COUNTED.fullmatch(token)
            named = code or (token[:1].isupper() and bool(bare) and not _common(bare))
            # "8N99U6" begins with a number, but is an identifier.
            if (_within(start, timed) and not _IDENTIFIER.match(token)) or not named:
                before = None
                continue
            names[bare] = names.get(bare, True) and opens and not code
            if before is not None and text[before[1] : start].strip() == "":
                pairs.add((before[0], bare))
            before = (bare, start + len(token), opens)
    return tuple(names.items()), frozenset(pairs)


def _coded(token: str) -> bool:
    """Whether it is written as codes are: digits and letters, signs within, or a capital behind a small letter."""
    mixed = _DIGIT.search(token) is not None and _LETTER.search(token) is not None
    return mixed or _CODE.search(token) is not None


def _parts(found: re.Match[str]) -> Iterator[tuple[int, str]]:
    """A token, or the words of it that hyphens join."""
    parts = _JOINS.split(found[0])
    if len(parts) == 1 or not all(part.isalpha() for part in parts):
        yield found.start(), found[0]
        return
    at = found.start()
    for part in parts:
        yield at, part
        at += len(part) + 1


def _common(bare: str) -> bool:
    """Whether a capitalised word is no name."""
    return (
        bare in wording.FUNCTION
        or bare in wording.NEGATORS
        or bare in digits.CARDINALS
        or bare in digits.MAGNITUDES
        or bare in digits.ORDINALS
        or bare in digits.UNITS
        or bare in _DAY
        or bare in _MOMENT
        or bare in ("morgen", "morgens", "uhr")
        or "'" in bare
        or "’" in bare
    )


def opening(name: str) -> bool:
    """True if a word that opens a sentence cannot be a name."""
    return name in _OPENING or name.endswith(("ing", "tion", "ment", "ness", "ity"))


# All of it ----------------------------------------------------------------------------------------------------------

_FOREIGN_SHARE = 0.3


@memo(4_096, longest=2_000)
def stated(text: str) -> Stated:
    """Reads the facts that a text states."""
    clocks, dates = list(_clocks(text)), list(_dates(text))
    when = [(start, end) for start, end, _ in (*clocks, *dates)]
    written = list(_digits(text))
    timed, counted = _covered(when), _covered([*when, *((start, end) for start, end, _, _ in written)])
    spots = list(_WORD.finditer(text))
    words = [spot[0].casefold() for spot in spots]
    negated, asserted, denials = negations(words)
    names, pairs = _names(text, counted)
    numbers = [(values, unit) for at, _, values, unit in written if values and not _within(at, timed)]
    spelled = [
        (frozenset({value}), unit) for at, _, value, unit in _spelled(words) if not _within(spots[at].start(), counted)
    ]
    capitals = [spot[0] for spot in spots]
    letters = [c for c in text if c.isalpha()]
    return Stated(
        numbers=(*numbers, *spelled),
        clocks=tuple(minutes for _, _, minutes in clocks),
        dates=tuple(date for _, _, date in dates),
        moments=frozenset(_moments(text, words, capitals)),
        names=names,
        pairs=pairs,
        words=frozenset(_everything(text, words)),
        stems=frozenset(content(text).stems) | asserted,
        negated=negated,
        denials=denials,
        only=frozenset(_only(words)),
        poles=frozenset(pole for word in words for pole in wording.POLES.get(word, ())),
        foreign=sum(ord(c) > 0x24F for c in letters) > _FOREIGN_SHARE * len(letters),
    )


def readings(text: str) -> frozenset[tuple[str, str]]:
    """Every number that a text may state, in each way in which it can be read, those within its dates included."""
    digits = {(value, unit) for _, _, values, unit in _digits(text) for value in values}
    within = {(str(part), "") for _, _, date in _dates(text) for part in date if part is not None}
    said = {(value, unit) for values, unit in stated(text).numbers for value in values}
    return frozenset(digits | within | said)


def _only(words: list[str]) -> Iterator[bool]:
    for before, word in pairwise(["", *words]):
        if before in ("not", "nicht") and word in _ALONE:
            yield False
        elif word in ("only", "nur"):
            yield True


_ALONE = bag("alone", "en", "de")


Covered = tuple[list[int], list[int]]
"""Spans that do not overlap, in their order: where each begins, and where each ends."""


def _covered(spans: Iterable[tuple[int, int]]) -> Covered:
    begins: list[int] = []
    ends: list[int] = []
    for start, end in sorted(spans):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            begins.append(start)
            ends.append(end)
    return begins, ends


def _within(at: int, covered: Covered) -> bool:
    begins, ends = covered
    place = bisect_right(begins, at)
    return place > 0 and at < ends[place - 1]


def _everything(text: str, words: list[str]) -> Iterator[str]:
    yield from words
    for found in _TOKEN.finditer(text):
        yield _bare(found[0])
        yield from (_bare(part) for _, part in _parts(found))
    yield from (_TITLES[word] for word in words if word in _TITLES)
