"""Reads what somebody meant instead: "No, I meant KX-89" names a value without its subject. Eight
languages. "Sorry, 18:20" names the value alone, and "No, it ends in June" is of what was said last that "ends", too;
in English "No, she lives in Linz" is of what was said last to "live in" another place.

Such a text has no subject, so nothing tells from it and another one alone whether they contradict each other: it
corrects what was said last by the same agent with a value of the same sort (`salience.Surroundings`). A value is an
identifier of letters and digits, a number with what it counts or numbers, a time of the day, a weekday or a month.
"""

from __future__ import annotations

import re
import string
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.reading.lists import bag, either, months, weekdays
from memquorum.core.reading.memo import memo

_LONGEST = 120
"""Characters: what is longer says of what it speaks."""
_MOST_WORDS = 6
_BEFORE = rf"(?:(?:{either('before-meant')})[\s,.:;!…—–-]+)*"
_SAYS = rf"(?:{either('meant')})"
_MEANT = re.compile(rf"^\W*{_BEFORE}{_SAYS}[\s,:]+(?P<what>[^?\n]+)$", re.IGNORECASE)
# "It", "that" and "she" are what was spoken of; the verb says whether it is what an earlier text says something of.
_CORRECTS = rf"^\W*+(?:(?:{either('before-it')})[\s,.:;!…—–-]++)+"
_IT = re.compile(
    rf"{_CORRECTS}(?:(?:{either('it')})\b\s*+)?(?:['’](?:s|ll|re)|(?P<verb>[^\W\d_]{{2,}}+))\s++"
    rf"(?!(?:{either('not')})\b)(?P<what>[^?\n]+)$",
    re.IGNORECASE,
)
_ALONE = r"(?:[^\W\d_]{1,4}\s++){0,2}[^\s\d]{0,4}\d\S{0,9}(?:\s[^\W\d_]{1,12}[.!]{0,3})?"
_BARE = re.compile(rf"{_CORRECTS}(?P<what>{_ALONE})$", re.IGNORECASE)
_HOW = r"(?P<how>in|at|from|for|with|under|near|behind|opposite)"
_DONE_AT = re.compile(rf"\b(?P<verb>[a-z]{{2,}}+)(?=\s+{_HOW}(?P<blanks>\s+)[^\W\d])", re.IGNORECASE)
_ENDS = f"{string.whitespace}\u0085\u00a0.!"
_ARTICLE = re.compile(r"^(?:the|a|an|our|my|her|his|their)\s+")
_PLACE = re.compile(rf"{_HOW}\s+(?P<where>[^\W\d][^.,;:!?\d]*?)[\s.!]*$", re.I)
_DENIES = bag("denies-it")
_IS = frozenset({"is", "are", "was", "were", "will"})
_NOT = re.compile(rf"[\s,;]+(?:{either('and-not')})\s.*$", re.I)
_TOKEN = re.compile(r"[^\W_]+(?:[-_./:,][^\W_]+)*")
_TIME = re.compile(r"\d{1,2}:\d{2}|\d{1,2}(?:am|pm|uhr|h)")
_HALF = frozenset(("am", "pm", "uhr", "h", "o'clock"))
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DAYS, _MONTHS = weekdays("en", "de", "fr", "es", "it"), months("en")
_ARTICLES = bag("articles", "en", "de", "fr", "es", "it")


class Mentioned(Struct, frozen=True):
    """A value in a text: its sort, itself in one spelling, and the words beside it that say what it is of. `verb`: what
    "it" does, which the earlier text has to say, too."""

    sort: str
    text: str
    beside: frozenset[str]
    verb: str = ""


def meant(text: str) -> tuple[Mentioned, ...]:
    """The values that a text says were meant; none of a text that says more than that, or something else."""
    if len(text) > _LONGEST:
        return ()
    found = next(filter(None, (one.match(text.strip()) for one in (_MEANT, _IT, _BARE))), None)
    if found is None:
        return ()
    what, verb = _NOT.sub("", found["what"]), (found.groupdict().get("verb") or "").casefold()
    if len(what.split()) > _MOST_WORDS or verb in _DENIES:
        return ()
    if not verb or verb in _IS:
        return mentioned(what)
    return tuple(replace(one, verb=verb) for one in mentioned(what) or _place(what))


def replaces(said: tuple[Mentioned, ...], earlier: str) -> bool:
    """Whether what was meant may stand in the place of a value of an earlier text: another one of the same sort."""
    there, words = mentioned(earlier), {token.casefold() for token in _TOKEN.findall(earlier)}
    if any(one.verb and one.verb not in words for one in said):
        return False
    if any(one.sort == "place" for one in said):
        return "?" not in earlier and all(_elsewhere(one, earlier) for one in said)
    if "?" in earlier or any(one.text == other.text and one.sort == other.sort for one in said for other in there):
        return False
    return any(_in_its_place(one, other, there) for one in said for other in there)


def _place(what: str) -> tuple[Mentioned, ...]:
    """The place in which "it" is, acts, or from which it is, in few words and nothing else."""
    found = _PLACE.match(what)
    return () if found is None else (Mentioned("place", _bare(found["where"]), frozenset([found["how"].casefold()])),)


def _elsewhere(new: Mentioned, earlier: str) -> bool:
    """Whether an earlier text ends with another place where the same is done."""
    (how,) = new.beside
    body = earlier.rstrip(_ENDS)
    last = body[max(map(body.rfind, ".,;:!?")) + 1 :]
    done = ((one["verb"].casefold(), one["how"].casefold(), one.end("blanks")) for one in _DONE_AT.finditer(last))
    old = next((_bare(last[where:]) for verb, where_to, where in done if (verb, where_to) == (new.verb, how)), "")
    # "In Graz" and "in the old town of Graz" may be one place; "in Graz and works in Ulm" is no place.
    return bool(old) and not set(old.split()) & {*new.text.split(), "and", "or", "but"}


def _bare(where: str) -> str:
    return _ARTICLE.sub("", where.casefold())


def _in_its_place(new: Mentioned, old: Mentioned, there: tuple[Mentioned, ...]) -> bool:
    if new.sort != old.sort:
        return False
    alone = sum(one.sort == old.sort for one in there) == 1
    if new.sort == "code":
        # Mistyped in one half of it, or another one of the same things.
        halves = zip(_halves(new.text), _halves(old.text), strict=True)
        return any(a == b for a, b in halves) or (bool(new.beside & old.beside) and alone)
    if new.sort == "number":
        return bool(new.beside & old.beside) or (not new.beside and alone)
    return alone


def _halves(code: str) -> tuple[str, str]:
    """The letters and the digits of an identifier."""
    return "".join(filter(str.isalpha, code)), "".join(filter(str.isdecimal, code))


@memo(256, longest=500)
def mentioned(text: str) -> tuple[Mentioned, ...]:
    """The values of a text, in order."""
    written = _TOKEN.findall(text)
    tokens = [token.casefold() for token in written]
    found: list[Mentioned] = []
    for at, (token, after) in enumerate(pairwise([*tokens, ""])):
        number = _NUMBER.fullmatch(token)
        if _TIME.fullmatch(token) or (number and after in _HALF):
            found.append(Mentioned("time", token, frozenset()))
        elif token in _MONTHS and at and written[at][0].isupper():
            found.append(Mentioned("month", str(_MONTHS[token]), frozenset()))
        elif token in _DAYS:
            found.append(Mentioned("day", _DAYS[token], frozenset()))
        elif number:
            beside = (word for word in (*tokens[max(0, at - 1) : at], after) if word.isalpha())
            found.append(Mentioned("number", token, frozenset(beside) - _ARTICLES))
        elif _CODE.fullmatch(token):
            before = (word for word in tokens[max(0, at - 1) : at] if word.isalpha())
            found.append(Mentioned("code", token, frozenset(before) - _ARTICLES))
    return tuple(found)
