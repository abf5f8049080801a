"""The beginning of a namespace's eviction order, as far as one plan looks, for a namespace of any size: with it, a
`Ledger` plans as if all memories had been put into it.

A plan takes no more than `most` memories, and to choose the next one it looks at no more than `lots.AMONG` of the
lowest. So of each kind the `most + AMONG` lowest are enough, with those that are dealt with for another reason, and all
that these were made of. The others are counted (`ledger.Others`).

A store keeps the order by keys (`sort_keys`) without the nearness to goals, which changes for all memories at once.
Nearness to goals only raises a score, so a memory never goes before its place in the stored order. Memories are read
until enough of them have a rank before the last place that was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from msgspec import Struct

from memquorum.core.budgets.evictions import above_floors
from memquorum.core.budgets.items import CAPPED, SUPPORTS, place
from memquorum.core.budgets.lazily import Steps, in_order
from memquorum.core.budgets.ledger import Others
from memquorum.core.budgets.lots import AMONG
from memquorum.core.budgets.rules import WEIGHS
from memquorum.core.budgets.sort_keys import KINDS, NEVER, SCORED, BudgetKeys, Times
from memquorum.core.budgets.weighing import item
from memquorum.core.facets import TYPES
from memquorum.core.policy import BudgetPolicy
from memquorum.core.tiers import ALIVE
from memquorum.ports import Weighted


class Kept(Steps, Protocol):
    """A namespace in a store: its memories that may go, in order, and sums of all that live. By the policy `random`
    the values of the order are lots."""

    def sums(self) -> Mapping[tuple[str, int], int]:
        """Returns the tokens of the living memories, by what `Plan.excess` counts them as, and the place of their
        type."""
        ...

    def dated(self) -> Collection[str]:
        """Returns the tasks with a deadline that live: they are in no order, as time changes their rank."""
        ...

    def counted(self, memory_ids: Collection[str]) -> Iterable[tuple[str, int, int]]:
        """Yields as what each of the living memories is counted in the sums, the place of its type, and its tokens."""
        ...

    def supporters(self, memory_ids: Collection[str]) -> Mapping[str, Collection[str]]:
        """Returns, for each memory, the living memories that need it."""
        ...

    def weighted(self, memory_ids: Collection[str]) -> Sequence[Weighted]:
        """Reads memories with all that a budget weighs: those that are alive, or summaries that wait for a vote."""
        ...


class Beginning(Struct, frozen=True):
    """The memories to put into a ledger, by id, and what it has to know of the others."""

    weighted: Mapping[str, Weighted]
    others: Others


def beginning(
    kept: Kept,
    name: str,
    policy: BudgetPolicy,
    as_of: int,
    *,
    most: int,
    apart: Collection[str] = (),
    gone: Collection[str] = (),
    floors: Sequence[int] = (),
) -> Beginning:
    """Reads what a plan of at most `most` evictions looks at. `apart`: memories of which something else becomes in the
    same epoch; `gone`: those of them that the ledger does not hold; `floors`: the tokens that each type keeps. Raises
    OverflowError for numbers beyond the bounds of `sort_keys`.

    Memories that a floor keeps already are passed over. A plan that itself brings a type down to its floor may find
    fewer than there are; the next one finds more."""
    keys, times = BudgetKeys.of(name, policy), Times(name, policy, as_of)
    known = {one.candidate.memory_id: one for one in kept.weighted({*apart, *kept.dated()})}

    def rank(told: Weighted, plain: tuple[Any, ...]) -> tuple[Any, ...]:
        one = item(told)
        near = name in WEIGHS and told.goals_ppm
        return times.rank(keys.keys(one), one, less=False) if near else plain

    held = [0] * len(TYPES)
    for (_, kind), tokens in kept.sums().items():
        held[kind] += tokens
    spare = above_floors(held, floors) if floors else []

    def may(told: Weighted) -> bool:
        return not spare or max(1, told.tokens) <= spare[place(told.type)]

    for kind in range(KINDS if policy.shares_ppm else 1):
        order = (one for one in _order(kept, keys, times, kind) if one[1] not in known)
        known |= _lowest(kept, order, most + AMONG + 1, rank, may)
    _add_parents(kept, known)
    return Beginning(known, _others(kept, known, gone))


def whole(weighted: Iterable[Weighted]) -> Beginning:
    """Returns all memories of a namespace, by id."""
    return Beginning({one.candidate.memory_id: one for one in weighted}, Others([0] * len(TYPES), {}, {}))


def _order(kept: Kept, keys: BudgetKeys, times: Times, kind: int) -> Iterator[tuple[tuple[Any, ...], str]]:
    if keys.name == "random":
        lots = kept.entries(SCORED * KINDS + kind, NEVER)
        return (((0, lot), memory_id) for lot, _, memory_id in lots)
    return in_order(kept, keys, times, kind)


def _lowest(
    kept: Kept,
    order: Iterator[tuple[tuple[Any, ...], str]],
    enough: int,
    rank: Callable[[Weighted, tuple[Any, ...]], tuple[Any, ...]],
    may: Callable[[Weighted], bool],
) -> dict[str, Weighted]:
    """Returns the memories of an order among which the lowest `enough` are, by their ranks with goals. `rank`: that of
    a memory, from its place in the order without goals; `may`: whether no floor keeps it."""
    found, ranks = dict[str, Weighted](), list[tuple[tuple[Any, ...], str]]()
    while some := list(islice(order, enough)):
        plain = {memory_id: told for told, memory_id in some}
        for one in kept.weighted(plain):
            memory_id = one.candidate.memory_id
            if not may(one):
                continue
            found[memory_id] = one
            ranks.append((rank(one, plain[memory_id]), memory_id))
        if sum(told <= some[-1] for told in ranks) >= enough:
            break
    return found


def _add_parents(kept: Kept, known: dict[str, Weighted]) -> None:
    """Adds the memories that those are made of, and what these are made of: they may go once the others have gone."""
    asked, some = set(known), list(known.values())
    while parents := {parent for one in some if one.candidate.tier in ALIVE for parent in one.needs} - asked:
        asked |= parents
        some = list(kept.weighted(parents))
        known |= {one.candidate.memory_id: one for one in some}


def _others(kept: Kept, known: Mapping[str, Weighted], gone: Collection[str]) -> Others:
    inside = {memory_id for memory_id, one in known.items() if one.candidate.tier in ALIVE}
    left = Counter(kept.sums())
    for why, kind, tokens in kept.counted(inside):
        left[why, kind] -= tokens
    of_type, excess = [0] * len(TYPES), Counter[str]()
    for (why, kind), tokens in left.items():
        of_type[kind] += tokens
        excess[why] += tokens
    supports = {
        parent: more
        for parent, children in kept.supporters(inside - set(gone)).items()
        if (more := len(set(children) - inside))
    }
    return Others(of_type, excess, supports)


def counted_as(protected: str | None, needed: bool) -> str:
    """Returns as what `Plan.excess` counts a memory. `needed`: whether a living memory was made of it."""
    return protected or (SUPPORTS if needed else CAPPED)
