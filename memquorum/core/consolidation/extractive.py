"""Chooses the sentences of a summary: verbatim, by worth per token, none like one that was taken (SPEC C).

The most important episodes are taken whole. A source that may not be lost gives as few sentences as cover enough of it
(`covering`). Then the sentence with the most worth for its tokens comes next, until the summary has its share of the
tokens; sentences that are not worth keeping (`weighing`), or are nearly said already, are passed over. Worth is that of
`core.worth`, a word the rarer the fewer episodes of the session have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from memquorum.core.consolidation.covering import Covering, Lack, Sentence, corrects
from memquorum.core.consolidation.sections import HEADINGS, section
from memquorum.core.consolidation.weighing import Weights, read
from memquorum.core.policy import PPM
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import Quote
from memquorum.ports import Source

SHARE_PPM = 500_000
LEAST = 3
"""No summary is made of fewer memories: it would only repeat them."""


class Candidate(Struct, frozen=True):
    """A sentence of a source: where it lies, its words, what they are worth, in millionths, its tokens, and whether it
    is worth keeping."""

    source: Source
    start: int
    end: int
    said: frozenset[str]
    worth: int
    tokens: int
    keeps: bool

    @property
    def text(self) -> str:
        """The sentence, word for word."""
        return self.source.text[self.start : self.end]

    @property
    def sentence(self) -> Sentence:
        """The same, as it is compared with others."""
        return Sentence(self.text, self.said)

    @property
    def quote(self) -> Quote:
        """Names it as a sentence of a summary."""
        return Quote(self.source.memory_id, self.start, self.end, section(self.text), self.source.at)


def choose(sources: Sequence[Source], *, share_ppm: int = SHARE_PPM) -> tuple[Quote, ...]:
    """The sentences of a summary, by section, then in the order in which they were said.

    `share_ppm`: of the tokens of all sources, so many may be taken; what is to be kept whole and what may not be lost
    is taken in any case, and counts too.
    """
    budget = sum(tokens(source.text) for source in sources) * share_ppm // PPM
    covering = Covering(sources)
    given = candidates(sources, covering.weights)
    taken = required(given, covering)
    spent = sum(one.tokens for one in taken)
    for one in preferred(given):
        if spent + one.tokens <= budget and not covering.says(one.sentence):
            covering.take(one.sentence, (one.source.memory_id,))
            taken.append(one)
            spent += one.tokens
    order = list(HEADINGS)
    quotes = (one.quote for one in taken)
    return tuple(sorted(quotes, key=lambda one: (order.index(one.section), one.at, one.memory_id, one.start)))


def required(given: Sequence[Candidate], covering: Covering) -> list[Candidate]:
    """Returns the sentences that a summary must have, however small its share: the sources kept whole, and enough of
    those that may not be lost.

    `given`: the sentences of all sources; `covering`: what the summary says, to which these are added.
    """
    taken: list[Candidate] = []
    for one in given:
        if one.source.whole and not covering.quotes(one.text):
            covering.take(one.sentence, (one.source.memory_id,))
            taken.append(one)
    return [*taken, *lacking(given, covering)]


def lacking(given: Sequence[Candidate], covering: Covering) -> list[Candidate]:
    """The same, of what may not be lost alone: as few sentences as say enough of it, those first that state a fact
    which is not said yet, then by worth."""
    taken: list[Candidate] = []
    for _, some in groupby(given, lambda one: one.source.memory_id):
        rest = sorted(some, key=_preference)
        if rest[0].source.needed:
            taken += _enough(rest, covering)
    return taken


def _enough(given: Sequence[Candidate], covering: Covering) -> Iterator[Candidate]:
    """The sentences of one source by which the summary says enough of it. `given`: all of them, by preference."""
    source = given[0].source
    lack = Lack(covering, source)
    for one in _fresh_first(given, lack):
        if lack.enough:
            return
        if covering.says(one.sentence) and not corrects(source.text):
            continue  # of what corrects something its own sentences count alone
        covering.take(one.sentence, (source.memory_id,))
        lack.take(one.sentence)
        yield one


def _fresh_first(given: Sequence[Candidate], lack: Lack) -> Iterator[Candidate]:
    """Those first that state a fact which is not said yet when their turn comes: what is said stays so."""
    stale: list[Candidate] = []
    for one in given:
        if lack.fresh(one.text):
            yield one
        else:
            stale.append(one)
    yield from stale


def candidates(sources: Sequence[Source], weights: Weights) -> list[Candidate]:
    """Every sentence of the sources. `weights`: of these."""
    return [one for source in sources for one in _sentences(source, weights)]


def preferred(given: Sequence[Candidate]) -> list[Candidate]:
    """Those that are worth keeping and are not to be kept anyway, the most worth for their tokens first."""
    rest = (one for one in given if not one.source.whole and one.keeps and not read(one.text).nothing)
    return sorted(rest, key=_preference)


def _sentences(source: Source, weights: Weights) -> Iterator[Candidate]:
    for start, end in spans(source.text):
        text = source.text[start:end]
        said = read(text).content
        cost = read(text).tokens
        yield Candidate(source, start, end, frozenset(said.stems), weights.of(said), cost, weights.keeps(text))


def _preference(one: Candidate) -> tuple[int, int, str, int]:
    return -one.worth * PPM // one.tokens, one.source.at, one.source.memory_id, one.start
