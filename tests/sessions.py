"""Runs all tests in five sessions at once: `python -m tests.sessions` (`make test`, `make check`).

Three sessions start servers, each its own, and share the files of tests between them. The other two take the tests that
start none, with the time of the processor that the three leave, and share the files of `tests/unit`. The first session
is seen as it runs, the others when they have ended. Then each tells once more what took longest and how it ended, and
what failed runs once more, alone (`tests.unsteady`).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests import ROOT, unsteady

ALONE = ("bench", "console", "exhaustive", "guards", "inventory", "schema", "simulation", "unit", "verdicts")
"""The folders of tests that start no server."""
UNIT = "tests/unit"
"""The folder that takes the longest of these: two sessions share it."""
SERVERS = ("check-servers", "check-beside", "check-third")
_TOOLS = ROOT / ".tools"
_PYTEST = (sys.executable, "-m", "pytest", "--durations=10")
_SUMMARY = re.compile(r"^=+ slowest", re.MULTILINE)


def main(given: Sequence[str] | None = None) -> int:
    """Runs the sessions, and the type checker beside them where that is asked for; 0 if all is well."""
    parser = argparse.ArgumentParser(prog="python -m tests.sessions", description="Runs all tests, in five sessions.")
    parser.add_argument("--with-types", action="store_true", help="check types and imports meanwhile")
    asked = parser.parse_args(given)
    for folder in ("taken", "failed"):
        shutil.rmtree(_TOOLS / folder, ignore_errors=True)
    commands = sessions()
    with ThreadPoolExecutor(len(commands) + 1) as pool:
        ended = [pool.submit(_run, name, command) for name, command in commands.items()]
        if asked.with_types:
            ended.append(pool.submit(_run, "types", ["make", "--no-print-directory", "types"]))
        right = all([one.result() == 0 for one in ended])
    for name in commands:
        said = (_TOOLS / name).read_text(encoding="utf-8", errors="replace")
        at = _SUMMARY.search(said)
        print(f"\n{name}\n{said[at.start() :] if at else said[-2_000:]}", flush=True)
    failed = _TOOLS / "failed"
    again = unsteady.main(failed) if failed.is_dir() else 0
    return 0 if right and again == 0 else 1


def sessions() -> dict[str, list[str]]:
    """The command of each session, by its name."""
    alone, shared = [f"tests/{name}" for name in ALONE], [*_PYTEST, "--share", str(_TOOLS / "taken")]
    found = {name: [*shared, *(f"--ignore={folder}" for folder in alone)] for name in SERVERS}
    found |= {"check-alone": ["nice", "-n", "10", *shared, *alone], "check-unit": ["nice", "-n", "10", *shared, UNIT]}
    return {name: [*command, "--later", str(_TOOLS / "failed" / name)] for name, command in found.items()}


def _run(name: str, command: Sequence[str]) -> int:
    """Runs a session, keeps what it says in .tools/NAME, and shows that: of the first at once, of others at the end."""
    with (
        (_TOOLS / name).open("wb") as kept,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            kept.write(line)
            kept.flush()
            if name == SERVERS[0]:
                _show(line)
    if name != SERVERS[0]:
        _show((_TOOLS / name).read_bytes())
    return process.returncode


def _show(said: bytes) -> None:
    sys.stdout.buffer.write(said)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
