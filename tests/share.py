"""Sessions of pytest that run at once and share the files of tests: each takes the next file that no other has taken.

So none of them has nothing to do while another has much left, and nobody has to say which file takes how long. A file
is run by one session as a whole: its fixtures serve all of its tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ROOT


class Share:
    """Passes over the files that another session with the same folder has taken. The folder is empty before a run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._mine: dict[Path, bool] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """True says that nothing is left to be done with the test, None that it is to be run."""
        if item.path not in self._mine:
            self._mine[item.path] = self._take(item.path)
        return None if self._mine[item.path] else True

    def _take(self, file: Path) -> bool:
        try:
            (self._folder / str(file.relative_to(ROOT)).replace("/", ".")).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
