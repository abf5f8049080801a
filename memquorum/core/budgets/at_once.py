"""The order of what goes of many memories at one time: what `Ledger.plan` says of them, for who asks once.

A ledger keeps its order while memories come and go, and pays for that with each of them. Who is asked once, as a
member that judges what is proposed (`core.budgets.least`), needs none of that: at one time each memory has one rank, so
that all are ranked in columns and sorted. What is left to be followed one by one is what the next one depends on: what
is no leaf yet, shares by type, and by `hybrid` the most exposed of equals.

The ranks are those of `rules` and `orders` to the last digit: whole numbers throughout; where floating point is asked
first (e^x, ln), it is trusted only where it lies far enough from the next whole number, and what does not is computed
as there. A test holds both orders equal. What does not fit into 64 bits is left to the ledger.
"""

from __future__ import annotations

import heapq
import hmac
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from memquorum.core.budgets.lots import AMONG
from memquorum.core.budgets.orders import COLD, STEP_PPM, left
from memquorum.core.budgets.rules import UnknownPolicy
from memquorum.core.facets import TYPES
from memquorum.core.policy import FORGETTING, PPM, BudgetPolicy
from memquorum.core.worth import ln_ppm

Numbers = NDArray[np.int64]
Rank = tuple[Any, ...]
_SURE = 1e-3
"""How far from a whole number floating point is trusted; it is right to far less."""
_MOST = 2**62
"""Numbers stay below."""
_LATEST = 10**13
"""Times, too, in milliseconds."""


class Order:
    """All that a namespace holds, by a policy, at one time."""

    def __init__(self, items: Iterable[Item], name: str, policy: BudgetPolicy, as_of: int) -> None:
        """Raises UnknownPolicy."""
        self._items = list({one.memory_id: one for one in items}.values())
        self._name, self._policy, self._as_of = name, policy, as_of
        self._tokens = [max(1, one.tokens) for one in self._items]
        # Where it does not fit into columns.
        self._ledger: Ledger | None = None
        self._ranks: _Ranks | None = None
        try:
            self._ranks = _Ranks(self._items, name, policy, as_of)
        except OverflowError:
            self._ledger = Ledger(name, policy)
            for one in self._items:
                self._ledger.put(one)

    @property
    def in_columns(self) -> bool:
        """Whether it is ranked in columns; else a ledger plans."""
        return self._ledger is None

    @property
    def tokens(self) -> int:
        """The weight of all that lives."""
        return sum(self._tokens)

    def goes(self, tokens: int, *, most: int | None = None, named: Collection[str] = ()) -> list[tuple[str, int]]:
        """What goes until all fit so many tokens, at most so many memories, each with its weight, in order. `named`:
        what was to go at the last plan (see `Ledger.plan`)."""
        if self._ledger is not None:
            return [(one.memory_id, one.tokens) for one in self._ledger.plan(tokens, self._as_of, most=most).goes]
        return list(islice(self._follow(tokens, frozenset(named)), most))

    def _follow(self, tokens: int, named: frozenset[str]) -> Iterator[tuple[str, int]]:
        assert self._ranks is not None
        items, weighs, shares = self._items, self._tokens, self._policy.shares_ppm
        supports = Counter(parent for one in items for parent in one.needs)
        at = {one.memory_id: here for here, one in enumerate(items)} if supports else {}
        of = [place(one.type) for one in items] if shares else [0] * len(items)
        held = [0] * len(TYPES)
        for type_, weight in zip(of, weighs, strict=True):
            held[type_] += weight
        free = [one.protected is None and not supports[one.memory_id] for one in items]
        lines = self._ranks.lines(free, of, len(TYPES) if shares else 1, named)
        total = sum(held)
        while total > tokens:
            some = lines
            if shares:
                over = [one for one, has, share in zip(lines, held, shares, strict=True) if has * PPM > share * tokens]
                some = over if any(one.first() for one in over) else lines
            found = [(first, line) for line in some if (first := line.first()) is not None]
            if not found:
                return
            (_, memory_id, here), line = found[0] if len(found) == 1 else min(found, key=lambda one: one[0])
            line.take(here)
            total -= weighs[here]
            held[of[here]] -= weighs[here]
            for parent in items[here].needs:
                supports[parent] -= 1
                if not supports[parent] and (there := at.get(parent)) is not None and items[there].protected is None:
                    lines[of[there]].enter(there)
            yield memory_id, weighs[here]


class _Line:
    """Memories by rank, the lowest first; others enter while it is gone through."""

    def __init__(self, ranks: _Ranks, order: list[int], *, looks: bool) -> None:
        """`looks`: whether the most exposed of equals goes, where others lie near the lowest."""
        self._ranks, self._order, self._looks = ranks, iter(order), looks
        self._late: list[tuple[Rank, str, int]] = []
        # The lowest, in order.
        self._window: list[tuple[Rank, str, int]] = []
        self._most = AMONG if looks else 1
        self._ahead = self._next()

    def first(self) -> tuple[Rank, str, int] | None:
        """The next one: by which rank, its id and its place."""
        window = self._window
        while len(window) < self._most and (one := self._pull()) is not None:
            window.append(one)
        if not window:
            return None
        (group, value, created), _, _ = lowest = window[0]
        if not self._looks or group < 1:
            return lowest
        edge = value + abs(value) * self._ranks.band_ppm // PPM
        exposed, found = self._ranks.exposed, lowest
        most = exposed[lowest[2]]
        for one in window:
            if one[0][1] > edge:
                break
            if exposed[one[2]] > most:
                most, found = exposed[one[2]], one
        return (group, value, created), found[1], found[2]

    def take(self, here: int) -> None:
        """It goes."""
        for at, one in enumerate(self._window):
            if one[2] == here:
                del self._window[at]
                return

    def enter(self, here: int) -> None:
        """It may go now."""
        heapq.heappush(self._late, self._ranks.of(here))
        # What is lower than the last that was looked at belongs there.
        for one in self._window:
            heapq.heappush(self._late, one)
        self._window.clear()

    def _pull(self) -> tuple[Rank, str, int] | None:
        if self._late and (self._ahead is None or self._late[0] < self._ahead):
            return heapq.heappop(self._late)
        ahead, self._ahead = self._ahead, self._next() if self._ahead is not None else None
        return ahead

    def _next(self) -> tuple[Rank, str, int] | None:
        here = next(self._order, None)
        return None if here is None else self._ranks.of(here)


class _Ranks:
    """The rank of each memory by a policy: a group, a value within it, when it was made. Raises OverflowError where it
    does not fit into columns, and UnknownPolicy."""

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
        # What each value is made of: what lasts, θ of what fades, the tokens by which it is divided.
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

    def lines(self, free: Sequence[bool], of: Sequence[int], kinds: int, named: Collection[str]) -> list[_Line]:
        """Sorts what may go of each kind. `of`: the kind of each; `named`: what counts less by the band."""
        group, value, created = self._plain
        if named:
            less = np.fromiter((one in named for one in self._ids), bool, len(self._ids))
            group, value, created = self._ranked(less)
        order = np.lexsort((self._by_id, created, value, group))
        self._told = group.tolist(), value.tolist(), created.tolist()
        kind, may = np.array(of, np.int64), np.array(free, bool)
        order = order[may[order]]
        return [_Line(self, order[kind[order] == one].tolist(), looks=self.looks) for one in range(kinds)]

    def of(self, here: int) -> tuple[Rank, str, int]:
        """The rank of one, its id and its place."""
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
        # What is stale goes before all else, the longest unused first.
        return (
            np.where(self._stale, -1, group), np.where(self._stale, self._used, value),
            np.where(self._stale, 0, self._created),
        )  # fmt: skip

    def _faded(self, parts: tuple[Numbers, Numbers, Numbers], step: Numbers, less: NDArray[np.bool_]) -> Numbers:
        """The value now; see `orders.Fading`."""
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
        """What lasts of the score, and θ of its recency; see `rules._Scored`."""
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
        """See `items.exposure_ppm`."""
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
    """`items.recency_ppm` of each."""
    near = np.exp(-np.maximum(0, ages).astype(float) * LN2_PPM / (half_life_ms * float(PPM))) * PPM
    return _whole(near, ages, lambda age: recency_ppm(age, half_life_ms))


def _ln(numbers: Numbers) -> Numbers:
    """`worth.ln_ppm` of each."""
    return _whole(np.log(numbers.astype(float)) * PPM, numbers, ln_ppm)


def _whole(near: NDArray[np.float64], of: Numbers, exact: Callable[[int], int]) -> Numbers:
    """Rounds down; what lies too near to the next whole number is computed anew."""
    found = np.floor(near).astype(np.int64)
    over = near - found
    unsure = np.flatnonzero((over < _SURE) | (over > 1 - _SURE))
    told, back = np.unique(of[unsure], return_inverse=True)
    found[unsure] = np.array([exact(int(one)) for one in told], np.int64)[back]
    return found
