"""A guard is missed when it is gone: each by `make guards`, every third one in the long form, every sixth one in the
short form, other ones each day."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.ahead import EVERY, FIRST, Ran
from tests.guards.removal import Guard, load, mismatches

GUARDS = load()
REMOVED = GUARDS[FIRST::EVERY]


@pytest.fixture(scope="module")
def told(ran_guards: Ran) -> dict[str, str]:
    """Returns the result of a run without each guard."""
    lines = [json.loads(line) for line in ran_guards.told.splitlines() if line.startswith("{")]
    assert ran_guards.code in (0, 1) and len(lines) == len(REMOVED), ran_guards.told
    return {line["name"]: line["told"] for line in lines}


@pytest.mark.parametrize("guard", REMOVED, ids=lambda guard: guard.name)
def test_a_guard_that_is_removed_turns_its_killer_red(told: dict[str, str], guard: Guard) -> None:
    assert told[guard.name] == "red", f"without it {guard.killer} does not fail"


def test_names_are_distinct() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)


def test_a_guard_that_the_source_does_not_have_is_named() -> None:
    at = "memquorum/core/intake.py::accept"
    gone = Guard("gone", "none", at, "if the moon is full:", "", "tests/unit/core/test_intake.py")
    with pytest.raises(ValueError, match=f"gone: 'if the moon is full:' does not stand in `{at}`"):
        gone.removed()
    assert len(mismatches([gone, GUARDS[0], gone])) == 2


def test_a_guard_is_removed_within_what_its_anchor_names_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 1\n")
    monkeypatch.setattr("tests.guards.removal.ROOT", tmp_path)
    guard = Guard("g", "s", "a.py::g", "return 1", "return 2", "test_a.py")
    assert guard.removed() == "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (
            {"name": "n", "file": "tests/ahead.py", "guard": "if name not in self._begun:"},
            "write `at: tests/ahead.py::Ahead.begin` instead of `file: tests/ahead.py`",
        ),
        (
            {"name": "n", "file": "tests/nowhere.py", "guard": "x"},
            "n: `file:` is not read any more; write `at: path/to/file.py::Class.method` instead of ",
        ),
        (
            {"name": "n", "at": "tests/ahead.py"},
            "n: an entry has at, guard, killer, name, stage, without, and this has at, name",
        ),
    ],
)
def test_an_entry_that_is_none_is_refused_with_what_to_write(tmp_path: Path, entry: dict[str, str], told: str) -> None:
    file = tmp_path / "guards.yaml"
    file.write_text(yaml.safe_dump([entry]))
    with pytest.raises(ValueError, match=re.escape(told)):
        load(file)
