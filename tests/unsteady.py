"""Files of tests that fail beside other sessions are run once more, alone: `python -m tests.unsteady FOLDER`.

Sessions of tests share two cores. A test that fails there and passes alone waited for too little, and is told as
unsteady at the end of the run; it fails nothing else. One that fails alone, too, fails the run, and so do tests of more
than a few files: that is no accident. The unit is the file, since its tests share an installation: one that is late
makes those behind it fail, and one that follows another fails where it runs by itself.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

AT_MOST = 6
"""The most files that are run once more."""
_OK, _FAILED = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED


class Later:
    """Writes the failed tests of a session into a file; a session with such a file ends as if all had passed.

    A session that ends for another reason (a file that cannot be imported, an interruption) ends as before.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file
        self._failed: dict[str, None] = {}  # in order, each once: a test may fail and so may what takes it down

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remembers a test that failed, whether in its call or in what is set up or taken down."""
        if report.failed:
            self._failed[report.nodeid] = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Writes the file, if any test failed."""
        if self._failed and exitstatus == _FAILED:
            self._file.write_text("".join(f"{name}\n" for name in self._failed))
            session.exitstatus = _OK


def main(folder: Path) -> int:
    """Runs the files of the failed tests once more and says which tests are unsteady. 0 where each passes now."""
    failed = [name for file in sorted(folder.glob("*")) for name in file.read_text().splitlines()]
    if not failed:
        return _OK
    told = "".join(f"\n  {name}" for name in failed)
    files = list(dict.fromkeys(name.partition("::")[0] for name in failed))
    if len(files) > AT_MOST:
        print(f"\nTests of {len(files)} files failed, more than the {AT_MOST} files that are run once more:{told}")
        return _FAILED
    print(f"\nFailed beside the other sessions; their files run once more, alone:{told}", flush=True)
    again = subprocess.run([sys.executable, "-m", "pytest", *files], cwd=ROOT, check=False)
    if again.returncode == _OK:
        print(f"UNSTEADY: passed alone. What do these tests not wait for?{told}")
    return again.returncode


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
