"""The places of memories in an order that a store keeps by keys (`sort_keys`), read from its beginning as far as the
memories asked about: the result of `least`, for a namespace of any size.

A store gives, for each list and step, its memories in order. Those of all steps are merged by their ranks at the time
of the vote. Only the memories that go are looked at, and those that may enter for them.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Protocol

from memquorum.core.budgets.evictions import Entry, Line, above_floors, follow
from memquorum.core.budgets.items import Item, exposure_ppm, place
from memquorum.core.budgets.least import NOWHERE, BudgetPlace, above, most_asked, placed, reach_tokens
from memquorum.core.budgets.sort_keys import (
    BELOW,
    KINDS,
    MOST,
    SCORED,
    UNUSED,
    BudgetKeys,
    Rank,
    Times,
)
from memquorum.core.policy import Budget, BudgetPolicy
from memquorum.ports import Candidate

_LOOKED = 4_096
"""The number of memories that are looked at to tell that one may not go, before it is looked for in the order."""
_LISTS: Mapping[str, Sequence[tuple[int, int]]] = {
    "worth": ((BELOW, 0), (SCORED, 1)),
    "reflection": ((BELOW, 0), (SCORED, 1)),
    "hybrid": ((UNUSED, -1), (BELOW, 0), (SCORED, 1)),
}
"""The lists of a policy, each with its group of ranks; all others have one."""


class Steps(Protocol):
    """The memories that may go, by their keys."""

    def heads(self, line: int) -> Iterable[tuple[int, int]]:
        """Returns the steps of a line, each with the least value in it."""
        ...

    def entries(self, line: int, step: int) -> Iterator[tuple[int, int, str]]:
        """Yields the memories of a step in order: value, creation time and id."""
        ...


class Shelf(Steps, Protocol):
    """The memories of a namespace, or of a shard, by their keys. It only knows memories that are alive."""

    def held(self) -> Sequence[int]:
        """Returns the tokens of all memories, by type."""
        ...

    def values(self, line: int, step: int, above: int) -> Iterator[int]:
        """Yields the values of a step that lie above one, in order."""
        ...

    def run(self, line: int, step: int, value: int) -> Iterator[str]:
        """Yields the ids of the memories of a step with a value, in order."""
        ...

    def item(self, memory_id: str) -> Item | None:
        """Returns a memory, None of one that is not here."""
        ...

    def dated(self) -> Collection[str]:
        """Returns the tasks with a deadline that live: they are in no list, as time changes their rank."""
        ...

    def candidate(self, memory_id: str) -> Candidate:
        """Returns a memory that is here."""
        ...

    def supporters(self, memory_id: str) -> Sequence[str]:
        """Returns the living memories that have to go before one."""
        ...


def places(
    shelf: Shelf, budget: Budget, policy: BudgetPolicy, as_of: int, asked: Sequence[str]
) -> Mapping[str, BudgetPlace]:
    """Returns what `least.places` does. Raises OverflowError for numbers beyond the bounds of `sort_keys`."""
    held = sum(shelf.held())
    over = held - budget.tokens
    if over <= 0:
        return dict.fromkeys(asked, NOWHERE)
    drawn = budget.policy == "random"
    wanted = {one for one in asked if _may_go(shelf, one, MOST if drawn else _LOOKED)}
    found = [item for one in dict.fromkeys(asked) if one in wanted and (item := shelf.item(one)) is not None]
    if drawn:
        goes = [(one.memory_id, one.tokens) for one in above(found, shelf.held(), budget.floors)]
        return placed(goes, held, over, asked, alike=True)
    if budget.floors:
        spare = above_floors(shelf.held(), budget.floors)
        wanted -= {one.memory_id for one in found if one.tokens > spare[place(one.type)]}
    keys, times = BudgetKeys.of(budget.policy, policy), Times(budget.policy, policy, as_of)
    reach, most = reach_tokens(budget, policy), most_asked(asked)

    def order(named: Collection[str]) -> Iterator[tuple[str, int]]:
        return follow(_Stock(shelf, keys, times, named), reach, policy.shares_ppm, budget.floors)

    least = list(islice(order(()), most))
    first = {memory_id for memory_id, _ in least}
    if len(least) == most and not first.issuperset(asked):
        least = list(until(order(first), wanted))
    return placed(least, held, over, asked)


def until(order: Iterator[tuple[str, int]], wanted: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yields an order up to the last of the wanted memories."""
    left = set(wanted)
    while left and (one := next(order, None)) is not None:
        left.discard(one[0])
        yield one


def _may_go(shelf: Shelf, memory_id: str, most: int) -> bool:
    """Tells whether a memory may go at all: whether all that has to go before it may go. True also where that are more
    than `most`."""
    line, before = [memory_id], dict[str, set[str]]()
    while line:
        one = line.pop()
        item = shelf.item(one)
        if item is None or item.protected is not None:
            return False
        before[one] = set(shelf.supporters(one))
        line += (other for other in before[one] if other not in before and other not in line)
        if len(before) > most:
            return True
    # The memories that are left wait for each other.
    while memory_id in before and (free := {one for one, others in before.items() if not others & before.keys()}):
        before = {one: others for one, others in before.items() if one not in free}
    return memory_id not in before


class _Stock:
    """A namespace in a store, as `evictions` asks for it; memories are known by their ids."""

    def __init__(self, shelf: Shelf, keys: BudgetKeys, times: Times, named: Collection[str]) -> None:
        """`named`: the memories to go at the last plan: they are ranked anew, lower by the band."""
        self._shelf, self._keys, self._times, self._policy = shelf, keys, times, times.policy
        self._named = frozenset(named)
        self._kinds = KINDS if times.policy.shares_ppm else 1
        self._items: dict[str, Item] = {}

    def held(self) -> Sequence[int]:
        """See `evictions.Stock`."""
        held = self._shelf.held()
        return held if self._policy.shares_ppm else [sum(held)]

    def kinds(self) -> Sequence[int]:
        """See `evictions.Stock`."""
        return self._shelf.held()

    def kind(self, here: str) -> int:
        """See `evictions.Stock`."""
        return place(self._item(here).type)

    def lines(self) -> Sequence[Line]:
        """See `evictions.Stock`."""
        named: list[list[Entry]] = [[] for _ in range(self._kinds)]
        for one in {*self._named, *self._shelf.dated()}:
            if not self.supports(one) and (told := self.free(one)) is not None:
                named[told[0]].append(self._entry(one))
        exposed = self._exposed if self._keys.name == "hybrid" else None
        return [
            Line(heapq.merge(sorted(named[kind]), self._rest(kind)), self._entry, exposed, self._policy.band_ppm)
            for kind in range(self._kinds)
        ]

    def _rest(self, kind: int) -> Iterator[Entry]:
        """Yields the memories of a kind by rank, without the named ones."""
        for rank, memory_id in in_order(self._shelf, self._keys, self._times, kind, self._named):
            yield rank, memory_id, memory_id

    def told(self, here: str) -> tuple[int, int, Sequence[str]]:
        """See `evictions.Stock`."""
        item = self._item(here)
        return max(1, item.tokens), self._keys.kind(item.type), item.needs

    def supports(self, memory_id: str) -> int:
        """See `evictions.Stock`."""
        return len(self._shelf.supporters(memory_id))

    def free(self, memory_id: str) -> tuple[int, str] | None:
        """See `evictions.Stock`."""
        item = self._shelf.item(memory_id)
        return None if item is None or item.protected is not None else (self._keys.kind(item.type), memory_id)

    def _item(self, memory_id: str) -> Item:
        if memory_id not in self._items:
            found = self._shelf.item(memory_id)
            assert found is not None, "a store's order names only what is there"
            self._items[memory_id] = found
        return self._items[memory_id]

    def _exposed(self, memory_id: str) -> int:
        return exposure_ppm(self._item(memory_id), self._times.as_of, self._policy)

    def _entry(self, memory_id: str) -> Entry:
        item = self._item(memory_id)
        rank = self._times.rank(self._keys.keys(item), item, less=memory_id in self._named)
        return rank, memory_id, memory_id


def in_order(
    shelf: Steps, keys: BudgetKeys, times: Times, kind: int, without: Collection[str] = ()
) -> Iterator[tuple[Rank, str]]:
    """Yields the memories of a kind by rank: the heads of all steps, merged. `without`: the memories to leave out."""
    numbers, seen = count(), set(without)
    heads = []
    for which, group in _LISTS.get(keys.name, ((SCORED, 0),)):
        line = which * KINDS + kind
        for step, value in shelf.heads(line):
            fades = times.fades(step)
            if not _ends(times, which, value + fades):
                rank = group, value + fades, -MOST
                heads.append((rank, "", next(numbers), which, fades, shelf.entries(line, step)))
    heapq.heapify(heads)
    while heads:
        (group, *_), memory_id, number, which, fades, rest = heads[0]
        # A memory may be in several lists: it goes at its first rank.
        if memory_id and memory_id not in seen:
            seen.add(memory_id)
            yield heads[0][0], memory_id
        one = next(rest, None)
        if one is None or _ends(times, which, one[0] + fades):
            heapq.heappop(heads)
        else:
            rank = group, one[0] + fades, one[1]
            heapq.heapreplace(heads, (rank, one[2], number, which, fades, rest))


def _ends(times: Times, which: int, value: int) -> bool:
    """Tells whether the ranks of a list end before a value."""
    return (which == UNUSED and value >= times.stale_before) or (which == BELOW and value >= 0)
