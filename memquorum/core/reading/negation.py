"""Finds negated words: the word that "not", "nicht" and the like refer to, and words such as "unable"."""

from __future__ import annotations

from memquorum.core.reading import wording
from memquorum.core.reading.lists import bag

_AFTER = frozenset(("only", "nur", "just", "alone"))  # "not only … but also" negates nothing
_LIGHT = wording.FUNCTION | wording.NEGATORS | bag("light", "de")
_AHEAD = 5


def negates(words: list[str], at: int) -> bool:
    """Whether the word at a place negates what is beside it."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word.endswith(("n't", "n’t")):
        return True
    if word in wording.NEGATORS_BEFORE_TO:
        return after == "to"
    return word in wording.NEGATORS and not (after in _AFTER and word in ("not", "nicht"))


def negations(words: list[str]) -> tuple[frozenset[str], frozenset[str], int]:
    """The stems that words negate, those that they do not, and how often they negate."""
    negated, places, count = set(), set(), 0
    before: int | None = None  # the last word in front that means something
    for at, word in enumerate(words):
        if at and words[at - 1] not in _LIGHT:
            before = at - 1
        denied = wording.denied(word)
        count += denied is not None or negates(words, at)
        if denied is not None:
            negated.add(wording.stem(denied))
            places.add(at)
        elif negates(words, at):
            places.add(at)
            ahead = range(at + 1, min(at + 1 + _AHEAD, len(words)))
            scope = next((one for one in ahead if words[one] not in _LIGHT), before)
            negated.add("" if scope is None else wording.stem(words[scope]))
            places.update(() if scope is None else (scope,))
    stems = frozenset(wording.stem(word) for at, word in enumerate(words) if at not in places)
    return frozenset(negated), stems, count
