"""Reads how far the accepted stream is scored from the offsets that the group of the streams has committed."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from confluent_kafka import KafkaException, TopicPartition

from memquorum import topics
from workers.kafka import loop

GROUP = "memquorum-streams"
"""The consumer group that scores (`streams.faust_app.APP_ID`)."""
_LOG = logging.getLogger("memquorum.scored")
_ANSWER_S = 0.5


class Scored:
    """Asks the broker for the scoring group's offsets."""

    def __init__(self, bootstrap: str) -> None:
        self._client = loop.consumer(bootstrap, GROUP)
        self._told = False

    def __call__(self, shards: Iterable[int]) -> dict[int, int] | None:
        """Returns the next offset of each shard that has one; None if the broker does not answer."""
        places = [TopicPartition(topics.ACCEPTED, shard) for shard in shards]
        try:
            found = self._client.committed(places, timeout=_ANSWER_S)
        except KafkaException as error:
            if not self._told:
                _LOG.warning("the progress of scoring cannot be read: %s", error)
            self._told = True
            return None
        self._told = False
        return {p.partition: p.offset for p in found if p.offset >= 0}

    def waiting(self, shards: Iterable[int]) -> int:
        """Counts the accepted records of some shards that have no score yet; 0 if the broker does not answer."""
        found = self(shards) or {}
        try:
            ends = {shard: self._end(shard) for shard in found}
        except KafkaException:
            return 0
        return sum(max(0, ends[shard] - offset) for shard, offset in found.items())

    def _end(self, shard: int) -> int:
        ends = self._client.get_watermark_offsets(TopicPartition(topics.ACCEPTED, shard), timeout=_ANSWER_S)
        if ends is None:
            raise KafkaException("no answer")
        return int(ends[1])

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()
