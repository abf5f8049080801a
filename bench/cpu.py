"""The processor time of processes, by /proc: nothing else is needed where this runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def stat(pid: int) -> list[str] | None:
    """The fields of a process from its state on; None where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else fields


def tree(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from tree(int(child))
    except (FileNotFoundError, ProcessLookupError):
        return


def used_s(pid: int) -> float:
    """Seconds of processor time so far of a process and all below it, those that have ended among them."""
    return sum(_own(one) for one in tree(pid))


def _own(pid: int) -> float:
    fields = stat(pid)
    # user, system, and both of children that have ended
    return sum(int(x) for x in fields[11:15]) / _TICK if fields else 0.0
