"""What of a memory's text bears out, or contradicts, what a finished task came to, for people to see (SPEC E).

The rule `reward` judges a text as a whole. Here the fewest sentences in a row, three at most, are looked for of which
it says the same: what speaks of a port in one sentence and names it in the next needs both. The first such place
counts. It decides nothing, and is worked out of what the reader may read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from memquorum.core.experience.reward import Reach

LONGEST = 2_000
"""Of a text, or of outputs, with more characters nothing is told: each sentence is held against each."""
_RUN_MOST = 3
_BREAKS = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")

Span = tuple[int, int]
"""The first character, and the one behind the last."""


class Pointed(Struct, frozen=True):
    """Where in a text what a task came to is borne out, and where it is contradicted; None where it is not."""

    bears_out: Span | None = None
    contradicts: Span | None = None


NOWHERE = Pointed()


def pointed(goal: str, inputs: str, outputs: str, text: str) -> Pointed:
    """Where a memory's text bears out or contradicts what a task with this goal, inputs and outputs came to."""
    if max(len(outputs), len(text)) > LONGEST:
        return NOWHERE
    reach = Reach()
    whole = reach.stands(goal, inputs, outputs, text)
    places: list[Span | None] = [None, None]
    for start, end in _runs(text):
        # What a part says otherwise than the whole text does not count.
        wanted = [at for at in (0, 1) if places[at] is None and whole[at]]
        if not wanted:
            break
        found = reach.stands(goal, inputs, outputs, text[start:end])
        for at in wanted:
            if found[at] & whole[at]:
                places[at] = start, end
    return Pointed(*places)


def _runs(text: str) -> Iterator[Span]:
    """The sentences of a text one by one, then two and three in a row."""
    breaks = [one.span() for one in _BREAKS.finditer(text)]
    starts, ends = [0, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(text)]
    for length in range(1, _RUN_MOST + 1):
        for start, end in zip(starts, ends[length - 1 :], strict=False):
            if text[start:end].strip():
                yield start, end
