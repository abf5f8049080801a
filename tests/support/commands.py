"""Commands that tests run as processes of their own.

Each is forked from one process that has imported what commands need: the imports would take a second of a processor
each time.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from infra import settings
from infra.forkserver import ForkServer
from tests import ROOT
from tests.support.forked import FOLDER, STDERR

_SERVER = (sys.executable, "-u", "-m", "tests.support.forked")
_PATIENCE_S = 180.0


def ran(
    program: Literal["infra", "memquorum"], *arguments: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m PROGRAM ARGUMENTS` without the settings of this process; returns the completed process.

    `env`: more of its environment. Call it from one thread.
    """
    known = {name: value for name, value in os.environ.items() if not name.startswith(settings.PREFIX)}
    with tempfile.TemporaryDirectory(prefix="command-") as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        known |= {STDERR: str(err), FOLDER: str(cwd)} | dict(env or {})
        process = _server().start(program, [program, *arguments], out, known)
        try:
            status = process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise
        return subprocess.CompletedProcess(arguments, status, out.read_text(), err.read_text() if err.exists() else "")


@cache
def _server() -> ForkServer:
    server = ForkServer(Path(tempfile.mkstemp(prefix="forked-", suffix=".log")[1]), _SERVER)
    atexit.register(server.close)
    return server
