"""`memquorum mcp` where it cannot serve."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from memquorum.commands import USAGE

WITHOUT = "import sys; sys.modules['mcp'] = None; from memquorum import cli; sys.exit(cli.main(['mcp']))"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (["-c", WITHOUT], "pip install 'memquorum[mcp]'"),
        (["-m", "memquorum", "mcp", "--url", "", "-n", "greenhouse"], "MEMQUORUM_URL"),
    ],
    ids=["without the extra", "without an address"],
)
def test_it_says_what_is_missing_and_waits_for_nobody(program: list[str], said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *program], env={"MEMQUORUM_RUN_DIR": str(tmp_path)}, input="", capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (USAGE, "") and said in done.stderr
