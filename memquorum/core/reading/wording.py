"""Spellings and word lists of English that all judges share, with the negators of its neighbours, from `data/rules`.

A missing entry makes two texts look more or less alike than they are; the table in
`tests/unit/core/reading/test_agreement.py` measures both directions.
"""

from __future__ import annotations

from memquorum.core.reading.lists import bag, named, ordered, phrases, table
from memquorum.core.reading.memo import memo

UNITS = {spelling: unit for unit, spellings in table("units").items() for spelling in (unit, *spellings)}

CARDINALS = {word: n for n, word in enumerate(ordered("small"))}
CARDINALS |= {word: 10 * n for n, word in enumerate(ordered("tens"), 2)}
ORDINALS = {word: n for n, word in enumerate(ordered("ordinals"), 1)}
MAGNITUDES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12}
# Before "of": "a couple of days".
PAIRS = frozenset({"couple", "pair"})
ADVERBS = {"once": 1, "twice": 2, "thrice": 3}
NEGATORS = bag("negators", "en", "de", "fr", "es", "it", "pt", "nl", "pl", "zh")
NEGATORS_BEFORE_TO = bag("negators-before-to")
_NOT_NEGATED_BY_UN = ordered("not-negated-by-un")
_NEGATED = named("negated")

POLES: dict[str, frozenset[tuple[int, bool]]] = {}
for _axis, _pair in enumerate(phrases("opposites")):
    for _side, _words in enumerate(_pair.split("|")):
        for _word in _words.split():
            POLES[_word] = POLES.get(_word, frozenset()) | {(_axis, bool(_side))}
FIRST_PERSON = bag("first-person")
SECOND_PERSON = bag("second-person")
FUNCTION = bag("function")

_VOWELS = frozenset("aeiouy")
_ENDINGS = ("ations", "ation", "ingly", "edly", "ing", "ies", "ied", "ers", "est", "ed", "es", "er", "ly", "s", "e")
_BY_LAST = {last: tuple(one for one in _ENDINGS if one[-1] == last) for last in {one[-1] for one in _ENDINGS}}
"""The endings by their last letter, in the same order: it rules most of them out for a word."""


@memo(8_192)  # texts repeat their words: reading one takes a third less time
def stem(word: str) -> str:
    """A word without its English ending, roughly: opens, opened and opening are open. At least three letters stay."""
    for ending in _BY_LAST.get(word[-1:], ()):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and _VOWELS & set(rest) and not word.endswith("ss"):
            if ending in ("ies", "ied"):
                return rest + "y"
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled and ending in ("ing", "ed", "er", "ers", "est") else rest.removesuffix("e")
    return word


def denied(word: str) -> str | None:
    """The word that a negative prefix denies: available for unavailable. None for other words."""
    if word in _NEGATED:
        return _NEGATED[word]
    if word.startswith("un") and len(word) >= 6 and not word.startswith(_NOT_NEGATED_BY_UN):
        return word[2:]
    return None
