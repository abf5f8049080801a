"""The maps that readers go by: what a page or a package names is there, and nothing is left out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests import ROOT

ARCHITECTURE = ROOT / "docs" / "understand" / "architecture.md"
_DOTTED = re.compile(r"`((?:memquorum|streams|workers|db|infra)(?:\.\w+){2,})`")
_NAMES = re.compile(r"`(\w+)`")
_FILE = re.compile(r"\]\(\.\./\.\./([\w/]+\.py)\)")


def decided() -> list[tuple[tuple[str, ...], str]]:
    """The functions that the table "Where it is decided" names, each time with the file that is named next."""
    page = (ROOT / "docs" / "understand" / "development.md").read_text(encoding="utf-8")
    table = page.partition("### Where it is decided\n")[2].partition("\n\nA command")[0]
    found = []
    for row in table.splitlines():
        said, *links = re.split(r"\[`[^\]]+`", row.rpartition(" |")[0].rpartition("| ")[2])
        for link in links:
            file = _FILE.match(link)
            assert file, f"no file behind {said!r}"
            found.append((tuple(_NAMES.findall(said)), file[1]))
            said = link[file.end() :]
    return found


def functions(path: Path) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)}


def test_the_table_of_decisions_has_its_rows() -> None:
    assert len(decided()) > 25


def lives() -> list[tuple[str, str]]:
    """The lives in docs/understand/architecture.md, each time with a name that one of its steps has."""
    text = ARCHITECTURE.read_text(encoding="utf-8")
    parts = text.split("\n## ")[1:-1]
    return [(part.partition("\n")[0], named) for part in parts for named in _DOTTED.findall(part)]


def is_there(named: str) -> bool:
    """True if a dotted name is that of a function, or of a method of a class, in one of our modules."""
    parts = named.split(".")
    for at in range(len(parts) - 1, 0, -1):
        path = ROOT.joinpath(*parts[:at])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return defines(ast.parse(file.read_text(encoding="utf-8")), parts[at:])
    return False


def defines(tree: ast.Module | ast.ClassDef, parts: list[str]) -> bool:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == parts[0] and len(parts) > 1:
            return defines(node, parts[1:])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and [node.name] == parts:
            return True
    return False


@pytest.mark.parametrize(("life", "named"), lives(), ids=str)
def test_each_step_of_a_life_is_a_function(life: str, named: str) -> None:
    assert is_there(named), f"{life}: there is no {named}"


def test_the_architecture_tells_five_lives_in_a_short_page() -> None:
    steps = Counter(life for life, _ in lives())
    assert list(steps) == ["An episode", "A vote", "An erasure", "A question", "A task"]
    assert min(steps.values()) >= 10
    assert len(ARCHITECTURE.read_text(encoding="utf-8").splitlines()) <= 250


def test_a_name_that_is_not_there_is_seen() -> None:
    assert is_there("memquorum.core.intake.accept")
    assert not is_there("memquorum.core.intake.nobody")
    assert not is_there("workers.commit.erasure_turn.Erasing.nobody")


@pytest.mark.parametrize(("names", "file"), decided(), ids=str)
def test_where_it_is_decided_there_is_the_function(names: tuple[str, ...], file: str) -> None:
    assert names, f"no function is named of {file}"
    assert set(names) - functions(ROOT / file) == set()
