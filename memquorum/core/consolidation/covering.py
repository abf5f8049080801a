"""Tells what a summary has of its sources: the worth of their words, and the facts of each (SPEC C).

A fact is what two sentences with the same words may still say otherwise: a number, a time, a name, a negation. It is
said of what it is about, so of a source its own sentences count, and those that nearly repeat one of them: "Tuesday" in
the sentence about the dentist is not said by "Tuesday" in another's about the bins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from memquorum.core.consolidation.sentences import spans
from memquorum.core.consolidation.stated import stated
from memquorum.core.consolidation.weighing import Weights, read
from memquorum.core.policy import PPM
from memquorum.core.text import claims
from memquorum.core.text.content import Content
from memquorum.core.text.meant import meant
from memquorum.ports import Source

HALF_PPM = PPM // 2
"""What may not be lost has to be said by half at least, by the worth of its words."""
ALIKE = 0.9
"""From this share of common words on one sentence says nearly what another says."""


class Sentence(Struct, frozen=True):
    """A sentence and the stems of its words."""

    text: str
    said: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Sentence:
        """A text, as it is compared with others."""
        return cls(text, frozenset(read(text).content.stems))


def repeats(a: Sentence, b: Sentence) -> bool:
    """Whether two sentences have nearly the same words, and the same numbers, times, names and negations: a correction
    has nearly the words of what it corrects."""
    return len(a.said & b.said) >= ALIKE * len(a.said | b.said) and stated(a.text).facts == stated(b.text).facts


@lru_cache(4_096)  # of a part one memory after another is left out, and each time all that is left is looked at
def corrects(text: str) -> bool:
    """Whether a text says that it corrects something."""
    return bool(meant(text)) or any(one.led for one in claims.read(text).statements)


@lru_cache(4_096)
def _facts(text: str) -> frozenset[object]:
    """What its sentences state, each by itself: so they are found in these, and nowhere between two."""
    return frozenset[object]().union(*(stated(text[start:end]).facts for start, end in spans(text)))


class Covering:
    """A summary, sentence by sentence, against all of its sources."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.weights = Weights([one.text for one in sources])
        self._taken: list[Sentence] = []
        self._said: set[str] = set()
        self._own: dict[str, set[str]] = {one.memory_id: set() for one in sources}
        self._facts: dict[str, set[object]] = {one.memory_id: set() for one in sources}

    def take(self, sentence: Sentence, memory_ids: Iterable[str]) -> None:
        """The summary says a sentence, which is of these sources."""
        self._taken.append(sentence)
        self._said |= sentence.said
        for one in memory_ids:
            self._own[one] |= sentence.said
            self._facts[one] |= stated(sentence.text).facts

    def says(self, sentence: Sentence) -> bool:
        """Whether the summary says nearly that already."""
        return any(repeats(sentence, one) for one in self._taken)

    def quotes(self, text: str) -> bool:
        """Whether the summary says that word for word already."""
        return any(one.text == text for one in self._taken)

    def counts(self, source: Source) -> bool:
        """Whether a source is worth keeping, or corrects something; what is neither may be lost."""
        return self.weights.keeps(source.text) or corrects(source.text)

    def share(self, source: Source) -> tuple[int, int]:
        """What those of a source's words are worth that the summary has, and what all of them are; nothing of one that
        is not worth keeping and corrects nothing.

        Of what corrects something its own sentences count alone: it has nearly all words of what it corrects.
        """
        if not self.counts(source):
            return 0, 0
        mine = self._own[source.memory_id] if corrects(source.text) else self._said
        words = read(source.text).content
        kept = Content(*(tuple(stem for stem in some if stem in mine) for some in (words.stated, words.asked)))
        return self.weights.of(kept), self.weights.of(words)

    def has_facts(self, source: Source) -> bool:
        """Whether the summary says each fact of a source, as one of it."""
        return not self.fresh(source, source.text)

    def fresh(self, source: Source, text: str) -> frozenset[object]:
        """The facts that a text of a source's states and the summary does not say of it."""
        left = _facts(text) - self._facts[source.memory_id]
        return left.difference(*self._repeated(source)) if left else left

    def suffices(self, source: Source) -> bool:
        """Whether the summary says enough of a source that may not be lost: half of its worth, and all its facts."""
        said, worth = self.share(source)
        return not worth or (said * PPM >= HALF_PPM * worth and self.has_facts(source))

    def _repeated(self, source: Source) -> Iterable[frozenset[object]]:
        """The facts of those of its sentences that another source's sentence says as well."""
        for start, end in spans(source.text):
            text = source.text[start:end]
            if self.says(Sentence.of(text)):
                yield stated(text).facts
