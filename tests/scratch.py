r"""The folder of tests' files: in memory where there is room for it, and else where the system keeps temporary files.

Servers take most of the time of a test run, and files take most of theirs: a database is some 300 of them and a
broker's topics some 200, which tests make again all the time. The folder's place proves nothing: a process that is
killed loses no file either way, and the full disk is a mounted one of its own (`tests.faults.library`).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
# A whole run has at most some 0.5 GiB of files at once.
_ROOM = 4 * 2**30


def root() -> Path:
    """Returns the folder to make folders in. TMPDIR overrides it."""
    return _MEMORY if "TMPDIR" not in os.environ and _fits(_MEMORY) else Path(tempfile.gettempdir())


def _fits(folder: Path) -> bool:
    """Whether a file system in memory has room, by its own limit and by what the machine has, and runs programs."""
    try:
        available = next(
            int(line.split()[1]) * 1024
            for line in Path("/proc/meminfo").read_text().splitlines()
            if line.startswith("MemAvailable:")
        )
        room = min(shutil.disk_usage(folder).free, available // 2)
        return room >= _ROOM and os.access(folder, os.W_OK) and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    except (OSError, StopIteration):
        return False
