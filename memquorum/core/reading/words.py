"""Words of a text as word lists have them: without case, accents, and letters that are repeated for emphasis."""

from __future__ import annotations

import re
import unicodedata

from memquorum.core.reading.memo import WORD, memo
from memquorum.core.reading.normal import normalised

_WORD = re.compile(r"[^\W_]+")
_LONE = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"})
_DOTS = "\u0308"
_DRAWN = re.compile(r"([^\W\d_])\1{2,}")
_DOUBLED = re.compile(r"([^\W\d_])\1+")


def words(text: str) -> list[str]:
    """The words of a text as they are written; an apostrophe parts words: "don't" is "don" and "t"."""
    return _WORD.findall(normalised("NFKC", text))


@memo(16_384)
def folded(word: str) -> str:
    """A word in small letters, its Latin letters without accents but for two dots: "schön" is not "schon". A word
    longer than any in a list stays as it is."""
    if len(word) > WORD:
        return word
    small = word.casefold().translate(_LONE)
    if small.isascii():
        return small
    kept, latin = list[str](), False
    for one in normalised("NFKD", small):
        if not unicodedata.combining(one):
            latin = one.isascii()
        elif latin and one != _DOTS:
            continue
        kept.append(one)
    return normalised("NFC", "".join(kept))


def drawn_out(word: str) -> str | None:
    """A word with no letter twice in a row, where one is repeated for emphasis ("sooo" is "so"); else None."""
    return squeezed(word) if _DRAWN.search(word) else None


def squeezed(word: str) -> str:
    """A word with no letter twice in a row."""
    return _DOUBLED.sub(r"\1", word)
