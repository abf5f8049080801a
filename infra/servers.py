"""Supervises the embedded servers: restarts those that end, as often as it takes.

A restart blocks nothing: while a server starts, or cannot (its disk is full, the back ends of the killed one still hold
its memory), the fleet is still watched.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from infra.embedded.kafka_broker import Kafka
from infra.embedded.postgres import Postgres
from infra.embedded.processes import EmbeddedError

log = logging.getLogger(__name__)

# The first new start comes at once; one that ends soon after makes the next wait.
_BACKOFF_S = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
_SETTLED_S = 30.0


class Servers:
    """Kafka and Postgres, both started. Call from the thread that started them."""

    def __init__(self, brokers: Sequence[Kafka], postgres: Postgres) -> None:
        names = ["kafka"] if len(brokers) == 1 else [f"kafka-{node}" for node, _ in enumerate(brokers, start=1)]
        self._watches = {name: _Watch(name, broker) for name, broker in zip(names, brokers, strict=True)}
        self._watches["postgres"] = _Watch("postgres", postgres)

    def check(self) -> bool:
        """Restarts servers that ended and whose back-off is over; true if anything changed. Call it often."""
        now = time.monotonic()
        return any([watch.check(now) for watch in self._watches.values()])

    def describe(self) -> dict[str, dict[str, object]]:
        """Name → pid, state, number of starts, for pids.json."""
        return {name: watch.describe() for name, watch in self._watches.items()}


class _Watch:
    def __init__(self, name: str, server: Kafka | Postgres) -> None:
        self._name, self._server = name, server
        self._starts, self._failures = 1, 0
        self._started, self._again = time.monotonic(), float("inf")

    def check(self, now: float) -> bool:
        if now >= self._again:
            self._begin(now)
            return True
        process = self._server.process
        if self._again != float("inf") or process is None or process.poll() is None:
            return False
        self._wait(now, f"ended with status {process.returncode}")
        return True

    def describe(self) -> dict[str, object]:
        process = self._server.process
        runs = process is not None and process.poll() is None
        pid = process.pid if runs and process is not None else None
        return {"pid": pid, "state": "running" if runs else "waiting", "starts": self._starts}

    def _begin(self, now: float) -> None:
        self._starts, self._again, self._started = self._starts + 1, float("inf"), now
        try:
            self._server.revive()
        except (EmbeddedError, OSError) as error:
            self._wait(now, f"was not started: {error}")

    def _wait(self, now: float, what: str) -> None:
        if now - self._started > _SETTLED_S:
            self._failures = 0
        pause = _BACKOFF_S[min(self._failures, len(_BACKOFF_S) - 1)]
        self._failures += 1
        self._again = now + pause
        log.warning(
            "%s %s; again %s; see %s", self._name, what, f"in {pause} s" if pause else "at once", self._server.log
        )
