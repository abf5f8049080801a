"""Chooses the words of a query by which memories are looked up, in a namespace too large to rank completely.

Every word that a memory shares with the query counts for its rank. But a common word leads to too many memories. So
memories are looked up by the rarest words, as many of them as lead to few enough memories together, and by pairs or
triples of common words, which fewer memories have. The memories found are ranked by all words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

from msgspec import Struct

MOST, LOOKED = 600, 1_500
"""So many memories are expected to be looked at; and so many are looked at, where words go together."""


class Wording(Struct, frozen=True):
    """`sources`: groups of words; who has all words of one of them is looked at. `words`, and beside them `weights`:
    what each is worth."""

    sources: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]
    weights: tuple[float, ...]


def worth(holders: int, total: int) -> float:
    """The idf of BM25, of a word that `holders` of so many memories have."""
    return math.log(1 + (max(total, holders) - holders + 0.5) / (holders + 0.5))


def worded(holders: Mapping[str, int], total: int, most: int = MOST) -> Wording:
    """`holders`: how many of `total` memories have each word of the query. Words that nobody has lead nowhere."""
    rarest = sorted((count, word) for word, count in holders.items() if count > 0)
    sources: list[tuple[str, ...]] = []
    left, common = float(most), []
    for count, word in rarest:
        if count <= left:
            sources.append((word,))
            left -= count
        else:
            common.append((count, word))
    for size in (2, 3):
        for group in combinations(common[:6], size):
            expected = total * math.prod(count / max(total, 1) for count, _ in group)
            if expected <= left and not any(set(source) <= {word for _, word in group} for source in sources):
                sources.append(tuple(word for _, word in group))
                left -= expected
    if not sources and common:
        sources.append(tuple(word for _, word in common[:6]))
    words = [word for _, word in rarest]
    return Wording(tuple(sources), tuple(words), tuple(worth(count, total) for count, _ in rarest))


def lookup(sources: tuple[tuple[str, ...], ...]) -> str:
    """The sources as a tsquery."""
    return " | ".join(f"({' & '.join(map(quoted, group))})" for group in sources)


def quoted(word: str) -> str:
    """A lexeme as a tsquery has it."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
