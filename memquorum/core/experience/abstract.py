"""A general form of a lesson: typed placeholders where it names something (SEDM 3.4, Abstract(m)).

By rules, so that it is the same everywhere: what has a form of its own (`core.privacy`), dates and times, numbers,
identifiers, places and names. A name that occurs twice has the same placeholder twice, and a second name another one:
"[name] hands over to [name 2]". A second pass may find more, as a model of the optional extra `ner` does. A text that
is abstract already is not changed.

A text that only names things has no general form: it has nothing to teach about others. A text that
states facts, not how to proceed, has none either: "the owner of the export is [name]" helps nobody.
`core.reading.proceeding` tells the two apart by their English words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeGuard

from memquorum.core.privacy.finding import Span, spans, without_overlaps
from memquorum.core.privacy.kinds import NAME, PLACE
from memquorum.core.reading.content import content, stems_of
from memquorum.core.reading.lists import months
from memquorum.core.reading.proceeding import VERBS, proceeds
from memquorum.core.records import Summary

RULES = "abstract/2"
"""The version of these rules."""
_BY = "abstract/"

DATE, NUMBER, IDENTIFIER = "date", "number", "identifier"
_SAYS_LEAST = 2
"""So many content words have to be left."""

Second = Callable[[str], Iterable[Span]]

_MONTH = f"(?:{'|'.join(sorted(map(str.title, months('en')), key=len, reverse=True))})"
_DAY = r"(?:Mon|Tues?|Wed(?:nes)?|Thurs?|Fri|Sat(?:ur)?|Sun)day"
_DATES = re.compile(
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b\.?(?:,? \d{{4}}\b)?"
    rf"|\b{_MONTH}\b\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?"
    rf"|\b{_MONTH} \d{{4}}\b|\b{_DAY}s?\b|\b(?:1[5-9]|20)\d{{2}}s?\b"
    r"|\b\d{1,2}(?::\d{2}){1,2}(?: ?[ap]\.?m\b\.?)?|\b\d{1,2} ?[ap]\.?m\b\.?"
)
_IDENTIFIERS = re.compile(
    r"https?://\S+[\w/]|(?<![\w/.])(?:[~.]?/[\w.-]++)+/?"
    r"|(?<!\w\.)\b\w+(?:\.\w+)*\.(?:py|js|ts|md|ya?ml|json|toml|txt|csv|sql|sh|cfg|ini|log)\b"
    r"|(?<!\w-)\b(?=\w)(?=(?:\w|-\b)*?\d)(?=(?:\w|-\b)*?[A-Za-z])\w+(?:-\w+)*\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\B--?[a-z][\w-]+\b"
)
_NUMBERS = re.compile(r"(?<![\w.])[-+]?[$€£¥]?\d+(?:[.,]\d+)*%?(?!\w)")
_LARGE = r"[A-ZÀ-ÖØ-Þ][\w'’-]*[^\W_]"
_TITLE = r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Mx|Sr|St|Sgt|Lt|Capt|Col|Gen|Rev|Hon|Eng)\. )"
_PROPER = re.compile(rf"{_TITLE}*{_LARGE}(?: (?:(?:of|de|da|del|van|von|der) )?{_TITLE}*{_LARGE})*|\b[A-ZÀ-ÖØ-Þ]\.")
_JOINED = re.compile(r"\w['’][A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]")
"""In a name alone, as in "O'Brien"."""
_STARTS = re.compile(r"(?:^|[.!?…:]\s+|\n\s*|[\"“(]\s*)\Z")
_PLACED = re.compile(r"\b(?:in|at|near|from|towards|across|outside|around)\s+(?:the\s+)?\Z")
# Verbs that are first names as well: which of both one is, in front of a name, nothing tells.
_BOTH = frozenset(("bill", "chase", "grant", "mark", "pat", "rob", "skip", "sue", "will"))
_NO_NAMES = frozenset(("ID", "IDs", "OK", "AM", "PM"))
_BEFORE = 40
"""So many characters before a word tell what it opens, or what it is in."""
_HOLDS = re.compile(r"\[[a-z]+(?: [0-9]{1,9})?\]")


def abstracted(text: str, second: Second | None = None) -> str | None:
    """The general form of a text; None where it names nothing, where too little is left to say, or where it does not
    say how to proceed."""
    there = _found(text, second) if proceeds(text) else ()
    if not there:
        return None
    told, at, known = list[str](), 0, dict[tuple[str, str], str]()
    count: dict[str, int] = {}
    for held in _HOLDS.findall(text):
        kind, _, number = held[1:-1].partition(" ")
        count[kind] = max(count.get(kind, 0), int(number or 1))
    for one in there:
        key = one.kind, text[one.start : one.end].casefold()
        if key not in known:
            count[one.kind] = count.get(one.kind, 0) + 1
            known[key] = f"[{one.kind}]" if count[one.kind] == 1 else f"[{one.kind} {count[one.kind]}]"
        told += [text[at : one.start], known[key]]
        at = one.end
    told.append(text[at:])
    general = "".join(told)
    left = content(_HOLDS.sub(" ", general)).stems
    return general if len(left) >= _SAYS_LEAST else None


NO_LESSON, NO_NAME, NO_REST = "no lesson", "no name", "no rest"
"""The reasons why a text has no general form: no advice how to proceed, no name, or too little content without it."""


def lacking(text: str) -> str | None:
    """Returns why a text has no general form; None if it has one."""
    if abstracted(text) is not None:
        return None
    if not proceeds(text):
        return NO_LESSON
    return NO_REST if _found(text, None) else NO_NAME


def made(summary: Summary | None) -> TypeGuard[Summary]:
    """True if an episode's summary field marks it as a general form, by any version of these rules."""
    return summary is not None and summary.by.startswith(_BY)


def _found(text: str, second: Second | None) -> tuple[Span, ...]:
    holds = [Span(*one.span(), "") for one in _HOLDS.finditer(text)]
    wanted = [*holds, *spans(text)]
    for kind, pattern in ((DATE, _DATES), (IDENTIFIER, _IDENTIFIERS), (NUMBER, _NUMBERS)):
        wanted += [Span(*one.span(), kind) for one in pattern.finditer(text)]
    wanted += sorted(second(text)) if second is not None else []
    wanted += _names(text)
    return tuple(one for one in without_overlaps(wanted, len(text)) if one.kind)


def _names(text: str) -> Iterator[Span]:
    found = list(_PROPER.finditer(text))
    inside = {one[0].split()[0] for one in found if not _opens(text, one.start())}
    for one in found:
        start, end = one.span()
        words = one[0].split()
        if _opens(text, start):
            # A capitalized first word of a sentence is a name if the text has it elsewhere, or other names follow.
            if len(words) == 1 and words[0] not in inside and not _JOINED.search(words[0]):
                continue
            while len(words) > 1 and words[0] not in inside and _no_name(words[0]):
                start += len(words.pop(0)) + 1
            if words and not words[0][:1].isupper():
                start += len(words.pop(0)) + 1
        if any(stems_of(word.casefold()) or _JOINED.search(word) for word in words) and not _NO_NAMES.issuperset(words):
            yield Span(start, end, PLACE if _PLACED.search(text, max(0, start - _BEFORE), start) else NAME)


def _no_name(word: str) -> bool:
    """True if a capitalized word before a name is not part of it: a light word, or a verb, as in "Ask Paula"."""
    small = word.casefold()
    return not stems_of(small) or (small in VERBS and small not in _BOTH)


def _opens(text: str, at: int) -> bool:
    return _STARTS.search(text, max(0, at - _BEFORE), at) is not None
