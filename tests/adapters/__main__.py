"""`python -m tests.adapters`: frameworks against one installation, each by the tests of its own, where these are to be
had, and by an agent's loop of ours.

Its tests come out of the source package that the lock file names, with what stands behind them (a file system, SQLite,
a dictionary) replaced by ours (`NAME_standin.py`). `NAME_excluded.toml` names those that are left out, each with its
reason. Not every source package has any. All that imports a framework runs in an environment of `make adapters`. Exit 0
where all holds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests import scratch
from tests.upstream import Environment, installation

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Framework:
    """A package. `short`: how the names of our files on it begin. `tests`: those of its own, as they are named below
    the `tests` of its source package. `quiet`: what keeps it from telling others that it runs."""

    short: str
    environment: str = "adapters"
    tests: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()


OPENAI = ("memory/test_session.py", "memory/test_session_limit.py", "test_responses.py")
FRAMEWORKS = {
    "anthropic": Framework("anthropic", tests=("lib/tools/memory_tools/test_filesystem.py",)),
    "openai-agents": Framework("openai", tests=OPENAI),
    "llama-index-core": Framework("llama"),
    "pydantic-ai-slim": Framework("pydantic"),
    "google-adk": Framework("adk", "adk"),
    "crewai": Framework("crewai", "crewai", quiet=("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_VERSION_CHECK")),
}  # fmt: skip


def main() -> int:
    """Runs them."""
    parser = argparse.ArgumentParser(prog="python -m tests.adapters")
    parser.add_argument("--only", help="those tests alone whose names have this, as pytest's -k")
    parser.add_argument("--of", choices=FRAMEWORKS, action="append", help="of one package alone; repeatable")
    parser.add_argument("--loop", action="store_true", help="the agents' loops alone")
    parsed = parser.parse_args()
    began, status = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="adapters-", dir=scratch.root()) as name:
        folder = Path(name)
        with installation(folder / "line", clock="driven") as run_dir:
            # In this order, whichever are asked for: their clock only goes forward.
            for package in (one for one in FRAMEWORKS if one in (parsed.of or FRAMEWORKS)):
                status |= _of(package, folder / package, run_dir, parsed)
    print(f"adapters: took {time.monotonic() - began:.0f} s")
    return status


def _of(package: str, folder: Path, run_dir: Path, asked: argparse.Namespace) -> int:
    framework = FRAMEWORKS[package]
    environment, began = Environment(framework.environment), time.monotonic()
    if not environment.ready:
        print(f"adapters: NOT RUN, the packages of {package} are not there (`make adapters` installs them)")
        return 0
    folder.mkdir()
    # A framework's own data is removed with the folder.
    quiet, status = dict.fromkeys(framework.quiet, "true") | {"XDG_DATA_HOME": str(folder)}, 0
    if framework.tests and not asked.loop:
        ours = {
            "conftest.py": HERE / f"{framework.short}_standin.py",
            "excluded.toml": HERE / f"{framework.short}_excluded.toml",
        }
        if environment.unpacked(package, framework.tests, folder, ours):
            status = environment.ran(folder, run_dir, ["tests"], asked.only, **quiet)
        else:
            print(f"adapters: NOT RUN, the tests of {package} cannot be had here")
    if not asked.only:
        # Apart from the tests of its own, of which what is left out is no test of ours.
        apart = folder / "loop"
        apart.mkdir()
        status |= environment.looped(HERE / f"{framework.short}_loop.py", apart, run_dir, **quiet)
    print(f"adapters: {package} took {time.monotonic() - began:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
