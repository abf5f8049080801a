"""The policies by name, each made of orders (SPEC D; MaRS 3.3 and 5.3).

| name | what goes first |
|---|---|
| `fifo` | the oldest |
| `lru` | what was not used for longest |
| `priority` | the lowest importance per token: α·type + β·recency + γ·accesses |
| `reflection` | what a summary may take the place of (`ledger.Group`), then as `worth` |
| `random` | by lot |
| `hybrid` | what is stale; what a summary may take the place of; then as `worth`, and of equals what is most exposed |
| `worth` | the lowest (Û − λ_priv·s)/w; what is negative before all else, the most negative first |

Equal is what scores within the band of the lowest; exposed, what privacy wants gone (`items.exposure_ppm`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from memquorum.core.budgets.orders import Drawn, Fading, InOrder, Order
from memquorum.core.facets import TYPES
from memquorum.core.policy import FORGETTING, PPM, BudgetPolicy

OLDEST, UNUSED, UNIMPORTANT, DRAWN = "oldest", "longest unused", "least important", "drawn by lot"
LEAST, SENSITIVE, STALE, EXPOSED = "least worth its tokens", "too sensitive", "stale", "most exposed of equals"
"""Why the next one is it."""

TIES = 16
"""Of so many that score alike the one goes that privacy wants gone most."""


class UnknownPolicy(ValueError):
    """There is no policy of this name; the message names those that there are."""


class Rule(Protocol):
    """A policy over some memories."""

    def add(self, item: Item, named: bool) -> None:
        """Takes a memory that may go; `named`: it was to go at the last plan already."""
        ...

    def drop(self, item: Item) -> None:
        """Lets one go."""
        ...

    def first(self, as_of: int) -> tuple[Any, str, str] | None:
        """The next one: its rank among those of other rules of this policy, its id, and why."""
        ...


class _Plain:
    """One order."""

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


class _Scored:
    """The score: one order of what may be negative, undivided; one of all, by token."""

    def __init__(self, policy: BudgetPolicy) -> None:
        self._policy = policy
        self._thetas = [theta(one, policy) for one in TYPES]
        self._below = Fading(self._parts, policy.half_life_ms, divided=False, band_ppm=policy.band_ppm)
        self._all = Fading(self._parts, policy.half_life_ms, divided=True, band_ppm=policy.band_ppm)

    def add(self, item: Item, named: bool) -> None:
        """See `Rule`."""
        lasts, fades = self._parts(item)
        self._all.enter(item, lasts, fades, named)
        if lasts < 0:
            self._below.enter(item, lasts, fades, named)

    def drop(self, item: Item) -> None:
        """See `Rule`."""
        self._all.drop(item.memory_id)
        self._below.drop(item.memory_id)

    def first(self, as_of: int) -> tuple[Any, str, str] | None:
        """See `Rule`."""
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
    """Temporal, then by score, then by privacy; reflection comes between the first two (`Ledger`)."""

    def __init__(self, policy: BudgetPolicy) -> None:
        self._policy = policy
        self._unused = InOrder(lambda item: item.last_access)
        self._scored = _Scored(policy)
        self._items: dict[str, tuple[Item, bool]] = {}
        self._sensitive = 0
        # Taken out of the scored ones at a time, with their ranks and how exposed they are.
        self._lowest: dict[str, tuple[Any, int]] = {}
        self._at: int | None = None

    def add(self, item: Item, named: bool) -> None:
        """See `Rule`."""
        self._put_back()
        self._items[item.memory_id] = item, named
        self._sensitive += item.sensitivity_ppm > 0
        self._unused.add(item)
        self._scored.add(item, named)

    def drop(self, item: Item) -> None:
        """See `Rule`."""
        known = self._items.pop(item.memory_id, None)
        if known is not None:
            self._sensitive -= known[0].sensitivity_ppm > 0
            self._unused.drop(item.memory_id)
            if self._lowest.pop(item.memory_id, None) is None:
                self._scored.drop(item)

    def first(self, as_of: int) -> tuple[Any, str, str] | None:
        """See `Rule`."""
        if as_of != self._at:
            self._put_back()
            self._at = as_of
        unused = self._unused.first(as_of)
        if unused is None:
            return None
        (last_access, *_), memory_id = unused
        if recency_ppm(as_of - int(last_access), self._policy.half_life_ms) < self._policy.stale_ppm:
            return (-1, last_access), memory_id, STALE
        if not self._sensitive and not self._lowest:
            return self._scored.first(as_of)
        return self._exposed(as_of)

    def _exposed(self, as_of: int) -> tuple[Any, str, str] | None:
        """The one that privacy wants gone most of those within the band of the lowest, the lowest among equals."""
        while len(self._lowest) < TIES and (found := self._scored.first(as_of)) is not None:
            rank, memory_id, why = found
            if why == SENSITIVE:
                return found
            item = self._items[memory_id][0]
            self._scored.drop(item)
            self._lowest[memory_id] = rank, exposure_ppm(item, as_of, self._policy)
        if not self._lowest:
            return None
        lowest, (rank, _) = min(self._lowest.items(), key=lambda one: (one[1][0], one[0]))
        edge = rank[1] + abs(rank[1]) * self._policy.band_ppm // PPM
        equal = [(-told[1], told[0], one) for one, told in self._lowest.items() if told[0][1] <= edge]
        _, _, most = min(equal)
        return rank, most, LEAST if most == lowest else EXPOSED

    def _put_back(self) -> None:
        for memory_id in self._lowest:
            self._scored.add(*self._items[memory_id])
        self._lowest.clear()


def _priority(policy: BudgetPolicy) -> Order:
    alpha, beta, gamma = policy.priority_ppm

    def parts(item: Item) -> tuple[int, int]:
        told = policy.types_ppm[place(item.type)], frequency_ppm(item.uses)
        return dot((alpha, gamma), told) // PPM, beta

    return Fading(parts, policy.half_life_ms, divided=True, band_ppm=policy.band_ppm)


_RULES: Mapping[str, Callable[[BudgetPolicy, bytes], Rule]] = MappingProxyType(
    {
        "fifo": lambda policy, seed: _Plain(InOrder(lambda item: item.created), OLDEST),
        "lru": lambda policy, seed: _Plain(InOrder(lambda item: item.last_access), UNUSED),
        "priority": lambda policy, seed: _Plain(_priority(policy), UNIMPORTANT),
        "reflection": lambda policy, seed: _Scored(policy),
        "random": lambda policy, seed: _Plain(Drawn(seed), DRAWN),
        "hybrid": lambda policy, seed: _Hybrid(policy),
        "worth": lambda policy, seed: _Scored(policy),
    }
)
REFLECTS = frozenset({"reflection", "hybrid"})
"""The policies by which a summary takes the place of what it was made of."""


def rule(name: str, policy: BudgetPolicy, seed: bytes) -> Rule:
    """A policy by its name. Raises UnknownPolicy."""
    if name not in _RULES:
        raise UnknownPolicy(f"policy {name!r} is unknown; known: {', '.join(FORGETTING)}")
    return _RULES[name](policy, seed)
