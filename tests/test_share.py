"""Of sessions that share files of tests each file is run by one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests import ROOT
from tests.share import Share


def test_each_file_is_run_by_the_session_that_came_first(tmp_path: Path) -> None:
    one, other = Share(tmp_path / "taken"), Share(tmp_path / "taken")

    def runs(session: Share, name: str) -> bool:
        item: Any = SimpleNamespace(path=ROOT / "tests" / name)
        return session.pytest_runtest_protocol(item) is None

    assert [runs(one, "a/test_x.py"), runs(other, "a/test_x.py"), runs(one, "a/test_x.py")] == [True, False, True]
    assert [runs(other, "b/test_x.py"), runs(one, "b/test_x.py"), runs(other, "b/test_x.py")] == [True, False, True]
