"""`python -m tests.langgraph`: runs the store of LangGraph against an installation that is started for it.

LangGraph's tests of its Postgres store (`test_store.py`, `test_async_store.py`) come out of the source package that the
lock file names, with their stores replaced by ours (`standin.py`); nothing of them is kept. `excluded.toml` names those
that are left out, each with its reason. Beside them `loop.py`, an agent's loop of ours. `--peer`: how many of
LangGraph's tests its own store in memory passes, without those that are left out here for both.

All that imports LangGraph runs in the environment of `make langgraph`. Exit 0 where all holds.
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
LANGGRAPH = Environment("langgraph")
PACKAGE = "langgraph-checkpoint-postgres"
TAKEN = ("test_store.py", "test_async_store.py", "embed_test_utils.py")
OURS = {"conftest.py": HERE / "standin.py", "excluded.toml": HERE / "excluded.toml"}


def main() -> int:
    """Runs it."""
    parser = argparse.ArgumentParser(prog="python -m tests.langgraph")
    parser.add_argument("--peer", action="store_true", help="LangGraph's store in memory in the place of ours")
    parser.add_argument("--only", help="those tests of LangGraph alone whose names have this, as pytest's -k")
    parser.add_argument("--loop", action="store_true", help="the agent's loop alone")
    parsed = parser.parse_args()
    if not LANGGRAPH.ready:
        print("langgraph: NOT RUN, its packages are not there (`make langgraph` installs them)")
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="langgraph-", dir=scratch.root()) as name:
        folder = Path(name)
        if not parsed.loop and not LANGGRAPH.unpacked(PACKAGE, TAKEN, folder / "upstream", OURS):
            print("langgraph: NOT RUN, LangGraph's tests cannot be had here")
            return 0
        if parsed.peer:
            return LANGGRAPH.ran(folder / "upstream", None, ["tests"], parsed.only, PEER="1")
        status = 0
        if not parsed.loop:
            with installation(folder / "line", clock="wall", tick_ms=500) as run_dir:
                status = LANGGRAPH.ran(folder / "upstream", run_dir, ["tests"], parsed.only)
        if not parsed.only:
            with installation(folder / "loop", clock="driven") as run_dir:
                status |= LANGGRAPH.looped(HERE / "loop.py", folder, run_dir)
    print(f"langgraph: took {time.monotonic() - began:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
