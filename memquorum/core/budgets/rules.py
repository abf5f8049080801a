"""The policies by name, each made of orders (SPEC D; MaRS 3.3 and 5.3).

| name | goes first | |---|---| | `fifo` | the oldest | | `lru` | what was not used for longest | | `priority` | the
lowest importance per token: α·type + β·recency + γ·accesses | | `reflection` | what a summary may take the place of
(`ledger.Group`), then as `worth` | | `random` | by lot | | `hybrid` | what is stale; what a summary may take the place
of; then as `worth`, and of equals what is most exposed | | `worth` | the lowest (Û − λ_priv·s)/w; what is negative
before all else, the most negative first |

Equals are memories whose scores are within the band of the lowest; exposure is the privacy reason to forget
(`items.exposure_ppm`). With draws among near-ties (`lots`), the lot decides among equals, for `priority`, `reflection`,
`hybrid` and `worth`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from memquorum.core.budgets.items import (
    Item,
    dot,
    exposure_ppm,
    lasting,
    place,
    recency_ppm,
    theta,
    withheld,
    worth_of,
)
from memquorum.core.budgets.items import accesses_ppm as frequency_ppm
from memquorum.core.budgets.lots import AMONG, Near
from memquorum.core.budgets.orders import Drawn, Fading, InOrder, Order
from memquorum.core.facets import TYPES
from memquorum.core.policy import FORGETTING, PPM, BudgetPolicy

OLDEST, UNUSED, UNIMPORTANT, DRAWN = "oldest", "longest unused", "least important", "drawn by lot"
LEAST, SENSITIVE, STALE, EXPOSED = "least worth its tokens", "too sensitive", "stale", "most exposed of equals"
BY_LOT = "drawn among those that score alike"
"""The reasons why a memory is the next one."""


class UnknownPolicy(ValueError):
    """Raised where there is no policy of this name; the message names the known policies."""


class Rule(Protocol):
    """A policy over some memories."""

    def add(self, item: Item, named: bool) -> None:
        """Adds a memory that may go; `named`: it was to go at the last plan already."""
        ...

    def drop(self, item: Item) -> None:
        """Removes a memory."""
        ...

    def first(self, as_of: int) -> tuple[Any, str, str] | None:
        """Returns the next one: its rank among those of other rules of this policy, its id, and why."""
        ...

    def near(self, as_of: int) -> Sequence[Near]:
        """Returns the equals of the next one, in order; empty if it is not the next one for its score."""
        ...


class _Plain:
    """A policy with one order."""

    def __init__(self, order: Order, why: str) -> None:
        self._order, self._why = order, why

    def add(self, item: Item, named: bool) -> None:
        """See `Rule`."""
        self._order.add(item, named)

    def drop(self, item: Item) -> None:
        """See `Rule`."""
        self._order.drop(item.memory_id)

    def first(self, as_of: int) -> tuple[Any, str, str] | None:
        """See `Rule`."""
        found = self._order.first(as_of)
        return None if found is None else (*found, self._why)

    def near(self, as_of: int) -> Sequence[Near]:
        """See `Rule`: times are not scores, and `random` has its own lots."""
        return ()


class _Lowest:
    """An order by score; the lowest are taken out temporarily, so that several can be compared."""

    def __init__(self, policy: BudgetPolicy, *, looks: bool) -> None:
        """`looks`: whether `near` will be called; else no items are kept for it."""
        self._policy, self._looks = policy, looks
        self._items: dict[str, tuple[Item, bool]] = {}
        self._taken: dict[str, tuple[Any, str]] = {}
        self._at: int | None = None

    def add(self, item: Item, named: bool) -> None:
        """See `Rule`."""
        self._put_back()
        if self._looks:
            self._items[item.memory_id] = item, named
        self._enter(item, named)

    def drop(self, item: Item) -> None:
        """See `Rule`."""
        self._items.pop(item.memory_id, None)
        if self._taken.pop(item.memory_id, None) is None:
            self._leave(item)

    def first(self, as_of: int) -> tuple[Any, str, str] | None:
        """See `Rule`."""
        self._look(as_of)
        if not self._taken:
            return self._head(as_of)
        (rank, why), memory_id = min((told, one) for one, told in self._taken.items())
        return rank, memory_id, why

    def near(self, as_of: int) -> Sequence[Near]:
        """See `Rule`."""
        self._look(as_of)
        while len(self._taken) < AMONG and (found := self._head(as_of)) is not None:
            rank, memory_id, why = found
            self._leave(self._items[memory_id][0])
            self._taken[memory_id] = rank, why
        ordered = sorted((told, one) for one, told in self._taken.items())
        if not ordered:
            return ()
        (group, value, *_), _ = ordered[0][0]
        edge = value + abs(value) * self._policy.band_ppm // PPM
        return [
            Near(rank, self._items[memory_id][0], why)
            for (rank, why), memory_id in ordered
            if rank[0] == group and rank[1] <= edge
        ]

    def _look(self, as_of: int) -> None:
        if as_of != self._at:
            self._put_back()
            self._at = as_of

    def _put_back(self) -> None:
        for memory_id in self._taken:
            self._enter(*self._items[memory_id])
        self._taken.clear()

    # For subclasses -------------------------------------------------------------------------------------------------

    def _enter(self, item: Item, named: bool) -> None:
        raise NotImplementedError

    def _leave(self, item: Item) -> None:
        raise NotImplementedError

    def _head(self, as_of: int) -> tuple[Any, str, str] | None:
        """Returns the next of those that are not taken out. Its rank: a group, a value within it, and tie-breakers."""
        raise NotImplementedError


class _Important(_Lowest):
    """The order by importance per token."""

    def __init__(self, policy: BudgetPolicy, *, looks: bool) -> None:
        super().__init__(policy, looks=looks)
        self._order = _priority(policy)

    def _enter(self, item: Item, named: bool) -> None:
        self._order.add(item, named)

    def _leave(self, item: Item) -> None:
        self._order.drop(item.memory_id)

    def _head(self, as_of: int) -> tuple[Any, str, str] | None:
        found = self._order.first(as_of)
        return None if found is None else ((0, *found[0]), found[1], UNIMPORTANT)


class _Scored(_Lowest):
    """The order by score: one for values that may be negative, undivided; one for all, by token."""

    def __init__(self, policy: BudgetPolicy, *, looks: bool) -> None:
        super().__init__(policy, looks=looks)
        self._thetas = [theta(one, policy) for one in TYPES]
        self._below = Fading(self._parts, policy.half_life_ms, divided=False, band_ppm=policy.band_ppm)
        self._all = Fading(self._parts, policy.half_life_ms, divided=True, band_ppm=policy.band_ppm)

    def _enter(self, item: Item, named: bool) -> None:
        lasts, fades = self._parts(item)
        self._all.enter(item, lasts, fades, named)
        if lasts < 0:
            self._below.enter(item, lasts, fades, named)

    def _leave(self, item: Item) -> None:
        self._all.drop(item.memory_id)
        self._below.drop(item.memory_id)

    def _head(self, as_of: int) -> tuple[Any, str, str] | None:
        below = self._below.first(as_of) if len(self._below) else None
        if below is not None and below[0][0] < 0:
            return (0, *below[0]), below[1], SENSITIVE
        found = self._all.first(as_of)
        return None if found is None else ((1, *found[0]), found[1], LEAST)

    def _parts(self, item: Item) -> tuple[int, int]:
        recency, *others = self._thetas[place(item.type)]
        worth = worth_of(item)
        lasts = dot(others, lasting(item)) - withheld(worth, item.sensitivity_ppm, self._policy)
        return lasts // PPM, recency * worth // PPM


class _Hybrid:
    """Stale memories first, then by score, then by privacy; reflection comes between the first two (`Ledger`)."""

    def __init__(self, policy: BudgetPolicy) -> None:
        self._policy = policy
        self._unused = InOrder(lambda item: item.last_access)
        self._scored = _Scored(policy, looks=True)
        self._sensitive: dict[str, int] = {}

    def add(self, item: Item, named: bool) -> None:
        """See `Rule`."""
        if item.sensitivity_ppm > 0:
            self._sensitive[item.memory_id] = item.sensitivity_ppm
        self._unused.add(item)
        self._scored.add(item, named)

    def drop(self, item: Item) -> None:
        """See `Rule`."""
        self._sensitive.pop(item.memory_id, None)
        self._unused.drop(item.memory_id)
        self._scored.drop(item)

    def first(self, as_of: int) -> tuple[Any, str, str] | None:
        """See `Rule`."""
        unused = self._unused.first(as_of)
        if unused is None:
            return None
        (last_access, *_), memory_id = unused
        if self._stale(int(last_access), as_of):
            return (-1, last_access), memory_id, STALE
        if not self._sensitive:
            return self._scored.first(as_of)
        return self._exposed(as_of)

    def near(self, as_of: int) -> Sequence[Near]:
        """See `Rule`."""
        unused = self._unused.first(as_of)
        stale = unused is None or self._stale(int(unused[0][0]), as_of)
        return () if stale else self._scored.near(as_of)

    def _stale(self, last_access: int, as_of: int) -> bool:
        return recency_ppm(as_of - last_access, self._policy.half_life_ms) < self._policy.stale_ppm

    def _exposed(self, as_of: int) -> tuple[Any, str, str] | None:
        """Returns the most exposed memory within the band of the lowest, the lowest among equals."""
        equal = self._scored.near(as_of)
        if not equal:
            return None
        lowest = equal[0]
        if lowest.why == SENSITIVE:
            return lowest.rank, lowest.item.memory_id, SENSITIVE
        most = max(equal, key=lambda one: exposure_ppm(one.item, as_of, self._policy))
        return lowest.rank, most.item.memory_id, LEAST if most is lowest else EXPOSED


def _priority(policy: BudgetPolicy) -> Order:
    alpha, beta, gamma = policy.priority_ppm

    def parts(item: Item) -> tuple[int, int]:
        told = policy.types_ppm[place(item.type)], frequency_ppm(item.uses)
        return dot((alpha, gamma), told) // PPM, beta

    return Fading(parts, policy.half_life_ms, divided=True, band_ppm=policy.band_ppm)


_RULES: Mapping[str, Callable[[BudgetPolicy, bytes, bool], Rule]] = MappingProxyType(
    {
        "fifo": lambda policy, seed, looks: _Plain(InOrder(lambda item: item.created), OLDEST),
        "lru": lambda policy, seed, looks: _Plain(InOrder(lambda item: item.last_access), UNUSED),
        "priority": lambda policy, seed, looks: _Important(policy, looks=looks),
        "reflection": lambda policy, seed, looks: _Scored(policy, looks=looks),
        "random": lambda policy, seed, looks: _Plain(Drawn(seed), DRAWN),
        "hybrid": lambda policy, seed, looks: _Hybrid(policy),
        "worth": lambda policy, seed, looks: _Scored(policy, looks=looks),
    }
)
SCORES = frozenset({"priority", "reflection", "hybrid", "worth"})
"""The policies whose near-ties may be drawn: the others go by times, or by lot."""
WEIGHS = frozenset({"reflection", "hybrid", "worth"})
"""The policies that use ψ and the score that follows from it: the others use times, lots, or importance."""
REFLECTS = frozenset({"reflection", "hybrid"})
"""The policies by which a summary replaces its sources."""


def rule(name: str, policy: BudgetPolicy, seed: bytes, *, looks: bool = False) -> Rule:
    """Returns a policy by its name; `looks`: whether `near` will be called. Raises UnknownPolicy."""
    if name not in _RULES:
        raise UnknownPolicy(f"policy {name!r} is unknown; known: {', '.join(FORGETTING)}")
    return _RULES[name](policy, seed, looks)
