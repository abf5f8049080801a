"""`python -m tests.langgraph`: runs the store of LangGraph against an installation that is started for it.

LangGraph's tests of its Postgres store (`test_store.py`, `test_async_store.py`) come out of the source package that the
lock file names, with their stores replaced by ours (`standin.py`); nothing of them is kept. `excluded.toml` names those
that are left out, each with its reason. Beside them `loop.py`, an agent's loop of ours. `--peer`: how many of
LangGraph's tests its own store in memory passes, without those that are left out here for both.

All that imports LangGraph runs in the environment of `make langgraph`. Exit 0 where all holds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from infra import genesis, settings, supervisor
from tests import ROOT, scratch

PLACE = ROOT / ".tools" / "langgraph"
PYTHON = PLACE / "bin" / "python"
PACKAGE = "langgraph-checkpoint-postgres"
TAKEN = ("test_store.py", "test_async_store.py", "embed_test_utils.py")
HERE = Path(__file__).parent


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(prog="python -m tests.langgraph")
    parser.add_argument("--peer", action="store_true", help="LangGraph's store in memory in the place of ours")
    parser.add_argument("--only", help="those tests of LangGraph alone whose names have this, as pytest's -k")
    parser.add_argument("--loop", action="store_true", help="the agent's loop alone")
    parsed = parser.parse_args()
    if not (PLACE / ".ready").exists():
        print("langgraph: NOT RUN, its packages are not there (`make langgraph` installs them)")
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="langgraph-", dir=scratch.root()) as name:
        folder = Path(name)
        if not unpacked(folder / "upstream" / "tests"):
            print("langgraph: NOT RUN, LangGraph's tests cannot be had here")
            return 0
        if parsed.peer:
            return ran(folder / "upstream", None, ["tests"], parsed.only, peer=True)
        status = 0
        if not parsed.loop:
            with installation(folder / "line", clock="wall", tick_ms=500) as run_dir:
                status = ran(folder / "upstream", run_dir, ["tests"], parsed.only)
        if not parsed.only:
            shutil.copy(HERE / "loop.py", folder / "test_loop.py")
            with installation(folder / "loop", clock="driven") as run_dir:
                status |= ran(folder, run_dir, ["-s", "test_loop.py"], None)
    print(f"langgraph: took {time.monotonic() - began:.0f} s")
    return status


@contextmanager
def installation(folder: Path, **configured: Any) -> Iterator[Path]:
    """The run folder of one that runs."""
    made = replace(settings.load({}, folder), throwaway=True, **configured)
    genesis.create(made)
    with supervisor.started(made) as running:
        yield running.run_dir


def unpacked(folder: Path) -> bool:
    """Whether LangGraph's tests lie in a folder now, with our conftest."""
    lock = (ROOT / "requirements-langgraph.lock").read_text()
    wanted = re.search(rf"^{PACKAGE}==.*?(?=^\S)", lock, re.MULTILINE | re.DOTALL)
    assert wanted is not None
    fetched = PLACE / "sdist"
    if not list(fetched.glob("*.tar.gz")):
        asked = folder.parent.with_suffix(".txt")
        asked.write_text(wanted[0])
        command = [
            PYTHON,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--no-binary",
            PACKAGE,
        ]
        command += ["--require-hashes", "--dest", fetched, "--requirement", asked]
        # What reads the package is in this environment.
        known = os.environ | {"PATH": f"{PYTHON.parent}:{os.environ['PATH']}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        if subprocess.run(command, env=known, check=False).returncode:
            return False
    (archive,) = fetched.glob("*.tar.gz")
    folder.mkdir(parents=True)
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            name = Path(member.name)
            if name.parent.name == "tests" and name.name in TAKEN and (content := packed.extractfile(member)):
                (folder / name.name).write_bytes(content.read())
    (folder / "__init__.py").touch()
    shutil.copy(HERE / "standin.py", folder / "conftest.py")
    shutil.copy(HERE / "excluded.toml", folder)
    return True


def ran(folder: Path, run_dir: Path | None, what: list[str], only: str | None, *, peer: bool = False) -> int:
    """Pytest's exit status in that environment."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MEMQUORUM_", "PYTEST"))}
    known |= {
        "PYTHONPATH": str(ROOT),
        "PEER": "1" if peer else "",
        "SERVER_PYTHON": sys.executable,
        "CHECKOUT": str(ROOT),
    }
    known |= {} if run_dir is None else {"MEMQUORUM_RUN_DIR": str(run_dir)}
    # As a script that is no package of ours: `tests` is theirs there.
    begin = (
        "import sys; sys.path.remove(''); sys.path.insert(0, '.'); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    options = ["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-c", os.devnull, "--rootdir", ".", "-rs"]
    options += ["-k", only] if only else []
    return subprocess.run([PYTHON, "-c", begin, *options, *what], cwd=folder, env=known, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
