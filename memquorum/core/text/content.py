"""The words of a text that say what it is about: its content, as `core.worth` weighs it.

Content words are what is left without stop words and fillers, each once, as stems. Words that stand in questions alone
are told apart: who asks raises a matter and states nothing of it. English first: of other languages a short list of
function words is left out, and how often a word is said does the rest. Scripts without spaces count by pairs of
characters. A change of these rules or lists changes every worth: `core.worth.VERSION` goes up with it.
"""

from __future__ import annotations

import re

from msgspec import Struct

from memquorum.core.reading.memo import memo
from memquorum.core.text import wording

_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*[^\W\d_]*|[^\W_]+(?:['’][^\W_]+)*")
# Finds the same in a text of ASCII in small letters, in less time: most words begin with a letter. Nothing in it is
# possessive: of "0::" CPython 3.11 then takes a colon along.
_ASCII_WORD = re.compile(r"[a-z][a-z0-9]*(?:'[a-z0-9]+)*|[0-9]+(?:[.,:/-][0-9]+)*[a-z]*")
_APOSTROPHE = re.compile(r"['’]")
_ENDS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？؟])|\n")
_ASKS = re.compile(r"[?？؟]")
# Han, Kana, Thai, Lao, Khmer, Burmese: nothing stands between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FILLERS = _set(
    "um uh mm hmm mhm hm yeah yep yup nah ah oh eh er erm huh ha haha wow ooh oops hey hi bye goodbye alright "
    "okey right absolutely definitely exactly totally cool nice good fine awesome amazing wonderful glad lovely "
    "perfect welcome cheers like know mean think guess say says said saying see saw seen look looks looking get "
    "gets got getting go goes going gone went come comes came coming make makes made making take takes took "
    "taking give gives gave want wants need needs let lets put keep try trying seem seems happen happens thing "
    "things stuff way ways lot lots bit kind sort people one ones gonna wanna gotta kinda sorta actually "
    "basically probably maybe perhaps anyway though ll ve re don doesn didn isn wasn aren weren couldn wouldn "
    "shouldn haven hasn hadn won ain im ive youre thats theres cannot"
)
_ELSEWHERE = _set(
    "der die das den dem des ein eine einen einem einer und oder aber ist sind war waren nicht kein keine ich du "
    "er sie es wir ihr mich mir dich dir uns euch zu im in am an auf aus bei mit nach von vom zum zur für als wie "
    "was wer wo dass auch noch schon nur sehr ja nein danke bitte hallo le la les un une de et ou mais est sont "
    "était ne pas je tu il elle nous vous ils elles me te se ce cette ces mon ton son que qui quoi dans sur pour "
    "par avec au aux en oui non merci bonjour el los las unos unas y o pero era no yo tú él ella nosotros ellos "
    "mi su quien por para con al del sí gracias hola lo gli uno della dello sono io noi voi loro ed per grazie "
    "ciao"
)
_LIGHT = wording.FUNCTION | _FILLERS | _ELSEWHERE


class Content(Struct, frozen=True):
    """The stems of a text: those that it states something with, and those that only its questions have. Sorted."""

    stated: tuple[str, ...]
    asked: tuple[str, ...]

    @property
    def stems(self) -> tuple[str, ...]:
        """All of them, in the order in which counts are told of them."""
        return (*self.stated, *self.asked)


def content(text: str) -> Content:
    """What a text is about."""
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
    """The stems of a word; none of one that says nothing."""
    bare = _APOSTROPHE.split(word, maxsplit=1)[0]
    if word in _LIGHT or bare in _LIGHT or (len(bare) < 2 and not bare.isdigit() and bare.isascii()):
        return ()
    run = None if bare.isascii() else _UNSPACED.search(bare)
    if run is None:
        return (wording.stem(bare),)
    return tuple(run[0][at : at + 2] for at in range(max(1, len(run[0]) - 1)))
