"""The eviction order of many memories at one time: the result of `Ledger.plan`, for a caller that asks once.

A ledger keeps its order while memories come and go, which costs something for each change. A caller that asks once,
such as a member that judges proposals (`core.budgets.least`), does not need that: at one time each memory has one rank,
so all are ranked in columns and sorted. Only what depends on earlier evictions is followed one by one: memories that
are not leaves yet, shares by type, and with `hybrid` the most exposed among equals.

The ranks are those of `rules` and `orders` to the last digit, in integers; where floating point is used first (e^x,
ln), it counts only if it lies far enough from the next integer, and is computed exactly otherwise. A test compares both
orders. Numbers beyond 64 bits are left to the ledger.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from memquorum.core.budgets.evictions import Line, Rank, follow
from memquorum.core.budgets.items import (
    LN2_PPM,
    OFTEN,
    WORTH_UNIT,
    Item,
    place,
    recency_ppm,
    theta,
)
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.budgets.orders import COLD, STEP_PPM, left
from memquorum.core.budgets.rules import UnknownPolicy
from memquorum.core.facets import TYPES
from memquorum.core.late_numpy import np
from memquorum.core.policy import FORGETTING, PPM, BudgetPolicy
from memquorum.core.worth import ln_ppm

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.int64]"
_SURE = 1e-3
"""The distance from an integer beyond which floating point is trusted; its error is far less."""
_MOST = 2**62
"""The bound of all numbers."""
_LATEST = 10**13
"""The bound of times, in milliseconds."""


class Order:
    """The eviction order of all memories of a namespace, by a policy, at one time."""

    def __init__(
        self, items: Iterable[Item], name: str, policy: BudgetPolicy, as_of: int, floors: Sequence[int] = ()
    ) -> None:
        """`floors`: the tokens that each type keeps. Raises UnknownPolicy."""
        self._items = list({one.memory_id: one for one in items}.values())
        self._name, self._policy, self._as_of, self._floors = name, policy, as_of, floors
        self._tokens = [max(1, one.tokens) for one in self._items]
        # Set if a number does not fit into columns.
        self._ledger: Ledger | None = None
        self._ranks: _Ranks | None = None
        try:
            self._ranks = _Ranks(self._items, name, policy, as_of)
        except OverflowError:
            self._ledger = Ledger(name, policy, floors=floors)
            for one in self._items:
                self._ledger.put(one)

    @property
    def in_columns(self) -> bool:
        """True if it is ranked in columns; else a ledger plans."""
        return self._ledger is None

    @property
    def tokens(self) -> int:
        """The weight of all memories."""
        return sum(self._tokens)

    def goes(self, tokens: int, *, most: int | None = None, named: Collection[str] = ()) -> list[tuple[str, int]]:
        """Returns the memories that go until the others fit so many tokens, in order, each with its weight; at most
        `most`. `named`: the memories to go at the last plan (see `Ledger.plan`)."""
        if self._ledger is not None:
            return [(one.memory_id, one.tokens) for one in self._ledger.plan(tokens, self._as_of, most=most).goes]
        assert self._ranks is not None
        stock = _Stock(self._items, self._tokens, self._ranks, self._policy, frozenset(named))
        return list(islice(follow(stock, tokens, self._policy.shares_ppm, self._floors), most))


class _Stock:
    """Memories in columns, as `evictions` asks for them."""

    def __init__(
        self, items: Sequence[Item], tokens: Sequence[int], ranks: _Ranks, policy: BudgetPolicy, named: frozenset[str]
    ) -> None:
        self._items, self._tokens, self._ranks, self._named = items, tokens, ranks, named
        self._kinds = len(TYPES) if policy.shares_ppm else 1
        self._of = [place(one.type) for one in items] if policy.shares_ppm else [0] * len(items)
        self._supports = Counter(parent for one in items for parent in one.needs)
        self._at = {one.memory_id: here for here, one in enumerate(items)} if self._supports else {}

    def held(self) -> Sequence[int]:
        """See `evictions.Stock`."""
        held = [0] * self._kinds
        for of, weight in zip(self._of, self._tokens, strict=True):
            held[of] += weight
        return held

    def kinds(self) -> Sequence[int]:
        """See `evictions.Stock`."""
        held = [0] * len(TYPES)
        for one, weight in zip(self._items, self._tokens, strict=True):
            held[place(one.type)] += weight
        return held

    def kind(self, here: int) -> int:
        """See `evictions.Stock`."""
        return place(self._items[here].type)

    def lines(self) -> Sequence[Line]:
        """See `evictions.Stock`."""
        free = [one.protected is None and not self._supports[one.memory_id] for one in self._items]
        return self._ranks.lines(free, self._of, self._kinds, self._named)

    def told(self, here: int) -> tuple[int, int, Sequence[str]]:
        """See `evictions.Stock`."""
        return self._tokens[here], self._of[here], self._items[here].needs

    def supports(self, memory_id: str) -> int:
        """See `evictions.Stock`."""
        return self._supports[memory_id]

    def free(self, memory_id: str) -> tuple[int, int] | None:
        """See `evictions.Stock`."""
        here = self._at.get(memory_id)
        return None if here is None or self._items[here].protected is not None else (self._of[here], here)


class _Ranks:
    """The rank of each memory by a policy: a group, a value within it, and its creation time. Raises OverflowError
    where a number does not fit into columns, and UnknownPolicy."""

    def __init__(self, items: Sequence[Item], name: str, policy: BudgetPolicy, as_of: int) -> None:
        self._items, self._name, self._policy = items, name, policy
        self._ids = [one.memory_id for one in items]
        self._by_id = np.empty(len(items), np.int64)
        self._by_id[np.array(sorted(range(len(items)), key=self._ids.__getitem__), np.int64)] = np.arange(len(items))
        self._created, self._used = self._column("created"), self._column("last_access")
        if max(abs(as_of), _most(self._created), _most(self._used)) > _LATEST:
            raise OverflowError
        self._places = np.fromiter(map(place, map(attrgetter("type"), items)), np.int64, len(items))
        uses = self._column("uses")
        self._frequency = PPM * uses // (uses + OFTEN)
        self._as_of, self._now = as_of, as_of * LN2_PPM // policy.half_life_ms // STEP_PPM
        self.band_ppm, self.looks = policy.band_ppm, name == "hybrid"
        self.exposed: list[int] = []
        self._told: tuple[list[int], list[int], list[int]] = [], [], []
        # The parts of each value: the lasting part, θ of the fading part, and the tokens that divide it.
        self._parts: list[tuple[Numbers, Numbers, Numbers]] = []
        self._stale = np.zeros(len(items), bool)
        one = np.ones(len(items), np.int64)
        if name == "priority":
            self._parts = [(*self._priority(), self._tokens())]
        elif name in ("worth", "reflection", "hybrid"):
            scored = self._scored()
            self._parts = [(*scored, self._tokens()), (*scored, one)]
        elif name not in ("fifo", "lru", "random"):
            raise UnknownPolicy(f"policy {name!r} is unknown; known: {', '.join(FORGETTING)}")
        self._steps = [self._stepped(theta, tokens) for _, theta, tokens in self._parts]
        if self.looks:
            recency = _recency(as_of - self._used, policy.half_life_ms)
            self._stale = recency < policy.stale_ppm
            self.exposed = self._exposure(recency).tolist()
        self._plain = self._ranked(np.zeros(len(items), bool))

    def lines(self, free: Sequence[bool], of: Sequence[int], kinds: int, named: Collection[str]) -> list[Line]:
        """Sorts the memories that may go, by kind. `of`: the kind of each; `named`: those whose value is lowered by the
        band."""
        group, value, created = self._plain
        if named:
            less = np.fromiter((one in named for one in self._ids), bool, len(self._ids))
            group, value, created = self._ranked(less)
        order = np.lexsort((self._by_id, created, value, group))
        self._told = group.tolist(), value.tolist(), created.tolist()
        kind, may = np.array(of, np.int64), np.array(free, bool)
        order = order[may[order]]
        exposed = self.exposed.__getitem__ if self.looks else None
        return [
            Line(map(self.of, order[kind[order] == one].tolist()), self.of, exposed, self._policy.band_ppm)
            for one in range(kinds)
        ]

    def of(self, here: int) -> tuple[Rank, str, int]:
        """Returns the rank of a memory, its id and its index."""
        group, value, created = self._told
        return (group[here], value[here], created[here]), self._ids[here], here

    def _ranked(self, less: NDArray[np.bool_]) -> tuple[Numbers, Numbers, Numbers]:
        none = np.zeros(len(self._ids), np.int64)
        if self._name == "random":
            lots = [hmac.digest(b"", one.encode(), "sha256") for one in self._ids]
            drawn = none.copy()
            drawn[np.array(sorted(range(len(lots)), key=lots.__getitem__), np.int64)] = np.arange(len(lots))
            return none, drawn, none
        if not self._parts:
            return none, self._created if self._name == "fifo" else self._used, none
        values = [self._faded(parts, step, less) for parts, step in zip(self._parts, self._steps, strict=True)]
        if len(values) == 1:
            return none, values[0], self._created
        divided, whole = values
        below = (self._parts[1][0] < 0) & (whole < 0)
        group, value = np.where(below, 0, 1), np.where(below, whole, divided)
        # Stale memories go before all others, longest unused first.
        return (
            np.where(self._stale, -1, group), np.where(self._stale, self._used, value),
            np.where(self._stale, 0, self._created),
        )  # fmt: skip

    def _faded(self, parts: tuple[Numbers, Numbers, Numbers], step: Numbers, less: NDArray[np.bool_]) -> Numbers:
        """Returns the values now; see `orders.Fading`."""
        lasts, theta, tokens = parts
        value = lasts * PPM // tokens
        size = np.abs(value)
        value -= np.where(less, size // PPM * self.band_ppm + size % PPM * self.band_ppm // PPM, 0)
        age = self._now - np.where(less, step - self.band_ppm // STEP_PPM, step)
        fades = (theta > 0) & (age <= COLD)
        ages, back = np.unique(np.where(fades, age, COLD), return_inverse=True)
        each = [left(int(one)) for one in ages]
        if max(each, default=0) > _MOST:
            raise OverflowError
        return value + np.where(fades, np.array(each, np.int64)[back], 0)

    def _stepped(self, theta: Numbers, tokens: Numbers) -> Numbers:
        efolds = self._used * LN2_PPM // self._policy.half_life_ms
        return (_ln(np.maximum(1, theta)) - _ln(tokens) + efolds) // STEP_PPM

    def _priority(self) -> tuple[Numbers, Numbers]:
        alpha, beta, gamma = self._policy.priority_ppm
        lasts = (alpha * self._by_place(self._policy.types_ppm) + gamma * self._frequency) // PPM
        return lasts, np.full(len(self._ids), beta)

    def _scored(self) -> tuple[Numbers, Numbers]:
        """Returns the lasting part of the score, and θ of its recency; see `rules._Scored`."""
        policy = self._policy
        worth = self._column("worth")
        if _most(worth) > _LATEST:
            raise OverflowError
        worth //= WORTH_UNIT // PPM
        urgent = np.where(self._by_place([one == "task" for one in TYPES]), self._column("urgency_ppm"), 0)
        shares = (self._frequency, self._column("goals_ppm"), self._column("centrality_ppm"), None,
                  self._column("novelty_ppm"), urgent)  # fmt: skip
        thetas = [theta(one, policy) for one in TYPES]
        if max(map(sum, ([abs(one) for one in each] for each in thetas))) * max(1, _most(worth)) >= _MOST:
            raise OverflowError
        total = np.zeros(len(self._ids), np.int64)
        for at, share in enumerate(shares, start=1):
            told = worth if share is None else share * worth // PPM
            total += self._by_place([each[at] for each in thetas]) * told
        gives = policy.lambda_priv_ppm * self._column("sensitivity_ppm")
        total -= gives // PPM * worth + gives % PPM * worth // PPM
        return total // PPM, self._by_place([each[0] for each in thetas]) * worth // PPM

    def _exposure(self, recency: Numbers) -> Numbers:
        """Returns `items.exposure_ppm` of each memory."""
        alpha, beta, gamma = self._policy.priority_ppm
        told = alpha * self._by_place(self._policy.types_ppm) + beta * recency + gamma * self._frequency
        age = PPM - _recency(self._as_of - self._created, self._policy.half_life_ms)
        exposed: Numbers = self._column("sensitivity_ppm") * age // PPM * (PPM - told // PPM) // PPM
        return exposed

    def _column(self, name: str) -> Numbers:
        return np.fromiter(map(attrgetter(name), self._items), np.int64, len(self._items))

    def _tokens(self) -> Numbers:
        return np.maximum(1, self._column("tokens"))

    def _by_place(self, told: Sequence[int]) -> Numbers:
        return np.array(told, np.int64)[self._places]


def _most(numbers: Numbers) -> int:
    return max(abs(int(numbers.min())), abs(int(numbers.max()))) if len(numbers) else 0


def _recency(ages: Numbers, half_life_ms: int) -> Numbers:
    """Returns `items.recency_ppm` of each age."""
    near = np.exp(-np.maximum(0, ages).astype(float) * LN2_PPM / (half_life_ms * float(PPM))) * PPM
    return _whole(near, ages, lambda age: recency_ppm(age, half_life_ms))


def _ln(numbers: Numbers) -> Numbers:
    """Returns `worth.ln_ppm` of each number."""
    return _whole(np.log(numbers.astype(float)) * PPM, numbers, ln_ppm)


def _whole(near: NDArray[np.float64], of: Numbers, exact: Callable[[int], int]) -> Numbers:
    """Rounds down; a value too near to the next integer is computed exactly."""
    found = np.floor(near).astype(np.int64)
    over = near - found
    unsure = np.flatnonzero((over < _SURE) | (over > 1 - _SURE))
    told, back = np.unique(of[unsure], return_inverse=True)
    found[unsure] = np.array([exact(int(one)) for one in told], np.int64)[back]
    return found
