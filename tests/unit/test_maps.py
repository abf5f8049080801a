"""The maps that readers go by: what a page or a package names is there, and nothing is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests import ROOT

_NAMES = re.compile(r"`(\w+)`")
_FILE = re.compile(r"\]\(\.\./([\w/]+\.py)\)")


def decided() -> list[tuple[tuple[str, ...], str]]:
    """The functions that the table "Where it is decided" names, each time with the file that is named next."""
    page = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")
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
    assert len(decided()) > 15


@pytest.mark.parametrize(("names", "file"), decided(), ids=str)
def test_where_it_is_decided_there_is_the_function(names: tuple[str, ...], file: str) -> None:
    assert names, f"no function is named of {file}"
    assert set(names) - functions(ROOT / file) == set()
