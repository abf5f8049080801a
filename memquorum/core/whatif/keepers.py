"""Keepers of a namespace's memories under a budget: a policy (`ledger.Ledger`), the fleet's own votes, an oracle.

The oracle knows all future requests. No fast way is known to find the optimum for memories of different sizes,
so it is greedy by a density: memories that are never read again go first, then those with the
lowest density per token. Three densities are tried, and the best counts: by the next read alone, by all future reads
over the time that they take, and by their number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum.core.budgets.items import Item
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.policy import BudgetPolicy

VOTED, ORACLE = "voted", "oracle"
"""Keepers besides the policies: the fleet's own votes, without this budget; and an oracle that knows all future
reads."""
DENSITIES = ("next", "all", "count")
_FAR = np.iinfo(np.int64).max

# The number of evictions that are searched first.
_FEW = 32

Ints = NDArray[np.int64]


class Out(Struct, frozen=True):
    """A memory that went for lack of tokens."""

    memory_id: str
    tokens: int
    why: str


class Keeper(Protocol):
    """Holds the memories of a namespace."""

    def __len__(self) -> int: ...

    def __contains__(self, memory_id: str) -> bool: ...

    @property
    def tokens(self) -> int:
        """The weight of all memories that it holds."""
        ...

    def put(self, item: Item) -> None:
        """Adds a memory."""
        ...

    def used(self, memory_id: str, at: int) -> None:
        """Notes that a memory was used; an unknown one is ignored."""
        ...

    def asked(self, memory_id: str) -> None:
        """Notes that a memory was asked for, whether it is held or not."""
        ...

    def protect(self, memory_id: str, why: str | None) -> None:
        """Protects a memory for a reason, or ends that (None)."""
        ...

    def linked(self, memory_id: str, centrality_ppm: int) -> None:
        """Sets the centrality of a memory."""
        ...

    def remove(self, memory_id: str) -> None:
        """Removes a memory, whatever the reason."""
        ...

    def shed(self, tokens: int, as_of: int, most: int | None) -> tuple[list[Out], Mapping[str, int]]:
        """Removes the memories beyond so many tokens, at most `most`; returns them, and the remaining excess by
        reason."""
        ...


class ByPolicy:
    """Keeps memories by a policy."""

    def __init__(self, name: str, policy: BudgetPolicy, seed: bytes = b"", floors: Sequence[int] = ()) -> None:
        """Makes its `Ledger`. `floors`: the tokens that each type keeps. Raises UnknownPolicy."""
        self._ledger = Ledger(name, policy, seed, floors=floors)
        self.put, self.used, self.protect = self._ledger.put, self._ledger.used, self._ledger.protect

    def __len__(self) -> int:
        return len(self._ledger)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._ledger

    @property
    def tokens(self) -> int:
        """See `Keeper`."""
        return self._ledger.tokens

    def asked(self, memory_id: str) -> None:
        """See `Keeper`: a policy does not learn from memories that it lacks."""

    def linked(self, memory_id: str, centrality_ppm: int) -> None:
        """See `Keeper`."""
        item = self._ledger.get(memory_id)
        if item is not None:
            self._ledger.put(replace(item, centrality_ppm=centrality_ppm))

    def remove(self, memory_id: str) -> None:
        """See `Keeper`."""
        self._ledger.remove(memory_id)

    def shed(self, tokens: int, as_of: int, most: int | None) -> tuple[list[Out], Mapping[str, int]]:
        """See `Keeper`."""
        if self._ledger.tokens <= tokens:
            return [], {}
        plan = self._ledger.evict(tokens, as_of, most=most)
        return [Out(one.memory_id, one.tokens, one.why) for one in plan.goes], plan.excess


class AsVoted:
    """Keeps the memories that the fleet kept: only its own votes remove memories (`replaying` does that)."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._held

    def put(self, item: Item) -> None:
        """See `Keeper`."""
        self.remove(item.memory_id)
        self._held[item.memory_id] = item.tokens
        self.tokens += item.tokens

    def used(self, memory_id: str, at: int) -> None:
        """See `Keeper`."""

    def asked(self, memory_id: str) -> None:
        """See `Keeper`."""

    def protect(self, memory_id: str, why: str | None) -> None:
        """See `Keeper`."""

    def linked(self, memory_id: str, centrality_ppm: int) -> None:
        """See `Keeper`."""

    def remove(self, memory_id: str) -> None:
        """See `Keeper`."""
        self.tokens -= self._held.pop(memory_id, 0)

    def shed(self, tokens: int, as_of: int, most: int | None) -> tuple[list[Out], Mapping[str, int]]:
        """See `Keeper`."""
        return [], {}


class Foresight:
    """Keeps memories as the oracle, by one of `DENSITIES`."""

    def __init__(self, density: str, asked: Mapping[str, Sequence[int]], items: Mapping[str, Item]) -> None:
        """`asked`: when each memory is asked for, in order; `items`: all memories that will ever come."""
        measures = {"next": self._next, "all": self._all, "count": self._count}
        self._measure: Callable[[Ints, int], NDArray[np.float64]] = measures[density]
        names = sorted(items)
        self._row = {memory_id: at for at, memory_id in enumerate(names)}
        self._names = names
        self._asked = [asked.get(memory_id, ()) for memory_id in names]
        self._tokens = np.array([max(1, items[one].tokens) for one in names], np.int64)
        self._due = np.array([times[0] if times else _FAR for times in self._asked], np.int64)
        self._last = np.array([times[-1] if times else 0 for times in self._asked], np.int64)
        self._left = np.array([len(times) for times in self._asked], np.int64)
        self._here = np.zeros(len(names), np.bool_)
        self._free = np.ones(len(names), np.bool_)
        self._many = 0
        self._why: dict[str, str] = {}
        self.tokens = 0

    def __len__(self) -> int:
        return self._many

    def __contains__(self, memory_id: str) -> bool:
        at = self._row.get(memory_id)
        return at is not None and bool(self._here[at])

    def put(self, item: Item) -> None:
        """See `Keeper`."""
        at = self._row[item.memory_id]
        if not self._here[at]:
            self._here[at] = True
            self._many += 1
            self.tokens += int(self._tokens[at])
        self.protect(item.memory_id, item.protected)

    def used(self, memory_id: str, at: int) -> None:
        """See `Keeper`: the oracle knew it."""

    def asked(self, memory_id: str) -> None:
        """See `Keeper`."""
        at = self._row.get(memory_id)
        if at is not None and self._left[at]:
            times = self._asked[at]
            self._left[at] -= 1
            self._due[at] = times[len(times) - int(self._left[at])] if self._left[at] else _FAR

    def protect(self, memory_id: str, why: str | None) -> None:
        """See `Keeper`."""
        at = self._row.get(memory_id)
        if at is not None:
            self._free[at] = why is None
            self._why.pop(memory_id, None)
            if why is not None:
                self._why[memory_id] = why

    def linked(self, memory_id: str, centrality_ppm: int) -> None:
        """See `Keeper`."""

    def remove(self, memory_id: str) -> None:
        """See `Keeper`."""
        at = self._row.get(memory_id)
        if at is not None and self._here[at]:
            self._here[at] = False
            self._many -= 1
            self.tokens -= int(self._tokens[at])

    def shed(self, tokens: int, as_of: int, most: int | None) -> tuple[list[Out], Mapping[str, int]]:
        """See `Keeper`."""
        if self.tokens <= tokens:
            return [], {}
        free = np.flatnonzero(self._here & self._free)
        some = free[self._left[free] == 0]
        if self.tokens - int(self._tokens[some].sum()) > tokens:
            some = free  # removing all that are never read again is not enough
        # Among equals the largest goes first, then the one with the lowest id.
        worth, sizes = self._measure(some, as_of), self._tokens[some]
        most = len(some) if most is None else min(most, len(some))
        # Usually few go at a time: the first are found without sorting all.
        order = some[_lowest(worth, -sizes, min(most, _FEW))]
        if len(order) < most and self.tokens - int(self._tokens[order].sum()) > tokens:
            order = some[_lowest(worth, -sizes, most)]
        gone = list[Out]()
        for at in order.tolist():
            if self.tokens <= tokens:
                break
            gone.append(Out(self._names[at], int(self._tokens[at]), ORACLE))
            self.remove(self._names[at])
        return gone, {}

    def _next(self, some: Ints, as_of: int) -> NDArray[np.float64]:
        wait = np.maximum(1, self._due[some] - as_of).astype(np.float64)
        return np.where(self._left[some] > 0, 1 / (wait * self._tokens[some]), 0.0)

    def _all(self, some: Ints, as_of: int) -> NDArray[np.float64]:
        wait = np.maximum(1, self._last[some] - as_of).astype(np.float64)
        return self._left[some] / (wait * self._tokens[some])

    def _count(self, some: Ints, as_of: int) -> NDArray[np.float64]:
        return self._left[some] / self._tokens[some]


def _lowest(first: NDArray[Any], second: NDArray[Any], count: int) -> Ints:
    """Returns the indices of the lowest by `first`, then by `second`, then by index, in that order."""
    places: Ints = np.arange(len(first))
    for key in (first, second):
        if count < len(places):
            values = key[places]
            places = places[values <= np.partition(values, count - 1)[count - 1]]
            if key is first and (first[places] != first[places[0]]).any():
                break  # with several values of the first key the second does not decide
    return places[np.lexsort((places, second[places], first[places]))][:count]


class Setting(Struct, frozen=True):
    """A setting of a replay: a policy by name (or `VOTED`, or `ORACLE` with a density), and a budget in tokens; None:
    no budget.

    `seed`: of `random`.
    """

    policy: str
    tokens: int | None
    seed: int = 0
    density: str = ""
