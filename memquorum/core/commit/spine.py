"""The spine of a shard: the accepted stream in its order, each episode joined with its score (DESIGN 4, 8).

Salience answers every accepted episode once, in order, on the same partition; after a crash it may answer some again.
So an episode waits for its score, everything behind it waits too, and what comes a second time is known by its offset.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from memquorum.core.commit.applying import Accepted, Scored
from memquorum.core.records import EpisodeAccepted

MOST_RECORDS = 4_096
MOST_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Item:
    """A record of the accepted stream that can be applied now. `scored` is None for an episode that was passed over.

    `traceparent` and `written_ms` are the record's trace and its time in the topic, where they are known; `digest`, the
    SHA-256 of its bytes, where that is asked for.
    """

    offset: int
    record: Accepted
    scored: Scored | None = None
    traceparent: str | None = None
    written_ms: int = 0
    digest: bytes = b""


class Spine:
    """One shard's waiting records. Bounded: who fills it asks `full` and `scores_full` before reading on."""

    def __init__(self, next_offset: int) -> None:
        """`next_offset`: of the first record that is not applied yet."""
        self.next_offset = next_offset
        self._read_to = next_offset
        self._items: deque[Item] = deque()
        self._scores: dict[int, Scored] = {}
        self._scored_to = -1
        self._bytes = 0

    @property
    def read_to(self) -> int:
        """The next offset of the accepted stream to be read."""
        return self._read_to

    @property
    def full(self) -> bool:
        """Whether to stop reading the accepted stream until some of it is applied."""
        return len(self._items) >= MOST_RECORDS or self._bytes >= MOST_BYTES

    @property
    def scores_full(self) -> bool:
        """Whether to stop reading scores until the accepted stream has caught up."""
        return len(self._scores) >= 2 * MOST_RECORDS

    def accept(
        self,
        offset: int,
        record: Accepted,
        traceparent: str | None = None,
        written_ms: int = 0,
        digest: bytes = b"",
    ) -> None:
        """A record of the accepted stream. One that was read before is left out."""
        if offset < self._read_to:
            return
        self._read_to = offset + 1
        self._items.append(Item(offset, record, None, traceparent, written_ms, digest))
        self._bytes += _size(record)

    def skip(self, offset: int) -> None:
        """A record of the accepted stream that nothing can be made of."""
        self._read_to = max(self._read_to, offset + 1)

    def score(self, scored: Scored) -> None:
        """What salience said. A second answer, and one for what was applied before, are left out."""
        offset = scored.record.accepted_offset
        self._scored_to = max(self._scored_to, offset)
        if offset >= self.next_offset:
            self._scores.setdefault(offset, scored)

    def ready(self, limit: int) -> list[Item]:
        """What can be applied now, in order: up to the first episode whose score is not here. Takes nothing away."""
        found: list[Item] = []
        for item in self._items:
            if len(found) == limit:
                break
            if not isinstance(item.record, EpisodeAccepted):
                found.append(item)
                continue
            scored = self._scores.get(item.offset)
            # Answers come in order: one for a later episode says that this one will have none.
            if scored is None and self._scored_to <= item.offset:
                break
            if scored is not None and scored.record.memory_id != item.record.memory_id:
                scored = None
            found.append(Item(item.offset, item.record, scored, item.traceparent, item.written_ms, item.digest))
        return found

    def waiting_for(self) -> int | None:
        """The offset of the episode that keeps the shard waiting for its score, or None."""
        if not self._items or self.ready(1):
            return None
        return self._items[0].offset

    def applied(self, through: int) -> None:
        """Everything up to this offset has been applied and may be let go."""
        while self._items and self._items[0].offset <= through:
            item = self._items.popleft()
            self._bytes -= _size(item.record)
            self._scores.pop(item.offset, None)
        self.next_offset = max(self.next_offset, through + 1)
        # Answers to records that were left out of the spine would stay for ever.
        if self._scores and not self._items:
            self._scores = {o: s for o, s in self._scores.items() if o >= self.next_offset}


def _size(record: Accepted) -> int:
    if not isinstance(record, EpisodeAccepted):
        return 200
    return len(record.sealed_content) + len(record.sealed_signed or b"") + 500
