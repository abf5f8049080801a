"""Members whose rules raise abstain: the honest quorum decides what it decides without them, and every round ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from memquorum.core.consensus.certificate import check_decision, decider
from memquorum.core.consensus.events import Timings
from tests.simulation.plan import CALM, Plan, draw
from tests.simulation.runs import BEHAVIOURS
from tests.simulation.signatures import Signatures
from tests.simulation.story import Story
from tests.simulation.world import World


def calm(seed: int) -> Plan:
    """Plans a world in which only rules fail, and members like what they can judge."""
    plan = draw(seed, BEHAVIOURS, n=4, epochs=3)
    return replace(
        plan,
        liars=(), faults=(), network=CALM, orders=(), rehearsals=(), refused_permille=0, yes_permille=1_000,
        raising=(), raising_permille=0, timings=Timings(),
    )  # fmt: skip


def outcomes(plan: Plan) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """Yields every proposal's memories, its kind, and whether it was decided."""
    signatures = Signatures(cheap=True)
    with signatures.installed():
        world = World(plan, signatures, Story(wanted=False))
        found = world.run()
        assert found.violation is None, found.violation
        assert found.rounds == plan.epochs
        for data, commits in world.journal.values():
            checked = check_decision(world.codec, decider(world.codec, world.genesis, data), data, commits)
            yield from ((one.memory_ids, one.kind, one.decided) for one in checked.outcomes)


@pytest.mark.parametrize("seed", range(8))
def test_nothing_that_is_decided_differs_where_one_members_rules_raise(seed: int) -> None:
    sound = calm(seed)
    usual = list(outcomes(sound))
    assert any(decided for _, _, decided in usual)
    raising = replace(sound, raising=(seed % 4,), raising_permille=1_000)
    liked = {(ids, kind): decided for ids, kind, decided in usual}
    differs = [one for one in outcomes(raising) if one[1] != "promote" and liked[one[:2]] != one[2]]
    assert differs == []


@pytest.mark.parametrize("seed", range(8))
def test_every_round_ends_and_decides_nothing_where_all_rules_raise(seed: int) -> None:
    found = list(outcomes(replace(calm(seed), raising=(0, 1, 2, 3), raising_permille=1_000)))
    assert found
    assert not any(decided for _, _, decided in found)


def test_rules_raise_in_some_of_the_drawn_worlds_and_of_honest_members_alone() -> None:
    plans = [draw(seed, BEHAVIOURS) for seed in range(500)]
    raising = [plan for plan in plans if plan.raising]
    assert 30 < len(raising) < 150
    assert {plan.raising_permille for plan in raising} == {300, 600, 1_000}
    assert all(set(plan.raising) <= set(plan.honest) for plan in plans)
    assert any(set(plan.raising) == set(plan.honest) for plan in raising)
