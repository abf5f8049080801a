"""Reads a replica's topics with two clients: the logs, for which it waits, and the accepted stream, which it polls.

A fetch names every partition that its client reads, the broker examines each of them twice, and every record of a vote
answers the fetches of all members. So the topics of a vote are read apart from the streams that are only followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from confluent_kafka import Message, TopicPartition

from memquorum import topics
from workers.kafka import loop

SPINE = (topics.ACCEPTED, topics.SCORED, topics.REENCODED, topics.REHEARSED)
"""The topics that are polled; everything else is a log."""

Place = tuple[str, int]

_BATCH = 1_000
_LOG_FETCH_MS = 250


class Reading:
    """Both clients as one. Without new records in the logs, it polls the accepted stream once per wait."""

    def __init__(self, bootstrap: str) -> None:
        # After ballots were dropped, it seeks to read them again, and a seek waits for a pending fetch.
        self._logs = loop.reader(bootstrap, **{"fetch.wait.max.ms": _LOG_FETCH_MS})
        self._spine = loop.consumer(bootstrap)
        self._paused: set[Place] = set()
        self._more = False

    def bounds(self, place: Place, patience_s: float) -> tuple[int, int]:
        """First and next offset of a partition. Raises KafkaException if Kafka does not answer."""
        low, end = self._logs.get_watermark_offsets(TopicPartition(*place), timeout=patience_s)
        return low, end

    def assign(self, positions: Mapping[Place, int]) -> None:
        """Reads from these offsets."""
        for client, along in ((self._spine, True), (self._logs, False)):
            loop.assign(client, {place: at for place, at in positions.items() if (place[0] in SPINE) == along})

    def records(self, wait_s: float, ended: set[Place]) -> list[Message]:
        """Returns the available records, or the first one within `wait_s`. Adds logs whose end was reached to
        `ended`."""
        found = loop.records(self._logs, _BATCH, 0 if self._more else wait_s, ended)
        along = loop.records(self._spine, _BATCH, 0)
        self._more = bool(along)
        return along + found

    def seek(self, place: Place, at: int) -> None:
        """Continues a partition at this offset."""
        (self._spine if place[0] in SPINE else self._logs).seek(TopicPartition(*place, at))

    def balance(self, full: Iterable[Place]) -> dict[str, int]:
        """Resumes all streams but these, which are paused; returns the number of paused partitions of each topic."""
        wanted = set(full)
        if wanted != self._paused:
            self._spine.pause([TopicPartition(*place) for place in wanted - self._paused])
            self._spine.resume([TopicPartition(*place) for place in self._paused - wanted])
            self._paused = wanted
        return {topic: sum(topic == paused for paused, _ in wanted) for topic in SPINE}

    def close(self) -> None:
        """Closes both clients."""
        self._spine.close()
        self._logs.close()
