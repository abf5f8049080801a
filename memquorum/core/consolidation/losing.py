"""What a summary loses, and what may be lost (SPEC C).

A source whose worth ranks low may be lost whole: a vote would let it go in any case, once it has decayed. Of any other
the summary has to cover half, or it stays a memory of its own and is no part of the batch. So little or nothing is
consolidated of a session of facts, and much of one of chatter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memquorum.core.consolidation.extractive import Weights, choose
from memquorum.core.policy import PPM
from memquorum.core.records import Quote
from memquorum.core.text.content import content
from memquorum.core.text.tokens import tokens
from memquorum.ports import Source

HALF_PPM = PPM // 2
MOST_KEPT = 0.95
"""A summary that has more of its sources' tokens saves nothing."""


def coverage_ppm(
    quotes: Sequence[Quote], sources: Sequence[Source], written: Sequence[str] = (), *, lost_rank_ppm: int | None = None
) -> tuple[int, int]:
    """The share of its sources' worth that a summary covers: of all together, and of that one which it covers least, of
    those that may not be lost; all where each may, as without a rank from which on none may. `written`: what a model
    wrote of it."""
    shares = _shares(quotes, sources, written)
    covered, whole = map(sum, zip(*shares.values(), strict=True)) if shares else (0, 0)
    kept = () if lost_rank_ppm is None else (one for one in sources if not _may_be_lost(one, lost_rank_ppm))
    each = (shares[one.memory_id] for one in kept)
    least = min((said * PPM // worth for said, worth in each if worth), default=PPM)
    return covered * PPM // whole if whole else PPM, least


def replaceable(sources: Sequence[Source], *, share_ppm: int, lost_rank_ppm: int) -> tuple[Source, ...]:
    """Those of the sources that a summary of so large a share may take the place of: what may be lost, and what it
    quotes half of."""
    left = tuple(sources)
    while left:
        quotes = choose(left, share_ppm=share_ppm)
        shares = _shares(quotes, left, ())
        kept = tuple(
            one
            for one in left
            if _may_be_lost(one, lost_rank_ppm) or shares[one.memory_id][0] * PPM >= HALF_PPM * shares[one.memory_id][1]
        )
        if len(kept) == len(left):
            texts = {one.memory_id: one.text for one in left}
            spent = sum(tokens(texts[one.memory_id][one.start : one.end]) for one in quotes)
            return left if quotes and spent <= MOST_KEPT * sum(map(tokens, texts.values())) else ()
        left = kept
    return ()


def _may_be_lost(one: Source, lost_rank_ppm: int) -> bool:
    """What nobody can rank is kept."""
    return one.rank_ppm is not None and one.rank_ppm < lost_rank_ppm


def _shares(
    quotes: Sequence[Quote], sources: Sequence[Source], written: Sequence[str]
) -> Mapping[str, tuple[int, int]]:
    """Tells of each source what those of its words are worth that are in the sentences, and what all of them are."""
    texts = {one.memory_id: one.text for one in sources}
    quoted = (texts[one.memory_id][one.start : one.end] for one in quotes if one.sentence is None)
    said = frozenset[str]().union(*(content(text).stems for text in (*quoted, *written)))
    weights = Weights(sources)
    found: dict[str, tuple[int, int]] = {}
    for one in sources:
        of_it = content(one.text)
        kept = type(of_it)(
            tuple(stem for stem in of_it.stated if stem in said), tuple(stem for stem in of_it.asked if stem in said)
        )
        found[one.memory_id] = weights.of(kept), weights.of(of_it)
    return found
