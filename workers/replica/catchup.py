"""A replica that misses decisions takes them from the journal (state transfer).

A replica needs that when it was away for longer than the logs are kept, or if the broker showed it other logs than the
other members. The journal holds every decision with its proof, the pre-prepare and q commits. The core checks each of
them like one from the logs, so it need not trust the journal's writer. It is silent meanwhile, as on every start.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from db.view import View
from memquorum.core.audit.chain import Record
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import Decided, JournalAppended, JournalEntry
from workers.kafka.loop import Stop
from workers.kafka.partition import Partition
from workers.replica.seat import Seat

_LOG = logging.getLogger("memquorum.replica")

_TELL_EVERY_S = 10.0
# The journal records examined in a turn of the loop.
_A_TURN = 500


def follow(codec: Codec, journal: Partition, seat: Seat, view: View, stop: Stop, *, turned: Callable[[], None]) -> int:
    """Gives the seat the journal's decisions from its sequence on. Returns the number it took.

    Calls `turned` every few hundred records: a long journal takes minutes, and probes must see that the process works.
    Raises TopicUnreadable if the journal cannot be read.
    """
    taken, tell_at = 0, time.monotonic() + _TELL_EVERY_S
    records = journal.records(patience_s=0)
    while not stop and (found := list(islice(records, _A_TURN))):
        taken += _take(codec, found, seat, view)
        turned()
        if time.monotonic() >= tell_at:
            tell_at = time.monotonic() + _TELL_EVERY_S
            _LOG.info("shard %d: %d decisions read from the journal so far", seat.shard, taken)
    _LOG.info("shard %d: %d decisions read from the journal, sequence %d is next", seat.shard, taken, seat.core.seq)
    return taken


class Following:
    """Follows the journal while the seat runs: it takes a few records in each turn of the loop. `why`: see
    `NeedDecisions`."""

    def __init__(self, codec: Codec, journal: Partition, seat: Seat, view: View, why: str) -> None:
        self._codec, self._journal, self._seat, self._view = codec, journal, seat, view
        self._records, self._taken = journal.records(patience_s=0), 0
        _LOG.warning("shard %d: looking for sequence %d in the journal: %s", seat.shard, seat.core.seq, why)

    def turn(self) -> bool:
        """Gives the seat the journal's decisions from its sequence on. Answers whether there may be more.

        Raises TopicUnreadable.
        """
        records, seat = list(islice(self._records, _A_TURN)), self._seat
        self._taken += _take(self._codec, records, seat, self._view)
        if len(records) == _A_TURN:
            return True
        if self._taken:
            _LOG.info("shard %d: %d decisions taken, sequence %d is next", seat.shard, self._taken, seat.core.seq)
        else:
            _LOG.warning("shard %d: the journal does not hold sequence %d yet", seat.shard, seat.core.seq)
        return False

    def close(self) -> None:
        """Closes the journal's reader."""
        self._journal.close()


def _take(codec: Codec, records: Iterable[Record], seat: Seat, view: View) -> int:
    """Gives the seat the decisions among the records, from its sequence on. Returns their number."""
    taken = 0
    with view.batch():
        for record in records:
            decided = _decided(codec, record.data)
            if decided is not None and decided.seq >= seat.core.seq:
                seat.follow(decided)
                taken += 1
    return taken


def decisions(codec: Codec, journal: Partition) -> Iterator[Decided]:
    """The decisions that a shard's journal holds, in their order. Records that cannot be decoded are passed over."""
    found = (_decided(codec, record.data) for record in journal.records(patience_s=0))
    return (decided for decided in found if decided is not None)


def _decided(codec: Codec, data: bytes) -> Decided | None:
    try:
        entry = codec.decode_as(JournalEntry, codec.decode_as(JournalAppended, data).entry)
        return codec.decode_as(Decided, entry.detail) if entry.effect == "decided" else None
    except DecodeError:
        return None
