"""What a summary loses, and what may be lost (SPEC C).

A source whose worth ranks low may be lost whole: a vote would let it go in any case, once it has decayed. So may one
that is not worth keeping (`weighing`): its words are worth nothing here, however many they are. Of any other
the summary has to cover half, or it stays a memory of its own and is no part of the batch. So little or nothing is
consolidated of a session of facts, and much of one of chatter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from memquorum.core.consolidation.extractive import choose
from memquorum.core.consolidation.stated import Stated, stated
from memquorum.core.consolidation.weighing import Weights, read
from memquorum.core.policy import PPM
from memquorum.core.records import Quote
from memquorum.core.text import claims
from memquorum.core.text.meant import meant
from memquorum.core.text.tokens import tokens
from memquorum.ports import Source

HALF_PPM = PPM // 2
MOST_KEPT = 0.95
"""A summary that has more of its sources' tokens saves nothing."""


def coverage_ppm(
    quotes: Sequence[Quote], sources: Sequence[Source], written: Sequence[str] = (), *, lost_rank_ppm: int
) -> tuple[int, int]:
    """The share of its sources' worth that a summary covers: of all together, and of that one which it covers least, of
    those that may not be lost; all where each may. `written`: what a model wrote of it."""
    shares = _shares(quotes, sources, written)
    covered, whole = map(sum, zip(*shares.values(), strict=True)) if shares else (0, 0)
    each = (shares[one.memory_id] for one in sources if not _may_be_lost(one, lost_rank_ppm))
    least = min((said * PPM // worth for said, worth in each if worth), default=PPM)
    return covered * PPM // whole if whole else PPM, least


def replaceable(sources: Sequence[Source], *, share_ppm: int, lost_rank_ppm: int) -> tuple[Source, ...]:
    """Those of the sources that a summary of so large a share may take the place of: what may be lost, and what it
    quotes half of."""
    left, lost = tuple(sources), {one.memory_id for one in sources if _may_be_lost(one, lost_rank_ppm)}
    while left:
        quotes = choose(left, share_ppm=share_ppm)
        shares = _shares(quotes, left, ())
        without = [
            one
            for one in left
            if one.memory_id not in lost and shares[one.memory_id][0] * PPM < HALF_PPM * shares[one.memory_id][1]
        ]
        if not without:
            texts = {one.memory_id: one.text for one in left}
            spent = sum(tokens(texts[one.memory_id][one.start : one.end]) for one in quotes)
            return left if quotes and spent <= MOST_KEPT * sum(map(tokens, texts.values())) else ()
        # One at a time, the longest: there may be room for the others.
        out = max(without, key=lambda one: (tokens(one.text), one.memory_id))
        left = tuple(one for one in left if one is not out)
    return ()


def _may_be_lost(one: Source, lost_rank_ppm: int) -> bool:
    """What nobody can rank is kept, and so is what corrects something: what it corrects may be said."""
    return one.rank_ppm is not None and one.rank_ppm < lost_rank_ppm and not _corrects(one.text)


@lru_cache(4_096)  # of a part the longest goes one at a time, and each time all that is left is looked at
def _corrects(text: str) -> bool:
    return bool(meant(text)) or any(one.led for one in claims.read(text).statements)


def _shares(
    quotes: Sequence[Quote], sources: Sequence[Source], written: Sequence[str]
) -> Mapping[str, tuple[int, int]]:
    """Tells of each source what those of its words are worth that the summary has, and what all of them are; nothing of
    one that is not worth keeping and corrects nothing.

    Of what states a number, a time, a name or a negation that no sentence of the summary has, and of what corrects
    something, its own sentences count alone: a correction has nearly all words of what it corrects.
    """
    texts = {one.memory_id: one.text for one in sources}
    own = {one.memory_id: set[str]() for one in sources}
    told: list[Stated] = []
    for one in quotes:
        text = texts[one.memory_id][one.start : one.end] if one.sentence is None else written[one.sentence]
        own[one.memory_id].update(read(text).content.stems)
        told.append(stated(text))
    said = frozenset[str]().union(*own.values())
    facts = frozenset[object]().union(*(one.facts for one in told))
    weights = Weights([one.text for one in sources])
    found: dict[str, tuple[int, int]] = {}
    for source in sources:
        alone = not stated(source.text).facts <= facts or _corrects(source.text)
        if not weights.keeps(source.text) and not _corrects(source.text):
            found[source.memory_id] = 0, 0
            continue
        mine = own[source.memory_id] if alone else said
        of_it = read(source.text).content
        kept = type(of_it)(
            tuple(stem for stem in of_it.stated if stem in mine), tuple(stem for stem in of_it.asked if stem in mine)
        )
        found[source.memory_id] = weights.of(kept), weights.of(of_it)
    return found
