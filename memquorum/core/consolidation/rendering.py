"""The text of a summary: each section under its heading, a sentence to a line, word for word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
