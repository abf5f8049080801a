"""A process's place in its consumer group: one that was lost and is not given back is told of, then ends it."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, KafkaException

from memquorum.telemetry.health import Health

# Longer than a group without its members takes to share out again.
_PATIENCE_S = 8.0
_WHAT = "place in the group"


class PlaceLost(RuntimeError):
    """The group took the partitions away and gives none, though the broker answers. Starting again may help."""


class Place:
    """`lost` and `given` are told by the group's callbacks; `check` by the loop."""

    def __init__(self, client: Consumer, health: Health) -> None:
        self._client, self._health, self._lost_at = client, health, float("inf")

    def lost(self) -> None:
        """The partitions were taken away."""
        self._lost_at = time.monotonic()
        self._health.wait(_WHAT, "its partitions were taken away, and it has no others yet")

    def given(self) -> None:
        """Partitions were given, perhaps none."""
        self._lost_at = float("inf")
        self._health.go(_WHAT)

    def check(self) -> None:
        """Raises PlaceLost where none were given for long after a loss, though the broker answers.

        A client that has lost its brokers for good is told of by `workers.kafka.reach`, sooner.
        """
        if time.monotonic() < self._lost_at + _PATIENCE_S:
            return
        try:
            self._client.list_topics(timeout=1)
        except KafkaException:
            self._lost_at = time.monotonic()
            return
        raise PlaceLost(f"the group has given no partitions for {_PATIENCE_S:g} s, though the broker answers")
