"""The door's rule before `core.reading.sameness`, kept to be measured beside it: texts agree word for word, but for
closed lists of what may differ (plurals, synonyms, articles, a time that stands first or last)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cached_property
from itertools import chain

from msgspec import Struct

from bench.right.wordwise.statement import Statement, same, statement
from bench.right.wordwise.variants import CLASSES
from memquorum.core.reading import wording

# Characters. A short text is also read as one sentence; of a longest one the gist is a digest.
LONG, LONGEST = 600, 4_800
_FOREIGN_SHARE = 0.3
_DIGEST = "\x00sha256:"

_QUOTED = re.compile(r'"([^"\n]{1,200})"|“([^”\n]{1,200})”|«([^»\n]{1,200})»|`([^`\n]{1,200})`')
_QUOTES = re.compile(r'["“”„«»`]')
# A token stands between spaces, without the punctuation around it; or the end of a sentence.
_TOKEN = re.compile(
    r"(?P<token>(?:(?<!\w)[-+])?[$€£¥#@]?\w(?:[^\s()\[\]{}<>,;!?…—|]*\w)?(?:,\d{3}\b)*(?:\.\d+)?[%°]?)"
    r"|(?P<end>[.!?…]+|\n)"
)
_NUMBER = re.compile(r"([$€£¥]?)([-+]?\d+(?:,\d{3})*(?:\.\d+)?)-?(\D{0,12})")
_CODE = re.compile(r"[\d_/\\@#=:.$~^*&+|]|[a-z][A-Z]|^-")
_POSSESSIVE = re.compile(r"['’]s$")
_WORDS_AHEAD = 4
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")
# Signs that stand between words. Those inside a word belong to it.
_SIGNS = re.compile(r"[!<>=]=|[-=]>|[+*=<>#&|^~≤≥≠→←]")


class Reading(Struct, frozen=True):
    """The parts of a text that an agreeing one must have. Made by `_read`."""

    numbers: tuple[str, ...]
    names: tuple[str, ...]  # names and codes, case-folded, each once, in order
    openers: frozenset[str]  # capitalised at the start of a sentence: a name, or not
    quoted: frozenset[str]
    words: tuple[str, ...]  # every token, case-folded
    stems: frozenset[str]
    negated: frozenset[str]
    poles: frozenset[tuple[int, bool]]
    persons: frozenset[int]
    asks: bool
    statement: Statement
    signs: tuple[str, ...]
    flat: str  # case-folded, white space collapsed


def agree(a: str, b: str) -> bool:
    """Whether two similar texts say the same by the rules above. Symmetric; every text agrees with itself.

    Takes texts or what `gist` made of them.
    """
    return Said(a).agrees(Said(b))


class Said:
    """A text or a gist, read to be held against many others: each sentence when it is first asked for."""

    def __init__(self, text: str) -> None:
        self.gist = gist(text)
        self._read: dict[str, Reading] = {}

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The gist, cut after every sentence and line."""
        return tuple(part for part in _SENTENCE.split(self.gist) if part)

    def agrees(self, other: Said) -> bool:
        """Answers as `agree` does."""
        if self.gist == other.gist:
            return True
        if self.gist.startswith(_DIGEST) or other.gist.startswith(_DIGEST):
            return False
        if len(self.sentences) == len(other.sentences):
            return all(map(self._alike, self.sentences, (other,) * len(self.sentences), other.sentences))
        # The texts are divided differently. With a question, the text beside it may be its answer.
        short = max(len(self.gist), len(other.gist)) <= LONG and "?" not in self.gist + other.gist
        return short and self._alike(self.gist, other, other.gist)

    def _alike(self, mine: str, other: Said, theirs: str) -> bool:
        if mine == theirs:
            return True
        if _foreign(mine) or _foreign(theirs):
            return _plain(mine) == _plain(theirs)
        return _compatible(self._reading(mine), other._reading(theirs))

    def _reading(self, sentence: str) -> Reading:
        if sentence not in self._read:
            self._read[sentence] = _read(sentence)
        return self._read[sentence]


def gist(text: str) -> str:
    """Returns the part of a text that `agree` needs: itself with white space collapsed, or a digest where it is long.

    Idempotent.
    """
    flat = re.sub(r"[^\S\n]+", " ", text)
    flat = re.sub(r"\s*\n\s*", "\n", flat).strip()
    if len(flat) <= LONGEST:
        return flat
    return f"{_DIGEST}{hashlib.sha256(flat.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _foreign(text: str) -> bool:
    if text.isascii():
        return False
    letters = [c for c in text if c.isalpha()]
    return sum(ord(c) > 0x24F for c in letters) > _FOREIGN_SHARE * len(letters)


def _plain(text: str) -> tuple[list[str], list[str], bool]:
    """The words of a text without case and punctuation, its signs, and whether it asks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _tokens(folded)[0], _SIGNS.findall(folded), "?" in folded or "؟" in folded


def _compatible(a: Reading, b: Reading) -> bool:
    return (
        a.numbers == b.numbers
        and a.asks == b.asks
        and a.signs == b.signs
        and _same_persons(a, b)
        and _same_names(a, b)
        and _same_negations(a, b)
        and _same_sides(a.poles, b.poles)
        and same(a.statement, b.statement)
    )


def _same_persons(a: Reading, b: Reading) -> bool:
    """True unless both speak of "I" or "you" and mean different persons."""
    return a.persons == b.persons or not a.persons or not b.persons


def _same_negations(a: Reading, b: Reading) -> bool:
    """Whether as much is negated in both, and nothing negated in one is asserted in the other."""
    return (
        len(a.negated) == len(b.negated)
        and not (a.negated - b.negated) & b.stems
        and not (b.negated - a.negated) & a.stems
    )


def _same_names(a: Reading, b: Reading) -> bool:
    """Names and quotations of each are found in the other, names in the same order.

    A capitalised word that opens a sentence may be a name or not. It need not be found, unless both texts open with
    one that the other lacks: "Alice approved it", "Bob approved it".
    """
    if not all(q in b.flat for q in a.quoted) or not all(q in a.flat for q in b.quoted):
        return False
    in_a, in_b = _places(a), _places(b)
    if not all(name in in_b for name in a.names) or not all(name in in_a for name in b.names):
        return False
    both = {*a.names, *b.names}
    if sorted(both, key=in_a.__getitem__) != sorted(both, key=in_b.__getitem__):
        return False
    return not ((a.openers - in_b.keys()) and (b.openers - in_a.keys()))


def _places(marks: Reading) -> dict[str, int]:
    """Returns the first place of each word."""
    places: dict[str, int] = {}
    for place, word in enumerate(marks.words):
        places.setdefault(word, place)
    return places


def _same_sides(a: frozenset[tuple[int, bool]], b: frozenset[tuple[int, bool]]) -> bool:
    """Whether on every axis of opposites that both speak of, both take the same side or both."""
    axes = {axis for axis, _ in a} & {axis for axis, _ in b}
    return all({side for x, side in a if x == axis} == {side for x, side in b if x == axis} for axis in axes)


def _read(text: str) -> Reading:
    tokens, openers_at = _tokens(text)
    folded = [token.casefold() for token in tokens]
    numbers, counted = _numbers(folded)
    negators = {place for place in range(len(folded)) if _negates(folded, place)}
    names: dict[str, None] = {}
    openers = set()
    for place, (token, word) in enumerate(zip(tokens, folded, strict=True)):
        if place in counted:
            continue
        if word in CLASSES or _CODE.search(token):
            names[word] = None
        elif token[0].isupper() and not _ordinary(word):
            if place in openers_at:
                openers.add(word)
            else:
                names[word] = None
    negated, asserted = _negations(folded)
    quoted = {" ".join("".join(found).casefold().split()) for found in _QUOTED.findall(text)}
    return Reading(
        numbers=tuple(numbers.values()),
        names=tuple(names),
        openers=frozenset(openers),
        quoted=frozenset(quoted - {""}),
        words=tuple(folded),
        stems=asserted,
        negated=negated,
        poles=frozenset(pole for word in folded for pole in wording.POLES.get(word, ())),
        persons=_persons(folded),
        asks="?" in text,
        statement=statement(folded, numbers, counted, negators),
        signs=tuple(_SIGNS.findall(text)),
        flat=" ".join(text.casefold().split()),
    )


def _tokens(text: str) -> tuple[list[str], set[int]]:
    """The tokens of a text and the places of those that open a sentence. Words joined by - or / come apart."""
    tokens: list[str] = []
    openers = set()
    opens = True
    for found in _TOKEN.finditer(_QUOTES.sub(" ", text)):
        token = found["token"]
        if token is None:
            opens = True
            continue
        token = _POSSESSIVE.sub("", token)
        if opens:
            openers.add(len(tokens))
        opens = False
        parts = re.split(r"[-–/]", token)
        tokens.extend(parts if all(part.isalpha() for part in parts) else [token])
    return tokens, openers


def _ordinary(word: str) -> bool:
    """Whether a capitalised word is no name: "I", "Not", "Two"."""
    return (
        word in wording.FUNCTION
        or word in wording.NEGATORS
        or word in wording.CARDINALS
        or word in wording.MAGNITUDES
        or "'" in word
        or "’" in word
    )


def _numbers(words: list[str]) -> tuple[dict[int, str], set[int]]:
    """The numbers of a text, each with its unit, by the place where it begins, and the places of all their words."""
    found: dict[int, str] = {}
    used: set[int] = set()
    place = 0
    while place < len(words):
        value, unit, after = _number(words, place)
        if value is None:
            place += 1
            continue
        if not unit and after < len(words) and words[after] in wording.UNITS:
            unit, after = wording.UNITS[words[after]], after + 1
        found[place] = value + unit
        used.update(range(place, after))
        place = after
    return found, used


def _number(words: list[str], place: int) -> tuple[str | None, str, int]:
    """(value, unit, place after it) of the number that begins at a place; value None if none does."""
    word = words[place]
    written = _NUMBER.fullmatch(word)
    if written and (not written[3] or written[3] in wording.UNITS):
        value = written[2].replace(",", "")
        unit = wording.UNITS.get(written[3], "") or {"¥": "¥"}.get(written[1], written[1])
        if not written[3] and place + 1 < len(words) and words[place + 1] in wording.MAGNITUDES and value.isdigit():
            return str(int(value) * wording.MAGNITUDES[words[place + 1]]), unit, place + 2
        return value, unit, place + 1
    if word in wording.ORDINALS:
        return str(wording.ORDINALS[word]), "th", place + 1
    if word in wording.ADVERBS:
        return str(wording.ADVERBS[word]), "x", place + 1
    if word == "half":
        return "0.5", "", place + 1
    return _spelled(words, place)


def _spelled(words: list[str], place: int) -> tuple[str | None, str, int]:
    """A cardinal in words: "two hundred and five" is 205. "one" is an article unless a unit follows."""
    after = words[place + 1 : place + 2]
    if words[place] == "one" and not (after and (after[0] in wording.UNITS or after[0] in wording.MAGNITUDES)):
        return None, "", place + 1
    if words[place] in wording.PAIRS and after == ["of"]:
        return "2", "", place + 2
    total, current, start = 0, 0, place
    while place < len(words):
        word = words[place]
        if word in wording.CARDINALS:
            current += wording.CARDINALS[word]
        elif word in wording.MAGNITUDES and wording.MAGNITUDES[word] < 1000:
            current = max(current, 1) * wording.MAGNITUDES[word]
        elif word in wording.MAGNITUDES:
            total, current = total + max(current, 1) * wording.MAGNITUDES[word], 0
        elif not (
            word == "and" and place > start and words[place - 1] in wording.MAGNITUDES and _counts(words, place + 1)
        ):
            break
        place += 1
    return (str(total + current), "", place) if place > start else (None, "", place + 1)


def _counts(words: list[str], place: int) -> bool:
    return place < len(words) and words[place] in wording.CARDINALS


def _negations(words: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that a text negates, and all that it does not."""
    negated: set[str] = set()
    places: set[int] = set()
    for place, word in enumerate(words):
        denied = wording.denied(word)
        if denied is not None:
            negated.add(wording.stem(denied))
            places.add(place)
        elif _negates(words, place):
            scope = _scope(words, place)
            negated.add(wording.stem(words[scope]) if scope is not None else "")
            places.update({place} if scope is None else {place, scope})
    return frozenset(negated), frozenset(wording.stem(w) for place, w in enumerate(words) if place not in places)


def _negates(words: list[str], place: int) -> bool:
    word, after = words[place], words[place + 1 : place + 2]
    if word.endswith(("n't", "n’t")):
        return True
    if word in wording.NEGATORS_BEFORE_TO:
        return after == ["to"]
    return word in wording.NEGATORS and after != ["only"]


def _scope(words: list[str], place: int) -> int | None:
    """The place of the word that a negator at a place speaks of: the next that means something, else the last."""
    near: int
    ahead = range(place + 1, min(place + 1 + _WORDS_AHEAD, len(words)))
    for near in chain(ahead, range(place - 1, -1, -1)):
        if words[near] not in wording.FUNCTION and words[near] not in wording.NEGATORS:
            return near
    return None


def _persons(words: list[str]) -> frozenset[int]:
    persons = set()
    for word in words:
        bare = re.split(r"['’]", word)[0]
        if bare in wording.FIRST_PERSON:
            persons.add(1)
        elif bare in wording.SECOND_PERSON:
            persons.add(2)
    return frozenset(persons)
