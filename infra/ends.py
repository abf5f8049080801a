"""What ended a process, and an alarm where the same error ends it again and again.

A process that an error ends logs it last, with where it was raised and what was worked on (`infra.logs`). The
supervisor reads that from the part of the log that this life wrote; of one that a signal ended it knows the signal
alone.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from infra import logs

SAME_MOST = 3
"""So many ends by the same error within an hour are an alarm."""
WITHIN_S = 3_600.0
_TAIL_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class End:
    """Why a process ended: the error and where it was raised, and what was worked on."""

    error: str
    about: str = ""


def read(file: Path, since: int, status: int) -> End:
    """Why a process ended that wrote to a log from a byte on, and left with a status."""
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
        """Takes one in. `now`: seconds, by a clock that only runs forward."""
        self._count = self._count + 1 if self._last and self._last[-1][1].error == end.error else 1
        self._last.append((now, end))

    def alarm(self, now: float) -> str | None:
        """What an operator should know; None while no error ended the process three times in a row within an hour."""
        if self._count < SAME_MOST or now - self._last[0][0] > WITHIN_S:
            return None
        _, end = self._last[-1]
        about = f", working on {end.about}" if end.about else ""
        return f"ended {self._count} times in a row by {end.error}{about}"
