"""An upper bound of the reads that any policy can serve within a budget, in the manner of PFOO.

Each read needs its memory to be held since it came, or since its last read, through some epochs, at its weight in each.
The bound ignores that memories compete at every epoch and lets all reads share the sum of the room: the cheapest are
served until that sum is used up (Berger, Beckmann, Harchol-Balter 2018, PFOO-U; here an evicted memory does not come
back, which the bound can ignore).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from memquorum.core.whatif.replaying import Demand


def most_hits(demand: Demand, arrivals: dict[str, int], tokens: int) -> float:
    """Returns the most reads, of those known, that a budget of so many tokens can serve.

    `arrivals`: the time when each memory came, or was put under the budget. Memories that may not go, or not yet, are
    held beyond the budget: at each epoch the room is what the fullest setting held, if that is more.
    """
    # Memories held after the last read serve no read.
    last = bisect_left(demand.epochs, max((times[-1] for times in demand.times.values()), default=0))
    room = float(sum(max(tokens, held) for held in demand.held[:last]))
    costs = []
    for memory_id, times in demand.times.items():
        since = bisect_right(demand.epochs, arrivals.get(memory_id, 0))
        for at in times:
            until = bisect_left(demand.epochs, at)
            costs.append(max(0, until - since) * demand.items[memory_id].tokens)
            since = bisect_right(demand.epochs, at)
    served = 0.0
    for cost in sorted(costs):
        if cost > room:
            return served + room / cost
        room -= cost
        served += 1
    return served
