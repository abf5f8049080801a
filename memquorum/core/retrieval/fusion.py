"""Joins two rankings of the same memories, by vectors and by words, into one, by rank: their scores cannot be compared.

A ranking gives a memory (k + 1) / (k + rank): 1 to the first, and little to those far down (reciprocal rank fusion;
Cormack, Clarke and Büttcher 2009, who take k = 60). The smaller k, the more the first places count. `DEFAULTS` holds
the numbers, chosen on LoCoMo and QMSum (docs/use/reading.md).

A question and its answer share few words. So a memory that was found gains a share of the values of its neighbours in
the session, the memories said just before and after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct


class Fusion(Struct, frozen=True):
    """The numbers of a fusion."""

    k: int = 5
    near: float = 1.0
    """The weight of the ranking by vectors."""
    said: float = 1.0
    """The weight of the ranking by words."""
    context: tuple[float, ...] = (0.4, 0.2)
    """The shares of its neighbours' relevance that a memory gains: from the next ones, and from those after them."""


DEFAULTS = Fusion()


def relevance(
    near: Sequence[str], said: Sequence[str], after: Mapping[str, Sequence[str]], given: Fusion = DEFAULTS
) -> dict[str, float]:
    """Returns the relevance of each memory of the two rankings: 1 for the first of both, more if its neighbours were
    found.

    `near`, `said`: ids, best first. `after`: the ids that follow a memory in its session, nearest first.
    """
    return in_context(fused([(near, given.near), (said, given.said)], given.k), after, given.context)


def fused(rankings: Sequence[tuple[Sequence[str], float]], k: int) -> dict[str, float]:
    """Returns the value of each id, in (0, 1], by rankings of (ids best first, weight): 1 for the first of all
    rankings."""
    total = sum(weight for _, weight in rankings)
    found: dict[str, float] = {}
    for ids, weight in rankings:
        for rank, memory_id in enumerate(ids, 1):
            found[memory_id] = found.get(memory_id, 0.0) + weight / total * (k + 1) / (k + rank)
    return found


def in_context(
    found: Mapping[str, float], after: Mapping[str, Sequence[str]], shares: Sequence[float]
) -> dict[str, float]:
    """Each memory's value with its shares of its neighbours' values. A memory that was not found itself gains none."""
    gained = dict(found)
    for memory_id in found:
        for follower, share in zip(after.get(memory_id, ()), shares, strict=False):
            if follower in found:
                gained[memory_id] += share * found[follower]
                gained[follower] += share * found[memory_id]
    return gained


def merged(rankings: Sequence[tuple[Sequence[str], int]]) -> list[str]:
    """One ranking of those of several encoders: (ids nearest first, out of so many memories).

    Cosines of two encoders cannot be compared; what can is the share of an encoder's memories that are as near or
    nearer. Ties go to the ranking that comes first. A memory that changed its encoder meanwhile counts once.
    """
    shares = [
        ((rank + 1) / max(count, len(ids)), at, rank)
        for at, (ids, count) in enumerate(rankings)
        for rank in range(len(ids))
    ]
    return list(dict.fromkeys(rankings[at][0][rank] for _, at, rank in sorted(shares)))
