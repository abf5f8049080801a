"""The Past port on Kafka: the last accepted records before an offset, and the last scores, strangers' left out."""

from __future__ import annotations

import logging
from itertools import takewhile

from memquorum import topics
from memquorum.core.identity.stamps import Reader
from workers.kafka.partition import Partition
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger(__name__)


class KafkaPast:
    """Connects for each question, which comes once for every shard that begins here."""

    def __init__(self, bootstrap: str, stamps: Reader | None) -> None:
        """`stamps` identifies strangers' records."""
        self._bootstrap, self._strangers = bootstrap, Strangers(_LOG, stamps)

    def before(self, shard: int, offset: int, most: int) -> list[bytes]:
        """The values of the shard's records from `offset - most` on and before `offset`; see the port."""
        partition = Partition(self._bootstrap, topics.ACCEPTED, shard, self._strangers)
        try:
            records = partition.records(patience_s=0, start=max(0, offset - most))
            return [record.data for record in takewhile(lambda record: record.offset < offset, records)]
        finally:
            partition.close()

    def scored(self, shard: int, since: int | None, most: int) -> tuple[list[bytes], int]:
        """The values of the shard's scores from `since` on, or of its last `most`, and the offset of the next."""
        partition = Partition(self._bootstrap, topics.SCORED, shard, self._strangers)
        try:
            start = max(0, partition.end - most) if since is None else since
            if start >= partition.end:
                return [], partition.end
            return [record.data for record in partition.records(patience_s=0, start=start)], partition.end
        finally:
            partition.close()
