"""A task is the more urgent, the nearer its deadline is; then it is due; and long after it goes first."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum.core.budgets.items import DUE, NEEDED, score
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.budgets.weighing import item, urgency_ppm
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.tiers import SHORT_TERM
from memquorum.ports import Candidate, Weighted

DAY = 24 * 3600 * 1000
NOW = 1_790_000_000_000


def task(name: str, deadline: int | None, **told: object) -> Weighted:
    candidate = Candidate(name, "n", SHORT_TERM, NOW - DAY, NOW - DAY, 600_000, early=False)
    made = Weighted(candidate, "task", 10, 0, 0, 0, 0, (), rests=False, protections=(), worth_ppm=20 * PPM,
                    novelty_ppm=0, deadline=deadline)  # fmt: skip
    return replace(made, **told)


def test_urgency_rises_to_the_deadline_and_is_less_than_none_long_after_it() -> None:
    days = (700, 7, 2, 1, 0.5, 0, -0.5, -1, -700)
    told = [urgency_ppm(NOW + int(one * DAY), NOW) for one in days]
    assert told == [PPM // 700, PPM // 7, PPM // 2, PPM, PPM, 0, 0, -PPM, -PPM]


def test_a_task_is_ranked_by_its_deadline_and_goes_at_no_time_within_a_day_of_it() -> None:
    tasks = [task("far", NOW + 300 * DAY), task("week", NOW + 7 * DAY), task("soon", NOW + DAY // 2),
             task("just over", NOW - DAY // 2), task("long over", NOW - 9 * DAY), task("none", None)]  # fmt: skip
    for policy in ("worth", "hybrid", "reflection"):
        ledger = Ledger(policy, BudgetPolicy())
        for one in tasks:
            ledger.put(item(one, NOW))
        plan = ledger.plan(0, NOW)
        assert [one.memory_id for one in plan.goes] == ["long over", "just over", "none", "far", "week"], policy
        assert plan.excess == {DUE: 10}
        later = [item(one, NOW + DAY) for one in tasks]
        assert [one.protected for one in later if one.memory_id == "soon"] == [None], "its deadline has passed"
    for policy in ("fifo", "lru", "priority", "random"):
        ledger = Ledger(policy, BudgetPolicy())
        for one in tasks:
            ledger.put(item(one, NOW))
        assert "soon" not in {one.memory_id for one in ledger.plan(0, NOW).goes}, policy


def test_what_a_goal_needs_is_protected_whenever_it_is_due_and_as_urgent_as_can_be() -> None:
    for deadline in (None, NOW + 99 * DAY, NOW - 99 * DAY):
        one = item(task("needed", deadline, protections=("goal:ship",)), NOW)
        assert (one.protected, one.urgency_ppm) == (NEEDED, PPM)


def test_a_missed_deadline_alone_makes_no_score_negative() -> None:
    """A negative score would go as too sensitive."""
    missed = item(task("missed", NOW - 9 * DAY), NOW + 3_000 * DAY)
    assert score(missed, NOW + 3_000 * DAY, BudgetPolicy()).net_ppm == 0
