"""A worker's loop that ends after some turns, and its reports to an operator at each."""

from __future__ import annotations

from typing import Any, cast

from memquorum.telemetry.bundle import Telemetry
from workers.kafka.loop import Stop


class Turns(Stop):
    """Stops after so many turns, and notes what each reports under a name."""

    def __init__(self, shown: Telemetry, left: int, note: str) -> None:
        super().__init__()
        self.shown, self.left, self.note, self.told = shown, left, note, list[str]()

    def wait(self, seconds: float) -> bool:
        self.told.append(cast(Any, self.shown.health.able()[1]).get("notes", {}).get(self.note, ""))
        self.left -= 1
        if not self.left:
            self.set()
        return False
