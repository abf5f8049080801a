"""docs/measured/guards.md says what the list of guards says."""

from __future__ import annotations

import re

from tests.guards.page import PAGE, page
from tests.guards.removal import Guard, load, mismatches

GUARD = Guard("g", "s", "a.py::f", "if a | b:\n        raise " + "x" * 80, "if False:", "tests/unit/test_a.py::test_b")


def test_the_page_is_written_from_the_list() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(load()), "`python -m tests.guards --page` writes it"


def test_every_guard_is_on_the_page_with_its_killer() -> None:
    rows = re.findall(r"^\| (.+?) \| `(\S+?)` \| .+ \| `(\S+?)`(?: `(\S+)`)? \|", PAGE.read_text(), re.MULTILINE)
    listed = [(g.name, g.at, g.killer.rpartition("/")[2].replace("::", " ").strip()) for g in load()]
    assert sorted((n, f, f"{file} {test}".strip()) for n, f, file, test in rows) == sorted(listed)


def test_every_guard_stands_once_where_its_anchor_says() -> None:
    """Else none of them can be tried; found here in a moment, and not after minutes."""
    assert mismatches(load()) == []


def test_a_line_names_the_place_and_what_is_taken_out() -> None:
    row = page([GUARD]).splitlines()[-1]
    assert row.startswith("| g | `a.py::f` | `if a \\| b: raise xxx") and row.endswith("…` | `test_a.py` `test_b` |")
