"""A what-if's suggestion in words, and the order that puts it to the vote."""

from __future__ import annotations

import shlex

from msgspec.structs import replace

from infra.policy_command import changed
from infra.whatif_command import in_order, suggested
from memquorum.core.policy import BudgetPolicy, Policy, budgets
from memquorum.core.whatif.choosing import Lately
from memquorum.core.whatif.leads import Lead
from memquorum.core.whatif.replaying import Trial
from memquorum.core.whatif.report import compare
from tests.builders.courses import BEGAN, came, course, of_types, of_use, read

TRIAL = Trial(BudgetPolicy())


def test_the_order_that_is_printed_sets_what_is_suggested() -> None:
    quiet = course(came("a", BEGAN), read("a", BEGAN + 1), namespace="attic")
    found = compare([of_use(), quiet], ["lru"], 100, TRIAL, suggesting=True)
    told, hits, followed, silent, order = suggested(found)
    (one,) = found.suggestions
    assert one.policy is not None and told.startswith(f"farm: {one.policy} is suggested: it served most reads, ")
    assert "than chance" in told and told.endswith("more than worth, which it would have anyway")
    assert f"of the {one.reads} reads" in hits and f"{one.policy} {one.hits[one.policy]}, " in hits
    assert f"fewer than {one.policy}, the best" in followed
    assert silent == "1 namespace had fewer than 20 reads: nothing is suggested"
    assert order.startswith("this sets all of budget.tokens, so add what is to stay; ")
    words = shlex.split(order.partition("vote: ")[2])
    assert words[:4] == ["memquorum", "admin", "policy", "set"]
    (budget,) = budgets(changed(Policy(), None, [words[5]]).budget)
    assert (budget.pattern, budget.tokens, budget.policy) == ("farm", 100, one.policy)


def test_shares_are_told_with_what_they_are_worth_later() -> None:
    found = compare([of_types()], ["lru"], 80, TRIAL, suggesting=True)
    (one,) = found.suggestions
    *_, shares = suggested(found)
    assert f"shares_ppm {list(one.shares_ppm)}" in shares
    assert shares.endswith(f"{one.shared} of the {one.later} of the second half, without them {one.unshared}")


def test_of_reads_that_do_not_suffice_no_order_is_printed() -> None:
    few = course(came("a", BEGAN), *(read("a", BEGAN + n) for n in range(1, 60)))
    found = compare([few], ["lru"], 100, TRIAL, suggesting=True)
    told, hits, _ = suggested(found)
    assert told.startswith("farm: no policy is suggested, as the reads do not suffice to tell: worth served most reads")
    assert "worth 59" in hits and "chance 59.0" in hits


def test_of_reads_in_too_few_windows_no_bounds_are_told_but_that_there_are_too_few() -> None:
    few = course(came("a", BEGAN), *(read("a", BEGAN + n) for n in range(1, 30)), came("b", BEGAN + 1_000_000))
    told, *_ = suggested(compare([few], ["lru"], 100, TRIAL, suggesting=True))
    assert told.startswith(
        "farm: no policy is suggested, as the reads lie in 1 window of the history, and 6 are the least that tell "
        "anything: worth served most reads, 0.0 more than chance"
    )
    assert " to " not in told.partition("served")[2]


def test_what_serves_better_where_a_history_ends_is_told_beside_what_is_suggested() -> None:
    found = compare([of_use()], ["lru"], 100, TRIAL, suggesting=True)
    late = Lately("hybrid", 20, 25, Lead(8.0, 3.0, 13.0, 9), more_came=True, more_read=False)
    (one,) = found.suggestions
    told = [*suggested(replace(found, suggestions=(replace(one, lately=late),)))]
    assert told[3] == (
        "  in windows like the last one (more came and less was read than mostly) hybrid served more: 20 of 25, 8.0 "
        f"(3.0 to 13.0) more than {one.best}; a budget has one policy for all of them"
    )


def test_it_says_where_an_epoch_would_draw_what_stands_in_order_here() -> None:
    drawing = Policy(budget=BudgetPolicy(epsilon_ppm=1))
    (told,) = in_order(["lru", "worth"], [Policy(), drawing])
    assert told.startswith("near-ties stand in their order here; an epoch draws among them by lot")
    assert [*in_order(["lru", "fifo", "random"], [drawing]), *in_order(["worth"], [Policy()])] == []
