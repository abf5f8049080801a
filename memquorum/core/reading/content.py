"""The words of a text that say what it is about: its content, as `core.worth` weighs it.

Content words are what is left without stop words and fillers, each once, as stems. Words that stand in questions alone
are told apart: who asks raises a matter and states nothing of it. English first: of other languages a short list of
function words is left out, and how often a word is said does the rest. Scripts without spaces count by pairs of
characters. A change of these rules or lists changes every worth: `core.worth.VERSION` goes up with it.
"""

from __future__ import annotations

import re

from msgspec import Struct

from memquorum.core.reading import wording
from memquorum.core.reading.lists import bag, sections
from memquorum.core.reading.memo import memo

_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*[^\W\d_]*|[^\W_]+(?:['’][^\W_]+)*")
# Finds the same in a text of ASCII in small letters, in less time: most words begin with a letter. It has no possessive
# quantifier: with one, CPython 3.11 takes a colon along in "0::".
_ASCII_WORD = re.compile(r"[a-z][a-z0-9]*(?:'[a-z0-9]+)*|[0-9]+(?:[.,:/-][0-9]+)*[a-z]*")
_APOSTROPHE = re.compile(r"['’]")
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？؟])|\n")
_ASKS = re.compile(r"[?？؟]")
# Han, Kana, Thai, Lao, Khmer, Burmese: nothing stands between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")

_LIGHT = wording.FUNCTION | bag("fillers") | bag("light", "de", "fr", "es", "it")

ORDINARY = tuple(text for texts in sections("ordinary/en").values() for text in texts)
"""Texts of any day: their words count as if they had gone before, and their worths stand in ranks (`core.worth`)."""


class Content(Struct, frozen=True):
    """The stems of a text: those that it states something with, and those that only its questions have. Sorted."""

    stated: tuple[str, ...]
    asked: tuple[str, ...]

    @property
    def stems(self) -> tuple[str, ...]:
        """All of them, in the order in which counts are told of them."""
        return (*self.stated, *self.asked)


def content(text: str) -> Content:
    """Returns the content words of a text as stems: those it states, and those it only asks with."""
    folded = text.casefold()
    if _ASKS.search(folded) is None:  # no word reaches over the end of a sentence
        return Content(tuple(sorted(_stems(folded))), ())
    stated: set[str] = set()
    asked: set[str] = set()
    for sentence in _ENDS.split(folded):
        (asked if _ASKS.search(sentence) else stated).update(_stems(sentence))
    return Content(tuple(sorted(stated)), tuple(sorted(asked - stated)))


def _stems(sentence: str) -> set[str]:
    words = (_ASCII_WORD if sentence.isascii() else _WORD).findall(sentence)
    return set[str]().union(*map(stems_of, words))


@memo(8_192)  # members read thousands of texts for a vote, and texts repeat their words
def stems_of(word: str) -> tuple[str, ...]:
    """Returns the stems of a word; none if it is a function word."""
    bare = _APOSTROPHE.split(word, maxsplit=1)[0]
    if word in _LIGHT or bare in _LIGHT or (len(bare) < 2 and not bare.isdigit() and bare.isascii()):
        return ()
    run = None if bare.isascii() else _UNSPACED.search(bare)
    if run is None:
        return (wording.stem(bare),)
    return tuple(run[0][at : at + 2] for at in range(max(1, len(run[0]) - 1)))
