"""Orders of eviction, kept up to date as memories come, are used and go.

| order | add, drop | the next one |
|---|---|---|
| `InOrder`: by a time that mostly grows | O(1); of what comes late O(log late) | O(1) |
| `Drawn`: by lot | O(log n) | O(log n) |
| `Fading`: by a value of which a part fades | O(log n) | O(log n), and once at each time O(steps) |

`Fading` has to keep its order while time passes: the value of each memory is `a + r·e^(−λ·age)`, and memories overtake
each other as r fades. Memories whose r/w·e^(λ·last use) lies within one step of 1 % share a step: within a step the
order never changes, so each step is a heap, and the next memory is the least of their heads. The number of steps is
that of 1 % steps between the largest and the smallest r that still counts, however many memories are stored. So an
order is exact to a hundredth of the fading part.
"""

from __future__ import annotations

import heapq
import hmac
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Protocol

from memquorum.core.budgets.items import LN2_PPM, Item
from memquorum.core.policy import PPM
from memquorum.core.worth import ln_ppm

STEP_PPM = 10_000
"""One step of `Fading`, in millionths of an e-fold."""
COLD = 2_200
"""The number of steps below 1 after which the fading part is negligible."""

Rank = tuple[int, ...]


class Order(Protocol):
    """An order of eviction."""

    def add(self, item: Item, named: bool = False) -> None:
        """Adds a memory that is not in it. `named`: it was to go at the last plan already."""
        ...

    def drop(self, memory_id: str) -> None:
        """Removes a memory, if it is in it."""
        ...

    def first(self, as_of: int) -> tuple[Rank | tuple[bytes], str] | None:
        """Returns the rank and the id of the next one, or None. Times may not fall from call to call."""
        ...


class InOrder:
    """Orders by a time, the lowest first; ties by id."""

    def __init__(self, key: Callable[[Item], int]) -> None:
        self._key = key
        self._line: OrderedDict[str, int] = OrderedDict()
        self._late: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []

    def add(self, item: Item, named: bool = False) -> None:
        """See `Order`."""
        at, memory_id = self._key(item), item.memory_id
        if not self._line or (at, memory_id) > self._end(last=True):
            self._line[memory_id] = at
        elif (at, memory_id) < self._end(last=False):
            self._line[memory_id] = at
            self._line.move_to_end(memory_id, last=False)
        else:
            self._late[memory_id] = at
            heapq.heappush(self._heap, (at, memory_id))

    def drop(self, memory_id: str) -> None:
        """See `Order`."""
        if self._line.pop(memory_id, None) is None:
            self._late.pop(memory_id, None)
            if len(self._heap) > 2 * len(self._late) + 64:
                self._heap = [(at, known) for known, at in self._late.items()]
                heapq.heapify(self._heap)

    def first(self, as_of: int) -> tuple[Rank, str] | None:
        """See `Order`."""
        while self._heap and self._late.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        found = self._heap[0] if self._heap else None
        if self._line:
            head = self._end(last=False)
            found = head if found is None else min(head, found)
        return None if found is None else ((found[0],), found[1])

    def _end(self, *, last: bool) -> tuple[int, str]:
        memory_id = next(reversed(self._line) if last else iter(self._line))
        return self._line[memory_id], memory_id


class Drawn:
    """Orders by lot: by the HMAC-SHA-256 of a memory's id under a seed. The memories that remain are a fair sample."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._in: set[str] = set()
        self._heap: list[tuple[bytes, str]] = []

    def add(self, item: Item, named: bool = False) -> None:
        """See `Order`."""
        self._in.add(item.memory_id)
        heapq.heappush(self._heap, (self._lot(item.memory_id), item.memory_id))

    def drop(self, memory_id: str) -> None:
        """See `Order`."""
        self._in.discard(memory_id)
        if len(self._heap) > 2 * len(self._in) + 64:
            self._heap = [(self._lot(known), known) for known in self._in]
            heapq.heapify(self._heap)

    def first(self, as_of: int) -> tuple[tuple[bytes], str] | None:
        """See `Order`."""
        while self._heap and self._heap[0][1] not in self._in:
            heapq.heappop(self._heap)
        return ((self._heap[0][0],), self._heap[0][1]) if self._heap else None

    def _lot(self, memory_id: str) -> bytes:
        return hmac.digest(self._seed, memory_id.encode(), "sha256")


Entry = tuple[int, int, str, int]
"""The lasting part, the creation time, the id, and the number of this entry."""


class Fading:
    """Orders by a value with a fading part, the lowest first; ties by age, the oldest first, then by id."""

    def __init__(
        self, parts: Callable[[Item], tuple[int, int]], half_life_ms: int, *, divided: bool, band_ppm: int = 0
    ) -> None:
        """`parts`: of a memory, the lasting part and θ of its recency, both in millionths; `divided`: by its tokens;
        `band_ppm`: the reduction for memories that were named before."""
        self._parts, self._half_life_ms, self._divided, self._band_ppm = parts, half_life_ms, divided, band_ppm
        self._steps: dict[int | None, list[Entry]] = {}
        self._numbers: dict[str, int] = {}
        self._number = 0
        self._entries = 0
        # For the current time step: (value, entry, its step).
        self._now: int | None = None
        self._heads: list[tuple[int, int, str, int, int | None]] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, item: Item, named: bool = False) -> None:
        """See `Order`."""
        self.enter(item, *self._parts(item), named)

    def enter(self, item: Item, lasting: int, theta: int, named: bool) -> None:
        """Adds a memory as `add` does, for a caller that knows its parts."""
        tokens = item.tokens if self._divided else 1
        value, step = lasting * PPM // tokens, None
        if theta > 0:
            step = (ln_ppm(theta) - ln_ppm(tokens) + self._efolds(item.last_access)) // STEP_PPM
        if named:
            value -= abs(value) * self._band_ppm // PPM
            step = None if step is None else step - self._band_ppm // STEP_PPM
        if step is not None and self._now is not None and self._now - step > COLD:
            step = None
        self._number += 1
        entry = value, item.created, item.memory_id, self._number
        self._numbers[item.memory_id] = self._number
        heap = self._steps.setdefault(step, [])
        heapq.heappush(heap, entry)
        self._entries += 1
        if self._now is not None and heap[0] is entry:
            self._show(entry, step)

    def drop(self, memory_id: str) -> None:
        """See `Order`."""
        if self._numbers.pop(memory_id, None) is not None and self._entries > 2 * len(self._numbers) + 1024:
            self._compact()

    def first(self, as_of: int) -> tuple[Rank, str] | None:
        """See `Order`. The rank is the value, in millionths of a millionth."""
        now = self._efolds(as_of) // STEP_PPM
        if self._now != now:
            self._look(now)
        while self._heads:
            value, created, memory_id, number, step = self._heads[0]
            if self._numbers.get(memory_id) == number:
                return (value, created), memory_id
            heapq.heappop(self._heads)
            self._head(step)
        return None

    def _efolds(self, at: int) -> int:
        return at * LN2_PPM // self._half_life_ms

    def _look(self, now: int) -> None:
        """Moves to another time step: joins the cold steps, and shows the head of every step."""
        self._now, self._heads = now, []
        for step in [one for one in self._steps if one is not None and now - one > COLD]:
            left, cold = self._steps.pop(step), self._steps.setdefault(None, [])
            if len(left) > len(cold):
                self._steps[None], left, cold = left, cold, left
            for entry in left:
                heapq.heappush(cold, entry)
        for one in list(self._steps):
            self._head(one)

    def _head(self, step: int | None) -> None:
        heap = self._steps.get(step)
        if heap is None:
            return
        while heap and self._numbers.get(heap[0][2]) != heap[0][3]:
            heapq.heappop(heap)
            self._entries -= 1
        if heap:
            self._show(heap[0], step)
        else:
            del self._steps[step]

    def _show(self, entry: Entry, step: int | None) -> None:
        assert self._now is not None
        fades = 0 if step is None else left(self._now - step)
        heapq.heappush(self._heads, (entry[0] + fades, *entry[1:], step))

    def _compact(self) -> None:
        for step, heap in list(self._steps.items()):
            heap[:] = [entry for entry in heap if self._numbers.get(entry[2]) == entry[3]]
            heapq.heapify(heap)
            if not heap:
                del self._steps[step]
        self._entries = len(self._numbers)
        if self._now is not None:
            self._look(self._now)


@lru_cache(maxsize=8192)
def left(steps: int) -> int:
    """Returns e^(−steps · 1 %) in millionths."""
    return int((Decimal(-steps) * STEP_PPM / PPM).exp() * PPM)
