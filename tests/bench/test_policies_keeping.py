"""The rows of budgets, in small."""

from __future__ import annotations

from pathlib import Path

from bench.policies.bounds import bounds
from bench.policies.keeping import cost, invariants
from bench.policies.sizes import own_order, whatif
from bench.right.frame import Material
from memquorum.core.policy import FORGETTING


def test_no_rule_is_broken_and_every_policy_has_its_cost(tmp_path: Path) -> None:
    material = Material(tmp_path, tmp_path, quick=True)
    row = invariants(material)
    assert row.value("rules broken") == 0
    assert row.value("memories that went") > 1_000
    assert all(goal.met for goal in row.goals)
    spent = cost(material)
    assert all(spent.value(f"{name}, of 1,000") > 0 for name in FORGETTING)


def test_an_eviction_is_held_beside_the_best_of_all_sets(tmp_path: Path) -> None:
    row = bounds(Material(tmp_path, tmp_path, quick=True))
    for name in ("each by itself", "a third made of others"):
        least, mean = (row.value(f"{name}: {which} share of the best") for which in ("least", "mean"))
        assert 0 < least < mean < 1
        assert row.value(f"{name}: loss ÷ (L · tokens that went), most") <= 1
        assert row.value(f"{name}: change between budgets ÷ (L · tokens between them), least") >= 0
    assert row.value("each by itself: least share, of the better of it and the best memory alone") >= 0.5


def test_what_a_member_and_a_what_if_cost_is_told_by_size(tmp_path: Path) -> None:
    material = Material(tmp_path, tmp_path, quick=True)
    judged = own_order(material)
    assert all(judged.value(f"{name}, of 1,000: what goes first") > 0 for name in FORGETTING)
    row = whatif(material)
    assert row.value("8,000 records: memories") > row.value("8,000 records: of them with a key") > 1_000
    assert row.value("8,000 records: reads by queries asked again") > 500
    assert row.value("8,000 records: most memory held") > row.value("4,000 records: most memory held")
