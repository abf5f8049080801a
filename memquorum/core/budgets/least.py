"""Where memories stand in a member's own order of what goes: what it is asked where a namespace is over its budget, a
shard over its capacity, or a memory older than it may become.

The order is the one of the namespace's policy, of what the member itself has read. What lies in it as far as the excess
reaches is the least worth; members' orders differ a little, so it reaches on by a margin, a share of the budget: what
is least of a budget that is so much smaller. Of what may go no more is let go than makes the excess, whatever is asked.

Nobody but the nominator draws the lots of `random`: by that policy what is not protected stands at the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core.budgets.at_once import Order
from memquorum.core.budgets.items import Item, place
from memquorum.core.policy import PPM, Budget, BudgetPolicy
from memquorum.core.tiers import SHORT_TERM
from memquorum.ports import Candidate, Weighted


class Place(Struct, frozen=True):
    """Where a memory stands, in millionths of what there is: `before`, what goes before it, all where it is not to go;
    `beyond`, what is too much."""

    before_ppm: int
    beyond_ppm: int


NOWHERE = Place(PPM, 0)
"""Of what a member knows too little of, or where nothing is too much."""


def reach_ppm(beyond: Any, policy: BudgetPolicy) -> Any:
    """How far from the beginning of an order memories may go, where so much is beyond the budget; of many, of each."""
    return beyond + policy.margin_ppm * (PPM - beyond) // PPM


def places(
    items: Iterable[Item], budget: Budget, policy: BudgetPolicy, as_of: int, asked: Sequence[str]
) -> Mapping[str, Place]:
    """The places of the memories that are asked for, in this order, of all that a namespace holds, in tokens."""
    drawn = budget.policy == "random"
    order = Order(items, budget.policy, policy, as_of)
    held, over = order.tokens, order.tokens - budget.tokens
    if over <= 0:
        return dict.fromkeys(asked, NOWHERE)
    # The lots are not the nominator's: only what may go at all is asked of the order.
    reach = 0 if drawn else budget.tokens - budget.tokens * policy.margin_ppm // PPM
    # Who nominates what goes first asks for the beginning alone; the rest is looked for only where that is not so.
    most = 2 * len(asked) + 64
    least = order.goes(reach, most=most)
    if len(least) == most and not {memory_id for memory_id, _ in least}.issuperset(asked):
        least = order.goes(reach, named={memory_id for memory_id, _ in least})
    return _places(least, held, over, asked, alike=drawn)


def crowded(
    alive: Iterable[Weighted], capacity: int, fallen: Callable[[Candidate], int], asked: Sequence[str]
) -> Mapping[str, Place]:
    """The places of memories of all that a shard has, by their number: what has the lowest decay score goes first,
    what has none after that, the longest unused first. `fallen`: by what to compare the scores of two memories."""
    known = list(alive)
    over = len(known) - capacity
    if over <= 0:
        return dict.fromkeys(asked, NOWHERE)

    def turn(told: Weighted) -> tuple[bool, int, str]:
        one = told.candidate
        return not one.fades, fallen(one) if one.fades else one.last_access, one.memory_id

    free = [told for told in known if _free(told)]
    return _places([(told.candidate.memory_id, 1) for told in sorted(free, key=turn)], len(known), over, asked)


def older(type_: str, created: int, policy: BudgetPolicy, as_of: int) -> bool:
    """Whether what was made then is older than its type may become."""
    at = old_at(type_, created, policy)
    return at is not None and at <= as_of


def old_at(type_: str, created: int, policy: BudgetPolicy) -> int | None:
    """The first millisecond at which what was made then is older than its type may become; None where it never is."""
    most = policy.ttl_ms[place(type_)] if policy.ttl_ms else 0
    return created + most + 1 if most else None


def aged(told: Weighted, policy: BudgetPolicy, as_of: int) -> Place:
    """The place of a memory for its age alone: all that is older than its type may become has to go."""
    most = policy.ttl_ms[place(told.type)] if policy.ttl_ms else 0
    return Place(0, PPM) if most and _free(told) and as_of - told.candidate.created > most else NOWHERE


def _free(told: Weighted) -> bool:
    return told.candidate.tier == SHORT_TERM and not told.protections and not told.rests


def within(
    found: Mapping[str, Place], asked: Iterable[tuple[str, str]], rooms: Mapping[str, int]
) -> Mapping[str, Place]:
    """The same places, and of each namespace no more that is to go than there is room for (`core.caps`): the first that
    are asked for. `asked`: namespace and memory, in this order."""
    left, kept = dict(rooms), dict(found)
    for namespace, memory_id in asked:
        place = found.get(memory_id)
        if place is None or place.before_ppm == PPM:
            continue
        if left.get(namespace, 0) > 0:
            left[namespace] -= 1
        else:
            kept[memory_id] = Place(PPM, place.beyond_ppm)
    return kept


def _places(
    order: Sequence[tuple[str, int]], held: int, over: int, asked: Sequence[str], *, alike: bool = False
) -> Mapping[str, Place]:
    """`order`: what goes, with what it weighs; `held`, `over`: what there is, and what is too much; `alike`: all of
    the order goes first."""
    wanted, before, weighs, at = frozenset(asked), dict[str, int](), dict[str, int](), 0
    for memory_id, weight in order:
        if memory_id in wanted:
            before[memory_id], weighs[memory_id] = 0 if alike else at * PPM // held, weight
        at += weight
    found, covered = dict[str, Place](), 0
    for memory_id in asked:
        goes = memory_id in before and covered < over
        found[memory_id] = Place(before[memory_id] if goes else PPM, over * PPM // held)
        covered += weighs[memory_id] if goes else 0
    return found
