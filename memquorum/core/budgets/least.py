"""The places of memories in a member's own eviction order, for votes where a namespace is over its budget, a shard over
its capacity, or a memory older than its type may become.

The order is that of the namespace's policy, over the memories that the member itself has read. The least worth are
those within the excess; as members' orders differ a little, this is widened by a margin, a share of the budget: as if
the budget were smaller by that. No more memories are given up than make the excess, for any number that is asked about.

Only the nominator draws the lots of `random`: for that policy every memory that is not protected stands at the
beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core.budgets.at_once import Order
from memquorum.core.budgets.evictions import above_floors
from memquorum.core.budgets.items import Item, place
from memquorum.core.policy import PPM, Budget, BudgetPolicy
from memquorum.core.tiers import SHORT_TERM
from memquorum.ports import Candidate, Weighted


class BudgetPlace(Struct, frozen=True):
    """The place of a memory, in millionths of all that is held: `before`: the share that goes before it, all of it
    where it is not to go; `beyond`: the excess."""

    before_ppm: int
    beyond_ppm: int


NOWHERE = BudgetPlace(PPM, 0)
"""The place of a memory that the member knows too little of, or where there is no excess."""


def reach_ppm(beyond: Any, policy: BudgetPolicy) -> Any:
    """Returns how far from the beginning of an order memories may go, with an excess of `beyond`; for an array, of
    each."""
    return beyond + policy.margin_ppm * (PPM - beyond) // PPM


def places(
    items: Iterable[Item], budget: Budget, policy: BudgetPolicy, as_of: int, asked: Sequence[str]
) -> Mapping[str, BudgetPlace]:
    """Returns the places of the given memories among all of a namespace, in tokens. `asked`: the memories, in order of
    preference."""
    drawn, known = budget.policy == "random", list(items)
    order = Order(known, budget.policy, policy, as_of, () if drawn else budget.floors)
    held, over = order.tokens, order.tokens - budget.tokens
    if over <= 0:
        return dict.fromkeys(asked, NOWHERE)
    # Members do not know the nominator's lots: the order only says whether a memory may go at all.
    reach = 0 if drawn else reach_tokens(budget, policy)
    most = most_asked(asked)
    least = order.goes(reach, most=most)
    if len(least) == most and not {memory_id for memory_id, _ in least}.issuperset(asked):
        least = order.goes(reach, named={memory_id for memory_id, _ in least})
    if drawn and budget.floors:
        kinds, by_id, may = [0] * len(budget.floors), {one.memory_id: one for one in known}, dict(least)
        for one in by_id.values():
            kinds[place(one.type)] += one.tokens
        named = [by_id[one] for one in dict.fromkeys(asked) if one in may]
        least = [(one.memory_id, one.tokens) for one in above(named, kinds, budget.floors)]
    return placed(least, held, over, asked, alike=drawn)


def above(items: Iterable[Item], held: Sequence[int], floors: Sequence[int]) -> list[Item]:
    """Returns those of some memories that may go, in this order, while each type keeps its floor. `held`: the tokens of
    all memories, by type."""
    if not floors:
        return list(items)
    spare, found = above_floors(held, floors), list[Item]()
    for one in items:
        if one.tokens <= spare[place(one.type)]:
            spare[place(one.type)] -= one.tokens
            found.append(one)
    return found


def crowded(
    alive: Iterable[Weighted], capacity: int, fallen: Callable[[Candidate], int], asked: Sequence[str]
) -> Mapping[str, BudgetPlace]:
    """Returns the places of memories among all of a shard, by number: the lowest decay score goes first, then those
    without a score, longest unused first. `fallen`: the key by which to compare decay scores."""
    known = list(alive)
    over = len(known) - capacity
    if over <= 0:
        return dict.fromkeys(asked, NOWHERE)

    def turn(told: Weighted) -> tuple[bool, int, str]:
        one = told.candidate
        return not one.fades, fallen(one) if one.fades else one.last_access, one.memory_id

    going = sorted(filter(free, known), key=turn)
    return placed([(told.candidate.memory_id, 1) for told in going], len(known), over, asked)


def older(type_: str, created: int, policy: BudgetPolicy, as_of: int) -> bool:
    """True if a memory made at `created` is older than its type may become."""
    at = old_at(type_, created, policy)
    return at is not None and at <= as_of


def old_at(type_: str, created: int, policy: BudgetPolicy) -> int | None:
    """Returns the first millisecond at which a memory made at `created` is older than its type may become; None without
    such a limit."""
    most = policy.ttl_ms[place(type_)] if policy.ttl_ms else 0
    return created + most + 1 if most else None


def free(told: Weighted) -> bool:
    """Whether a memory may be evicted at all."""
    return told.candidate.tier == SHORT_TERM and not told.protections and not told.rests


def within(
    found: Mapping[str, BudgetPlace], asked: Iterable[tuple[str, str]], rooms: Mapping[str, int]
) -> Mapping[str, BudgetPlace]:
    """Limits the places to as many memories of each namespace as may go now (`core.caps`), the first of `asked`.
    `asked`: namespace and memory, in this order."""
    left, kept = dict(rooms), dict(found)
    for namespace, memory_id in asked:
        place = found.get(memory_id)
        if place is None or place.before_ppm == PPM:
            continue
        if left.get(namespace, 0) > 0:
            left[namespace] -= 1
        else:
            kept[memory_id] = BudgetPlace(PPM, place.beyond_ppm)
    return kept


def most_asked(asked: Sequence[str]) -> int:
    """Returns how many memories of an order are computed at first. An honest nominator asks about its beginning; the
    rest is computed only where this is not so."""
    return 2 * len(asked) + 64


def reach_tokens(budget: Budget, policy: BudgetPolicy) -> int:
    """Returns the tokens down to which memories may go: a budget that is smaller by the margin."""
    return budget.tokens - budget.tokens * policy.margin_ppm // PPM


def placed(
    order: Sequence[tuple[str, int]], held: int, over: int, asked: Sequence[str], *, alike: bool = False
) -> Mapping[str, BudgetPlace]:
    """Computes places from an order. `order`: the memories that go, with their weights; `held`, `over`: the total and
    the excess; `alike`: whether all of the order go first."""
    wanted, before, weighs, at = frozenset(asked), dict[str, int](), dict[str, int](), 0
    for memory_id, weight in order:
        if memory_id in wanted:
            before[memory_id], weighs[memory_id] = 0 if alike else at * PPM // held, weight
        at += weight
    found, covered = dict[str, BudgetPlace](), 0
    for memory_id in asked:
        goes = memory_id in before and covered < over
        found[memory_id] = BudgetPlace(before[memory_id] if goes else PPM, over * PPM // held)
        covered += weighs[memory_id] if goes else 0
    return found
