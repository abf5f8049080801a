"""`python -m tests.adapters`: Anthropic's memory tool, the sessions of OpenAI's agents and LlamaIndex's block of
memory, by the tests of their own, where these are to be had, and by an agent's loop of ours each, against one
installation.

The SDKs' tests come out of the source packages that the lock file names, with their file system and their SQLite
replaced by ours (`NAME_standin.py`). `NAME_excluded.toml` names those that are left out, each with its reason. All that
imports an SDK runs in the environment of `make adapters`. Exit 0 where all holds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests import scratch
from tests.upstream import Environment, installation

HERE = Path(__file__).parent
ADAPTERS = Environment("adapters")
TAKEN = {
    "anthropic": ("lib/tools/memory_tools/test_filesystem.py",),
    "openai-agents": ("memory/test_session.py", "memory/test_session_limit.py", "test_responses.py"),
    "llama-index-core": (),  # its source holds none
}


def main() -> int:
    """Runs them."""
    parser = argparse.ArgumentParser(prog="python -m tests.adapters")
    parser.add_argument("--only", help="those tests alone whose names have this, as pytest's -k")
    parser.add_argument("--of", choices=TAKEN, action="append", help="of one SDK alone; repeatable")
    parser.add_argument("--loop", action="store_true", help="the agents' loops alone")
    parsed = parser.parse_args()
    if not ADAPTERS.ready:
        print("adapters: NOT RUN, its packages are not there (`make adapters` installs them)")
        return 0
    began, status = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="adapters-", dir=scratch.root()) as name:
        folder = Path(name)
        with installation(folder / "line", clock="driven") as run_dir:
            for package in parsed.of or TAKEN:
                status |= _of(package, folder / package, run_dir, parsed.only, loop=parsed.loop)
    print(f"adapters: took {time.monotonic() - began:.0f} s")
    return status


def _of(package: str, folder: Path, run_dir: Path, only: str | None, *, loop: bool) -> int:
    begin = package.split("-", maxsplit=1)[0]
    ours = {"conftest.py": HERE / f"{begin}_standin.py", "excluded.toml": HERE / f"{begin}_excluded.toml"}
    status = 0
    if loop or not TAKEN[package]:
        pass
    elif ADAPTERS.unpacked(package, TAKEN[package], folder, ours):
        status = ADAPTERS.ran(folder, run_dir, ["tests"], only)
    else:
        print(f"adapters: NOT RUN, the tests of {package} cannot be had here")
    if not only:
        folder.mkdir(exist_ok=True)
        status |= ADAPTERS.looped(HERE / f"{begin}_loop.py", folder, run_dir)
    return status


if __name__ == "__main__":
    sys.exit(main())
