"""Which sentences of a summary answer: a summary speaks of much, and a question of little of it.

A summary is sentences, each of them word for word from its source (SPEC C). So where a question is packed into a budget
of tokens, each comes in by itself. It counts score of the summary × (a share + whether it is among the nearest + how
much of the question it has), a word the more, the fewer of the candidates have it. What is no summary keeps its place:
nothing that ranks below it comes before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from memquorum.core.consolidation.rendering import sentences
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.text.content import content
from memquorum.core.worth import ln_ppm

LOOKED = 50
"""So many of the best candidates are looked into; of what ranks below, a summary is one piece as all else is."""
BARE, NEAR = 0.3, 0.5
"""What a sentence counts for being in the summary, and for being among those of it that are nearest to the question,
where one that has all words of it counts 1."""

Span = tuple[int, int]
"""Characters of a text, from and to before."""


class Piece(Struct, frozen=True):
    """A candidate by its place in the ranking, or one sentence of it: `span` of the whole text. `near`: it is among
    those by which its memory was found."""

    place: int
    span: Span | None = None
    near: bool = True


def pieces(ranked: Sequence[Scored], question: str) -> list[Piece]:
    """What may be given of a ranking, in the order in which it answers the question."""
    head = [one.candidate for one in ranked[:LOOKED]]
    if not any(one.hit.made_by for one in head):
        return [Piece(place) for place in range(len(ranked))]
    asked = frozenset(content(question).stems)
    found = [
        (piece, asked.intersection(content(text).stems))
        for place, one in enumerate(head)
        for piece, text in _cut(place, one)
    ]
    weights = _weights([has for _, has in found], asked)
    whole = sum(weights.values()) or 1
    values = [
        ranked[piece.place].score
        * (BARE + NEAR * (piece.near and piece.span is not None) + sum(weights[word] for word in has) / whole)
        for piece, has in found
    ]
    behind = 0.0
    for at in reversed(range(len(found))):
        behind = max(behind, values[at])
        if found[at][0].span is None:
            values[at] = behind
    order = sorted(range(len(found)), key=lambda at: -values[at])
    return [*(found[at][0] for at in order), *(Piece(place) for place in range(len(head), len(ranked)))]


def _cut(place: int, one: Candidate) -> list[tuple[Piece, str]]:
    """A candidate as it is, or each sentence of a summary."""
    if not one.hit.made_by:
        return [(Piece(place), one.hit.text)]
    near = frozenset(sentences(one.hit.text)) if one.hit.excerpt else frozenset[str]()
    lines = one.text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    said = frozenset(sentences(one.text))
    # What is contradicted, and by the question was not found, what contradicts it does not stand before.
    gone = frozenset[int]().union(*one.denied.values()) if one.hit.excerpt else frozenset[int]()
    cut = [
        (Piece(place, (at, at + len(line)), line in near), line)
        for number, (at, line) in enumerate(zip(starts, lines, strict=False))
        if line in said and (number not in gone or line in near)
    ]
    return cut or [(Piece(place), one.hit.text)]


def _weights(having: Sequence[frozenset[str]], asked: frozenset[str]) -> Mapping[str, int]:
    """Weighs each word of the question: ln((n + 1) / df), where df of n pieces have it; none counts as one."""
    holders = Counter(word for one in having for word in one)
    return {word: ln_ppm(len(having) + 1) - ln_ppm(max(1, holders[word])) for word in asked}
