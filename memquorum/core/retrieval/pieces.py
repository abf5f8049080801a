"""Chooses the sentences of a summary and the passages of a long text that answer a question.

A summary is sentences, each of them word for word from its source (SPEC C). So where a question is packed into a budget
of tokens, each comes in by itself. It counts score of the summary × (a share + whether it is among the nearest + how
much of the question it has), a word the more, the fewer of the candidates have it. Other memories keep their places: no
piece that ranks below one of them comes before it.

A long text of more than a share of the budget comes in by its passages likewise: those by which it was found, and that
which has most words of the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from memquorum.core.consolidation.rendering import sentences
from memquorum.core.reading.content import content
from memquorum.core.reading.passages import Span, passages
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.worth import ln_ppm

LOOKED = 50
"""So many of the best candidates are looked into; of what ranks below, a summary is one piece as all else is."""
BARE, NEAR = 0.3, 0.5
"""The share of a sentence's score for being in the summary, and for being among the summary's nearest to the question;
having all words of the question counts 1."""

PASSAGES = 3
"""So many passages of a long text may be given, as of a summary so many sentences are found at once."""


class Piece(Struct, frozen=True):
    """A candidate by its place in the ranking, or one sentence of it: `span` of the whole text. `near`: it is among
    those by which its memory was found."""

    place: int
    span: Span | None = None
    near: bool = True


def pieces(ranked: Sequence[Scored], question: str, most: int) -> list[Piece]:
    """Returns the pieces of a ranking that may be served, in the order in which they answer the question. `most`: a
    long text of more tokens comes in by passages alone."""
    head = [one.candidate for one in ranked[:LOOKED]]
    if not any(one.hit.made_by or one.passages for one in head):
        return [Piece(place) for place in range(len(ranked))]
    asked = frozenset(content(question).stems)
    found = [
        (piece, asked.intersection(content(text).stems))
        for place, one in enumerate(head)
        for piece, text in _cut(place, one, asked, most)
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


def _cut(place: int, one: Candidate, asked: Collection[str], most: int) -> list[tuple[Piece, str]]:
    """A candidate as it is, or each sentence of a summary, or some passages of a long text."""
    if not one.hit.made_by:
        if not one.passages or tokens(one.text) <= most:
            return [(Piece(place), one.hit.answering)]
        return [(Piece(place, span, span in one.passages), one.text[slice(*span)]) for span in _answering(one, asked)]
    near = frozenset(sentences(one.hit.text)) if one.hit.excerpt else frozenset[str]()
    lines = one.text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    said = frozenset(sentences(one.text))
    # A contradicted sentence that the question did not find is left out.
    gone = frozenset[int]().union(*one.denied_lines.values()) if one.hit.excerpt else frozenset[int]()
    cut = [
        (Piece(place, (at, at + len(line)), line in near), line)
        for number, (at, line) in enumerate(zip(starts, lines, strict=False))
        if line in said and (number not in gone or line in near)
    ]
    return cut or [(Piece(place), one.hit.text)]


def _answering(one: Candidate, asked: Collection[str]) -> list[Span]:
    """The passages of a long text that may be given, in its order: the one that has most of the question's words, where
    few of its passages have them, and those that are nearest. A word is there where its stem is: each is looked for in
    all passages, of which there may be very many."""
    every = passages(one.text) if one.words is not None else ()
    flat = [one.text[slice(*span)].casefold() for span in every]
    holding = [[at for at, text in enumerate(flat) if stem in text] for stem in asked]
    worth = Counter[int]()
    for places in holding:
        for at in places:
            worth[at] += ln_ppm(len(flat) + 1) - ln_ppm(len(places))
    best = min(worth, key=lambda at: (-worth[at], at), default=None)
    apart = best is not None and all(every[best][1] <= start or end <= every[best][0] for start, end in one.passages)
    said = (every[best],) if best is not None and apart else ()
    return sorted([*dict.fromkeys((*one.passages[:1], *said, *one.passages[1:]))][:PASSAGES])


def _weights(having: Sequence[frozenset[str]], asked: frozenset[str]) -> Mapping[str, int]:
    """Weighs each word of the question: ln((n + 1) / df), where df of n pieces have it; none counts as one."""
    holders = Counter(word for one in having for word in one)
    return {word: ln_ppm(len(having) + 1) - ln_ppm(max(1, holders[word])) for word in asked}
