"""Agents' rewards, as the service adds them up and the command line prints them."""

from __future__ import annotations

from memquorum.client.rewards import line
from memquorum.core.api.answers import Rewarded, Rewards
from workers.retrieval.rewards import added_up

ROWS = [
    ("planner", "promoted", 1, 500_000), ("planner", "used", 2, 600_000), ("reviewer", "repeated", 3, -600_000),
]  # fmt: skip
PLANNER = Rewarded("planner", {"promoted": 1, "used": 2}, 1.1, 0.11)
REVIEWER = Rewarded("reviewer", {"repeated": 3}, -0.6, -0.06)


def test_sums_are_by_agent_and_weighted() -> None:
    assert added_up("n", ROWS, 9) == Rewards("n", 0.1, (PLANNER, REVIEWER))
    assert added_up("n", [], 9) == Rewards("n", 0.1, ())


def test_more_agents_than_are_told_are_not_passed_over_in_silence() -> None:
    assert added_up("n", ROWS, 1) == Rewards("n", 0.1, (PLANNER,), more=True)
    assert not added_up("n", ROWS, 2).more


def test_an_agent_is_a_line() -> None:
    assert line(PLANNER, 0.1) == "planner  +1.10, weighted 0.10 · +1.10 = +0.110: promoted 1, used 2"
    assert line(REVIEWER, 0.1) == "reviewer  -0.60, weighted 0.10 · -0.60 = -0.060: repeated 3"
