"""The spine of a shard: the accepted stream in its order, each episode joined with its score (DESIGN 4, 8).

An episode waits until its score is here, and everything behind it waits too, however long that takes. The partition of
scores alone decides which score is its own (`answers`), so every reader gets the same stream at whatever pace it reads
the two topics. Memory is bounded: reading stops while too much waits, and a long wait is reported.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from memquorum.core.commit.answers import Answers
from memquorum.core.commit.applying import Accepted, Scored
from memquorum.core.records import EpisodeAccepted

MOST_RECORDS = 4_096
MOST_BYTES = 32 * 1024 * 1024


class Item(Struct, frozen=True):
    """A record of the accepted stream that can be applied now; `scored` is None if it is no episode.

    `traceparent` and `written_ms` are the record's trace and its time in the topic, where they are known; `digest`, the
    SHA-256 of its bytes, where needed.
    """

    offset: int
    record: Accepted
    scored: Scored | None = None
    traceparent: str | None = None
    written_ms: int = 0
    digest: bytes = b""


class Spine:
    """The waiting records of one shard. Bounded: the caller checks `full` and `scores_full` before reading on, and
    `rewind` afterwards."""

    def __init__(self, next_offset: int, *, rewinds: bool = True) -> None:
        """`next_offset`: of the first record that is not applied yet. `rewinds`: whether scores can be read again;
        without, all early ones are held."""
        self.next_offset = next_offset
        self._read_to = next_offset
        self._items: deque[Item] = deque()
        self._answers = Answers()
        self._rewinds = rewinds
        self._bytes = 0

    @property
    def read_to(self) -> int:
        """The next offset of the accepted stream to be read."""
        return self._read_to

    @property
    def full(self) -> bool:
        """True if reading the accepted stream has to stop until some of it is applied."""
        return len(self._items) >= MOST_RECORDS or self._bytes >= MOST_BYTES

    @property
    def scores_full(self) -> bool:
        """True if reading scores has to stop until the accepted stream has caught up."""
        return self._answers.full and self.waiting_for() is None

    def accept(
        self,
        offset: int,
        record: Accepted,
        traceparent: str | None = None,
        written_ms: int = 0,
        digest: bytes = b"",
    ) -> None:
        """Takes a record of the accepted stream. One that was read before is ignored."""
        if offset < self._read_to:
            return
        self._read_to = offset + 1
        self._items.append(Item(offset, record, None, traceparent, written_ms, digest))
        self._bytes += _size(record)

    def skip(self, offset: int) -> None:
        """Skips a record of the accepted stream that cannot be used."""
        self._read_to = max(self._read_to, offset + 1)

    def score(self, scored: Scored) -> bool:
        """Takes the next record of the partition of scores. Returns True if it may count: no later assignment has
        written before."""
        waits = self._rewinds and self._answers.full and self.waiting_for() is not None
        return self._answers.take(scored, self.next_offset, self._read_to, waits=waits)

    def ready(self, limit: int) -> list[Item]:
        """Returns the records that can be applied now, in order: up to the first episode whose score is not here.
        Removes nothing."""
        found: list[Item] = []
        for item in self._items:
            if len(found) == limit:
                break
            if not isinstance(item.record, EpisodeAccepted):
                found.append(item)
                continue
            scored = self._answers.to(item.offset, item.record.memory_id)
            if scored is None:
                break
            found.append(Item(item.offset, item.record, scored, item.traceparent, item.written_ms, item.digest))
        return found

    def waiting_for(self) -> int | None:
        """Returns the offset of the episode that keeps the shard waiting for its score, or None."""
        if not self._items or self.ready(1):
            return None
        return self._items[0].offset

    def applied(self, through: int) -> None:
        """Drops everything up to this offset, which has been applied."""
        while self._items and self._items[0].offset <= through:
            self._bytes -= _size(self._items.popleft().record)
        self.next_offset = max(self.next_offset, through + 1)
        self._answers.let_go(self.next_offset)

    def rewind(self) -> int | None:
        """Returns the position to read scores again from, once, if there was no room for them before; else None."""
        return self._answers.again(self._items[0].offset if self._items else self._read_to)

    def scores_from(self, since: int | None = None) -> int | None:
        """Returns the position from which a restart has to read scores once everything before `since` is applied
        (default: `next_offset`); None: from the present beginning."""
        return self._answers.begin(self.next_offset if since is None else since)


def _size(record: Accepted) -> int:
    if not isinstance(record, EpisodeAccepted):
        return 200
    return len(record.sealed_content) + len(record.sealed_signed or b"") + 500
