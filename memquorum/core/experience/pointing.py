"""Points at the place in a memory's text that supports or contradicts the result of a finished task, for people to see
(SPEC E).

The rule `reward` judges a text as a whole. Here the fewest sentences in a row, three at most, are looked for that give
the same judgement: a text that speaks of a port in one sentence and names it in the next needs both. The first such
place counts. It decides nothing, and is worked out of what the reader may read.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from memquorum.core.experience.reward import Reach
from memquorum.core.reading.sentences import spans

LONGEST = 2_000
"""The longest text or outputs, in characters, that are looked at: each sentence is compared with each."""
_RUN_MOST = 3

Span = tuple[int, int]
"""The first character, and the one behind the last."""


class Pointed(Struct, frozen=True):
    """The places in a text where the result of a task is supported and contradicted; None if there is no such place."""

    bears_out: Span | None = None
    contradicts: Span | None = None


NOWHERE = Pointed()


def pointed(goal: str, inputs: str, outputs: str, text: str) -> Pointed:
    """Finds where a memory's text supports or contradicts the result of a task with this goal, inputs and outputs."""
    if max(len(outputs), len(text)) > LONGEST:
        return NOWHERE
    reach = Reach()
    whole = reach.stands(goal, inputs, outputs, text)
    places: list[Span | None] = [None, None]
    for start, end in _runs(text):
        # A part counts only where the whole text gives the same judgement.
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
    there = spans(text)
    for length in range(1, _RUN_MOST + 1):
        for first, last in zip(there, there[length - 1 :], strict=False):
            yield first[0], last[1]
