"""A summary and its sources are never served together: the one that answers better is served for both (SPEC C).

Both are alive where nothing is sealed by a summary, or where a source was restored; and of what is found by several
questions one may have come in the other's place between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct


class Support(Struct, frozen=True):
    """A memory, and a summary of it."""

    summary: str
    source: str


def told_otherwise(memory_ids: Sequence[str], found: Iterable[Support]) -> frozenset[str]:
    """Returns the memories, of a list best first, that repeat one before them: one of a summary and its source."""
    place = {memory_id: at for at, memory_id in enumerate(memory_ids)}
    left: set[str] = set()
    both = (one for one in found if one.summary in place and one.source in place)
    for one in sorted(both, key=lambda one: min(place[one.summary], place[one.source])):
        first, second = sorted((one.summary, one.source), key=place.__getitem__)
        if first not in left:
            left.add(second)
    return frozenset(left)
