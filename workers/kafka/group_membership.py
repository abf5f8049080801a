"""Watches a process's place in its consumer group: logs a loss, and ends the process if the place is not given back."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, KafkaException

from memquorum.telemetry.health import Health

# Longer than a rebalance takes in a group without its members.
_PATIENCE_S = 8.0
_WHAT = "place in the group"


class PlaceLost(RuntimeError):
    """The group revoked the partitions and assigns none, though the broker answers. Restarting may help."""


class GroupMembership:
    """The state of the membership: the group's callbacks call `lost` and `given`, the loop calls `check`."""

    def __init__(self, client: Consumer, health: Health) -> None:
        self._client, self._health, self._lost_at = client, health, float("inf")

    def lost(self) -> None:
        """Notes that the partitions were revoked."""
        self._lost_at = time.monotonic()
        self._health.wait(_WHAT, "its partitions were taken away, and it has no others yet")

    def given(self) -> None:
        """Notes that partitions were assigned, perhaps none."""
        self._lost_at = float("inf")
        self._health.go(_WHAT)

    def check(self) -> None:
        """Raises PlaceLost if none were assigned for a while after a loss, though the broker answers.

        `workers.kafka.reach` notices sooner that a client has lost its brokers.
        """
        if time.monotonic() < self._lost_at + _PATIENCE_S:
            return
        try:
            self._client.list_topics(timeout=1)
        except KafkaException:
            self._lost_at = time.monotonic()
            return
        raise PlaceLost(f"the group has assigned no partitions for {_PATIENCE_S:g} s, though the broker answers")
