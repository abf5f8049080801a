"""The text of a summary: each section under its heading, a sentence to a line, word for word."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from memquorum.core.consolidation.sections import FACTS, HEADINGS
from memquorum.core.records import Quote


def render(quotes: Sequence[Quote], texts: Mapping[str, str]) -> str:
    """The content of a summary of these sentences, in their order. `texts`: of their sources. A summary of facts alone
    has no heading."""
    lines: list[str] = []
    for name, of_it in groupby(quotes, key=lambda one: one.section):
        if name != FACTS or any(one.section != FACTS for one in quotes):
            lines.append(HEADINGS.get(name, f"{name}:"))
        lines += (texts[one.memory_id][one.start : one.end] for one in of_it)
    return "\n".join(lines)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a summary, in the order of its text: each line that is no heading."""
    return tuple(line for line in text.split("\n") if line and line not in _HEADED)


def said(text: str, *, summary: bool) -> tuple[str, ...]:
    """What of a memory has a vector of its own: its text, and below it each sentence of a summary."""
    return (text, *sentences(text)) if summary else (text,)


def excerpt(text: str, places: Collection[int]) -> str:
    """Those sentences of a summary, in the order of its text, a line each; all of it where it has no others."""
    lines = sentences(text)
    said = [line for place, line in enumerate(lines) if place in places]
    return text if not said or len(said) == len(lines) else "\n".join(said)


_HEADED = frozenset(HEADINGS.values())
