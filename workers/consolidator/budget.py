"""How many tokens a model may cost on a day, by the wall clock in UTC; kept in a file, so no restart grants more."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from memquorum.ports import SummariserUnavailable

_DAY_S = 24 * 3600


class Budget:
    """What is left of a day. Written before a request is sent: after a crash it counts as spent."""

    def __init__(self, file: Path, most: int, clock: Callable[[], float] = time.time) -> None:
        """`most`: tokens a day; 0: as many as it takes. `file`: where the day and its sum are kept."""
        self._file, self._most, self._clock = file, most, clock
        self._day, self._spent = self._read()

    @property
    def spent(self) -> int:
        """Tokens of today."""
        self._turn()
        return self._spent

    def take(self, count: int) -> None:
        """Takes so many tokens before they are used. Raises SummariserUnavailable where today has fewer left."""
        self._turn()
        if self._most and self._spent + count > self._most:
            left_s = _DAY_S - self._clock() % _DAY_S
            told = f"the budget of {self._most:,} tokens a day is spent; there is a new one in {left_s / 3600:.1f} h"
            raise SummariserUnavailable(told)
        self._note(self._spent + count)

    def give_back(self, count: int) -> None:
        """Notes that so many of those taken were not used; where the count is negative, that more were."""
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
