"""Makes a summary of what a model wrote (SPEC C): its sentences where they say what their sources say, and no others.

A source that is kept whole stands there word for word. Then the model's sentences, as far as the share of the tokens
goes; in the place of one that is refused comes the sentence of a source that it renders. A fact that may not be lost
and is not said yet is quoted in its source's own words. The remaining room goes to sentences of sources, by worth, as
in a summary without a model: so nothing is lost because the model passed over it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from memquorum.core.consolidation.covering import Covering, Sentence
from memquorum.core.consolidation.extractive import candidates, lacking, preferred
from memquorum.core.consolidation.faithful import place
from memquorum.core.consolidation.paraphrase import RENDERED, nearest, refused
from memquorum.core.consolidation.rendering import render
from memquorum.core.consolidation.sections import section
from memquorum.core.policy import PPM
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import Quote
from memquorum.ports import Source


class Written(Struct, frozen=True):
    """A sentence that a model wrote, and the memories that it names for it."""

    text: str
    sources: tuple[str, ...]


class Composed(Struct, frozen=True):
    """A summary, and how many of the model's sentences were refused, by the reason (`paraphrase.REASONS`)."""

    text: str
    quotes: tuple[Quote, ...]
    refused: Mapping[str, int]


class _Composing:
    """A summary in the making: what was taken, and how many tokens are left."""

    def __init__(self, sources: Sequence[Source], budget: int) -> None:
        self.sources = {one.memory_id: one for one in sources}
        self._covering = Covering(sources)
        self.own = candidates(sources, self._covering.weights)
        self._at = {(one.source.memory_id, one.start): one for one in self.own}
        self.taken: list[tuple[Quote, ...]] = []
        self.written: list[str] = []
        self.refused: Counter[str] = Counter()
        self._of = dict.fromkeys(self.sources, frozenset[str]())
        self._left = budget
        for one in self.own:
            if one.source.whole and not self._covering.quotes(one.text):
                self._have(one.sentence, one.tokens, (one.quote,))

    def write(self, said: Written) -> None:
        """Takes a model's sentence, or what stands for it."""
        text = " ".join(said.text.split())
        named = sorted(
            {one for one in said.sources if one in self.sources}, key=lambda one: (self.sources[one].at, one)
        )
        why = refused(text, [self.sources[one].text for one in named])
        if why is not None:
            self.refused[why] += 1
            self._stand_in(text, named or sorted(self.sources))
            return
        said_of = section(text)
        quotes = tuple(
            Quote(one, 0, len(self.sources[one].text), said_of, self.sources[one].at, len(self.written))
            for one in named
        )
        taken = Sentence.of(text)
        if self._take(taken, tokens(text), quotes):
            self.written.append(text)
            for one in named:
                self._of[one] |= taken.said

    def fill(self) -> None:
        """Takes what may not be lost, then sentences of the sources, the most worth for their tokens first, as long as
        there is room; none that a sentence of the model's renders."""
        for one in lacking(self.own, self._covering):
            self._have(one.sentence, one.tokens, (one.quote,))
        for one in preferred(self.own):
            if len(one.said & self._of[one.source.memory_id]) < RENDERED * len(one.said):
                self._take(one.sentence, one.tokens, (one.quote,))

    def _stand_in(self, text: str, named: Sequence[str]) -> None:
        found = nearest(text, [self.sources[one].text for one in named])
        if found is None:
            return
        at, start, _ = found
        one = self._at.get((named[at], start))
        if one is not None:
            self._take(one.sentence, one.tokens, (one.quote,))

    def _take(self, said: Sentence, cost: int, quotes: tuple[Quote, ...]) -> bool:
        if cost > self._left or self._covering.says(said):
            return False
        self._have(said, cost, quotes)
        return True

    def _have(self, said: Sentence, cost: int, quotes: tuple[Quote, ...]) -> None:
        self._covering.take(said, {one.memory_id for one in quotes})
        self.taken.append(quotes)
        self._left -= cost


def room(sources: Sequence[Source], share_ppm: int) -> int:
    """Returns the tokens of a summary that are left beside the sources kept whole."""
    whole = sum(tokens(one.text) for one in sources if one.whole)
    return sum(tokens(one.text) for one in sources) * share_ppm // PPM - whole


def compose(sources: Sequence[Source], said: Sequence[Written], *, share_ppm: int) -> Composed:
    """The summary that becomes of what a model wrote.

    `share_ppm`: of the tokens of all sources, so many may be taken; what is to be kept whole is, and counts too.
    """
    making = _Composing(sources, sum(tokens(one.text) for one in sources) * share_ppm // PPM)
    for one in said:
        making.write(one)
    making.fill()
    # The numbers of the model's sentences follow the order in which they stand there.
    ordered = sorted(making.taken, key=place)
    numbers = [one[0].sentence for one in ordered if one[0].sentence is not None]
    number = {old: new for new, old in enumerate(numbers)}
    quotes = tuple(
        Quote(q.memory_id, q.start, q.end, q.section, q.at, None if q.sentence is None else number[q.sentence])
        for sentence in ordered
        for q in sentence
    )
    texts = {one.memory_id: one.text for one in sources}
    return Composed(render(quotes, texts, [making.written[old] for old in numbers]), quotes, making.refused)
