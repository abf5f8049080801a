"""Every way in is held against every other: none of the package is missing in the table of `tests.ways`."""

from __future__ import annotations

import ast

from tests import ROOT
from tests.ways.table import MAIN, NO_WAYS, UNREADABLE, WAYS

_PACKAGE = ROOT / "memquorum"


def test_every_package_that_offers_a_way_in_is_tried() -> None:
    packages = {one.parent.name for one in _PACKAGE.glob("*/__init__.py")}
    assert packages - NO_WAYS == {one.package for one in WAYS.values()}
    assert packages >= NO_WAYS


def test_what_goes_each_way_uses_the_package_that_offers_it_and_is_in_an_environment_that_has_it() -> None:
    for name, entry in WAYS.items():
        source = ROOT / "tests" / "ways" / f"{entry.module}.py"
        tree = ast.parse(source.read_text())
        assert entry.kind in {one.name for one in tree.body if isinstance(one, ast.ClassDef)}, name
        modules = {one.module or "" for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
        # `memquorum mcp` is a process of its own, and the service answers at /mcp.
        assert entry.package == "mcp" or any(one.startswith(f"memquorum.{entry.package}") for one in modules), name
        lock = ROOT / f"requirements/{entry.environment}.lock"
        assert entry.environment == MAIN or lock.exists(), name


def test_what_cannot_be_read_is_of_two_ways_that_there_are_and_every_text_is_one_of_its_own() -> None:
    assert {name for pair in UNREADABLE for name in pair} <= WAYS.keys()
    assert len({one.text for one in WAYS.values()}) == len(WAYS)
