"""Finds the topics of a sentence: the names and the things in it, each with its place (`consolidation`).

A thing is a noun with its number, letter or identifier ("pump 7", "block C", "freezer F3"), an identifier ("KX-88"), a
name (capitalised words inside a sentence), or a noun behind a determiner ("the pump test"); and the subject, if it is
none of these. English, by rules and word lists, without a parser; in other languages the names and the numbered things
are found. A sentence of which nothing of the kind is said speaks of nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from memquorum.core.reading import claiming, wording
from memquorum.core.reading.parsing import empty, light, past, placed, stemmed, verb_of

MOST = 6
"""A sentence that names more counts with its first ones only."""
LONG = 1_000
"""Characters: of a longer sentence nothing is read."""

# Between two digits stands no separator or one, so there is one way to read a run of digits.
_IDENTIFIER = re.compile(r"(?=[A-Za-z]{1,5}[-_./]?\d)[A-Za-z]{1,5}\d*(?:[-_./]\d+)*[A-Za-z]?")
_NUMBER = re.compile(rf"\d{{1,4}}[a-z]?|[A-Z]|{_IDENTIFIER.pattern}")
_POINTING = frozenset({"the", "this", "that", "our", "my", "your", "his", "her", "their", "its"})
_LEADING = _POINTING | {"a", "an"}
_WORDS_MOST = 3
_NO_HEAD = frozenset(claiming.CLASSES) | claiming.INDEFINITE | claiming.PRONOUNS | claiming.FIRST | claiming.TITLES
_VERBS = claiming.FUNCTIONAL | claiming.CHANGES | claiming.PLURAL_VERBS | claiming.COPULAS | claiming.AUXILIARIES


class Name(Struct, frozen=True):
    """A name of something in a text: what it is compared by, and the characters from `start` to before `end`."""

    key: str
    start: int
    end: int


def key(name: str) -> str:
    """The key that names are compared by: word stems without determiners and titles ("the Pumps" is "pump")."""
    words = [word.casefold() for word, _, _ in placed(name)]
    begin = 0
    while begin < len(words) - 1 and (words[begin] in _LEADING or words[begin] in claiming.TITLES):
        begin += 1
    return " ".join(map(stemmed, words[begin:]))


def names(sentence: str) -> tuple[Name, ...]:
    """The topics of a sentence, in its order, each once; a question has none."""
    if len(sentence) > LONG or sentence.rstrip().endswith(("?", "？")):
        return ()
    words = placed(sentence)
    if not words:
        return ()
    tokens, folded = [word for word, _, _ in words], [word.casefold() for word, _, _ in words]
    taken: set[int] = set()
    runs: list[range] = []
    for find in (_numbered, _proper, _pointed_at, _subject):
        for run in find(sentence, words, tokens, folded):
            if taken.isdisjoint(run):
                taken.update(run)
                runs.append(run)
    found: dict[str, Name] = {}
    for run in sorted(runs, key=lambda one: one.start):
        start, end = words[run[0]][1], words[run[-1]][2]
        called = key(sentence[start:end])
        if called:
            found.setdefault(called, Name(called, start, end))
    return tuple(found.values())[:MOST]


_Word = tuple[str, int, int]


def _numbered(sentence: str, words: Sequence[_Word], tokens: Sequence[str], folded: Sequence[str]) -> Iterator[range]:
    """A noun and its number: "pump 7", "Block C", "freezer F3"; not "on March 12", nor "has 3 valves", nor "4 bar"."""
    for at in range(len(words) - 1):
        noun, number = folded[at], tokens[at + 1]
        if not _NUMBER.fullmatch(number) or not _noun(noun) or not _beside(sentence, words, at):
            continue
        after = folded[at + 2] if at + 2 < len(words) else ""
        counted = number[0].isdigit() and (after in wording.UNITS or claiming.CLASSES.get(after) == "month")
        if not counted and not (number == "I" or noun in wording.UNITS):
            yield range(at, at + 2)


def _proper(sentence: str, words: Sequence[_Word], tokens: Sequence[str], folded: Sequence[str]) -> Iterator[range]:
    """Capitalised words side by side. One that opens the sentence is a name where another follows it, or where it is an
    identifier."""
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and tokens[end][0].isupper() and (end == at or _beside(sentence, words, end - 1)):
            end += 1
        first = at
        while first < end and not _named(folded[first]):
            first += 1
        last = end
        while last > first and not _named(folded[last - 1]):
            last -= 1
        opens = first == 0 and last - first == 1 and not _owns(sentence, words, first)
        opens = opens and not _IDENTIFIER.fullmatch(tokens[first])
        if last > first and not opens and any(word not in claiming.TITLES for word in folded[first:last]):
            yield range(first, last)
        at = max(end, at + 1)


def _pointed_at(sentence: str, words: Sequence[_Word], tokens: Sequence[str], folded: Sequence[str]) -> Iterator[range]:
    """The words behind a determiner or an owner: "the pump test", "Apollo's deadline"."""
    for at, word in enumerate(folded[:-1]):
        owns = _owns(sentence, words, at)
        if word not in _POINTING and not owns:
            continue
        end = at + 1
        while end < len(words) and end <= at + _WORDS_MOST and _noun(folded[end]):
            if not (owns and end == at + 1) and not _beside(sentence, words, end - 1):
                break
            end += 1
        if end > at + 1:
            yield range(at + 1, end)


def _subject(sentence: str, words: Sequence[_Word], tokens: Sequence[str], folded: Sequence[str]) -> Iterator[range]:
    """The words before the verb, up to a preposition: "Tomas measured", "lunch is at noon"."""
    verb = verb_of(list(tokens), list(folded)) or 0
    end = next((at for at in range(verb) if not _noun(folded[at], _VERBS - claiming.PLURAL_VERBS)), verb)
    if 0 < end <= _WORDS_MOST and all(_beside(sentence, words, at) for at in range(end - 1)):
        yield range(end)


def _noun(word: str, verbs: frozenset[str] = _VERBS) -> bool:
    """Whether a word may be a noun, or stand before one."""
    return (
        word.isalpha()
        and len(word) > 1
        and not (empty(word) or light(word) or word in _NO_HEAD or word in verbs or word in claiming.LEADS_ON)
        and not (past(word) and word not in ("set", "cut", "lead", "put"))
    )


def _named(word: str) -> bool:
    """Whether a capitalised word is part of a name."""
    told = claiming.CLASSES.keys() | claiming.FIRST | claiming.PRONOUNS
    return not (empty(word) or word in told or word in _NO_NAMES) and word != ":"


_NO_NAMES = frozenset({"march", "may", "yes", "no", "ok", "okay", "please", "also", "then"})


def _owns(sentence: str, words: Sequence[_Word], at: int) -> bool:
    """Whether a word is that of an owner: "Apollo's"."""
    return sentence[words[at][2] : words[at][2] + 3].replace("’", "'") == "'s "


def _beside(sentence: str, words: Sequence[_Word], at: int) -> bool:
    """Whether nothing but a blank stands between a word and the next."""
    return sentence[words[at][2] : words[at + 1][1]] in (" ", "\u00a0")
