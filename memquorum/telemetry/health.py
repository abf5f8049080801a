"""Whether a process lives and can work, in its own words: what `/livez` and `/readyz` answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

# A loop turns several times a second; a batch of long texts on a loaded machine takes seconds.
STILL_S = 20.0
# A loop that has not turned for so long waits for an answer that does not come: of a server that is frozen, not away.
STUCK_S = 8.0
STARTING = "start"


class Health:
    """Written by a worker's loop, read by whoever asks; every call is one step of a dictionary or a number.

    A *wait* keeps a stage from working at all and makes it unready: the vault is away, no partitions yet. A *brake* is
    back-pressure: it works, but reads no further until something else has caught up. An *alarm* is for people: it works
    as it should, and somebody should look. A *note* says what it did last, where it does little and that seldom.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turned = clock()
        self._waits: dict[str, str] = {STARTING: "it starts"}
        self._brakes: dict[str, str] = {}
        self._alarms: dict[str, tuple[str, float]] = {}
        self._notes: dict[str, str] = {}

    def turn(self) -> None:
        """The loop turned."""
        self._turned = self._clock()

    def ready(self) -> None:
        """It has started."""
        self._waits.pop(STARTING, None)

    def wait(self, what: str, why: str) -> None:
        """It cannot work for want of something."""
        self._waits[what] = why

    def go(self, what: str) -> None:
        """What it waited for is here."""
        self._waits.pop(what, None)

    def slow(self, by: str, why: str | None) -> None:
        """It reads no further, because of `by`; None: it does again."""
        if why is None:
            self._brakes.pop(by, None)
        else:
            self._brakes[by] = why

    def alarm(self, about: str, why: str | None, lasts_s: float = math.inf) -> None:
        """Somebody should look at this; None: there is nothing to be seen any more. `lasts_s`: after so many seconds
        without being raised again, it is over."""
        if why is None:
            self._alarms.pop(about, None)
        else:
            self._alarms[about] = why, self._clock() + lasts_s

    def note(self, about: str, what: str) -> None:
        """What it did last, and why it does nothing now."""
        self._notes[about] = what

    @property
    def still_s(self) -> float:
        """How long ago the loop turned last."""
        return self._clock() - self._turned

    @property
    def waits(self) -> dict[str, str]:
        """What it waits for, and why."""
        return dict(self._waits)

    @property
    def brakes(self) -> dict[str, str]:
        """What slows it down, and why."""
        return dict(self._brakes)

    def live(self) -> tuple[bool, dict[str, object]]:
        """Whether its loop turns, and what to answer."""
        alive = self.still_s < STILL_S
        return alive, {"alive": alive, "turned_s_ago": round(self.still_s, 3)}

    def able(self) -> tuple[bool, dict[str, object]]:
        """Whether it can work, and what to answer."""
        waits = self.waits
        if self.still_s >= STUCK_S:
            waits.setdefault("answer", f"what it asked {self.still_s:.0f} s ago does not answer")
        told: dict[str, object] = {"ready": not waits, "waits_for": waits, "slowed_by": self.brakes}
        now = self._clock()
        alarms = {about: why for about, (why, until) in list(self._alarms.items()) if now < until}
        told |= {"alarms": alarms} if alarms else {}
        return not waits, told | ({"notes": dict(self._notes)} if self._notes else {})
