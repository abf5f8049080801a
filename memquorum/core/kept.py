"""A mapping with bounds, which drops the values that were used longest ago."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(MutableMapping[K, V]):
    """Bounds the number of values and their size.

    A few thousand texts of one sentence take a megabyte, and as many of the longest that anybody may write gigabytes.
    """

    def __init__(self, of: Callable[[V], int], size: int, most: int | None = None) -> None:
        """`size`: of all values, in whatever unit `of` measures one. `most`: how many; None for any number. A value
        larger than `size` is not kept."""
        self._most, self._room, self._of = most, size, of
        self._held: OrderedDict[K, V] = OrderedDict()
        self.size = 0

    def __getitem__(self, key: K) -> V:
        value = self._held[key]
        self._held.move_to_end(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        self._held[key] = value
        self.size += self._of(value)
        while self._full():
            del self[next(iter(self._held))]

    def __delitem__(self, key: K) -> None:
        self.size -= self._of(self._held.pop(key))

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def _full(self) -> bool:
        return self.size > self._room or (self._most is not None and len(self._held) > self._most)

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._held))  # a read moves its key to the end

    def __len__(self) -> int:
        return len(self._held)
