"""The memories that a budget would forget, in words and in JSON: features and scores by policies that go by them."""

from __future__ import annotations

import pytest

from infra.budget_preview import Outlook, lines, plain
from memquorum.core.budgets.items import Item
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.policy import FEATURES, FORGETTING, PPM, Budget, BudgetPolicy

NOW = 1_700_000_000_000


def outlook(name: str) -> Outlook:
    """Ten memories of 20 tokens each, and a budget of 100."""
    ledger = Ledger(name, BudgetPolicy())
    for n in range(10):
        ledger.put(Item(f"m{n}", "semantic", 20, NOW - n, NOW - n, worth=20 + n, novelty_ppm=PPM))
    plan = ledger.plan(100, NOW)
    return Outlook("n", 0, Budget("n", 100, name), 0, 200, plan, room=4)


@pytest.mark.parametrize("name", FORGETTING)
def test_features_and_scores_are_of_the_policies_that_go_by_them(name: str) -> None:
    found, weighs = outlook(name), name in ("worth", "hybrid", "reflection")
    told = plain(found)["goes"]
    assert len(told) >= 5
    for one in told:
        assert (one["features"] is not None, one["score"] is not None, one["net_ppm"] is not None) == (weighs,) * 3
        assert not weighs or tuple(one["features"]) == FEATURES
    words = "\n".join(lines([found]))
    assert ("each times worth: recency" in words) is weighs and ("score" in words) is weighs
