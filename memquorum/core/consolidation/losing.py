"""Tells what a summary loses of its sources, and which of them it may take the place of (SPEC C).

A summary may lose a source that a member's vote would forget anyway, because its worth ranks too low. It must have half
of any other source, by the worth of its words, and each of its numbers, times, names and negations; or that source
stays as it is. So consolidation forgets nothing that a vote would keep. A sentence that is not worth keeping
(`weighing`) has no worth here.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from memquorum.core.consolidation.covering import Covering, Sentence, corrects
from memquorum.core.consolidation.extractive import Candidate, candidates, choose, required
from memquorum.core.policy import PPM
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import Quote
from memquorum.ports import Source

MOST_KEPT = 0.95
"""A summary that has more of its sources' tokens saves nothing."""


def coverage_ppm(
    quotes: Sequence[Quote], sources: Sequence[Source], written: Sequence[str] = (), *, lost_rank_ppm: int
) -> tuple[int, int]:
    """The share of its sources' worth that a summary covers: of all together, and of that one which it covers least, of
    those that may not be lost; all where each may, and nothing of one of which a fact is missing. `written`: what a
    model wrote of it."""
    texts = {one.memory_id: one.text for one in sources}
    covering = Covering(sources)
    for one in quotes:
        text = texts[one.memory_id][one.start : one.end] if one.sentence is None else written[one.sentence]
        covering.take(Sentence.of(text), (one.memory_id,))
    shares = {one.memory_id: covering.share(one) for one in sources}
    covered, whole = map(sum, zip(*shares.values(), strict=True)) if shares else (0, 0)
    least = PPM
    for source in sources:
        said, worth = shares[source.memory_id]
        if worth and not may_be_lost(source, lost_rank_ppm):
            least = min(least, said * PPM // worth if covering.has_facts(source) else 0)
    return covered * PPM // whole if whole else PPM, least


def replaceable(sources: Sequence[Source], *, share_ppm: int, lost_rank_ppm: int) -> tuple[Source, ...]:
    """Those of the sources that a summary of so large a share may take the place of: what may be lost, and what it
    says enough of. Each is marked as the one or the other."""
    left = _marked(sources, lost_rank_ppm)
    while left:
        costs = dict.fromkeys((one.memory_id for one in left), 0)
        for taken in _required(left):
            costs[taken.source.memory_id] += taken.tokens
        room = sum(tokens(one.text) for one in left) * share_ppm // PPM
        asked = [one for one in left if costs[one.memory_id] and one.needed and not one.whole]
        if sum(costs.values()) <= room or not asked:
            return left if _saves(left, share_ppm) else ()
        # One at a time: that of which the most had to be said, of equals the longest, and of these the last one said.
        # Ids come last: they are random, and the same session is to be summed up the same again.
        out = max(
            asked,
            key=lambda one: (costs[one.memory_id] * PPM // tokens(one.text), tokens(one.text), one.at, one.memory_id),
        )
        left = tuple(one for one in left if one is not out)
    return ()


def may_be_lost(one: Source, lost_rank_ppm: int) -> bool:
    """True if a summary may lose the source: not if its rank is unknown, nor if it corrects something, which may be
    said elsewhere."""
    return one.rank_ppm is not None and one.rank_ppm < lost_rank_ppm and not corrects(one.text)


def says_all(sources: Sequence[Source], *, lost_rank_ppm: int) -> bool:
    """Whether a summary of all of these would have to say so much that it saved nothing."""
    spent = sum(one.tokens for one in _required(_marked(sources, lost_rank_ppm)))
    return spent > MOST_KEPT * sum(tokens(one.text) for one in sources)


def worthless(sources: Sequence[Source]) -> frozenset[str]:
    """Those of the sources that are not worth keeping, and correct nothing."""
    covering = Covering(sources)
    return frozenset(one.memory_id for one in sources if not covering.counts(one))


def _marked(sources: Sequence[Source], lost_rank_ppm: int) -> tuple[Source, ...]:
    """The sources, each with whether it may not be lost."""
    return tuple(replace(one, needed=not may_be_lost(one, lost_rank_ppm)) for one in sources)


def _required(sources: Sequence[Source]) -> list[Candidate]:
    """Returns the sentences that a summary of these must have."""
    covering = Covering(sources)
    return required(candidates(sources, covering.weights), covering)


def _saves(sources: Sequence[Source], share_ppm: int) -> bool:
    texts = {one.memory_id: one.text for one in sources}
    quotes = choose(sources, share_ppm=share_ppm)
    spent = sum(tokens(texts[one.memory_id][one.start : one.end]) for one in quotes)
    return bool(quotes) and spent <= MOST_KEPT * sum(map(tokens, texts.values()))
