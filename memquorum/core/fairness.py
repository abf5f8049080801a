"""The order in which records of many namespaces are let in, and how many may be on their way (docs/operate/tenants.md).

`Fair` is start-time fair queueing: each namespace has a queue, its records keep their order, and the queue is served
next whose first record would have begun first, had each namespace an equal share. So one record of a namespace that
said little waits for at most one record of each other namespace, however many these have, and no share lies idle.

`Window` says how much may be on its way: what those behind finish in `TARGET_S`, as they were seen to. A fair order of
what waits is worth nothing where a queue in order of arrival stands behind it that is minutes long.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

TARGET_S = 1.5
"""Seconds that the records in progress should take the stages behind."""
LEAST, MOST = 48, 20_000
"""Bounds of the window, in units of cost."""
_STALLED_S = 5.0
_SAMPLE_S = 0.25
_REACH_S = 2.0
# A text is encoded whole, in passages, so it costs by its length: some 7 ms of processor a unit, as a short record.
_COST_FREE, _COST_BYTES, _COST_MOST = 256, 128, 640


def cost(size: int) -> int:
    """Returns the cost, for the stages behind, of a record of so many bytes; texts have a largest size, so costs are
    bounded."""
    return min(1 + max(0, size - _COST_FREE) // _COST_BYTES, _COST_MOST)


@dataclass(slots=True)
class _Queue(Generic[T]):
    items: deque[tuple[int, T]] = field(default_factory=deque)
    finished: float = 0.0


class Fair(Generic[T]):
    """Queues by namespace, served in equal shares of cost."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue[T]] = {}
        # A heap of the waiting namespaces: (the served cost at which its first record begins, order of arrival, name).
        self._heads: list[tuple[float, int, str]] = []
        self._now, self._turn, self._count = 0.0, 0, 0

    def __iter__(self) -> Iterator[T]:
        """All that wait, each namespace's in order."""
        return (item for queue in self._queues.values() for _, item in queue.items)

    def __len__(self) -> int:
        """The number of records that wait."""
        return self._count

    @property
    def namespaces(self) -> int:
        """The number of namespaces that wait."""
        return len(self._heads)

    def waits(self, namespace: str) -> bool:
        """Whether a record of the namespace waits."""
        found = self._queues.get(namespace)
        return found is not None and bool(found.items)

    def put(self, namespace: str, units: int, item: T) -> None:
        """Comes last in its namespace."""
        queue = self._queues.setdefault(namespace, _Queue())
        queue.items.append((units, item))
        self._count += 1
        if len(queue.items) == 1:
            self._head(namespace, queue)

    def put_behind(self, namespace: str, units: int, item: T, one: Callable[[T], bool]) -> bool:
        """Comes right behind the last of its namespace that is such a one; False, and nothing is put, without one."""
        queue = self._queues.get(namespace)
        at = max((at for at, (_, there) in enumerate(queue.items) if one(there)), default=-1) if queue else -1
        if queue is None or at < 0:
            return False
        queue.items.insert(at + 1, (units, item))
        self._count += 1
        return True

    def peek(self) -> int:
        """Returns the cost of the next record. Raises IndexError where none waits."""
        return self._queues[self._heads[0][2]].items[0][0]

    def pop(self) -> T:
        """The next one. Raises IndexError where none waits."""
        began, _, namespace = heapq.heappop(self._heads)
        queue = self._queues[namespace]
        units, item = queue.items.popleft()
        self._count -= 1
        self._now, queue.finished = began, began + units
        if queue.items:
            self._head(namespace, queue)
        if not self._heads:
            self._queues.clear()
            self._now = 0.0
        return item

    def drop(self, gone: Callable[[T], bool]) -> list[T]:
        """Takes out what is `gone`."""
        dropped = [item for item in self if gone(item)]
        if dropped:
            kept = {name: [one for one in queue.items if not gone(one[1])] for name, queue in self._queues.items()}
            self._queues, self._heads, self._now, self._count = {}, [], 0.0, 0
            for namespace, items in kept.items():
                for units, item in items:
                    self.put(namespace, units, item)
        return dropped

    def _head(self, namespace: str, queue: _Queue[T]) -> None:
        self._turn += 1
        heapq.heappush(self._heads, (max(self._now, queue.finished), self._turn, namespace))


class Window:
    """Bounds the records in progress, in units of cost. Times are seconds of a clock that only runs forward."""

    def __init__(self, now_s: float) -> None:
        self.size = float(LEAST)
        # While records wait: when, and how much those behind had finished by then.
        self._samples: deque[tuple[float, int]] = deque()
        self._done, self._moved, self._given = 0, now_s, 0.0

    @property
    def limit(self) -> float:
        """The units of cost that may be in progress now."""
        return self.size + self._given

    def holds(self, out: int, units: int) -> bool:
        """Whether so much may be on its way with the next one, which costs `units`: that alone always may, or a text
        that costs more than the window holds would never be let in."""
        return out <= max(self.limit, units)

    def saw(self, finished: int, waits: bool, now_s: float) -> None:
        """Notes that the stages behind have finished so much more since the last call. `waits`: records wait for room.

        If nothing is finished for `_STALLED_S`, they may be away for hours: waiting records then go on slowly, since
        they are safest in the stream that they go to. It is as if so much had been finished.
        """
        self._done += finished
        if finished or not waits:
            self._moved, self._given = now_s, 0.0
        elif now_s - self._moved >= _STALLED_S:
            self._moved, self._given = now_s, self._given + LEAST
        if not waits:
            # Their speed is measured again each time: it depends on the texts, and on the other load of the machine.
            self._samples.clear()
            self.size = float(LEAST)
            return
        if self._samples and now_s - self._samples[-1][0] < _SAMPLE_S:
            return
        self._samples.append((now_s, self._done))
        while len(self._samples) > 2 and now_s - self._samples[1][0] >= _REACH_S:
            self._samples.popleft()
        (began, before), (ended, after) = self._samples[0], self._samples[-1]
        if ended - began >= _SAMPLE_S and after > before:
            wanted = TARGET_S * (after - before) / (ended - began)
            self.size = max(LEAST, min(wanted, 2 * self.size, MOST))
