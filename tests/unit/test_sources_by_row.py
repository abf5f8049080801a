"""The page of the sources' rows: each row once, with a state, and with code and pages that are there."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from tests import ROOT

PAGE = ROOT / "docs" / "understand" / "sources-by-row.md"
STATES = ("whole", "other", "in part", "declined")
ROWS = {"A": 36, "B": 82, "C": 32, "D": 66, "E": 30, "Card": 15}
TEXT = PAGE.read_text(encoding="utf-8")
TABLE = re.findall(r"^\| ((?:[A-E]|Card)\d+) \| (.+?) \| (.+?) \| (.+) \|$", TEXT, re.MULTILINE)
CODE = re.compile(r"`([\w/.-]+\.py)(?:::(\w+))?`")
LINK = re.compile(r"\]\([^)]+\)")


def _top_names(path: str) -> set[str]:
    found = set[str]()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case _:
                pass
    return found


def test_each_row_of_each_source_is_there_once() -> None:
    """As many as the sources were found to demand, in their order."""
    wanted = [f"{source}{number}" for source, count in ROWS.items() for number in range(1, count + 1)]
    assert [row[0] for row in TABLE] == wanted


def test_the_counts_are_those_of_the_rows() -> None:
    """The table at the top is added up from the rows."""
    assert {state for _, _, state, _ in TABLE} <= set(STATES)
    counted = {source: Counter(s for row, _, s, _ in TABLE if re.sub(r"\d", "", row) == source) for source in ROWS}
    told = re.findall(r"^\| .+? \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", TEXT, re.MULTILINE)
    lines = [(sum(count.values()), *(count[state] for state in STATES)) for count in counted.values()]
    assert [tuple(map(int, line)) for line in told] == [*lines, tuple(map(sum, zip(*lines, strict=True)))]


@pytest.mark.parametrize(("row", "state", "where"), [(row, state, where) for row, _, state, where in TABLE])
def test_a_row_names_what_is_there(row: str, state: str, where: str) -> None:
    """A file that exists, a name that the file defines at its top; what is not built says what it would take."""
    for path, name in CODE.findall(where):
        assert (ROOT / path).is_file(), f"{row}: {path}"
        assert not name or name in _top_names(path), f"{row}: {path} has no {name}"
    assert state in ("in part", "declined") or CODE.search(where) or LINK.search(where), f"{row}: says not where"
    assert state != "declined" or "would take" in where or "would pay" in where, f"{row}: says not what it would take"
