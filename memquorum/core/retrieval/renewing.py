"""What was said later of the same matter comes before what it renews, where both answer a question.

The rules of `text.conflict` are strict, for a vote lets what they find go. What they leave open is served twice: "Coach
Bernd trains the juniors." and "Bernd has handed the juniors over to Svenja." This is no judgement of which of the two
holds, and nothing is marked or voted on by it: of what is given anyway the later comes first, if its words say that
something became otherwise, it shares its matter with the other, and it answers the question about as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memquorum.core.api.answers import Hit
from memquorum.core.text import claiming
from memquorum.core.text.content import content
from memquorum.core.tiers import LONG_TERM

HEAD = 10
"""So many of the best hits are looked at."""

# How much further from the question the later one may be, as a cosine; how much of the shorter text's content more than
# which both have; how much of what the earlier one has of the question the later one must have.
_FURTHER, _SHARED, _COVERED = 0.35, 1 / 3, 1 / 2

_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")


def renewed_first(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each directly before the first of the best that it renews."""
    asked, named = frozenset(content(question).stems), _named(question)
    texts = [_Read(hit, asked) for hit in hits[:HEAD]]
    order: list[_Read] = []
    for one in texts:
        at = next((at for at, other in enumerate(order) if one.renews(other, named)), len(order))
        order.insert(at, one)
    return [*(one.hit for one in order), *hits[HEAD:]]


class _Read:
    """A hit, the stems of its content, and which of them the question has."""

    def __init__(self, hit: Hit, asked: frozenset[str]) -> None:
        self.hit = hit
        self.stems = frozenset(content(hit.text).stems)
        self.asked = self.stems & asked
        self.names = _named(hit.text)

    def renews(self, other: _Read, named: frozenset[str]) -> bool:
        """Whether it comes before the other. `named`: names and numbers of the question, which it may not lack."""
        mine, theirs = self.hit, other.hit
        return (
            mine.occurred_at > theirs.occurred_at
            and (theirs.tier != LONG_TERM or mine.agent == theirs.agent)
            and mine.score >= theirs.score - _FURTHER
            and bool(self.asked)
            and len(self.asked) >= _COVERED * len(other.asked)
            and (not (other.asked & named) - self.asked or len(self.names & other.names) > 1)
            and len(self.stems & other.stems) > _SHARED * min(len(self.stems), len(other.stems))
            and bool((self.stems & other.stems) - named)
            and becomes_otherwise(mine.text)
        )


def becomes_otherwise(text: str) -> bool:
    """Whether its words say that something is not as it was: "now", "was moved", "nicht mehr"."""
    words = [word.replace("’", "'") for word in _WORD.findall(text.casefold())]
    flat = f" {' '.join(words)} "
    return not claiming.OTHERWISE.isdisjoint(words) or any(f" {phrase} " in flat for phrase in claiming.CUES)


def _named(question: str) -> frozenset[str]:
    """Stems of what has a digit, and of what is written with a capital and does not begin the question."""
    words = _WORD.findall(question)
    named = (
        w for at, w in enumerate(words) if any(c.isdigit() for c in w) or (at and w[0].isupper() and w[:2] != "I'")
    )
    return frozenset(stem for word in named if word != "I" for stem in content(word).stems)
