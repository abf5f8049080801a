"""The budget of a model: tokens a day, by the wall clock in UTC, kept in a file, so no restart grants more; and
requests a minute."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from memquorum.ports import SummariserUnavailable

_DAY_S, _MINUTE_S = 24 * 3600, 60


class BudgetSpent(SummariserUnavailable):
    """There is nothing left for a request; `wait_s`: for so long."""

    def __init__(self, told: str, wait_s: float) -> None:
        super().__init__(told)
        self.wait_s = wait_s


class Budget:
    """The rest of a day's tokens, and of a minute's requests. A day's sum is written before a request is sent: after a
    crash it counts as spent."""

    def __init__(self, file: Path, most: int, clock: Callable[[], float] = time.time, *, per_minute: int = 0) -> None:
        """`most`: tokens a day; `per_minute`: requests a minute; 0: as many as it takes. `file`: where the day and its
        sum are kept."""
        self._file, self._most, self._clock, self._per_minute = file, most, clock, per_minute
        self._asked = deque[float]()
        self._day, self._spent = self._read()

    @property
    def spent(self) -> int:
        """Tokens of today."""
        self._turn()
        return self._spent

    def take(self, count: int) -> None:
        """Takes tokens, and a request, before they are used. Raises BudgetSpent where today has fewer left, or this
        minute no request."""
        self._turn()
        if self._most and self._spent + count > self._most:
            left_s = _DAY_S - self._clock() % _DAY_S
            told = f"the budget of {self._most:,} tokens a day is spent; there is a new one in {left_s / 3600:.1f} h"
            raise BudgetSpent(told, left_s)
        self._pace()
        self._note(self._spent + count)

    def _pace(self) -> None:
        now = self._clock()
        while self._asked and not 0 <= now - self._asked[0] < _MINUTE_S:
            self._asked.popleft()
        if self._per_minute and len(self._asked) >= self._per_minute:
            told = f"{self._per_minute} requests were made within a minute"
            raise BudgetSpent(told, _MINUTE_S - (now - self._asked[0]))
        self._asked.append(now)

    def give_back(self, count: int) -> None:
        """Gives back taken tokens that were not used; a negative count takes more."""
        self._note(max(0, self._spent - count))

    def _turn(self) -> None:
        if (today := int(self._clock() // _DAY_S)) != self._day:
            self._day, self._spent = today, 0

    def _read(self) -> tuple[int, int]:
        try:
            said = json.loads(self._file.read_text(encoding="utf-8"))
            return int(said["day"]), max(0, int(said["spent"]))
        except (OSError, ValueError, TypeError, KeyError):
            return int(self._clock() // _DAY_S), 0

    def _note(self, spent: int) -> None:
        self._spent = spent
        beside = self._file.with_name(f"{self._file.name}.new")
        try:
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps({"day": self._day, "spent": spent}), encoding="utf-8")
            beside.replace(self._file)
        except OSError as error:
            raise SummariserUnavailable(f"what was spent cannot be noted: {error}") from None
