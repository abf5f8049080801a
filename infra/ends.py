"""Finds the reason why a process ended, and raises an alarm if the same error ends it repeatedly.

A process that an error ends logs it last, with the place where it was raised and the work in progress (`infra.logs`).
The supervisor reads that from the part of the log that this run wrote; if a signal ended it, it knows only the signal.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from infra import logs

SAME_MOST = 3
"""The number of ends by the same error within an hour that raises an alarm."""
WITHIN_S = 3_600.0
_TAIL_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class End:
    """The reason why a process ended: the error with the place where it was raised, and the work in progress."""

    error: str
    about: str = ""


def read(file: Path, since: int, status: int) -> End:
    """Reads the reason of an end from the log, from a byte on, and the exit status."""
    if status < 0:
        return End(f"signal {-status}")
    try:
        with file.open("rb") as log:
            log.seek(max(since, file.stat().st_size - _TAIL_BYTES))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    for line in reversed(lines):
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and told.get("event") == logs.ENDED:
            error = str(told.get("message", "")).removeprefix(logs.ENDED.partition("%")[0])
            where = f" in {told['where']}" if told.get("where") else ""
            return End(f"{error}{where}", "; ".join(map(str, told.get("about") or ())))
    return End(f"status {status}")


class Ends:
    """The last ends of one process."""

    def __init__(self) -> None:
        self._last: deque[tuple[float, End]] = deque(maxlen=SAME_MOST)
        self._count = 0

    def add(self, end: End, now: float) -> None:
        """Adds an end. `now`: seconds, by a clock that only runs forward."""
        self._count = self._count + 1 if self._last and self._last[-1][1].error == end.error else 1
        self._last.append((now, end))

    def alarm(self, now: float) -> str | None:
        """Returns the alarm; None unless an error ended the process three times in a row within an hour."""
        if self._count < SAME_MOST or now - self._last[0][0] > WITHIN_S:
            return None
        _, end = self._last[-1]
        about = f", working on {end.about}" if end.about else ""
        return f"ended {self._count} times in a row by {end.error}{about}"
