"""Where tests keep their files: in memory where there is room for it, and else where the system keeps temporary files.

Servers are what takes the time of a test run, and what takes theirs is files: a database is some 300 of them and a
broker's topics some 200, which tests make anew all the time. Nothing is proved by where they lie. A process that is
killed loses nothing of them either way; the disk that is full is a mounted one of its own (`tests.faults.library`).
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
    """The folder to make folders in. Whoever sets TMPDIR has chosen."""
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
