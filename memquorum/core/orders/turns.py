"""Puts open requests in the order of their turns: the first of each namespace before the second of any.

A request of which nothing can be nominated yet stays open for as long as a grace time. If the oldest were told without
a look at whose they are, a few such requests of one namespace would keep all others of the shard from being voted on
until their memories' keys are gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Request = TypeVar("Request")

# What one namespace may have of the answer, for what waits in it is looked at again at each tick. Enough for a few that
# have to wait, and what is behind them comes up as they are done with.
OF_NAMESPACE = 32
# In all, for the same reason: each costs a check of a signature, and one to forget a few questions to the store. First
# requests come first, so nobody is left out before so many namespaces have one waiting.
MOST = 256


def in_turn(
    requests: Iterable[Request], whose: Callable[[Request], Hashable], each: int = OF_NAMESPACE
) -> list[Request]:
    """The requests by their place among those of the same asker, then as they came; at most `each` of one asker."""
    places, found = Counter[Hashable](), list[tuple[int, Request]]()
    for request in requests:
        asker = whose(request)
        if places[asker] < each:
            found.append((places[asker], request))
        places[asker] += 1
    return [request for _, request in sorted(found, key=lambda one: one[0])][:MOST]
