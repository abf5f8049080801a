"""The rows of budgets, in small."""

from __future__ import annotations

from pathlib import Path

from memquorum.core.policy import FORGETTING
from tests.benchmarks.policies.keeping import cost, invariants
from tests.benchmarks.right.frame import Material


def test_no_rule_is_broken_and_every_policy_has_its_cost(tmp_path: Path) -> None:
    material = Material(tmp_path, tmp_path, quick=True)
    row = invariants(material)
    assert row.value("rules broken") == 0
    assert row.value("memories that went") > 1_000
    assert all(goal.met for goal in row.goals)
    spent = cost(material)
    assert all(spent.value(f"{name}, of 1,000") > 0 for name in FORGETTING)
