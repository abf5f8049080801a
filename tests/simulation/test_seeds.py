"""Hundreds of worlds, in the long form two thousand, with their liars and faults: no rule is broken, all recover."""

from __future__ import annotations

from collections.abc import Iterable

from tests.ahead import SEEDS, Ran
from tests.simulation.behaviours import LIBRARY
from tests.simulation.plan import draw
from tests.simulation.runs import Size, one

# Seeds that broke a rule: a liar's second vote did not count, so that members that had counted it went on alone; a part
# of a log was read again from too far ahead; a refused nomination was waited for; view changes were looked for from the
# first one that had been shown, after the one that was not shown (3788, 5433).
ONCE_FAILED = (55, 124, 492, 511, 563, 585, 656, 3_788, 5_433)

# With four members. A liar's votes were more than are held, and the one that counted was dropped (26810, 38978), or was
# dropped for those of other views (82304). A first life that crashed early was taken for a lost sign-state (38978), and
# so was one that crashed while it read decisions (40332). A member with a lost sign-state and a kept view file went
# back to view 0 (47646). And with orders, as below: what members had said in a configuration was not read again (16800,
# 17894, 19391). A member with a lost sign-state got its view's messages into the log only once it spoke again (163551).
# A liar could not tell its lie about what another lie had altered, and the simulation failed (225530).
OF_FOUR = (26_810, 38_978, 47_646, 40_332, 82_304, 163_551, 225_530, 16_800, 17_894, 19_391)

# With orders. A checkpoint was signed again in the next configuration (457); and what members had said in a
# configuration was not read again, as it lay before the offset from which its logs were read (13186, 13681, 23831).
WITH_ORDERS = (457, 13_186, 13_681, 23_831)


def failures(seeds: Iterable[int], size: Size) -> list[str]:
    """Returns the failures, and how to see each again."""
    found = []
    for seed in seeds:
        violation = one(seed, size)[1].violation
        if violation is not None:
            found.append(f"{violation}\n  python -m tests.simulation run --seed {seed} {size.arguments()}")
    return found


def test_no_seed_breaks_a_rule(ran_seeds: Ran) -> None:
    assert ran_seeds.code == 0, ran_seeds.told
    assert f" {SEEDS} seeds, " in ran_seeds.told and " 0 failed" in ran_seeds.told


def test_no_seed_breaks_a_rule_under_real_signatures() -> None:
    assert not failures((*range(SEEDS, SEEDS + 10), *ONCE_FAILED), Size())


def test_no_seed_with_orders_breaks_a_rule_again() -> None:
    assert all(draw(seed, tuple(LIBRARY)).orders for seed in WITH_ORDERS)
    assert not failures(WITH_ORDERS, Size(cheap=True))


def test_no_seed_of_four_members_breaks_a_rule_again() -> None:
    assert not failures(OF_FOUR, Size(members=4, cheap=True))
