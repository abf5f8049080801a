"""Tells what a summary has of its sources: the worth of their words, and the facts of each (SPEC C).

A fact is what two sentences with the same words may still say otherwise: a number, a time, a name, a negation. A fact
belongs to its sentence's matter, so for a source only its own sentences count, and those that nearly repeat one of
them: "Tuesday" in the sentence about the dentist is not said by "Tuesday" in another's about the bins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from memquorum.core.consolidation.weighing import Weights, read
from memquorum.core.policy import PPM
from memquorum.core.reading import claims
from memquorum.core.reading.content import Content
from memquorum.core.reading.meant import meant
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.stated import stated
from memquorum.ports import Source

HALF_PPM = PPM // 2
"""A source that may not be lost has to be covered by half at least, by the worth of its words."""
ALIKE = 0.9
"""From this share of common words on one sentence says nearly what another says."""
COMPARED = 64
"""A sentence is held against so many of those that have its facts and its rarest words; of others it repeats none."""
_ALL = 9
"""Sentences of fewer words than this are alike only if they have the same words."""


class Sentence(Struct, frozen=True):
    """A sentence and the stems of its words."""

    text: str
    said: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Sentence:
        """A text, as it is compared with others."""
        return cls(text, frozenset(read(text).content.stems))


def alike(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two sentences have nearly the same words."""
    both = len(a & b)
    return both >= ALIKE * (len(a) + len(b) - both)


@lru_cache(4_096)  # of a part one memory after another is left out, and each time all that is left is looked at
def corrects(text: str) -> bool:
    """Whether a text says that it corrects something."""
    return bool(meant(text)) or any(one.led for one in claims.read(text).statements)


@lru_cache(4_096)
def _facts(text: str) -> frozenset[object]:
    """The facts that its sentences state, each read by itself, so that no fact is read across two of them."""
    return frozenset[object]().union(*(stated(text[start:end]).facts for start, end in spans(text)))


class Sayings:
    """Sentences, found by what they nearly repeat, in time that does not grow with their number.

    Two sentences that are alike have one of their rarest words in common: of n words, one of the rarest 0.1 n + 1.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._same: set[tuple[frozenset[str], frozenset[object]]] = set()
        self._having: dict[tuple[str, frozenset[object]], list[frozenset[str]]] = {}

    def add(self, sentence: Sentence) -> None:
        """Takes a sentence in."""
        said, facts = sentence.said, stated(sentence.text).facts
        if (said, facts) in self._same:
            return
        self._same.add((said, facts))
        for stem in self._rarest(said):
            self._having.setdefault((stem, facts), []).append(said)

    def has(self, sentence: Sentence) -> bool:
        """Whether a sentence has nearly the words of one of these, and the same numbers, times, names and negations: a
        correction has nearly the words of what it corrects."""
        said, facts = sentence.said, stated(sentence.text).facts
        if (said, facts) in self._same:
            return True
        near = (one for stem in self._rarest(said) for one in self._having.get((stem, facts), ()))
        return any(alike(said, one) for one in islice(near, COMPARED))

    def _rarest(self, said: frozenset[str]) -> list[str]:
        """The words of which one stands in each sentence that is alike, the rarest first."""
        if len(said) < _ALL:
            return []
        return sorted(said, key=lambda stem: (self._weights.having(stem), stem))[
            : len(said) - int(ALIKE * len(said)) + 1
        ]


class Lack:
    """The facts and words of one source that a summary does not have yet, updated while sentences of that source alone
    are taken."""

    def __init__(self, covering: Covering, source: Source) -> None:
        words, corrected = read(source.text).content, corrects(source.text)
        self._counts = covering.counts(source)
        self._weights, self._worth = covering.weights, covering.weights.of(words)
        said = covering.said_of(source) if corrected else covering.said
        self._stated, self._asked = set(words.stated) - said, set(words.asked) - said
        self._said = [
            sum(map(self._weights.of_one, some)) for some in (set(words.stated) & said, set(words.asked) & said)
        ]
        self._told = covering.told_of(source)
        self._left = _facts(source.text) - self._told

    @property
    def enough(self) -> bool:
        """Whether the summary says enough of a source that may not be lost: half of its worth, and all its facts."""
        if not self._counts or not self._worth:
            return True
        stated_ppm, asked_ppm = self._said
        return (stated_ppm + asked_ppm // 2) * PPM >= HALF_PPM * self._worth and not self._left

    def fresh(self, text: str) -> bool:
        """Whether a sentence of the source states a fact that the summary does not say of it."""
        return bool(_facts(text) - self._told)

    def take(self, sentence: Sentence) -> None:
        """The summary says a sentence of the source."""
        for at, some in enumerate((self._stated, self._asked)):
            new = sentence.said & some
            self._said[at] += sum(map(self._weights.of_one, new))
            some.difference_update(new)
        facts = stated(sentence.text).facts
        self._told |= facts
        self._left -= facts


class Covering:
    """A summary, sentence by sentence, against all of its sources."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.weights = Weights([one.text for one in sources])
        self._taken, self._texts = Sayings(self.weights), set[str]()
        self._said: set[str] = set()
        self._own: dict[str, set[str]] = {one.memory_id: set() for one in sources}
        self._facts: dict[str, set[object]] = {one.memory_id: set() for one in sources}

    def take(self, sentence: Sentence, memory_ids: Iterable[str]) -> None:
        """The summary says a sentence, which is of these sources."""
        self._taken.add(sentence)
        self._texts.add(sentence.text)
        self._said |= sentence.said
        for one in memory_ids:
            self._own[one] |= sentence.said
            self._facts[one] |= stated(sentence.text).facts

    def says(self, sentence: Sentence) -> bool:
        """Whether the summary says nearly that already."""
        return self._taken.has(sentence)

    def quotes(self, text: str) -> bool:
        """Whether the summary says that word for word already."""
        return text in self._texts

    def counts(self, source: Source) -> bool:
        """Whether a source is worth keeping, or corrects something; what is neither may be lost."""
        return self.weights.keeps(source.text) or corrects(source.text)

    def share(self, source: Source) -> tuple[int, int]:
        """Returns the worth of the source's words that the summary has, and of all its words; (0, 0) for a source that
        is not worth keeping and corrects nothing.

        For a correction only its own sentences count: the text that it corrects has nearly all its words.
        """
        if not self.counts(source):
            return 0, 0
        mine = self._own[source.memory_id] if corrects(source.text) else self._said
        words = read(source.text).content
        kept = Content(*(tuple(stem for stem in some if stem in mine) for some in (words.stated, words.asked)))
        return self.weights.of(kept), self.weights.of(words)

    @property
    def said(self) -> AbstractSet[str]:
        """The words that the summary has."""
        return self._said

    def said_of(self, source: Source) -> AbstractSet[str]:
        """The words of the sentences that the summary has of a source."""
        return self._own[source.memory_id]

    def has_facts(self, source: Source) -> bool:
        """Whether the summary says each fact of a source, as one of it."""
        left = _facts(source.text) - self._facts[source.memory_id]
        return not left or not left.difference(*self._repeated(source))

    def told_of(self, source: Source) -> set[object]:
        """The facts that the summary says of a source."""
        return self._facts[source.memory_id].union(*self._repeated(source))

    def _repeated(self, source: Source) -> Iterable[frozenset[object]]:
        """The facts of those of its sentences that another source's sentence says as well."""
        for start, end in spans(source.text):
            text = source.text[start:end]
            if self.says(Sentence.of(text)):
                yield stated(text).facts
