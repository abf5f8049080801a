"""Runs programs as if the extra `kafka` were not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import ROOT

_HIDDEN = """
import importlib.util, sys

hidden = ("aiokafka", "cryptography", "fastavro", "numpy")

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in hidden else find(name, package)
"""


def without_kafka(
    program: str, *arguments: str, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program, in a folder, with these variables and no others of ours."""
    known = {name: one for name, one in os.environ.items() if not name.startswith("MEMQUORUM_")}
    return subprocess.run(
        [sys.executable, "-c", _HIDDEN + program, *arguments],
        cwd=folder, env=known | {"PYTHONPATH": str(ROOT)} | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
