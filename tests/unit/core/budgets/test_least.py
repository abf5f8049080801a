"""A member's own order of forgetting: its least memories may be forgotten as far as the excess reaches,
whoever asks.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.budgets.items import PINNED, Item
from memquorum.core.budgets.least import NOWHERE, BudgetPlace, places
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.budgets.lots import Lots
from memquorum.core.policy import FORGETTING, PPM, Budget, BudgetPolicy, Policy
from memquorum.core.vote.kinds import EVICT

DAY = 24 * 3600 * 1000
NOW = 1_790_000_000_000
POLICY = BudgetPolicy()
HUNDRED = [Item(f"{at:03}", "episodic", 10, NOW - DAY + at, NOW - DAY + at, worth=at * PPM) for at in range(100)]
"""Ten tokens each; what is worth more came later, and was used later."""
IDS = [one.memory_id for one in HUNDRED]


def _yes(items: list[Item], asked: list[str], tokens: int, policy: str = "worth") -> list[str]:
    found = places(items, Budget("n", tokens, policy), POLICY, NOW, asked)
    judged = Policy(budget=POLICY)
    votes = {i: EVICT.score((one.before_ppm, one.beyond_ppm), judged) for i, one in found.items()}
    return [i for i, score in votes.items() if EVICT.yes(score, judged)]


@pytest.mark.parametrize("policy", sorted(set(FORGETTING) - {"random"}))
def test_what_the_policy_lets_go_first_is_let_go_and_no_more_than_the_excess(policy: str) -> None:
    ledger = Ledger(policy, POLICY)
    for one in HUNDRED:
        ledger.put(one)
    nominated = [one.memory_id for one in ledger.plan(100, NOW).goes]
    assert len(nominated) == 90
    assert _yes(HUNDRED, nominated, 100, policy) == nominated
    rest = [i for i in IDS if i not in nominated]
    assert _yes(HUNDRED, [*nominated, *rest], 100, policy) == nominated


@pytest.mark.parametrize("tokens", [100, 500, 900, 990])
def test_who_nominates_the_best_gets_none_of_it(tokens: int) -> None:
    best = IDS[::-1][: tokens // 10 * 8 // 10]
    assert _yes(HUNDRED, best, tokens) == []


def test_orders_may_differ_by_a_part_of_the_budget() -> None:
    """With an excess of 100 tokens, memories before 100 + a tenth of 900 may be forgotten; no more than 100 at once."""
    assert _yes(HUNDRED, ["000", "018"], 900) == ["000", "018"]
    assert _yes(HUNDRED, ["020", "050", "099"], 900) == []
    assert _yes(HUNDRED, IDS[:19], 900) == IDS[:10]


@pytest.mark.parametrize("tokens", [64, 90, 300, 850])
@pytest.mark.parametrize("policy", ["priority", "reflection", "hybrid", "worth"])
def test_no_draw_among_near_ties_is_voted_down_for_not_being_the_least(policy: str, tokens: int) -> None:
    """However little the margin is: a lot goes no further than it reaches."""
    drawing = replace(POLICY, epsilon_ppm=PPM, subject_epsilon_ppm=10_000 * PPM)
    alike = [replace(one, worth=10 * PPM + at, tokens=7 + at % 5) for at, one in enumerate(HUNDRED)]
    for seed in range(10):
        ledger = Ledger(policy, drawing, b"", Lots(drawing, bytes([seed]), {one: one for one in IDS}, {}))
        plain = Ledger(policy, drawing)
        for one in alike:
            ledger.put(one)
            plain.put(one)
        nominated, ordered = ([one.memory_id for one in made.plan(tokens, NOW).goes] for made in (ledger, plain))
        assert nominated != ordered
        assert _yes(alike, nominated, tokens, policy) == nominated


def test_within_the_budget_or_unknown_it_has_no_place() -> None:
    assert places(HUNDRED, Budget("n", 1000, "worth"), POLICY, NOW, ["000"]) == {"000": NOWHERE}
    assert places(HUNDRED, Budget("n", 500, "worth"), POLICY, NOW, ["?"]) == {"?": BudgetPlace(PPM, PPM // 2)}
    assert places([], Budget("n", 500, "worth"), POLICY, NOW, ["?"]) == {"?": NOWHERE}


def test_what_is_protected_or_carries_others_is_not_let_go_and_counts_for_nobody_else() -> None:
    pinned = [replace(one, protected=PINNED) if one.memory_id < "050" else one for one in HUNDRED]
    assert _yes(pinned, IDS, 500) == IDS[50:]
    child = replace(HUNDRED[99], needs=("000",))
    assert "000" not in _yes([*HUNDRED[:99], child], ["000"], 100)


def test_lots_are_the_nominators_but_no_more_than_the_excess_goes() -> None:
    drawn = IDS[::-1]
    assert _yes(HUNDRED, drawn, 900, "random") == drawn[:10]
    assert _yes([replace(one, protected=PINNED) for one in HUNDRED], drawn, 900, "random") == []
    assert _yes(HUNDRED, drawn, 1000, "random") == []
