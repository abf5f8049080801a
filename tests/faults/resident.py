"""Resident memory of a fleet's processes, from /proc."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOOK_S, COURSE_S = 0.2, 5.0
BACK_ENDS = "postgres back ends"


def resident(pid: int) -> int:
    """Returns a process's resident memory in KiB; 0 if there is no process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


def of_children(pid: int) -> int:
    """Returns the private memory of a process's children in KiB: Postgres's back ends share the rest."""
    total = 0
    try:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            lines = Path(f"/proc/{child}/status").read_text().splitlines()
            total += next((int(line.split()[1]) for line in lines if line.startswith("RssAnon:")), 0)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return total


def _look(pids: dict[str, int]) -> dict[str, int]:
    return {name: resident(pid) for name, pid in pids.items()} | {BACK_ENDS: of_children(pids["postgres"])}


@contextmanager
def watched(
    pids: dict[str, int], course: dict[str, list[int]] | None = None
) -> Iterator[dict[str, tuple[int, int, int]]]:
    """Resident memory before, at most and after, by process; filled when the block ends, `course` meanwhile."""
    before = _look(pids)
    most, over, found = dict(before), threading.Event(), dict[str, tuple[int, int, int]]()

    def look() -> None:
        due = time.monotonic()
        while not over.wait(_LOOK_S):
            now = _look(pids)
            for name, kib in now.items():
                most[name] = max(most[name], kib)
            if course is not None and time.monotonic() >= due:
                due += COURSE_S
                for name, kib in now.items():
                    course.setdefault(name, []).append(kib)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()
        found |= {name: (before[name], most[name], kib) for name, kib in _look(pids).items()}
