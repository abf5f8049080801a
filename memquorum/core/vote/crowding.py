"""The places of memories in a shard over its capacity, by decay score, read from the beginning of an order that a store
keeps by keys: the result of `budgets.least.crowded`, for a shard of any size.

A decay score falls by one of two rates (`core.triage`). Its logarithm is `(value - as_of · rate) / hour`, rounded up,
with a value that depends on no time: so the memories of one rate keep their order, and the orders of both are merged.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.budgets.lazily import Shelf, until
from memquorum.core.budgets.least import NOWHERE, BudgetPlace, placed
from memquorum.core.budgets.sort_keys import FALLING, KINDS, LATEST, MOST, NEVER, USED, WAITING, Key
from memquorum.core.policy import Policy, TriagePolicy
from memquorum.core.triage import HOUR_MS, fallen_ppm, rate_ppm
from memquorum.ports import Candidate


class PressureKeys(Struct, frozen=True, tag="pressure"):
    """The keys of a shard's order by decay score. `policy`: what the scores depend on."""

    policy: TriagePolicy

    @classmethod
    def of(cls, policy: TriagePolicy) -> PressureKeys:
        """Makes the keys of a policy, without what changes none."""
        plain = TriagePolicy()
        return cls(replace(policy, every_ms=plain.every_ms, expire_ppm=plain.expire_ppm))

    def keys(self, one: Candidate) -> list[Key]:
        """Returns the keys of a memory. Raises OverflowError for numbers beyond the bounds."""
        if abs(one.last_access) > LATEST:
            raise OverflowError
        if not one.fades:
            return [Key(WAITING * KINDS, NEVER, one.last_access)]
        policy = _whole(self.policy)
        rate = rate_ppm(max(1, one.salience_ppm), policy)
        value = fallen_ppm(one.salience_ppm, one.replays, 0, policy) * HOUR_MS + one.last_access * rate
        if abs(value) > MOST:
            raise OverflowError
        return [Key(FALLING * KINDS, rate, value), Key(USED * KINDS, NEVER, one.last_access)]


def crowded(shelf: Shelf, held: int, policy: Policy, as_of: int, asked: Sequence[str]) -> Mapping[str, BudgetPlace]:
    """Returns what `least.crowded` does. `held`: the number of living memories. Raises OverflowError for numbers beyond
    the bounds."""
    over = held - policy.epoch.capacity
    if over <= 0:
        return dict.fromkeys(asked, NOWHERE)
    found = ((one, shelf.item(one)) for one in asked)
    wanted = {one for one, item in found if item is not None and item.protected is None}
    return placed(list(until(_falling(shelf, policy, as_of), wanted)), held, over, asked)


def _falling(shelf: Shelf, policy: Policy, as_of: int) -> Iterator[tuple[str, int]]:
    """Yields the memories of a shard by decay score, each counted as one; then those without one."""
    future = set[str]()
    for value in shelf.values(USED * KINDS, NEVER, as_of):
        future.update(shelf.run(USED * KINDS, NEVER, value))
    # Their age counts as none, and their values are too high.
    used = ((one, shelf.candidate(one)) for one in future)
    late = iter(sorted((fallen_ppm(told.salience_ppm, told.replays, 0, policy), one) for one, told in used))
    steps = [_of_rate(shelf, rate, as_of, future) for rate, _ in shelf.heads(FALLING * KINDS)]
    for _, memory_id in heapq.merge(late, *steps):
        yield memory_id, 1
    for step, _ in shelf.heads(WAITING * KINDS):
        for _, _, memory_id in shelf.entries(WAITING * KINDS, step):
            yield memory_id, 1


def _of_rate(shelf: Shelf, rate: int, as_of: int, without: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yields the memories whose scores fall by one rate. Several values may be one score: those go by id."""
    line, score, runs = FALLING * KINDS, 0, list[Iterator[str]]()
    for value in shelf.values(line, rate, -MOST):
        # Rounded up, as the age's part is rounded down.
        of_value = -((as_of * rate - value) // HOUR_MS)
        if runs and of_value != score:
            yield from ((score, one) for one in heapq.merge(*runs) if one not in without)
            runs = []
        score = of_value
        runs.append(shelf.run(line, rate, value))
    yield from ((score, one) for one in heapq.merge(*runs) if one not in without)


@lru_cache(maxsize=16)
def _whole(policy: TriagePolicy) -> Policy:
    return Policy(triage=policy)
