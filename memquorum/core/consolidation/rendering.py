"""The text of a summary: each section under its heading, a sentence to a line; and read back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from memquorum.core.consolidation.sections import FACTS, HEADINGS
from memquorum.core.reading.passages import passages
from memquorum.core.records import Quote

_HEADED = frozenset(HEADINGS.values())


def render(quotes: Sequence[Quote], texts: Mapping[str, str], written: Sequence[str] = ()) -> str:
    """The content of a summary of these sentences, in their order: word for word, or as a model wrote them.

    `texts`: of their sources; `written`: the model's sentences, by `Quote.sentence`. A summary of facts alone has no
    heading.
    """
    return "\n".join(_lines(quotes, texts, written))


def written(text: str, quotes: Sequence[Quote], texts: Mapping[str, str]) -> tuple[str, ...] | None:
    """The sentences that a model wrote in a summary's text; None where it is not the text of these sentences, or one is
    of another source."""
    if not all(one.memory_id in texts for one in quotes):
        return None
    count = len({one.sentence for one in quotes} - {None})
    marks = [f"\0{at}" for at in range(count)]
    lines, expected = text.split("\n"), list(_lines(quotes, texts, marks))
    if len(lines) != len(expected):
        return None
    found = dict(zip(expected, lines, strict=True))
    sentences = tuple(found.get(mark, "") for mark in marks)
    return sentences if text == render(quotes, texts, sentences) else None


def grouped(quotes: Sequence[Quote]) -> Iterator[tuple[Quote, ...]]:
    """The sources of each sentence, in their order: one of a verbatim sentence, one or more of a model's."""
    for sentence, of_it in groupby(quotes, key=lambda one: one.sentence):
        if sentence is None:
            yield from ((one,) for one in of_it)
        else:
            yield tuple(of_it)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a summary, in the order of its text: each line that is no heading."""
    return tuple(line for line in text.split("\n") if line and line not in _HEADED)


def embedded_texts(text: str, *, summary: bool) -> tuple[str, ...]:
    """Returns the texts of a memory that get a vector each: its text, and below it each sentence of a summary, or each
    passage of a long text."""
    return (text, *(sentences(text) if summary else (text[start:end] for start, end in passages(text))))


def excerpt(text: str, places: Collection[int]) -> str:
    """Those sentences of a summary, in the order of its text, a line each; all of it where it has no others."""
    lines = sentences(text)
    said = [line for place, line in enumerate(lines) if place in places]
    return text if not said or len(said) == len(lines) else "\n".join(said)


def _lines(quotes: Sequence[Quote], texts: Mapping[str, str], written: Sequence[str]) -> Iterator[str]:
    headed = any(one.section != FACTS for one in quotes)
    for name, of_it in groupby(grouped(quotes), key=lambda one: one[0].section):
        if headed:
            yield HEADINGS.get(name, f"{name}:")
        for first, *_ in of_it:
            if first.sentence is None:
                yield texts[first.memory_id][first.start : first.end]
            else:
                yield written[first.sentence] if 0 <= first.sentence < len(written) else ""


def read_back(text: str, quotes: Sequence[Quote]) -> tuple[str, ...]:
    """Returns the sentences of a summary that `render` made of these quotes, in their order; empty if it was made
    otherwise."""
    rest = text.split("\n")
    found: list[str] = []
    for name, of_it in groupby(quotes, key=lambda one: one.section):
        if name != FACTS or any(one.section != FACTS for one in quotes):
            del rest[:1]
        for one in of_it:
            if not rest or len(rest[0]) != one.end - one.start:
                return ()
            found.append(rest.pop(0))
    return () if rest else tuple(found)
