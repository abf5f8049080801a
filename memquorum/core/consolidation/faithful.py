"""Tells whether a summary says what its sources say, and how much of their worth (SPEC C), by rules that all share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memquorum.core.consolidation.extractive import Weights
from memquorum.core.consolidation.sections import HEADINGS, section
from memquorum.core.consolidation.sentences import spans
from memquorum.core.policy import PPM
from memquorum.core.records import Quote
from memquorum.core.text.content import content
from memquorum.ports import Source


def verbatim(quotes: Sequence[Quote], texts: Mapping[str, str], times: Mapping[str, int]) -> bool:
    """Whether each is a whole sentence of its source, said when that was, in the section that the rules give it; and
    none stands there twice. `texts`, `times`: of the sources, by their ids."""
    places = [(one.memory_id, one.start, one.end) for one in quotes]
    if len(set(places)) != len(places) or not quotes:
        return False
    for one in quotes:
        text = texts.get(one.memory_id)
        if text is None or (one.start, one.end) not in spans(text) or times[one.memory_id] != one.at:
            return False
        if section(text[one.start : one.end]) != one.section:
            return False
    order = list(HEADINGS)
    placed = [(order.index(one.section), one.at, one.memory_id, one.start) for one in quotes]
    return placed == sorted(placed)


def covered_ppm(quotes: Sequence[Quote], sources: Sequence[Source]) -> int:
    """The share of its sources' worth that a summary covers: of each, what those of its words are worth that are in
    the sentences."""
    texts = {one.memory_id: one.text for one in sources}
    said = frozenset[str]().union(*(content(texts[q.memory_id][q.start : q.end]).stems for q in quotes))
    weights = Weights(sources)
    whole = covered = 0
    for one in sources:
        of_it = content(one.text)
        kept = type(of_it)(
            tuple(stem for stem in of_it.stated if stem in said), tuple(stem for stem in of_it.asked if stem in said)
        )
        whole += weights.of(of_it)
        covered += weights.of(kept)
    return covered * PPM // whole if whole else PPM
