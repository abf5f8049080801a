"""Chooses the answer to an episode that counts. The rule depends only on the partition of scores, so all readers agree.

Salience answers every accepted episode. It may answer one several times and out of order: after a crash, where a batch
was sent again, and where a process that lost the partition wakes and writes on beside its new owner. So a reader cannot
infer from the records present that an answer will not come. The answer to the episode at an accepted offset is the
first record of the partition that names the offset and the episode's memory id, and stands behind no record of a higher
`writer_epoch`: a later assignee has then answered the same already, or answers it again.

Readers that read two topics at their own pace hold the answers that come early; the rule does not depend on how early
they came.
"""

from __future__ import annotations

from memquorum.core.commit.applying import Scored

# The maximum number of answers of one shard that are held while a waiting record can be applied or read.
HELD_MOST = 8_192

_NONE = -1


class Answers:
    """The answers of one partition to records that are not applied yet, taken in the partition's order.

    It may begin at any record that counts, such as that of `begin`: its epoch is the highest up to there.
    """

    def __init__(self) -> None:
        # By accepted offset, then by memory id. Their order is that of the partition: see `take`.
        self._held: dict[int, dict[str, Scored]] = {}
        self._count = 0
        self._epoch = _NONE
        self._last = _NONE
        # If some were dropped: the position of the first, and the accepted offset from which all were.
        self._left: tuple[int, int] | None = None

    @property
    def full(self) -> bool:
        """True if as many are held as the bound allows."""
        return self._count >= HELD_MOST

    def take(self, scored: Scored, since: int, until: int, *, waits: bool) -> bool:
        """Takes the next record of the partition. Returns True if it may count: no later assignment has written before
        it.

        `since`: the first accepted offset not applied, `until`: the first not read; `waits`: an episode between them
        waits for its answer, so that reading cannot stop here.
        """
        record = scored.record
        if record.writer_epoch < self._epoch:
            return False
        self._epoch, self._last = record.writer_epoch, scored.offset
        offset = record.accepted_offset
        if offset < since:
            return True
        if self._left is None and waits and self.full and offset >= until:
            self._left = scored.offset, until
        # From there on none is held until they are read again: a later record must not replace a dropped one.
        if self._left is not None and offset >= self._left[1]:
            return True
        known = self._held.setdefault(offset, {})
        if record.memory_id not in known:
            known[record.memory_id] = scored
            self._count += 1
        return True

    def to(self, offset: int, memory_id: str) -> Scored | None:
        """Returns the answer to the episode at an accepted offset, if it has come."""
        return self._held.get(offset, {}).get(memory_id)

    def let_go(self, since: int) -> None:
        """Drops the answers before this accepted offset, which is applied."""
        for offset in [offset for offset in self._held if offset < since]:
            self._count -= len(self._held.pop(offset))

    def again(self, first: int) -> int | None:
        """Returns the position to read the partition again from, once, when a dropped answer is needed. `first`: the
        accepted offset of the first record that is not applied."""
        if self._left is None or first < self._left[1]:
            return None
        (at, _), self._left = self._left, None
        # The record there counted, so its epoch is the highest up to there.
        self._epoch = self._last = _NONE
        return at

    def begin(self, since: int) -> int | None:
        """Returns the position from which a restart has to read the partition once everything before accepted offset
        `since` is applied; None where no record that counts was read: from the present beginning."""
        held = next((min(s.offset for s in known.values()) for at, known in self._held.items() if at >= since), None)
        left = self._left[0] if self._left is not None else None
        last = self._last if self._last != _NONE else None
        return min((at for at in (held, left, last) if at is not None), default=None)
