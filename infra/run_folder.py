"""The run folder of an installation: whether a supervisor holds it, and which processes that has started."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

PIDS = "pids.json"
LOCK = "supervisor.lock"


def read_pids(run_dir: Path) -> dict[str, Any]:
    """Returns the content of pids.json, or {} if nothing runs. Its `state` is starting, ready, failed or stopping."""
    if not alive(run_dir):
        return {}
    try:
        found = json.loads((run_dir / PIDS).read_text())
        return found if isinstance(found, dict) else {}
    except FileNotFoundError:
        return {}


def alive(run_dir: Path) -> bool:
    """True if a supervisor holds the run folder. The lock is released with its process, however that ends."""
    try:
        with (run_dir / LOCK).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
