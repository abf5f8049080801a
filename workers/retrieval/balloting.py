"""The epoch that members vote on now, read from their topics when somebody asks.

    nominations, ballots, pre-prepares, prepares, commits ─► read from the nomination on ─► GET /epochs/{ns}/open

The service follows nothing: it reads when somebody asks, a bounded number of the latest records. A reading is good for
a second, for everybody.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from memquorum import topics
from memquorum.core.accounts import undecided
from memquorum.core.accounts.undecided import Heard, Underway
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import BallotCast, Commit, NominationProposed, Prepare, PrePrepare
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable

_KINDS: Mapping[str, Any] = {
    topics.BALLOTS: BallotCast,
    topics.PRE_PREPARES: PrePrepare,
    topics.PREPARES: Prepare,
    topics.COMMITS: Commit,
}
_NOMINATIONS, _MOST = 8, 2_000
"""The latest nominations, and the latest records of each other topic, that are looked at."""
_BEFORE_MS = 60_000  # senders' clocks differ
_GOOD_S, _ASK_S, _READ_S, _BATCH = 1.0, 5.0, 5.0, 500


class OpenEpochs:
    """The last reading of each shard."""

    def __init__(self, bootstrap: str, codec: Codec) -> None:
        self._bootstrap, self._codec = bootstrap, codec
        self._turns: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._known: dict[int, tuple[float, int, Underway | None]] = {}

    async def of(self, shard: int, genesis: Genesis, last_epoch: int) -> Underway | None:
        """Returns the open epoch of a shard; None where none is open. Raises KafkaException,
        TopicUnreadable."""
        async with self._turns[shard]:
            at, behind, found = self._known.get(shard, (0.0, -1, None))
            if behind != last_epoch or time.monotonic() - at > _GOOD_S:
                found = await asyncio.to_thread(self._read, shard, genesis, last_epoch)
                self._known[shard] = time.monotonic(), last_epoch, found
            return found

    def _read(self, shard: int, genesis: Genesis, last_epoch: int) -> Underway | None:
        client = loop.reader(self._bootstrap)
        try:
            low, end = client.get_watermark_offsets(TopicPartition(topics.NOMINATIONS, shard), timeout=_ASK_S)
            starts = {(topics.NOMINATIONS, shard): (max(low, end - _NOMINATIONS), end)}
            nominations = heard(client, {topics.NOMINATIONS: NominationProposed}, starts)
            epoch = undecided.opened(self._codec, genesis, last_epoch, nominations)
            if epoch is None:
                return None
            return undecided.underway(self._codec, epoch, heard(client, _KINDS, _since(client, shard, epoch.at)))
        finally:
            client.close()


def _since(client: Consumer, shard: int, at: int) -> dict[tuple[str, int], tuple[int, int]]:
    """Finds where the records of a vote begin and end."""
    asked = [TopicPartition(topic, shard, max(0, at - _BEFORE_MS)) for topic in _KINDS]
    places = {}
    for one in client.offsets_for_times(asked, timeout=_ASK_S):
        low, end = client.get_watermark_offsets(TopicPartition(one.topic, shard), timeout=_ASK_S)
        first = end if one.offset < 0 else one.offset
        places[one.topic, shard] = max(low, first, end - _MOST), end
    return places


def heard(client: Consumer, kinds: Mapping[str, Any], places: Mapping[tuple[str, int], tuple[int, int]]) -> list[Heard]:
    """Reads the records from each place to its end. Raises TopicUnreadable where they do not come."""
    left = {place: end for place, (first, end) in places.items() if end > first}
    loop.assign(client, {place: places[place][0] for place in left})
    found, until = list[Heard](), time.monotonic() + _READ_S
    while left:
        reached: dict[tuple[str, int], int] = {}
        for message in loop.records(client, _BATCH, 0.1, reached=reached):
            place, offset = loop.place(message), loop.offset(message)
            if offset < left.get(place, 0):
                found.append(Heard(kinds[place[0]], message.value() or b"", message.timestamp()[1]))
            reached[place] = max(reached.get(place, 0), offset + 1)
        left = {place: end for place, end in left.items() if reached.get(place, 0) < end}
        if left and time.monotonic() > until:
            raise TopicUnreadable(f"{', '.join(topic for topic, _ in left)}: the latest records do not come")
    return found
