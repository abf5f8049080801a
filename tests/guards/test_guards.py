"""A guard is missed when it is gone: each in the long form, every third one in the short one (`make guards`: all)."""

from __future__ import annotations

import json

import pytest

from tests.ahead import EVERY, Ran
from tests.guards.removal import Guard, load

GUARDS = load()
REMOVED = GUARDS[::EVERY]


@pytest.fixture(scope="module")
def told(ran_guards: Ran) -> dict[str, str]:
    """What happened without each guard."""
    lines = [json.loads(line) for line in ran_guards.told.splitlines() if line.startswith("{")]
    assert ran_guards.code in (0, 1) and len(lines) == len(REMOVED), ran_guards.told
    return {line["name"]: line["told"] for line in lines}


@pytest.mark.parametrize("guard", REMOVED, ids=lambda guard: guard.name)
def test_a_guard_that_is_removed_turns_its_killer_red(told: dict[str, str], guard: Guard) -> None:
    assert told[guard.name] == "red", f"without it {guard.killer} does not fail"


def test_names_are_distinct() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)


def test_a_guard_that_the_source_does_not_have_is_named() -> None:
    gone = Guard(
        "gone", "none", "memquorum/core/intake.py", "if the moon is full:", "", "tests/unit/core/test_intake.py"
    )
    with pytest.raises(ValueError, match="stands 0 times"):
        gone.removed()
