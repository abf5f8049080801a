"""Turns rows into the sentences that can be read, and into the log of patches that roll-ups fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from memquorum.core.consolidation.rendering import read_back
from memquorum.core.consolidation.rollups import sentences
from memquorum.core.contained import Failures
from memquorum.core.records import Patch, Quote
from memquorum.ports import Logged, Span, Uttered

SAID_MOST = 2_000
"""The most of a namespace's latest episodes, and of its summaries, that are read."""
CHARACTERS_MOST = 16_384
"""The longest episode, in characters, whose sentences enter a roll-up."""
LOG_MOST = 50_000
"""The most patches of a namespace that are read; beyond it roll-ups do not change any more."""
_PATCH = 15
"""The number of columns of a row of the log that hold the patch and its place."""
_MEMORY, _SUMMED_UP = 5, 19
"""The columns of a row of the log with the memory of its sentence, and whether that rests because of a summary."""

Quoted = Mapping[Span, tuple[str, Uttered]]
"""The sentences that summaries quote, by position, each with its summary."""


def readable(episodes: Iterable[Sequence[Any]], quotes: Quoted, failures: Failures | None = None) -> list[Uttered]:
    """The sentences of episodes, and those that only summaries say. `episodes`: rows of `rollup_said`. `failures`:
    takes the episodes that cannot be cut into sentences; these yield no sentences."""
    failures, found = failures or Failures(), list[Uttered]()
    for memory_id, text, at, agent, subject in episodes:
        found += failures.answer(
            "sentences", [memory_id], [], sentences, memory_id, text, at=at, agent=agent, subject=subject
        )
    there = {one.span for one in found}
    return found + [one for span, (_, one) in quotes.items() if span not in there]


def quoted(rows: Iterable[Sequence[Any]], failures: Failures | None = None) -> Quoted:
    """Returns the sentences that verbatim summaries quote. `rows`: of `rollup_quotes`. `failures`: takes the summaries
    that cannot be read back, which quote nothing then."""
    failures = failures or Failures()
    found: dict[Span, tuple[str, Uttered]] = {}
    for summary, each in groupby(rows, itemgetter(0)):
        of = list(each)
        quotes = [Quote(*row[2:7]) for row in of]
        lines = failures.answer("summary", [summary], (), read_back, of[0][1], quotes)
        for quote, text, row in zip(quotes, lines, of, strict=False):
            one = Uttered(quote.memory_id, quote.start, quote.end, text, quote.at, row[-2], row[-1])
            found.setdefault(one.span, (summary, one))
    return found


def unread(rows: Iterable[Sequence[Any]]) -> list[str]:
    """The memories of sentences that a summary may quote, as they cannot be read themselves. `rows`: of
    `rollup_log`."""
    return sorted({row[_MEMORY] for row in rows if row[_SUMMED_UP]})


def logged(rows: Iterable[Sequence[Any]], quotes: Quoted) -> list[Logged]:
    """The log. `rows`: of `rollup_log`."""
    return list(_logged(rows, quotes))


def _logged(rows: Iterable[Sequence[Any]], quotes: Quoted) -> Iterator[Logged]:
    for row in rows:
        seq, place, as_of, *patch = row[:_PATCH]
        agent, subject, withheld, text, summed_up, said, said_offset = row[_PATCH:]
        one = Logged(
            seq, place, as_of, Patch(*patch), agent, subject, text, withheld=withheld, summed_up=summed_up,
            said=(said, said_offset),
        )  # fmt: skip
        if one.text is None and one.span in quotes:
            via, uttered = quotes[one.span]
            one = replace(one, text=uttered.text, via=via)
        yield one
