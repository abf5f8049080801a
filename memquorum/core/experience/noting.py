"""Chooses which of the memories given to a task its record names.

A search returns as many as it may, also if few have to do with the question, and erasing one of them erases the tasks
that name it. So a memory far behind the best of its answer is named only if the record has content of it; otherwise the
record keeps nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memquorum.core.reading.content import stems_of

NEAR = 0.5
"""The share of the best cosine that the others need to be named in any case; docs/measured/experience-measured.md shows
what that leaves out, row `nearness`."""
_MANY = 2


def far(cosines: Sequence[float], share: float = NEAR) -> tuple[bool, ...]:
    """Returns for each memory of an answer whether it is far behind the best, by the cosines to the question; those
    without similarity are, too. `share`: of the best one's cosine; 0: none is far."""
    least = share * max(cosines, default=0.0)
    return tuple(share > 0 and (cosine < least or cosine <= 0) for cosine in cosines)


def speaks_of(record: Iterable[str], memory: str, asked: Iterable[str]) -> bool:
    """Whether a record says something of a memory: a name or a number of it, or two of its words, which stand in
    nothing that was asked. Any capital letter makes a name here, since naming too much is the lesser mistake."""
    words = _words(memory)
    new = (words.keys() & _all(record)) - _all(asked)
    return len(new) >= _MANY or any(words[stem] for stem in new)


def _all(texts: Iterable[str]) -> set[str]:
    return {stem for text in texts for stem in _words(text)}


def _words(text: str) -> dict[str, bool]:
    """The stems of a text, and whether they are of a name or a number there."""
    found: dict[str, bool] = {}
    for word in "".join(one if one.isalnum() else " " for one in text).split():
        marked = word[0].isupper() or not word.isalpha()
        for stem in stems_of(word.casefold()):
            found[stem] = found.get(stem, False) or marked
    return found
