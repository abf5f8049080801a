"""Tells whether the machine has been idle for a while, by the share of time in which its processors worked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Spent = tuple[float, float]
"""(time worked, time in all), of all processors together and in any unit."""

_STAT = Path("/proc/stat")
# The first fields of the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal. The following ones are
# included in these.
_IDLE = slice(3, 5)
_COUNTED = 8


def of_machine() -> Spent:
    """Reads the processors' times since the machine started (proc_stat(5)). Raises OSError if the kernel gives none."""
    fields = [float(field) for field in _STAT.read_text().split("\n", 1)[0].split()[1 : 1 + _COUNTED]]
    return sum(fields) - sum(fields[_IDLE]), sum(fields)


class Idleness:
    """Notes since when the machine has been quiet, by looks a few seconds apart."""

    def __init__(self, busy: float, for_s: float, spent: Callable[[], Spent] = of_machine) -> None:
        """`busy`: the share of the time, in [0, 1], from which on it is not quiet; with 1 it always is. `for_s`: the
        seconds for which it has to be quiet."""
        self._busy, self._for_s, self._spent = busy, for_s, spent
        self._last: Spent | None = None
        self._since: float | None = None
        self._compared = False
        self.share = 1.0
        """The share between the last two looks."""

    def __str__(self) -> str:
        """The condition for being quiet, and the latest load."""
        now = f", and they worked {self.share:.0%} of it just now" if self._compared else ""
        return (
            f"the machine's processors have to work less than {self._busy:.0%} of the time for {self._for_s:g} s{now}"
        )

    def look(self, now: float) -> bool:
        """True if every look since `for_s` seconds ago found it quiet. `now`: seconds of a clock that only rises."""
        worked, total = self._spent()
        last, self._last = self._last, (worked, total)
        if last is None:
            self._since = None
            return False
        if total > last[1]:
            self.share, self._compared = (worked - last[0]) / (total - last[1]), True
        if self._busy < 1 and self.share >= self._busy:
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        return now - self._since >= self._for_s
