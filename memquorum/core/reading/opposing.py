"""Judges whether two sentences oppose each other, part by part (SPEC E): the halves of one may take both sides.

`agreement` compares whole sentences, since it asks whether they say the same. Here it is asked whether the one
denies what the other says, and what says more than the other denies nothing of it:

1. *Sides* are opposite where each sentence takes one alone: who closed a gate and opened it again took both.
2. *Before and after* state an order of two things, and oppose if it is reversed: "the gate closes after high water" by
   "the gate closes before high water", and not by "so the tug goes before", nor by an order of other things.
3. A *negation* in one opposes an assertion in the other, unless the first asserts it too.
4. Each gives *a number* that the other does not; a bound ("above 40 tonnes") does not count if the other has no bound.

`denies` is whether a sentence denies the most of what another one says without opposing a word of it: "does not need
her approval", "gave her approval". Two negations cancel out, and so does one with a word of exception ("not before").
"""

from __future__ import annotations

import re

from memquorum.core.reading import claiming, wording
from memquorum.core.reading.agreement import Marks
from memquorum.core.reading.content import stems_of
from memquorum.core.reading.memo import memo

_KEPT, _LONG = 16_384, 2_000
_LIKE = (4, 5)
"""So much of the smaller of two things has to be in the other, for them to be one."""
_HALF = 2
ORDERS_MOST = 16
"""A sentence that states more orders counts with its first ones only."""
_WORD = re.compile(r"[^\W_]+(?:['’.,:/-][^\W_]+)*")
_BOUND = re.compile(
    r"\b(?:above|over|below|under|beyond|than|least|most|maximum|minimum|up to)\s+(?:the\s+)?[$€£]?(\d[\d.,]*\d|\d)",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[\d.]+")
_PARTS = re.compile(r"[;:]|,\s+(?=(?:so|and|but|then|which|while)\b)", re.IGNORECASE)
_CLAUSES = re.compile(r"[;:,()—–]|\s(?=(?:who|which|because|since|while|so)\b)", re.IGNORECASE)
_ORDER = re.compile(r"\b(before|after)\b", re.IGNORECASE)
_TOLD = frozenset(["that", "which", "this", "these", "those", "it", "then"])
"""Behind "after" they speak of what was said before."""
_TIME = next(axis for axis, _ in wording.POLES["before"])
_EXCEPTS = frozenset(["before", "until", "till", "unless", "except", "but", "than"])
_NEGATES = wording.NEGATORS - {"unless", "except", "instead"} - wording.NEGATORS_BEFORE_TO

_Order = tuple[frozenset[str], frozenset[str]]
"""The words of the earlier thing, and those of the later."""


def oppose(one: str, mine: Marks, other: str, theirs: Marks) -> bool:
    """Whether two sentences, with the marks of each, stand against each other by the rules above."""
    return (
        bool((mine.negated - theirs.negated) & (theirs.stems - mine.stems))
        or bool((theirs.negated - mine.negated) & (mine.stems - theirs.stems))
        or _other_numbers(one, mine, other, theirs)
        or _other_sides(one, mine, other, theirs)
        or _turned(one, other)
    )


def _other_numbers(one: str, mine: Marks, other: str, theirs: Marks) -> bool:
    a, b = mine.numbers - theirs.numbers, theirs.numbers - mine.numbers
    if not (a and b):
        return False
    bounds, others = _bounds(one), _bounds(other)
    if bool(bounds) == bool(others):
        return True
    return bool(_without(a, bounds) and _without(b, others))


def _without(numbers: frozenset[str], bounds: frozenset[str]) -> set[str]:
    return {one for one in numbers if (found := _VALUE.match(one)) is None or found[0] not in bounds}


@memo(_KEPT, _LONG)
def _bounds(text: str) -> frozenset[str]:
    return frozenset(one.replace(",", "") for one in _BOUND.findall(text))


def _other_sides(one: str, mine: Marks, other: str, theirs: Marks) -> bool:
    axes = {axis for axis, _ in mine.poles} & {axis for axis, _ in theirs.poles}
    if _ORDER.search(one) or _ORDER.search(other):
        axes.discard(_TIME)
    return any(
        {side for at, side in mine.poles if at == axis}.isdisjoint(side for at, side in theirs.poles if at == axis)
        for axis in axes
    )


def _turned(one: str, other: str) -> bool:
    """Whether what is earlier in the one is later in the other."""
    return any(
        _like(earlier, after) and _like(later, before)
        for earlier, later in _orders(one)
        for before, after in _orders(other)
    )


def _like(a: frozenset[str], b: frozenset[str]) -> bool:
    some, of = _LIKE
    return len(a & b) * of >= min(len(a), len(b)) * some


@memo(_KEPT, _LONG)
def _orders(text: str) -> tuple[_Order, ...]:
    if _ORDER.search(text) is None:
        return ()
    found = list[_Order]()
    for part in _PARTS.split(text):
        pieces = _ORDER.split(part)
        for at in range(1, len(pieces), 2):
            said, behind = pieces[at - 1], pieces[at + 1]
            if not said.strip(" ,"):
                behind, _, said = behind.partition(",")
            words = _WORD.findall(behind.casefold())
            thing, point = _said(said), _said(behind)
            if thing and point and words[0] not in _TOLD:
                found.append((thing, point) if pieces[at].casefold() == "before" else (point, thing))
            if len(found) == ORDERS_MOST:
                return tuple(found)
    return tuple(found)


def _said(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return frozenset(stem for word in words for stem in stems_of(claiming.IRREGULAR.get(word, word)))


def denies(one: str, stems: frozenset[str]) -> bool:
    """Whether a sentence has at least half of these stems in clauses that it negates."""
    negated = frozenset(stem for part in negations(one) for word in _WORD.findall(part) for stem in stems_of(word))
    return bool(negated) and len(stems & negated) * _HALF >= len(stems)


@memo(_KEPT, _LONG)
def negations(text: str) -> tuple[str, ...]:
    """The clauses of a sentence that it negates, in small letters."""
    return tuple(part for part in _CLAUSES.split(text.casefold()) if _negated(part))


def _negated(clause: str) -> bool:
    words = _WORD.findall(clause.replace("’", "'"))
    count = sum(
        word.endswith("n't") or (word in _NEGATES and after != "only")
        for word, after in zip(words, [*words[1:], ""], strict=False)
    )
    return count % 2 == 1 and _EXCEPTS.isdisjoint(words)


KEPT = (_bounds, _orders, negations)
"""The functions that cache answers about texts."""
