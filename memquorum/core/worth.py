"""Computes the worth of a text from its words alone, and its rank among the texts of its namespace.

**worth** = Σ ln((n + 258) / (df + ref + 1)) over the content words of a text, in millionths. Here n counts the texts
that the namespace accepted before, df those of them that have the word, and ref those of the 256 ordinary texts
(`core.reading.content.ORDINARY`), which count as if they had gone before. So a word is common or rare from the first
text on, and what was said early is not worth less because little had been said. Words that only a question has count
half. No model, no label, nothing from later on.

**rank** = (lower + ½ equal) / all, over the worths of every text of like type and author kind that the namespace
accepted, stored or not, forgotten or not, and of the 256. So ranks do not slide as a namespace empties. Worths are
compared in steps of an eighth of a unit.

Everything is told in integers, so every machine finds the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM
from memquorum.core.reading.content import ORDINARY, Content, content
from memquorum.core.reading.memo import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1
"""The version of the rules, the lists and the reference."""

STEP = PPM // 8
"""Worths are compared in steps of so many millionths."""
STEPS = 4_096
"""Above so many steps nothing is told apart."""

# ln 2 · 2⁶⁴, rounded down.
_LN_2 = 12_786_308_645_202_655_659
# So far from a whole number a logarithm by floating point, in millionths, is rounded down rightly.
_SURE = 1 / 1_024
_PACKED = msgspec.msgpack.Decoder(tuple[int, int, dict[str, int]])


class BadCounts(ValueError):
    """The counts do not belong to the text."""


class EarlierCounts(Struct, frozen=True):
    """The counts that a worth is computed from: the number of earlier texts, and how many of them have each word of a
    text."""

    texts: int
    having: Mapping[str, int]

    def pack(self) -> bytes:
        """Writes them as bytes, which `unpack` reads."""
        return msgspec.msgpack.encode((VERSION, self.texts, self.having), order="sorted")


def unpack(data: bytes) -> EarlierCounts:
    """What `Told.pack` wrote. Raises BadCounts for anything else."""
    try:
        version, texts, having = _PACKED.decode(data)
    except msgspec.DecodeError as error:
        raise BadCounts(str(error)) from None
    if version != VERSION:
        raise BadCounts(f"version {version}, not {VERSION}")
    if having and (min(having.values()) < 0 or max(having.values()) > texts):
        raise BadCounts(f"a word in {max(having.values())} of {texts} texts")
    return EarlierCounts(texts, having)


class Counts:
    """The counts of a namespace's words, over the accepted stream up to an offset."""

    def __init__(self, having: Mapping[str, int] | None = None, texts: int = 0, long: int = 0) -> None:
        """It begins; the arguments are those of `state`."""
        self.texts = texts
        self._having: Counter[str] = Counter(having)
        self._long = long

    def state(self) -> tuple[dict[str, int], int, int]:
        """Returns the arguments that make it again: how many texts have each word, the number of texts, and the
        characters of long words."""
        return self._having, self.texts, self._long

    @property
    def size(self) -> int:
        """The size in memory, counted in words: a long word counts as several, each time that it is said."""
        return len(self._having) + self._long // WORD

    def tell(self, said: Content) -> EarlierCounts:
        """The counts as they stand before a text."""
        return EarlierCounts(self.texts, {stem: self._having.get(stem, 0) for stem in said.stems})

    def take(self, stems: Iterable[str]) -> None:
        """A text with these words was said; without any where nobody can read it."""
        self.texts += 1
        said = tuple(stems)
        self._having.update(said)
        self._long += sum(len(stem) for stem in said if len(stem) > WORD)

    def bound(self, most: int) -> None:
        """Forgets the rarest words, of equally rare ones those said first, down to three quarters of `most`, where the
        size is above it. One that is said again counts as new."""
        if self.size <= most:
            return
        wanted, rare = most - most // 4, 1
        while self.size > wanted:
            for stem in [stem for stem, having in self._having.items() if having == rare]:
                if self.size <= wanted:
                    return
                del self._having[stem]
                if len(stem) > WORD:
                    self._long = max(0, self._long - rare * len(stem))
            rare += 1

    def recall(self, told: EarlierCounts) -> None:
        """A text that was said before, by what was told with it then: that knows of texts that nobody can read now."""
        self.texts = max(self.texts, told.texts)
        for stem, having in told.having.items():
            self._having[stem] = max(self._having[stem], having)
        self.take(told.having)


def worth_ppm(said: Content, told: EarlierCounts) -> int:
    """Σ over the content words, in millionths; whole numbers throughout. Raises BadCounts where the counts are those of
    another text."""
    if said.stems != tuple(told.having) and set(said.stems) != told.having.keys():
        raise BadCounts(f"counts of {len(told.having)} words for a text of {len(said.stems)} others")
    among, ordinary = ln_ppm(told.texts + len(ORDINARY) + 2), _reference().get
    return _sum(said, {stem: among - ln_ppm(having + ordinary(stem, 0) + 1) for stem, having in told.having.items()})


def _sum(said: Content, weights: Mapping[str, int]) -> int:
    """Words that only a question has count half."""
    return sum(map(weights.__getitem__, said.stated)) + sum(map(weights.__getitem__, said.asked)) // 2


@lru_cache(maxsize=65_536)
def ln_ppm(number: int) -> int:
    """The natural logarithm of a positive integer in millionths, rounded down; the same on every machine.

    Floating point is right to far less than a thousandth of a millionth, so it rounds down as whole numbers do, but for
    what lies that near to the next: there it is computed without any.
    """
    near = math.log(number) * PPM
    whole = math.floor(near)
    return whole if _SURE < near - whole < 1 - _SURE else exact_ln_ppm(number)


def exact_ln_ppm(number: int) -> int:
    """Computes the same by squaring, without floating point."""
    power = number.bit_length() - 1
    left = number << 62 >> power
    log = power
    for _ in range(40):
        left = left * left >> 62
        log <<= 1
        if left >= 2 << 62:
            left >>= 1
            log += 1
    return log * _LN_2 * PPM >> 104


def step(worth: int) -> int:
    """The step in which a worth is compared."""
    return min(STEPS - 1, max(0, worth) // STEP)


class Ranks:
    """The worths of texts of the same type and author kind, as counts per step, together with the reference's."""

    def __init__(self, steps: Mapping[int, int] | None = None) -> None:
        self._in: NDArray[np.int64] = _ordinary_steps().copy()
        for at, count in (steps or {}).items():
            self._in[at] += count
        self._all = int(self._in.sum())

    def steps(self) -> dict[int, int]:
        """Returns how many texts have a worth in each step, the reference left out: `Ranks` is made of them again."""
        beyond = self._in - _ordinary_steps()
        return {int(at): int(beyond[at]) for at in np.flatnonzero(beyond)}

    def add(self, worth: int) -> None:
        """A text of this worth was accepted."""
        self._in[step(worth)] += 1
        self._all += 1

    def rank_ppm(self, worth: int) -> int:
        """(lower + ½ equal) / all, in millionths, rounded down."""
        at = step(worth)
        return int((2 * self._in[:at].sum() + self._in[at]) * PPM // (2 * self._all))


def author_kind(role: str | None) -> str:
    """Returns the kind of author by the role of an episode: person, tool, or agent if it is neither."""
    named = (role or "").casefold()
    if named in ("user", "human", "person", "customer"):
        return "person"
    return "tool" if named in ("tool", "function", "tool_result") else "agent"


SUMMARY = "summary"
"""The class that summaries are ranked in: only among each other. Their words are not counted: their sources said them
before."""


def like(type_: str, role: str | None) -> str:
    """Returns the class that an episode is ranked in: its type and author kind."""
    return f"{type_}/{author_kind(role)}"


@cache
def ordinary_worths() -> tuple[int, ...]:
    """Returns the worth of each of the ordinary texts, as if the other 255 had gone before it."""
    among = ln_ppm(len(ORDINARY) + 1)
    weights = {stem: among - ln_ppm(having) for stem, having in _reference().items()}
    return tuple(_sum(content(text), weights) for text in ORDINARY)


@cache
def _reference() -> Counter[str]:
    return Counter(stem for text in ORDINARY for stem in content(text).stems)


@cache
def _ordinary_steps() -> NDArray[np.int64]:
    return steps(ordinary_worths())


def steps(worths: Iterable[int]) -> NDArray[np.int64]:
    """Returns the number of worths per step."""
    return np.bincount(np.array([step(worth) for worth in worths], np.int64), minlength=STEPS).astype(np.int64)
