"""Tells whether a process is alive and able to work: the answers of `/livez` and `/readyz`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

# A loop turns several times a second; a batch of long texts on a loaded machine takes seconds.
STILL_S = 20.0
# A loop that has not turned for this long waits for a server that is frozen and does not answer.
STUCK_S = 8.0
STARTING = "start"


class Health:
    """The state that a worker's loop writes and other threads read; every call is one step of a dictionary or a number.

    A *wait* keeps a stage from working at all and makes it unready: the vault is unavailable, no partitions yet. A
    *brake* is back-pressure: it works, but reads no further until another stage has caught up. An *alarm* is for
    people: it works, but somebody should look. A *note* is the last activity of a process that is rarely active.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turned = clock()
        self._waits: dict[str, str] = {STARTING: "it starts"}
        self._brakes: dict[str, str] = {}
        self._alarms: dict[str, tuple[str, float]] = {}
        self._notes: dict[str, str] = {}

    def turn(self) -> None:
        """Notes that the loop turned."""
        self._turned = self._clock()

    def ready(self) -> None:
        """Notes that the process has started."""
        self._waits.pop(STARTING, None)

    def wait(self, what: str, why: str) -> None:
        """Notes that it cannot work, and why."""
        self._waits[what] = why

    def go(self, what: str) -> None:
        """Ends a wait."""
        self._waits.pop(what, None)

    def slow(self, by: str, why: str | None) -> None:
        """Sets a brake, or with None ends it."""
        if why is None:
            self._brakes.pop(by, None)
        else:
            self._brakes[by] = why

    def alarm(self, about: str, why: str | None, lasts_s: float = math.inf) -> None:
        """Raises an alarm, or with None ends it. `lasts_s`: the alarm ends after so many seconds unless it is raised
        again."""
        if why is None:
            self._alarms.pop(about, None)
        else:
            self._alarms[about] = why, self._clock() + lasts_s

    def note(self, about: str, what: str) -> None:
        """Sets the note about the last activity, and why it is idle now."""
        self._notes[about] = what

    @property
    def still_s(self) -> float:
        """The seconds since the loop last turned."""
        return self._clock() - self._turned

    @property
    def waits(self) -> dict[str, str]:
        """The waits by subject, with reasons."""
        return dict(self._waits)

    @property
    def brakes(self) -> dict[str, str]:
        """The brakes by subject, with reasons."""
        return dict(self._brakes)

    @property
    def alarms(self) -> dict[str, str]:
        """The alarms that still last, by subject, with reasons."""
        now = self._clock()
        return {about: why for about, (why, until) in list(self._alarms.items()) if now < until}

    def live(self) -> tuple[bool, dict[str, object]]:
        """True if its loop turns; with the body of the answer."""
        alive = self.still_s < STILL_S
        return alive, {"alive": alive, "turned_s_ago": round(self.still_s, 3)}

    def able(self) -> tuple[bool, dict[str, object]]:
        """True if it can work; with the body of the answer."""
        waits = self.waits
        if self.still_s >= STUCK_S:
            waits.setdefault("answer", f"what it asked {self.still_s:.0f} s ago does not answer")
        told: dict[str, object] = {"ready": not waits, "waits_for": waits, "slowed_by": self.brakes}
        told |= {"alarms": alarms} if (alarms := self.alarms) else {}
        return not waits, told | ({"notes": dict(self._notes)} if self._notes else {})
