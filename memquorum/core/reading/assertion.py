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
from memquorum.core.reading.words import folded, words

VERSION = 1
"""Raise it with every change of the rules or of their lists."""

KINDS = ("joke", "draft", "tale", "guess", "simulation", "rumour", "wish", "conditional")
"""The sections of the word lists."""

READ = 4_000
"""So many characters are read, the first: what stands behind them asserts."""

_TWO_LETTERS = re.compile("[\u3040-\u309f]{2}")


def load() -> None:
    """Reads the lists of all languages, which the first text would wait for."""
    _phrases()
    _strings()


@memo(4_096, READ)
def asserts(text: str) -> bool:
    """True if nothing in a text says that it asserts less than it tells."""
    begins = text[:READ]
    said = list(map(folded, words(begins)))
    there = frozenset(said)
    if any(one.lengths(said, at) for one in _phrases() if there & one.keys for at in range(len(said))):
        return False
    flat = "".join(said) if CJK.search(begins) else ""
    return not any(one in flat for one in _strings()) if flat else True


@cache
def _phrases() -> tuple[Phrases, ...]:
    return tuple(Phrases(language, *KINDS) for language in SPACED)


@cache
def _strings() -> frozenset[str]:
    """The strings of languages without spaces, without marks, as words are joined. Two letters of Hiragana alone are
    left out, which stand in too many words."""
    entries = (one for language in SPACELESS for one in strings(language, *KINDS))
    joined = ("".join(map(folded, words(one))) for one in entries)
    return frozenset(one for one in joined if len(one) > 1 and not _TWO_LETTERS.fullmatch(one))
