"""docs/guards.md says what the list of guards says, and what is kept of their removal."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.guards.page import LIMIT_S, PAGE, RESULTS, keep_run, kept, page
from tests.guards.removal import Guard, Removal, load, mismatches

GUARD = Guard("g", "s", "a.py::f", "if a | b:\n        raise " + "x" * 80, "if False:", "tests/unit/test_a.py::test_b")


def test_the_page_is_written_from_the_list_and_the_kept_runs() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(load(), kept()), "`python -m tests.guards --page` writes it"


def test_every_guard_is_on_the_page_with_its_killer() -> None:
    rows = re.findall(r"^\| (.+?) \| `(\S+?)` \| .+ \| `(\S+?)`(?: `(\S+)`)? \| \S+", PAGE.read_text(), re.MULTILINE)
    listed = [(g.name, g.at, g.killer.rpartition("/")[2].replace("::", " ").strip()) for g in load()]
    assert sorted((n, f, f"{file} {test}".strip()) for n, f, file, test in rows) == sorted(listed)


def test_every_guard_stands_once_where_its_anchor_says() -> None:
    """Else none of them can be tried; found here in a moment, and not after minutes."""
    assert mismatches(load()) == []


def test_each_kept_killer_turned_red_in_time() -> None:
    assert [n for n, one in kept().items() if one["told"] != "red" or one["killer_s"] > LIMIT_S] == []


def _kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, *removals: Removal) -> dict[str, dict[str, Any]]:
    monkeypatch.setattr("tests.guards.page.RESULTS", tmp_path)
    file = keep_run(removals, "a/b")
    assert file.parent == tmp_path != RESULTS
    return kept()


def test_a_run_that_is_kept_is_on_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    found = _kept(monkeypatch, tmp_path, Removal(GUARD, 1, 2.0, 0.123))
    row = page([GUARD], found).splitlines()[-1]
    assert row.startswith("| g | `a.py::f` | `if a \\| b: raise xxx") and "…` | `test_a.py` `test_b` | 0.12 |" in row


def test_one_that_nobody_noticed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    found = _kept(monkeypatch, tmp_path, Removal(GUARD, 0, 2.0, 0.1))
    assert page([GUARD], found).endswith("| **NOT NOTICED** |\n")


def test_of_a_guard_that_has_changed_since_nothing_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    found = _kept(monkeypatch, tmp_path, Removal(GUARD, 1, 2.0, 0.1))
    assert page([replace(GUARD, killer="tests/unit/test_c.py")], found).endswith("| `test_c.py` | – |\n")


def test_a_killer_that_was_moved_to_another_folder_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    found = _kept(monkeypatch, tmp_path, Removal(GUARD, 1, 2.0, 0.1))
    moved = replace(GUARD, killer="tests/unit/core/test_a.py::test_b")
    assert page([moved], found).endswith("| `test_a.py` `test_b` | 0.10 |\n")
