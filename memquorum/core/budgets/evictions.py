"""Follows an order of eviction: takes the memories that go one by one, and lets those enter that may go then.

A `Stock` says what a namespace holds. Its lines give the memories that may go now, by rank; only as many of them are
asked for as go. A stock lies in columns (`at_once`), or is read from a store while the order is followed (`lazily`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from memquorum.core.budgets.lots import AMONG
from memquorum.core.policy import PPM

Rank = tuple[Any, ...]
Entry = tuple[Rank, str, Any]
"""A rank (a group, a value within it, and the creation time), the id, and what the stock knows the memory by."""


class Line:
    """Memories by rank, the lowest first; others enter during the walk."""

    def __init__(
        self, order: Iterator[Entry], of: Callable[[Any], Entry], exposed: Callable[[Any], int] | None, band_ppm: int
    ) -> None:
        """`of`: the entry of a memory that enters. `exposed`: the exposure of a memory where the most exposed of the
        memories near the lowest goes first."""
        self._order, self._of, self._exposed, self._band_ppm = order, of, exposed, band_ppm
        self._late: list[Entry] = []
        # The lowest ones, in order.
        self._window: list[Entry] = []
        self._most = 1 if exposed is None else AMONG
        self._ahead = next(order, None)

    def first(self) -> Entry | None:
        """Returns the next memory: its rank, its id and what it is known by."""
        window = self._window
        while len(window) < self._most and (one := self._pull()) is not None:
            window.append(one)
        if not window:
            return None
        (group, value, created), _, _ = lowest = window[0]
        if self._exposed is None or group < 1:
            return lowest
        edge = value + abs(value) * self._band_ppm // PPM
        found, most = lowest, self._exposed(lowest[2])
        for one in window:
            if one[0][1] > edge:
                break
            if (exposed := self._exposed(one[2])) > most:
                most, found = exposed, one
        return (group, value, created), found[1], found[2]

    def take(self, here: Any) -> None:
        """Removes a memory."""
        for at, one in enumerate(self._window):
            if one[2] == here:
                del self._window[at]
                return

    def enter(self, here: Any) -> None:
        """Adds a memory that may go now."""
        heapq.heappush(self._late, self._of(here))
        # The new one may be lower than those in the window.
        for one in self._window:
            heapq.heappush(self._late, one)
        self._window.clear()

    def _pull(self) -> Entry | None:
        if self._late and (self._ahead is None or self._late[0] < self._ahead):
            return heapq.heappop(self._late)
        ahead, self._ahead = self._ahead, next(self._order, None) if self._ahead is not None else None
        return ahead


class Stock(Protocol):
    """The memories of a namespace as an order of eviction asks for them."""

    def held(self) -> Sequence[int]:
        """Returns the tokens of all memories, by the line that they belong to."""
        ...

    def lines(self) -> Sequence[Line]:
        """Returns the memories that may go: one line for all, or one for each type where types have shares."""
        ...

    def kinds(self) -> Sequence[int]:
        """Returns the tokens of all memories, by type. Asked only where types have floors."""
        ...

    def kind(self, here: Any) -> int:
        """Returns the place of a memory's type. Asked only where types have floors."""
        ...

    def told(self, here: Any) -> tuple[int, int, Sequence[str]]:
        """Returns the tokens of a memory, its line, and the memories that may not go before it."""
        ...

    def supports(self, memory_id: str) -> int:
        """Returns how many memories have to go before this one."""
        ...

    def free(self, memory_id: str) -> tuple[int, Any] | None:
        """Returns the line of a memory and what it is known by; None of one that may not go, or is not held."""
        ...


def above_floors(held: Sequence[int], floors: Sequence[int]) -> list[int]:
    """Returns the tokens by which each type exceeds its floor. `held`: the tokens of each type."""
    return [has - least for has, least in zip(held, floors, strict=True)]


def follow(
    stock: Stock, tokens: int, shares_ppm: Sequence[int], floors: Sequence[int] = ()
) -> Iterator[tuple[str, int]]:
    """Yields the memories that go until the others fit so many tokens, in order, each with its weight. `shares_ppm`:
    the share of each line; none where there is one line for all. `floors`: the tokens that each type keeps."""
    held, lines = list(stock.held()), stock.lines()
    spare = above_floors(stock.kinds(), floors) if floors else []
    supports, total = dict[str, int](), sum(held)
    while total > tokens:
        some = lines
        if shares_ppm:
            over = [one for one, has, share in zip(lines, held, shares_ppm, strict=True) if has * PPM > share * tokens]
            some = over if any(one.first() for one in over) else lines
        found = [(first, line) for line in some if (first := line.first()) is not None]
        if not found:
            return
        (_, memory_id, here), line = found[0] if len(found) == 1 else min(found, key=lambda one: one[0])
        weight, of, needs = stock.told(here)
        line.take(here)
        if spare:
            if weight > spare[kind := stock.kind(here)]:
                continue  # its type keeps it, and so all that it was made of
            spare[kind] -= weight
        total -= weight
        held[of] -= weight
        for parent in needs:
            if parent not in supports:
                supports[parent] = stock.supports(parent)
            supports[parent] -= 1
            if not supports[parent] and (told := stock.free(parent)) is not None:
                lines[told[0]].enter(told[1])
        yield memory_id, weight
