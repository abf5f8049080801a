"""Compares two texts by the marks in which they may differ, and by fingerprints for exact repetition.

`marks` reads numbers with their units, negations and words of a closed list of opposites (open/closed, before/after):
by them two texts oppose each other, however else they say it. A text may stand for another only by `sameness`: a
different sign, letter or word makes another text.
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property

from msgspec import Struct

from memquorum.core.reading import digits, wording
from memquorum.core.reading.negation import negations
from memquorum.core.reading.sameness import fingerprint
from memquorum.core.reading.sentences import sentences

# Characters. The gist of a longer text is a digest.
LONGEST = 4_800
DIGEST = "\x00sha256:"
"""The prefix of the gist of a long text; no text has its first character."""

_QUOTES = re.compile(r'["“”„«»`]')
# A token stands between spaces, without the punctuation around it; or the end of a sentence.
_TOKEN = re.compile(
    r"(?P<token>(?:(?<!\w)[-+])?[$€£¥#@]?\w(?:[^\s()\[\]{}<>,;!?…—|]*\w)?(?:,\d{3}\b)*(?:\.\d+)?[%°]?)"
    r"|(?P<end>[.!?…]+|\n)"
)
_NUMBER = re.compile(r"([$€£¥]?)([-+]?\d+(?:,\d{3})*(?:\.\d+)?)-?(\D{0,12})")
_BLANKS, _LINE_ENDS = re.compile(r"[^\S\n]+"), re.compile(r" ?\n\s*")
_JOINS, _APOSTROPHE = re.compile(r"[-–/]"), re.compile(r"['’]")
_POSSESSIVE = re.compile(r"['’]s$")


class Marks(Struct, frozen=True):
    """The marks of a text in which another one may differ; texts longer than `LONGEST` have none. Made by `marks`."""

    numbers: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    negated: frozenset[str] = frozenset()
    poles: frozenset[tuple[int, bool]] = frozenset()

    def oppose(self, other: Marks) -> bool:
        """Whether each gives a number that the other does not, one negates what the other asserts, or both take
        opposite sides, however else they say it."""
        return bool(
            (self.numbers - other.numbers and other.numbers - self.numbers)
            or (self.negated - other.negated) & other.stems
            or (other.negated - self.negated) & self.stems
            or not _same_sides(self.poles, other.poles)
        )


def marks(text: str) -> Marks:
    """Reads a text for what another one may hold otherwise."""
    flat = gist(text)
    if flat.startswith(DIGEST):
        return Marks()
    words = [token.casefold() for token in _tokens(flat)]
    negated, asserted, _ = negations(words)
    poles = frozenset(pole for word in words for pole in wording.POLES.get(word, ()))
    return Marks(frozenset(_numbers(words)), asserted, negated, poles)


class ComparedText:
    """A text, read to be held against many others."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def gist(self) -> str:
        """Answers as the function of that name does."""
        return gist(self._text)

    @cached_property
    def fingerprint(self) -> bytes:
        """Is equal for what is the same (`sameness`)."""
        return fingerprint(self._text)

    @cached_property
    def personal(self) -> bool:
        """Answers as the function of that name does."""
        return personal(self._text)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The gist, cut after every sentence and line."""
        return sentences(self.gist)

    def agrees(self, other: ComparedText) -> bool:
        """Whether the other text is provably the same."""
        return self.fingerprint == other.fingerprint


def gist(text: str) -> str:
    """A text with white space collapsed, or a digest where it is long. Idempotent."""
    flat = _LINE_ENDS.sub("\n", _BLANKS.sub(" ", text)).strip()
    if len(flat) <= LONGEST:
        return flat
    return f"{DIGEST}{hashlib.sha256(flat.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _same_sides(a: frozenset[tuple[int, bool]], b: frozenset[tuple[int, bool]]) -> bool:
    """Whether on every axis of opposites that both speak of, both take the same side or both."""
    axes = {axis for axis, _ in a} & {axis for axis, _ in b}
    return all({side for x, side in a if x == axis} == {side for x, side in b if x == axis} for axis in axes)


def _tokens(text: str) -> list[str]:
    """The tokens of a text. Words joined by - or / come apart."""
    tokens: list[str] = []
    for found in _TOKEN.finditer(_QUOTES.sub(" ", text)):
        if (token := found["token"]) is None:
            continue
        token = _POSSESSIVE.sub("", token)
        parts = _JOINS.split(token)
        tokens.extend(parts if all(part.isalpha() for part in parts) else [token])
    return tokens


def _numbers(words: list[str]) -> list[str]:
    """The numbers of a text, each with its unit, in order."""
    found: list[str] = []
    place = 0
    while place < len(words):
        value, unit, after = _number(words, place)
        if value is None:
            place += 1
            continue
        if not unit and after < len(words) and words[after] in wording.UNITS:
            unit, after = wording.UNITS[words[after]], after + 1
        found.append(value + unit)
        place = after
    return found


def _number(words: list[str], place: int) -> tuple[str | None, str, int]:
    """(value, unit, place after it) of the number that begins at a place; value None if none does."""
    word = words[place]
    written = _NUMBER.fullmatch(word)
    if written and (not written[3] or written[3] in wording.UNITS):
        value = written[2].replace(",", "")
        unit = wording.UNITS.get(written[3], "") or {"¥": "¥"}.get(written[1], written[1])
        if not written[3] and place + 1 < len(words) and words[place + 1] in wording.MAGNITUDES and value.isdecimal():
            return digits.times(value, wording.MAGNITUDES[words[place + 1]]), unit, place + 2
        return value, unit, place + 1
    if word in digits.ORDINALS:
        return str(digits.ORDINALS[word]), "th", place + 1
    if word in digits.ADVERBS:
        return str(digits.ADVERBS[word]), "x", place + 1
    spelled, after = digits.cardinal(words, place)
    return spelled, "", after


def _persons(words: list[str]) -> frozenset[int]:
    persons = set()
    for word in words:
        bare = _APOSTROPHE.split(word, maxsplit=1)[0]
        if bare in wording.FIRST_PERSON:
            persons.add(1)
        elif bare in wording.SECOND_PERSON:
            persons.add(2)
    return frozenset(persons)


def personal(text: str) -> bool:
    """Whether a text says "I", "we" or "you": said by another agent, the same words speak of somebody else."""
    return bool(_persons([token.casefold() for token in _tokens(text)]))
