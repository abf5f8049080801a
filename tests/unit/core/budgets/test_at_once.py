"""The order of all at one time is what a ledger plans, to the last memory, by every policy."""

from __future__ import annotations

from random import Random

import pytest

from memquorum.core.budgets.at_once import Order
from memquorum.core.budgets.items import Item
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.budgets.rules import UnknownPolicy
from memquorum.core.policy import FORGETTING, PPM, BudgetPolicy

NOW = 1_790_000_000_000
HOUR = 3_600_000
DAY = 24 * HOUR


def drawn(lot: Random, count: int) -> list[Item]:
    """Memories with all that an order depends on: ties, what was made of others, and what may not go."""
    ids = [f"{lot.randrange(10**6):06}" for _ in range(count)]
    return [
        Item(
            one, lot.choice(("episodic", "semantic", "social", "task", "odd")),
            lot.choice((0, 1, 5, lot.randrange(300))),
            made := NOW - lot.choice((lot.randrange(60 * DAY), lot.randrange(5) * DAY, 0, -lot.randrange(HOUR))),
            made + lot.choice((0, lot.randrange(5 * DAY))), uses=lot.choice((0, 0, 1, lot.randrange(50))),
            sensitivity_ppm=lot.choice((0, 0, 500_000, lot.randrange(PPM))),
            goals_ppm=lot.choice((0, lot.randrange(PPM))),
            centrality_ppm=lot.choice((0, lot.randrange(PPM))), novelty_ppm=lot.randrange(PPM),
            worth=lot.choice((0, 10 * PPM, lot.randrange(300 * PPM), lot.randrange(10**5) * PPM)),
            urgency_ppm=lot.choice((0, PPM)), needs=tuple(lot.sample(ids[:at], min(at, lot.choice((0, 0, 0, 1, 3))))),
            protected=lot.choice((None,) * 9 + ("pinned",)),
        )
        for at, one in enumerate(ids)
    ]  # fmt: skip


def constants(lot: Random) -> BudgetPolicy:
    return BudgetPolicy(
        shares_ppm=lot.choice(((), (), (250_000,) * 4, (700_000, 100_000, 100_000, 100_000))),
        lambda_priv_ppm=lot.choice((500_000, 0, PPM)), band_ppm=lot.choice((10_000, 0, 500_000)),
        stale_ppm=lot.choice((50_000, 0, 500_000)), half_life_ms=lot.choice((7 * DAY, DAY, HOUR)),
    )  # fmt: skip


def planned(ledger: Ledger, tokens: int, most: int | None = None) -> list[tuple[str, int]]:
    return [(one.memory_id, one.tokens) for one in ledger.plan(tokens, NOW, most=most).goes]


@pytest.mark.parametrize("name", FORGETTING)
def test_it_is_what_a_ledger_plans_and_plans_again(name: str) -> None:
    """The second plan spares less of what the first has named, and so does the order that is told it."""
    columns = gone = 0
    for seed in range(40):
        lot = Random(seed)
        items, policy = drawn(lot, lot.choice((0, 1, 3, 20, 60, 200))), constants(lot)
        floors = Random(seed + 99).choice(((), (), (500, 0, 0, 0), (200, 90, 100, 300)))
        ledger, order = Ledger(name, policy, floors=floors), Order(items, name, policy, NOW, floors)
        for one in items:
            ledger.put(one)
        assert order.tokens == ledger.tokens
        tokens, most = lot.choice((0, ledger.tokens // 2, ledger.tokens * 9 // 10)), lot.choice((3, 10, 64))
        first = planned(ledger, tokens, most)
        assert order.goes(tokens, most=most) == first, seed
        assert order.goes(tokens, named={one for one, _ in first}) == planned(ledger, tokens), seed
        columns += order.in_columns
        gone += len(first)
    assert columns > 30 and gone > 200


def test_what_does_not_fit_into_columns_is_planned_by_a_ledger() -> None:
    many = [Item(str(at), "episodic", 5, NOW - at, NOW - at, worth=10**15 + at) for at in range(9)]
    order = Order(many, "worth", BudgetPolicy(), NOW)
    assert not order.in_columns
    ledger = Ledger("worth", BudgetPolicy())
    for one in many:
        ledger.put(one)
    assert order.goes(20) == planned(ledger, 20) != []


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(UnknownPolicy):
        Order([], "newest", BudgetPolicy(), NOW)
