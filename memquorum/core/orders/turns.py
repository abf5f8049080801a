"""The order of open requests: the first of each namespace before the second of any.

A request whose memories cannot be nominated yet stays open for as long as a grace time. If the oldest came first
whatever their namespace, a few such requests of one namespace would keep all others of the shard from being voted on
until their memories' keys are gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Request = TypeVar("Request")

# The number of requests of one namespace in the result, as waiting ones are checked again at each tick. Enough for a
# few that have to wait; those behind them come up as they are answered.
OF_NAMESPACE = 32
# The number of requests in all, for the same reason: each costs a check of a signature, and one to forget a few queries
# of the store. First requests come first, so none is left out before so many namespaces have one waiting.
MOST = 256


def in_turn(
    requests: Iterable[Request], whose: Callable[[Request], Hashable], each: int = OF_NAMESPACE
) -> list[Request]:
    """Returns the requests by their place among those of the same asker, then as they came; at most `each` of one
    asker."""
    places, found = Counter[Hashable](), list[tuple[int, Request]]()
    for request in requests:
        asker = whose(request)
        if places[asker] < each:
            found.append((places[asker], request))
        places[asker] += 1
    return [request for _, request in sorted(found, key=lambda one: one[0])][:MOST]
