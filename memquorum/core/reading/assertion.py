"""Tells texts that assert what they say from jokes, drafts, tales, guesses, simulations, rumours, wishes and
suppositions.

Ten languages, by word lists: a listed word or phrase anywhere in a text is enough. The lists are right about
most texts and wrong about some ("the test plan is a draft"), so they order what is read and decide nothing else. A text
that no list knows asserts.
"""

from __future__ import annotations

import re
from functools import cache

from memquorum.core.reading.lists import CJK, SPACED, SPACELESS, Phrases, strings
from memquorum.core.reading.memo import memo
from memquorum.core.reading.talk import known_in, says_nothing
from memquorum.core.reading.words import folded, words

VERSION = 6
"""Raise it with every change of the rules or of their lists."""

KINDS = ("joke", "draft", "tale", "guess", "simulation", "rumour", "wish", "conditional")
"""The sections of the word lists."""

UNREAL = ("joke", "draft", "tale", "simulation", "rumour")
"""Those of what is not so, or of what nobody stands for: no summary and no roll-up quotes it."""

_SUPPOSED = tuple(kind for kind in KINDS if kind not in UNREAL)

READ = 4_000
"""So many characters are read, the first: what stands behind them asserts."""

_OPENING = re.compile(r"\W{0,4}([^:：\n]{1,40}?)\s?[:：](?!\d|//)")
_PAUSE = re.compile(r"[,;.!…]\s*")
_WINKS = re.compile(r"(?<!\S);-?[)pPD](?!\w)|[😉😜🤪]")
_TWO_LETTERS = re.compile("[\u3040-\u309f]{2}")


def load() -> None:
    """Reads the lists of all languages, which the first text would wait for."""
    for kinds in (UNREAL, _SUPPOSED):
        _phrases(kinds)
        _strings(kinds)


@memo(4_096, READ)
def asserts(text: str) -> bool:
    """True if nothing in a text says that it asserts less than it tells."""
    return not unreal(text) and not _has(_SUPPOSED, text)


@memo(4_096, READ)
def unreal(text: str) -> bool:
    """True if a text says of itself that it is a joke, a draft, a tale, a simulation or a rumour, or begins with a word
    such as "Example:"."""
    opening = _OPENING.match(text)
    told = [] if opening is None else _PAUSE.split(opening[1])
    beside = [one for one in told if _flat(one) not in _openers()]  # "Scherzo, eh: …"
    opens = len(beside) < len(told) and all(map(says_nothing, beside))
    return opens or _WINKS.search(text[:READ]) is not None or _has(UNREAL, text)


def _flat(phrase: str) -> str:
    return " ".join(map(folded, words(phrase)))


@cache
def _openers() -> frozenset[str]:
    """The words and phrases, folded, with which a text begins, before a colon, that asserts nothing."""
    entries = (entry for language in (*SPACED, *SPACELESS) for entry in strings(language, "openers"))
    return frozenset(map(_flat, entries))


def _has(kinds: tuple[str, ...], text: str) -> bool:
    """True if a text has a listed word or phrase of one of the kinds, of a language that knows as many of its words as
    any: "mit" is a tale in Polish and "with" in German."""
    begins = text[:READ]
    said = list(map(folded, words(begins)))
    there = frozenset(said)
    found = [
        place
        for place, one in enumerate(_phrases(kinds))
        if there & one.keys and any(one.lengths(said, at) for at in range(len(said)))
    ]
    known = known_in(there) if found else ()
    if any(known[place] == max(known) for place in found):
        return True
    flat = "".join(said) if CJK.search(begins) else ""
    return any(one in flat for one in _strings(kinds)) if flat else False


@cache
def _phrases(kinds: tuple[str, ...]) -> tuple[Phrases, ...]:
    return tuple(Phrases(language, *kinds) for language in SPACED)


@cache
def _strings(kinds: tuple[str, ...]) -> frozenset[str]:
    """The strings of languages without spaces, without marks, as words are joined. Two letters of Hiragana alone are
    left out, which stand in too many words."""
    entries = (one for language in SPACELESS for one in strings(language, *kinds))
    joined = ("".join(map(folded, words(one))) for one in entries)
    return frozenset(one for one in joined if len(one) > 1 and not _TWO_LETTERS.fullmatch(one))
