"""The page of assumptions names tests and guards that are there, and numbers that its first table has."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests import ROOT
from tests.guards.removal import load

PAGE = ROOT / "docs" / "understand" / "assumptions.md"
_LINK = re.compile(r"\[[^\]]+\]\([^)]+\)")
_TEST = re.compile(r"`(test_\w+)`")
_GUARD = re.compile(r"\*([^*]+)\*")
_NUMBER = re.compile(r"\bA\d+\b")


@cache
def functions() -> frozenset[str]:
    """The names of all functions of tests."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    files = (ROOT / "tests").rglob("test_*.py")
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in files)
    return frozenset(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, kinds))


@cache
def guards() -> frozenset[str]:
    return frozenset(guard.name for guard in load())


def rows(text: str) -> dict[str, str]:
    """Returns the last cell of each assumption, by its number."""
    cells = [line.split(" | ") for line in text.splitlines() if re.match(r"\| A\d+ \|", line)]
    return {each[0].strip("| "): each[-1].removesuffix(" |") for each in cells}


def missing(shown: str) -> set[str]:
    """Returns the names of a cell that are neither a test nor a guard."""
    bare = _LINK.sub("", shown)
    return (set(_TEST.findall(bare)) - functions()) | (set(_GUARD.findall(bare)) - guards())


@pytest.mark.parametrize(("number", "shown"), rows(PAGE.read_text(encoding="utf-8")).items())
def test_what_shows_an_assumption_is_there(number: str, shown: str) -> None:
    assert missing(shown) == set()
    named = _TEST.findall(shown) + _GUARD.findall(shown) + _LINK.findall(shown)
    assert named or number == "A18", f"nothing shows {number}"


def test_guarantees_rest_on_assumptions_of_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    numbers = list(rows(text))
    assert numbers == [f"A{at}" for at in range(1, len(numbers) + 1)]
    used = set(_NUMBER.findall(text.partition("## What rests on what")[2].partition("## Open")[0]))
    assert used <= set(numbers) and len(used) > 10


def test_a_name_that_is_not_there_is_seen() -> None:
    assert missing("`test_nothing_of_the_kind`, *no such guard*, *signatures*") == {
        "test_nothing_of_the_kind",
        "no such guard",
    }
