"""What a what-if suggests, in words, and the order that puts it to the vote."""

from __future__ import annotations

import shlex

from infra.policy import changed
from infra.whatif import in_order, suggested
from memquorum.core.policy import BudgetPolicy, Policy, budgets
from memquorum.core.whatif.replaying import Trial
from memquorum.core.whatif.report import compare
from tests.builders.courses import BEGAN, came, course, of_types, of_use, read

TRIAL = Trial(BudgetPolicy())


def test_the_order_that_is_printed_sets_what_is_suggested() -> None:
    quiet = course(came("a", BEGAN), read("a", BEGAN + 1), namespace="attic")
    found = compare([of_use(), quiet], ["lru"], 100, TRIAL, suggesting=True)
    *told, silent, order = suggested(found)
    (one,) = found.suggestions
    assert len(told) == 1 and told[0].startswith(f"farm: {one.policy}. ") and f"of {one.reads} reads" in told[0]
    assert silent == "1 namespace had fewer than 20 reads: nothing is suggested"
    assert order.startswith("this sets all of budget.tokens, so add what is to stay; ")
    words = shlex.split(order.partition("vote: ")[2])
    assert words[:5] == ["python", "-m", "infra", "policy", "set"]
    (budget,) = budgets(changed(Policy(), None, [words[6]]).budget)
    assert (budget.pattern, budget.tokens, budget.policy) == ("farm", 100, one.policy)


def test_shares_are_told_with_what_they_are_worth_later() -> None:
    found = compare([of_types()], ["lru"], 80, TRIAL, suggesting=True)
    (one,) = found.suggestions
    _, shares, _ = suggested(found)
    assert f"shares_ppm {list(one.shares_ppm)}" in shares
    assert shares.endswith(f"{one.shared} of the {one.later} of the second half, without them {one.unshared}")


def test_it_says_where_an_epoch_would_draw_what_stands_in_order_here() -> None:
    drawing = Policy(budget=BudgetPolicy(epsilon_ppm=1))
    (told,) = in_order(["lru", "worth"], [Policy(), drawing])
    assert told.startswith("near-ties stand in their order here; an epoch draws among them by lot")
    assert [*in_order(["lru", "fifo", "random"], [drawing]), *in_order(["worth"], [Policy()])] == []
