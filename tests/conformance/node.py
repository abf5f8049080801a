"""Runs programs with the Node of `make conformance`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.upstream import Environment

CONFORMANCE = Environment("conformance")
_LIMIT_S = 120.0


class Node:
    """Runs programs of npm packages, with a home of their own."""

    def __init__(self, home: Path) -> None:
        self.home, self._packages = home, CONFORMANCE.place / "npm" / "node_modules"

    def run(self, program: str, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a program; returns its output and its exit status.

        Its environment tells nothing of an installation but `variables`.
        """
        known = {name: value for name, value in os.environ.items() if not name.startswith("MEMQUORUM_")}
        known |= {"PATH": f"{CONFORMANCE.python.parent}:{known['PATH']}", "HOME": str(self.home), **variables}
        command = [self._packages / ".bin" / program, *arguments]
        return subprocess.run(
            command, cwd=self.home, env=known, text=True, capture_output=True, check=False, timeout=_LIMIT_S
        )

    def versions(self) -> dict[str, str]:
        """Returns the versions of Node and of the packages."""
        node = subprocess.run(
            [CONFORMANCE.python.parent / "node", "--version"], text=True, capture_output=True, check=True
        )
        found = {"node": node.stdout.strip().removeprefix("v")}
        for name in ("conformance", "inspector"):
            told = self._packages / "@modelcontextprotocol" / name / "package.json"
            found[name] = json.loads(told.read_text())["version"]
        return found
