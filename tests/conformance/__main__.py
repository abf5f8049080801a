"""`python -m tests.conformance`: the MCP server by the protocol's own conformance suite and by its inspector's command
line, against an installation that is started for them.

Both are npm packages (`package-lock.json` has their versions and hashes) on the Node of a wheel, in the environment of
`make conformance`. `excluded.toml` names the scenarios that are left out, each with its reason. `--keep` writes the
outcome to `results.json` and into docs/use/integrations/mcp.md. Exit 0 where all holds.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from infra import settings
from tests import scratch
from tests.conformance import inspecting, outcome, suite
from tests.conformance.node import CONFORMANCE, Node
from tests.upstream import installation


def main() -> int:
    """Runs them."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("--keep", action="store_true", help="writes the outcome to results.json and the MCP page")
    parsed = parser.parse_args()
    if not CONFORMANCE.ready:
        print("conformance: NOT RUN, its packages are not there (`make conformance` installs them)")
        return 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="conformance-", dir=scratch.root()) as name:
        folder = Path(name)
        node = Node(folder)
        with installation(folder / "line", clock="wall", tick_ms=500) as run_dir:
            url = f"{settings.load(os.environ, run_dir).retrieval_url}/mcp/conformance"
            checks, seen = suite.run(node, url), inspecting.run(node, url, run_dir)
    told = outcome.Outcome(node.versions(), outcome.judged(checks, suite.EXCLUDED), seen)
    for line in told.lines():
        print(line)
    if parsed.keep:
        told.keep()
    print(f"conformance: took {time.monotonic() - began:.0f} s")
    print(f"{told.passed} passed, {len(told.failed)} failed")
    return 1 if told.failed else 0


if __name__ == "__main__":
    sys.exit(main())
