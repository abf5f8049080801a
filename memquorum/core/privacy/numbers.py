"""Telephone and social security numbers, known by their form or by the words beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memquorum.core.privacy.formats import Found
from memquorum.core.privacy.kinds import PHONE, SSN
from memquorum.core.reading.lists import either

_SSN = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}(?P<by>[ .-]?)(?!00)\d{2}(?P=by)(?!0000)\d{4}(?![\w-])")
_SSN_WORD = re.compile(r"social.security|(?<![^\W_])(?<!\[)ssns?(?![^\W_])", re.IGNORECASE)

# International, with a "+" or two zeros; an area code in brackets; 3-3-4 digits as in North America; a zero and groups.
# A date is not a number.
_EXTENSION = r"(?: ?(?:x|ext\.? ?)\d{1,6}+)?"
_STANDS_FREE = r"(?<![\w+.:/-])(?<!\d )"
_PHONE_FORM = (
    r"(?:"
    r"(?:\+|00)[1-9]\d{0,2}(?:[ .()/-]{1,3}\d|\d){6,13}"
    r"|\(\d{2,5}\)[ /-]?\d{2,8}(?:[ .-]\d{2,5}){0,4}"
    r"|\d{3}[ .-]\d{3}[ .-]\d{4}"
    r"|0\d{1,4}(?:[ /-]\d{2,8}){1,5}"
    r")" + _EXTENSION + r"(?!\w|[.:/-]\d)"
)
_PHONE, _PHONE_BEHIND = re.compile(_STANDS_FREE + _PHONE_FORM), re.compile(_PHONE_FORM)
_SOME_FORM = r"\d{2,12}(?:[ .-]\d{2,8}){0,5}" + _EXTENSION + r"(?!\w|[.:/-]\d)"
_SOME, _SOME_BEHIND = re.compile(_STANDS_FREE + _SOME_FORM), re.compile(_SOME_FORM)
_DATE = re.compile(r"(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})|\d{4}[./-]\d{1,2}[./-]\d{1,2})\Z")
_BEFORE = re.compile(
    rf"(?<![^\W_])(?<!\[)(?:{either('telephones')}|call(?: \w{{1,12}})?|reach \w{{1,12}})"
    r"(?: (?:number|no|nr))?(?: (?:is|ist|at|on|unter|to|under))?[.:#]{0,2}\s{0,2}\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(rf"\s{{0,2}}[(,]?\s?(?:{either('telephones-of')})(?![^\W_])", re.IGNORECASE)
# The words for numbers of things: "part no. 030-1234567", "commit 0012345678". A "+" still makes it a telephone's, and
# so does a word for calling in the same phrase: "call about the order: 030-1234567".
_OF_A_THING = re.compile(
    rf"(?<![^\W_])(?<!\[)(?:{either('numbered')}|p/n|s/n)"
    r"(?:[ -]?(?:numbers?|num|nos?|nrs?|nummern?|ids?|codes?)(?![^\W_]))?(?: (?:is|was|ist|war))?[.:#=]{0,2} {0,2}#?\Z",
    re.IGNORECASE,
)
_CALLING = re.compile(
    rf"(?<![^\W_])(?<!\[)(?:{either('telephones')}|{either('calling')})[.:]?(?: [^\W\d_]{{1,12}}){{0,4}} ?\Z",
    re.IGNORECASE,
)
# A local number has at least six digits, and needs a word beside it.
_LEAST, _LOCAL, _MOST = 7, 6, 15
_NEAR = 40


def find_numbers(text: str) -> Iterator[Found]:
    """Yields telephone and social security numbers, in no order."""
    yield from _ssns(text)
    yield from _phones(text)


def _ssns(text: str) -> Iterator[Found]:
    for one in _SSN.finditer(text):
        if one["by"] == "-" or _SSN_WORD.search(text[max(0, one.start() - _NEAR) : one.start()]):
            yield SSN, one.start(), one.end()


def _phones(text: str) -> Iterator[Found]:
    def plain(one: re.Match[str]) -> bool:
        dated = _DATE.match(one[0].replace(" ", "-"))
        return _sound(one[0], _LEAST) and not dated and not _of_a_thing(text, one)

    def told(one: re.Match[str]) -> bool:
        before = text[max(0, one.start() - _NEAR) : one.start()]
        return bool(_AFTER.match(text, one.end()) or _BEFORE.search(before)) and _sound(one[0], _LOCAL)

    yield from ((PHONE, start, end) for start, end in _one_by_one(text, _PHONE, _PHONE_BEHIND, plain))
    yield from ((PHONE, start, end) for start, end in _one_by_one(text, _SOME, _SOME_BEHIND, told))


def _one_by_one(
    text: str,
    pattern: re.Pattern[str],
    behind: re.Pattern[str],
    holds: Callable[[re.Match[str]], bool],
) -> Iterator[tuple[int, int]]:
    """Yields the spans of numbers of a form. The text right behind a number is matched as if the number were masked: so
    a row of numbers is found at once, and not one number each time that the text is masked."""
    one = pattern.search(text)
    while one is not None:
        end, following = one.end(), None
        if holds(one):
            yield one.span()
            following = behind.match(text, end) or (behind.match(text, end + 1) if text[end : end + 1] == " " else None)
        one = following or pattern.search(text, end)


def _of_a_thing(text: str, number: re.Match[str]) -> bool:
    """True if the word before a number says that it belongs to a part, an order or a version, and is no telephone
    number."""
    before = text[max(0, number.start() - _NEAR) : number.start()]
    thing = None if number[0].startswith("+") else _OF_A_THING.search(before)
    return thing is not None and _CALLING.search(before[: thing.start()]) is None


def _sound(written: str, least: int) -> bool:
    digits = sum(map(str.isdigit, written.lower().partition("x")[0]))
    return least <= digits <= _MOST and not _DATE.match(written)
