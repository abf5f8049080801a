"""Tells whether a summary says what its sources say (SPEC C), by rules that all share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from memquorum.core.consolidation.paraphrase import refused
from memquorum.core.consolidation.rendering import grouped
from memquorum.core.consolidation.sections import HEADINGS, section
from memquorum.core.consolidation.weighing import MOST, Weights
from memquorum.core.reading.sentences import spans
from memquorum.core.records import Quote

NEVER: Final[Mapping[str, int]] = MappingProxyType({})
"""No source was said again."""


def faithful(
    quotes: Sequence[Quote],
    texts: Mapping[str, str],
    times: Mapping[str, int],
    written: Sequence[str] = (),
    again: Mapping[str, int] = NEVER,
) -> bool:
    """Whether each sentence is one of its source, word for word and whole, or says what its sources say; said when that
    was, in the section that the rules give it, and none twice. `texts`, `times`: of the sources, by their ids.
    `written`: what a model wrote; where it wrote anything, as many sources stand there word for word beside it as
    are worth keeping, up to three. `again`: until when sources were said again; who made the summary may have heard
    some of these sayings."""
    if not quotes or not all(one.memory_id in texts and _said_then(one, times, again) for one in quotes):
        return False
    said = list(grouped(quotes))
    places = [one for one in quotes if one.sentence is None]
    if len({(one.memory_id, one.start, one.end) for one in places}) != len(places):
        return False
    if [one[0].sentence for one in said if one[0].sentence is not None] != list(range(len(written))):
        return False
    places_of = {memory_id: frozenset(spans(text)) for memory_id, text in texts.items()}
    if not all(_says(one, texts, written, places_of) for one in said):
        return False
    placed = [place(one) for one in said]
    return placed == sorted(placed) and (not written or _whole(places, texts) >= _kept(texts))


def _said_then(quote: Quote, times: Mapping[str, int], again: Mapping[str, int]) -> bool:
    first = times[quote.memory_id]
    return first <= quote.at <= again.get(quote.memory_id, first)


def place(sources: Sequence[Quote]) -> tuple[int, int, str, int, int]:
    """Returns the sort key of a summary's sentence: its section, then the time, memory and place where it was said
    first."""
    first = sources[0]
    number = -1 if first.sentence is None else first.sentence
    return list(HEADINGS).index(first.section), first.at, first.memory_id, first.start, number


def _says(
    sources: Sequence[Quote],
    texts: Mapping[str, str],
    written: Sequence[str],
    places: Mapping[str, frozenset[tuple[int, int]]],
) -> bool:
    """Whether a sentence is its source's, or may stand for its sources; and stands in its section. `places`: where the
    sentences of each source stand."""
    first = sources[0]
    if first.sentence is None:
        text = texts[first.memory_id]
        said, holds = text[first.start : first.end], (first.start, first.end) in places[first.memory_id]
    else:
        said, ids = written[first.sentence], [one.memory_id for one in sources]
        whole = all((one.start, one.end) == (0, len(texts[one.memory_id])) for one in sources)
        holds = whole and len(set(ids)) == len(ids) and said == said.strip() and said not in HEADINGS.values()
        holds = holds and refused(said, [texts[one] for one in ids]) is None
    return holds and {section(said)} == {one.section for one in sources}


def _kept(texts: Mapping[str, str]) -> int:
    """Returns how many sources have to be quoted whole."""
    weights = Weights(texts.values())
    return min(MOST, sum(map(weights.keeps, texts.values())))


def _whole(quotes: Sequence[Quote], texts: Mapping[str, str]) -> int:
    """Returns how many sources are quoted word for word, from beginning to end; a sentence that two share may be quoted
    from either."""
    quoted = {texts[one.memory_id][one.start : one.end] for one in quotes}
    return sum(all(text[start:end] in quoted for start, end in spans(text)) for text in texts.values())
