"""Numbers the assignment of a partition of scores that this process writes in, and detects a later one (decision 40).

Kafka's group does not keep a process that lost a partition from writing on: one that was frozen wakes with a batch in
flight. So every score carries the number of its writer's assignment, and a lower number behind a higher one does not
count. The number is the time of the assignment, and more than every number that stands in the partition by then. A
process that finds a higher number than its own in the partition has lost it, or has a clock that is behind: it ends,
and takes a new number when it is started again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import EpisodeScored
from memquorum.ports import Past, StreamUnavailable

MOST = 1_000
"""So many records are looked at where a shard begins: a writer that lost the partition writes one batch at most."""


class Displaced(RuntimeError):
    """A later assignment writes to a partition that this process writes to; the message names it."""


class Assignments:
    """The partitions that one process has."""

    def __init__(self, codec: Codec, past: Past | None, clock: Callable[[], int]) -> None:
        """`clock`: milliseconds since 1970. Without a `past` nothing is known of other writers: for tests."""
        self._codec, self._past, self._clock = codec, past, clock
        self._epochs: dict[int, int] = {}
        # By shard, the offset that the next score should get if nobody else writes.
        self._next: dict[int, int] = {}

    def begin(self, shard: int) -> None:
        """The shard was assigned to this process, perhaps again. Raises StreamUnavailable: ask again later."""
        values, end = self._read(shard, None)
        self._epochs[shard] = max([self._clock(), *(epoch + 1 for epoch in self._told(values))])
        self._next[shard] = end

    def epoch(self, shard: int) -> int:
        """The number of the shard's assignment; 0 where it has not begun."""
        return self._epochs.get(shard, 0)

    def wrote(self, shard: int, offsets: Sequence[int]) -> None:
        """Scores of this process stand at these offsets. Raises Displaced, and StreamUnavailable: ask again later."""
        expected = self._next.get(shard)
        if expected is None or not offsets:
            return
        first, last = min(offsets), max(offsets)
        if first != expected or last - first + 1 != len(set(offsets)):
            values, _ = self._read(shard, expected)
            if any(epoch > self.epoch(shard) for epoch in self._told(values)):
                raise Displaced(f"another process has been assigned the scores of shard {shard} since this one was")
        self._next[shard] = last + 1

    def _read(self, shard: int, since: int | None) -> tuple[Sequence[bytes], int]:
        if self._past is None:
            return (), 0
        try:
            return self._past.scored(shard, since, MOST)
        except Exception as error:
            raise StreamUnavailable(f"scores of shard {shard}: {error!r}") from error

    def _told(self, values: Iterable[bytes]) -> list[int]:
        found: list[int] = []
        for value in values:
            try:
                found.append(self._codec.decode_as(EpisodeScored, value).writer_epoch)
            except DecodeError:
                continue
        return found


def by_shard(places: Iterable[tuple[str, int, int]], topic: str) -> Mapping[int, list[int]]:
    """The offsets of what was written to a topic, by partition. `places`: topic, partition, offset."""
    found: dict[int, list[int]] = {}
    for name, partition, offset in places:
        if name == topic:
            found.setdefault(partition, []).append(offset)
    return found
