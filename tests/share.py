"""Sessions of pytest that run at once and share the files of tests: each takes the next file that no other has taken.

So none of them has nothing to do while another has much left, and nobody has to say which file takes how long. A file
is run by one session as a whole: its fixtures serve all of its tests. So is a folder whose files share a fleet.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests import ROOT

# Folders whose fixtures serve all of their files.
TOGETHER = frozenset({ROOT / "tests" / "plant"})


class Share:
    """Runs the files that no other session with the same folder has taken. The folder is empty before a run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._taken: dict[Path, bool] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Literal[True] | None:
        """Runs a session's share, as pytest's own loop runs all of it.

        A test is told which one this session runs next, or the fixtures of its file would not be taken down.
        """
        if session.config.option.collectonly or session.testsfailed:
            return None
        mine = self.mine(session.items)
        item = next(mine, None)
        while item is not None:
            following = next(mine, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            item = following
        return True

    def mine(self, items: list[pytest.Item]) -> Iterator[pytest.Item]:
        """The tests of files that this session takes, each file when its first test is asked for."""
        for item in items:
            whole = item.path.parent if item.path.parent in TOGETHER else item.path
            if whole not in self._taken:
                self._taken[whole] = self._take(whole)
            if self._taken[whole]:
                yield item

    def _take(self, whole: Path) -> bool:
        try:
            (self._folder / str(whole.relative_to(ROOT)).replace("/", ".")).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
