"""The keys by which a store keeps memories sorted, so that an order at any time is read from its beginning, without the
rest.

A score changes with time, but its fading part has one half-life for all memories: at a time it is
`value + left(now - step)` (`orders.Fading`). So the memories of one step keep their order for ever, and the order at a
time is that of all steps, merged (`lazily`). `core.vote.crowding` does the same for the decay scores of a shard.

A key depends on the memory and on the policy's constants, and on no time. Numbers beyond the bounds of `at_once` have
no key; a namespace with such a memory is read as a whole.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.budgets.items import (
    LN2_PPM,
    Item,
    accesses_ppm,
    dot,
    lasting,
    place,
    recency_ppm,
    theta,
    withheld,
    worth_of,
)
from memquorum.core.budgets.orders import COLD, STEP_PPM, left
from memquorum.core.facets import TYPES
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.worth import ln_ppm

UNUSED, BELOW, SCORED, FALLING, USED, WAITING, BEYOND = range(7)
"""The lists of a ranking. `UNUSED`: by last use, as what is stale goes; `BELOW`: what may be worth less than nothing,
undivided; `SCORED`: by value, or the only time that a policy goes by; `FALLING`: by decay score; `USED`: by last use,
as far as a vote may be about a time before; `WAITING`: what has no decay score, by last use; `BEYOND`: without a
key."""
KINDS = len(TYPES)
NEVER = -(2**40)
"""The step of what does not fade."""
MOST = 2**62
LATEST = 10**13
"""The bounds of all numbers, and of times in milliseconds; those of `at_once`."""


class Key(NamedTuple):
    """The place of a memory in a list; a memory may be in several. Ties are broken by its id."""

    line: int
    """The list, and the kind that the memory belongs to: `KINDS` of them a list."""
    step: int
    value: int
    created: int = 0


Rank = tuple[int, int, int]


class BudgetKeys(Struct, frozen=True, tag="budget"):
    """The keys of a policy for budgets. `policy`: its constants, without what changes no key."""

    name: str
    policy: BudgetPolicy

    @classmethod
    def of(cls, name: str, policy: BudgetPolicy) -> BudgetKeys:
        """Makes the keys of a namespace's policy."""
        plain = BudgetPolicy()
        changes = {
            one: getattr(plain, one)
            for one in ("tokens", "policy", "band_ppm", "stale_ppm", "distortion_ppm", "relief_ppm", "ttl_ms",
                        "margin_ppm", "every_ms", "epsilon_ppm", "w_max", "lipschitz_ppm", "subject_epsilon_ppm")
        }  # fmt: skip
        return cls(name, replace(policy, **changes))

    def kind(self, type_: str) -> int:
        """Returns the kind of a memory: its type where types have shares, else one for all."""
        return place(type_) if self.policy.shares_ppm else 0

    def keys(self, one: Item) -> list[Key]:
        """Returns the keys of a memory. Raises OverflowError for numbers beyond the bounds."""
        if max(abs(one.created), abs(one.last_access)) > LATEST:
            raise OverflowError
        if self.name == "random":
            return []
        kind, weight = self.kind(one.type), max(1, one.tokens)
        if self.name in ("fifo", "lru"):
            return [Key(SCORED * KINDS + kind, NEVER, one.created if self.name == "fifo" else one.last_access)]
        lasts, fades = self._parts(one)
        found = [self._key(SCORED * KINDS + kind, one, lasts, fades, weight)]
        if self.name != "priority" and lasts < 0:
            found.append(self._key(BELOW * KINDS + kind, one, lasts, fades, 1))
        if self.name == "hybrid":
            found.append(Key(UNUSED * KINDS + kind, NEVER, one.last_access))
        return found

    def _key(self, line: int, one: Item, lasts: int, fades: int, weight: int) -> Key:
        step = NEVER
        if fades > 0:
            efolds = one.last_access * LN2_PPM // self.policy.half_life_ms
            step = (ln_ppm(fades) - ln_ppm(weight) + efolds) // STEP_PPM
        value = lasts * PPM // weight
        if abs(value) > MOST or (step != NEVER and not NEVER < step < MOST):
            raise OverflowError
        return Key(line, step, value, one.created)

    def _parts(self, one: Item) -> tuple[int, int]:
        """Returns the lasting part and θ of the recency; see `rules`."""
        policy = self.policy
        if self.name == "priority":
            alpha, beta, gamma = policy.priority_ppm
            return dot((alpha, gamma), (policy.types_ppm[place(one.type)], accesses_ppm(one.uses))) // PPM, beta
        recency, *others = theta(one.type, policy)
        worth = worth_of(one)
        if abs(one.worth) > LATEST or sum(map(abs, (recency, *others))) * max(1, abs(worth)) >= MOST:
            raise OverflowError
        lasts = dot(others, lasting(one)) - withheld(worth, one.sensitivity_ppm, policy)
        return lasts // PPM, recency * worth // PPM


class Times:
    """The ranks of keys at one time, as `at_once` has them."""

    def __init__(self, name: str, policy: BudgetPolicy, as_of: int) -> None:
        if abs(as_of) > LATEST:
            raise OverflowError
        self._name, self.policy, self.as_of = name, policy, as_of
        self._now = as_of * LN2_PPM // policy.half_life_ms // STEP_PPM
        self.stale_before = as_of - _fresh_ms(policy.half_life_ms, policy.stale_ppm) if name == "hybrid" else -MOST
        """The last use before which a memory is stale, for the policy that asks."""

    def fades(self, step: int) -> int:
        """Returns the fading part of the value of a step. Raises OverflowError beyond the bounds."""
        if step == NEVER or self._now - step > COLD:
            return 0
        found = left(self._now - step)
        if found > MOST:
            raise OverflowError
        return found

    def rank(self, keys: list[Key], one: Item, *, less: bool) -> Rank:
        """Returns the rank of a memory. `less`: whether its value is lowered by the band."""
        found = {key.line // KINDS: key for key in keys}
        key = found[SCORED]
        if self._name in ("fifo", "lru"):
            return 0, key.value, 0
        if self._name == "priority":
            return 0, self._value(key, less=less), one.created
        if one.last_access < self.stale_before:
            return -1, one.last_access, 0
        if BELOW in found and (below := self._value(found[BELOW], less=less)) < 0:
            return 0, below, one.created
        return 1, self._value(key, less=less), one.created

    def _value(self, key: Key, *, less: bool) -> int:
        if not less:
            return key.value + self.fades(key.step)
        band = self.policy.band_ppm
        step = key.step if key.step == NEVER else key.step - band // STEP_PPM
        return key.value - abs(key.value) * band // PPM + self.fades(step)


@lru_cache(maxsize=64)
def _fresh_ms(half_life_ms: int, stale_ppm: int) -> int:
    """Returns the largest age at which a memory is not stale; -1 where none is."""
    low, high = -1, 1
    while recency_ppm(high, half_life_ms) >= stale_ppm:
        low, high = high, high * 2
        if high > MOST:
            return MOST
    if recency_ppm(0, half_life_ms) < stale_ppm:
        return -MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if recency_ppm(middle, half_life_ms) >= stale_ppm else (low, middle)
    return low
