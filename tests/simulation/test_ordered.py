"""Orders in simulated worlds: every order takes effect, an old one has none, and neither has a replaced key."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.consensus import certificate
from tests.simulation import node
from tests.simulation.ordered import FURTHER
from tests.simulation.plan import MS, Fault, Plan, draw
from tests.simulation.runs import BEHAVIOURS
from tests.simulation.signatures import Signatures
from tests.simulation.story import Story
from tests.simulation.world import Outcome, World

CALM = Plan(seed=3, n=4, shard=1, epochs=6, heal_by=60_000 * MS, gap=0, yes_permille=1000)


def run(plan: Plan) -> tuple[World, Outcome]:
    """Runs a plan, in this process."""
    signatures = Signatures(cheap=True)
    with signatures.installed():
        world = World(plan, signatures, Story(wanted=True))
        return world, world.run()


def ordered(*actions: str, **changes: Any) -> Plan:
    """Plans a calm world with an order in each epoch but the last."""
    plan = replace(CALM, epochs=len(actions) + 1, orders=tuple(enumerate(actions, 1)))
    return replace(plan, **changes)


def test_the_drawn_plans_hold_every_order() -> None:
    plans = [draw(seed, BEHAVIOURS) for seed in range(1_000)]
    assert {action for plan in plans for _, action in plan.orders} == {*FURTHER, "weight", "remove"}
    assert all(len({epoch for epoch, _ in plan.orders}) == len(plan.orders) for plan in plans)


def test_every_order_about_the_members_takes_effect_one_after_the_other() -> None:
    world, outcome = run(ordered("add", "rotate", "rotate-service", "weight", "add", "rotate-service", "remove"))
    assert outcome.violation is None and outcome.rounds == 8
    assert (world.genesis.config, world.genesis.n) == (7, 5)
    # Added members vote, and everybody follows, a removed member too.
    assert world.shown[8] == {member.id for member in world.genesis.members}
    assert {each.view.configured[-1].config for each in world.nodes.values()} == {7}
    assert world.first.key_of("service:nomination") != world.genesis.key_of("service:nomination")


def test_reliabilities_follow_from_who_was_shown() -> None:
    muted = tuple(Fault(epoch, 0, "mute", 2, lasts=50_000 * MS) for epoch in (1, 2))
    plan = ordered("erase", "restore", "reliability", n=5, faults=muted, orders=((3, "reliability"),))
    world, outcome = run(plan)
    assert outcome.violation is None
    assert [member.reliability_milli for member in world.genesis.members] == [1000, 1000, 969, 1000, 1000]


def test_an_order_is_answered_once_however_often_it_is_nominated() -> None:
    world, outcome = run(ordered("restore", "again", "erase", "again", "again", "again"))
    assert outcome.violation is None and outcome.rounds == 7
    assert outcome.asked["an order is answered once"] >= 7
    ends = [line for line in world.story.lines if "is nominated again" in line or "has ordered to" in line]
    assert len(ends) == 6


@pytest.mark.parametrize("action", ["restore", "erase"])
def test_members_who_forget_what_was_answered_would_break_a_rule(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "answered", lambda *_: None)
    _, outcome = run(ordered(action, "again"))
    assert outcome.violation is not None and outcome.violation.rule == "an order is answered once"


def test_members_who_take_a_replaced_key_would_break_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = [ordered(*["rotate-service"] * 4, "erase", seed=seed) for seed in range(10)]
    runs = [run(plan) for plan in plans]
    assert sum(any("who has the old key" in line for line in world.story.lines) for world, _ in runs) > 5
    assert [outcome.violation for _, outcome in runs] == [None] * 10
    monkeypatch.setattr(certificate, "_verify_nomination", lambda *_: None)
    found = [run(plan)[1].violation for plan in plans]
    assert {violation.rule for violation in found if violation is not None} == {"what is decided was nominated"}


def test_who_was_added_and_then_lost_what_it_signed_keeps_silent_and_comes_back() -> None:
    faults = (Fault(3, 5 * MS, "amnesia", 4, 1, 20 * MS),)
    _, outcome = run(ordered("add", "weight", "erase", "restore", n=4, faults=faults))
    assert outcome.violation is None and outcome.rounds == 5
