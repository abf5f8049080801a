"""Where memories stand in a member's own order of what goes: what it is asked where a namespace is over its budget.

The order is the one of the namespace's policy, of what the member itself has read. What lies in it as far as the excess
reaches is the least worth; members' orders differ a little, so it reaches on by a margin, a share of the budget: what
is least of a budget that is so much smaller. Of what may go no more is let go than makes the excess, whatever is asked.

Nobody but the nominator draws the lots of `random`: by that policy what is not protected stands at the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core.budgets.items import Item
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.policy import PPM, Budget, BudgetPolicy


class Place(Struct, frozen=True):
    """Where a memory stands, in millionths of what its namespace holds: `before`, what goes before it, all where it is
    not to go; `beyond`, what is beyond the budget."""

    before_ppm: int
    beyond_ppm: int


NOWHERE = Place(PPM, 0)
"""Of what a member knows too little of, or whose namespace has no budget, or is within it."""


def reach_ppm(beyond: Any, policy: BudgetPolicy) -> Any:
    """How far from the beginning of an order memories may go, where so much is beyond the budget; of many, of each."""
    return beyond + policy.margin_ppm * (PPM - beyond) // PPM


def places(
    items: Iterable[Item], budget: Budget, policy: BudgetPolicy, as_of: int, asked: Sequence[str]
) -> Mapping[str, Place]:
    """The places of the memories that are asked for, in this order, of all that a namespace holds."""
    drawn = budget.policy == "random"
    # The lots are not the nominator's: only what may go at all is asked of it.
    ledger = Ledger(budget.policy, policy)
    for one in items:
        ledger.put(one)
    held, over = ledger.tokens, ledger.tokens - budget.tokens
    if over <= 0:
        return dict.fromkeys(asked, NOWHERE)
    beyond = over * PPM // held
    least = ledger.plan(0 if drawn else budget.tokens - budget.tokens * policy.margin_ppm // PPM, as_of)
    before, at = dict[str, int](), 0
    for going in least.goes:
        before[going.memory_id] = 0 if drawn else at * PPM // held
        at += going.tokens
    found, covered = dict[str, Place](), 0
    for memory_id in asked:
        item = ledger.get(memory_id)
        goes = item is not None and memory_id in before and covered < over
        found[memory_id] = Place(before[memory_id] if goes else PPM, beyond)
        covered += item.tokens if goes and item is not None else 0
    return found
