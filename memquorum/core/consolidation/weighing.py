"""Weighs the memories of a session against each other: what is worth keeping, and which three are the most important.

Talk is long and has little content. The sum of its worth would put it before a fact of eight words, and so would SPEC
C's importance, which is not defined for a text under 20 tokens. The content of a text beside talk is therefore taken
per token, and compared with the ordinary texts (`ordinary`) in quarters. A text in the lower half is not worth keeping.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from memquorum.core import worth
from memquorum.core.reading.content import ORDINARY, Content, content, stems_of
from memquorum.core.reading.talk import says_nothing, talk_of
from memquorum.core.reading.tokens import tokens
from memquorum.core.worth import EarlierCounts
from memquorum.ports import Source

MOST = 3
"""So many of a session's memories are kept whole (SPEC C, 6)."""
_HALF = 2


class TextParts(Struct, frozen=True):
    """The content of a text, the part of it that is not talk, its tokens, and whether the text is only small talk."""

    content: Content
    beside: Content
    tokens: int
    nothing: bool


class Weights:
    """The worths of words in a session: the rarer, the more."""

    def __init__(self, texts: Collection[str]) -> None:
        """Counts in how many of the texts each word stands."""
        self._texts = len(texts)
        self._having = Counter(stem for text in texts for stem in read(text).content.stems)

    def of(self, words: Content) -> int:
        """Returns the worth of a text of these words, in millionths."""
        return worth.worth_ppm(words, EarlierCounts(self._texts, {stem: self._having[stem] for stem in words.stems}))

    def of_one(self, stem: str) -> int:
        """Returns the worth of one word that a text states, in millionths."""
        return self.of(Content((stem,), ()))

    def having(self, stem: str) -> int:
        """Counts the texts in which a word stands."""
        return self._having[stem]

    def quarter(self, text: str) -> int:
        """Tells in which quarter of the ordinary texts one lies by what it says beside talk, per token: from 0 to 3."""
        return bisect_right(_quarters(), _density_ppm(text, self))

    def keeps(self, text: str) -> bool:
        """Whether a text is worth keeping: it says more for its length than half of the ordinary texts."""
        return self.quarter(text) >= _HALF


def important(sources: Sequence[Source], most: int = MOST) -> frozenset[str]:
    """The most important of a session's memories, of those that are worth keeping: by the quarter of what they say,
    then by their importance, then by what their words are worth."""
    weights = Weights([one.text for one in sources])
    quarters = {one.memory_id: weights.quarter(one.text) for one in sources}
    worths = {one.memory_id: weights.of(read(one.text).content) for one in sources}
    ranked = sorted(
        (one for one in sources if quarters[one.memory_id] >= _HALF),
        key=lambda one: (
            -quarters[one.memory_id], -one.importance_ppm, -worths[one.memory_id], one.at, one.memory_id
        ),
    )  # fmt: skip
    return frozenset(one.memory_id for one in ranked[:most])


@lru_cache(2_048)  # of a part one memory after another is left out, and each time all that is left is weighed
def read(text: str) -> TextParts:
    """Reads a text for all that is asked of it while its session is summed up."""
    words = content(text)
    talk = frozenset(stem for word in talk_of(text) for stem in stems_of(word))
    beside = Content(
        tuple(stem for stem in words.stated if stem not in talk),
        tuple(stem for stem in words.asked if stem not in talk),
    )
    return TextParts(words, beside, tokens(text), says_nothing(text))


def _density_ppm(text: str, weights: Weights) -> int:
    return weights.of(read(text).beside) // max(1, read(text).tokens)


@cache
def _quarters() -> tuple[int, ...]:
    """Returns the worth per token of the ordinary texts at their quartiles."""
    alone = Weights(())
    found = sorted(_density_ppm(text, alone) for text in ORDINARY)
    return tuple(found[len(found) * part // 4] for part in (1, 2, 3))
