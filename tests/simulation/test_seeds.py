"""Two thousand worlds, each with its liars and faults: no rule is broken, and every one of them recovers."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.simulation.runs import Size, one

SEEDS = 2_000
_PART = 100
SIZE = Size(cheap=True)

# Seeds that broke a rule once. They stay here for good.
ONCE_FAILED = ()


def failures(seeds: Iterable[int], size: Size) -> list[str]:
    """What broke, and how to see it again."""
    found = []
    for seed in seeds:
        violation = one(seed, size)[1].violation
        if violation is not None:
            found.append(f"{violation}\n  python -m tests.simulation run --seed {seed} {size.arguments()}")
    return found


@pytest.mark.parametrize("first", range(0, SEEDS, _PART))
def test_no_seed_breaks_a_rule(first: int) -> None:
    assert not failures(range(first, first + _PART), SIZE)


def test_no_seed_breaks_a_rule_under_real_signatures() -> None:
    assert not failures(tuple(range(SEEDS, SEEDS + 20)), Size())
