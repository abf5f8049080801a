"""Every guard is missed when it is gone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.guards.removal import ROOT, Guard, load

GUARDS = load()


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """What happened without each guard. In a process of its own: a fork of this one would take its clients along."""
    command = [sys.executable, "-m", "tests.guards", "--json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert ran.returncode in (0, 1) and len(lines) == len(GUARDS), ran.stderr
    return {line["name"]: line["told"] for line in lines}


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_that_is_removed_turns_its_killer_red(told: dict[str, str], guard: Guard) -> None:
    assert told[guard.name] == "red", f"without it {guard.killer} does not fail"


def test_names_are_distinct() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)


def test_a_guard_that_the_source_does_not_have_is_named() -> None:
    gone = Guard("gone", "none", "memquorum/core/intake.py", "if the moon is full:", "", "tests/unit/test_intake.py")
    with pytest.raises(ValueError, match="stands 0 times"):
        gone.removed()
