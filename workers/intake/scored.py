"""How far the accepted stream was scored, by what the group of the streams has committed."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from confluent_kafka import KafkaException, TopicPartition

from memquorum import topics
from workers.kafka import loop

GROUP = "memquorum-streams"
"""The group that scores (`streams.app.APP_ID`)."""
_LOG = logging.getLogger("memquorum.intake")
_ANSWER_S = 0.5


class Scored:
    """Asks the broker."""

    def __init__(self, bootstrap: str) -> None:
        self._client = loop.consumer(bootstrap, GROUP)
        self._told = False

    def __call__(self, shards: Iterable[int]) -> dict[int, int] | None:
        """The next offset of each shard that has one; None where the broker does not answer."""
        places = [TopicPartition(topics.ACCEPTED, shard) for shard in shards]
        try:
            found = self._client.committed(places, timeout=_ANSWER_S)
        except KafkaException as error:
            if not self._told:
                _LOG.warning("how far episodes are scored cannot be asked: %s", error)
            self._told = True
            return None
        self._told = False
        return {p.partition: p.offset for p in found if p.offset >= 0}

    def close(self) -> None:
        """Lets the connection go."""
        self._client.close()
