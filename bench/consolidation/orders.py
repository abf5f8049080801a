"""Plain rules that choose sentences, beside the one that is shipped: each fills the same share of the tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from memquorum.core.consolidation.rendering import render
from memquorum.core.consolidation.sections import HEADINGS, section
from memquorum.core.consolidation.weighing import Weights
from memquorum.core.policy import PPM
from memquorum.core.reading.content import content
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import Quote
from memquorum.ports import Source


class Sentence(Struct, frozen=True):
    """A sentence of a source, with what its words are worth among the sources."""

    source: Source
    start: int
    end: int
    worth: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


Order = Callable[[Sentence], tuple[object, ...]]


def _drawn(one: Sentence) -> tuple[object, ...]:
    return (hashlib.sha256(f"{one.source.memory_id} {one.start}".encode()).digest(),)


ORDERS: Mapping[str, Order] = {
    "the first": lambda one: (one.source.at, one.source.memory_id, one.start),
    "drawn by lot": _drawn,
    "the longest": lambda one: (-tokens(one.text), one.source.at, one.source.memory_id, one.start),
    "worth alone": lambda one: (-one.worth * PPM // tokens(one.text), one.source.at, one.source.memory_id, one.start),
}
"""By what sentences are taken."""


class Plain:
    """Takes sentences in an order, each that still fits, and looks at nothing else."""

    def __init__(self, order: str) -> None:
        """`order`: its name."""
        self.name = f"plain/{order}"
        self._order = ORDERS[order]

    def summarise(self, sources: Sequence[Source], share_ppm: int) -> tuple[str, tuple[Quote, ...]] | None:
        """As the port has it."""
        weights = Weights([one.text for one in sources])
        given = [
            Sentence(one, start, end, weights.of(content(one.text[start:end])))
            for one in sources
            for start, end in spans(one.text)
        ]
        budget = sum(tokens(one.text) for one in sources) * share_ppm // PPM
        taken = []
        for one in sorted(given, key=self._order):
            if (cost := tokens(one.text)) <= budget:
                taken.append(one)
                budget -= cost
        places = list(HEADINGS)
        quotes = sorted(
            (Quote(one.source.memory_id, one.start, one.end, section(one.text), one.source.at) for one in taken),
            key=lambda one: (places.index(one.section), one.at, one.memory_id, one.start),
        )
        return (render(quotes, {one.memory_id: one.text for one in sources}), tuple(quotes)) if quotes else None
