"""Two thousand worlds, each with its liars and faults: no rule is broken, and every one of them recovers."""

from __future__ import annotations

import pytest

from tests.simulation.runs import Size, one

SEEDS = 2_000
_PART = 100
SIZE = Size(cheap=True)

# Seeds that broke a rule once, with real signatures. They stay here for good.
ONCE_FAILED = (
    18,  # a member that had refused a nomination and restarted waited for ever for ballots on the refused one
    106,  # a pre-prepare of epoch −1 ended every replica that read it
)


def failures(seeds: range | tuple[int, ...], size: Size) -> list[str]:
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
    assert not failures((*range(SEEDS, SEEDS + 20), *ONCE_FAILED), Size())
