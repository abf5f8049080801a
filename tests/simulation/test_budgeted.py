"""Budgets with lying members and a lying nominator: many worlds, and each rule notices its violation."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from db.view_weights import ViewWeights
from memquorum.core.budgets import lazily, least
from memquorum.core.policy import PPM
from tests.simulation import budgeted
from tests.simulation.budgeted import (
    BROUGHT_BACK,
    EXCESS,
    HELD,
    HONEST,
    LIES,
    NAMED,
    ORDER,
    PROTECTED,
    RULES,
    TOGETHER,
    Broken,
    World,
    run,
)

_SEEDS = range(20)
_SEVERAL = 1


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Silences the warnings about memories over a budget."""
    log = logging.getLogger("streams.budget_choice")
    level = log.level
    log.setLevel(logging.ERROR)
    yield
    log.setLevel(level)


def test_whoever_lies_what_is_worth_most_stays_and_the_budget_is_held() -> None:
    asked, liars, took = Counter[str](), Counter[str | None](), list[int]()
    for world in run(_SEEDS):
        asked += world.asked
        liars.update(world.lies.values() or [None])
        took.append(world.took)
    assert asked.keys() == set(RULES) and asked[HELD] == len(_SEEDS)
    assert liars.keys() == {None, *LIES}
    assert max(took) < HONEST


def test_a_world_comes_again() -> None:
    first, again = World(5).run(), World(5).run()
    assert (first.took, first.gone, first.asked) == (again.took, again.gone, again.asked)


def _all_may_go(*_: Any) -> Mapping[str, least.BudgetPlace]:
    return dict.fromkeys(_[-1], least.BudgetPlace(0, PPM))


def _in_any_order(
    order: Sequence[tuple[str, int]], held: int, over: int, asked: Sequence[str], *, alike: bool = False
) -> Any:
    return dict.fromkeys(asked, least.BudgetPlace(0, over * PPM // held))


def _nothing_is_too_much(*_: Any) -> Mapping[str, least.BudgetPlace]:
    return dict.fromkeys(_[-1], least.NOWHERE)


@pytest.mark.parametrize(
    ("broken", "module", "name", "instead"),
    [
        ({PROTECTED, ORDER, EXCESS}, lazily, "places", _all_may_go),
        ({PROTECTED, ORDER, EXCESS, TOGETHER}, lazily, "placed", _in_any_order),
        ({HELD}, lazily, "places", _nothing_is_too_much),
        ({NAMED}, budgeted, "wrong", lambda *_: None),
        ({PROTECTED, ORDER, BROUGHT_BACK}, ViewWeights, "rest", lambda *_: None),
    ],
)
def test_the_rules_see_members_and_audits_without_their_protections(
    monkeypatch: pytest.MonkeyPatch, broken: set[str], module: Any, name: str, instead: Callable[..., Any]
) -> None:
    monkeypatch.setattr(module, name, instead)
    seen = set[str]()
    for seed in range(12):
        try:
            World(seed).run()
        except Broken as error:
            seen |= {rule for rule in RULES if rule in str(error)}
        if seed >= _SEVERAL and seen == broken:
            break  # a world without forgetting runs through all of its epochs
    assert seen and seen <= broken
