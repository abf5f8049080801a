"""Sessions share the files of tests: each file is run by one, and its fixtures are taken down."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import ROOT
from tests.share import TOGETHER, Share

pytest_plugins = ["pytester"]


def test_each_file_is_run_by_the_session_that_came_first(tmp_path: Path) -> None:
    items: list[Any] = [SimpleNamespace(path=ROOT / "tests" / name) for name in ("a.py", "a.py", "b.py", "c.py")]
    one, other = (Share(tmp_path / "taken").mine(items) for _ in range(2))
    assert [next(one), next(other), next(one), next(one)] == [items[0], items[2], items[1], items[3]]
    assert (next(one, None), next(other, None)) == (None, None)


def test_a_folder_whose_files_share_what_they_set_up_is_run_by_one_session(tmp_path: Path) -> None:
    folder = min(TOGETHER)
    items: list[Any] = [SimpleNamespace(path=folder / name) for name in ("test_a.py", "test_b.py")]
    one, other = (Share(tmp_path / "taken").mine(items) for _ in range(2))
    assert (next(one), next(other, None), next(one)) == (items[0], None, items[1])
    assert all((path / "conftest.py").is_file() for path in TOGETHER)


def test_what_a_file_sets_up_is_taken_down_before_the_next_that_is_taken(
    pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytester.makepyfile(**{
        name: f"""
import pytest
@pytest.fixture(scope="module", autouse=True)
def whole():
    print("up {name}")
    yield
    print("down {name}")
def test_it(): pass
"""
        for name in ("test_a", "test_b", "test_c")
    })  # fmt: skip
    taken = tmp_path_factory.mktemp("taken")
    (taken / "test_b.py").touch()
    pytester.makeconftest(f"""
import pathlib, tests.share
tests.share.ROOT = pathlib.Path({str(pytester.path)!r})
def pytest_configure(config):
    config.pluginmanager.register(tests.share.Share(pathlib.Path({str(taken)!r})))
""")
    found = pytester.runpytest_subprocess("-s", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio")
    found.assert_outcomes(passed=2)
    said = [line for line in found.outlines if line.lstrip(".").startswith(("up", "down"))]
    assert [line.lstrip(".") for line in said] == ["up test_a", "down test_a", "up test_c", "down test_c"]
