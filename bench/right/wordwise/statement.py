r"""A sentence's statement, word for word, in a form in which two wordings of one statement are equal (SPEC B,
decisions).

The vectors hardly see an exchanged ordinary word ("tea" for "coffee", "north" for "south"). So every word counts but
those of closed lists (`variants`): words that may come and go, forms of a word, synonyms, and prepositions of which one
sentence has more. In a language that the lists do not know, every word counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from bench.right.wordwise import variants
from memquorum.core.reading import wording

NOT = "¬"
"""Stands in a line before what is negated."""

Line = tuple[str, ...]


class Statement(Struct, frozen=True):
    """A sentence as `same` compares it.

    - `line`: what it says in order: words in their basic form, numbers with units, negations, prepositions
    - `closed`: the classes of its words that may come and go, but not be exchanged
    """

    line: Line
    closed: frozenset[str]


def statement(
    words: Sequence[str], numbers: Mapping[int, str], counted: Collection[int], negators: Collection[int]
) -> Statement:
    """Returns the statement of case-folded words.

    - `numbers`: by the place of their first word
    - `counted`: the places of all words of numbers
    - `negators`: the places of words that negate
    """
    line: list[str] = []
    closed: set[str] = set()
    if tuple(words[:3]) in variants.HOW_TO:
        words = ["how", "to", "the", *words[3:]]
    for place, word in enumerate(words):
        if place in numbers:
            line.append(numbers[place])
        if place in counted:
            continue
        for part in _parts(word):
            denied = wording.denied(part)
            if part == "not" or (part == word and place in negators and denied is None):
                line.extend((NOT,) if part in variants.PLAIN_NEGATORS else (NOT, basic(part)))
            elif denied is not None:
                line.extend((NOT, basic(denied)))
            elif part in variants.CLOSED:
                closed.add(variants.CLOSED[part])
            elif part not in variants.LIGHT and not (part == "right" and words[place + 1 : place + 2] == ["now"]):
                line.append(basic(part))
    return Statement(tuple(line), frozenset(closed))


def same(a: Statement, b: Statement) -> bool:
    """Whether two sentences say the same word for word, but for what may differ. Symmetric."""
    only_a, only_b = a.closed - b.closed, b.closed - a.closed
    if only_a and only_b:
        return False
    # "Was approved" and "approved" tell of one time, "was down" and "down" do not.
    if variants.PAST in only_a | only_b and not any(word.endswith("ed") for word in a.line):
        return False
    more_a, more_b = _prepositions(a.line) - _prepositions(b.line), _prepositions(b.line) - _prepositions(a.line)
    if more_a and more_b:
        return False
    if more_b:
        a, b, more_a = b, a, more_b
    if not more_a:
        return _moved(a.line, b.line)
    other = _bare(b.line)
    return any(_moved(_bare(line), other) for line in _turned(a.line, more_a))


def basic(word: str) -> str:
    """A word without plural or -ing, or the one that stands for its synonyms. -ed, -er, -est stay: they tell more."""
    if not word.isalpha():
        return word
    if word in variants.GROUPS:
        return variants.GROUPS[word]
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    elif word.endswith("ing") and len(word) > 5 and any(c in "aeiouy" for c in word[:-3]):
        word = word[:-3]
        if word[-1] == word[-2] and word[-1] not in "lsz":
            word = word[:-1]
    return variants.GROUPS.get(word) or (word.removesuffix("e") if len(word) > 3 else word)


def _parts(word: str) -> tuple[str, ...]:
    """A contraction's words: "doesn't" is "does not"."""
    word = word.replace("’", "'")
    if word in variants.CONTRACTED:
        return variants.CONTRACTED[word]
    if word.endswith("n't"):
        return word[:-3], "not"
    for ending, full in variants.ENDINGS.items():
        if word.endswith(ending):
            return word.removesuffix(ending), full
    return (word,)


def _prepositions(line: Line) -> Counter[str]:
    return Counter(word for word in line if word in variants.PREPOSITIONS)


def _bare(line: Line) -> Line:
    return tuple(word for word in line if word not in variants.PREPOSITIONS)


def _turned(line: Line, more: Counter[str]) -> Iterator[Line]:
    """Yields the line, and without its passive ("approved by Alice") or its genitive ("report of Alice").

    If another line has the same words in the first order, the two say different things: "hired by the clerk".
    """
    places = {word: line.index(word) for word in ("by", "of") if more[word]}
    if not places:
        yield line
    for word, at in places.items():
        before, after = line[:at], line[at + 1 :]
        if not before or not after:
            continue
        if word == "by":
            yield (after[0], before[-1], *before[:-1], *after[1:])
        else:
            yield (*before[:-1], after[0], before[-1], *after[1:])


def _moved(a: Line, b: Line) -> bool:
    """Whether two lines are equal, but for parts of time or place that stand elsewhere.

    First in one and last in the other ("before the test"), or in another order after the same beginning.
    """
    if a == b:
        return True
    if sorted(a) != sorted(b):
        return False
    if any(b == a[n:] + a[:n] and (_may_move(a[:n]) or _may_move(a[n:])) for n in range(1, len(a))):
        return True
    (first, *rest), (other_first, *other_rest) = _parted(a), _parted(b)
    return first == other_first and sorted(rest) == sorted(other_rest)


def _may_move(part: Line) -> bool:
    return part[0] in variants.PLACED or part[0] in variants.TIMES


def _parted(line: Line) -> list[Line]:
    """A line cut before every preposition."""
    cuts = [0, *(at for at, word in enumerate(line) if at and word in variants.PLACED), len(line)]
    return [line[start:end] for start, end in pairwise(cuts)]
