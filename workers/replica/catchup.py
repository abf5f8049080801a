"""A replica that misses decisions takes them from the journal (state transfer).

A replica needs that when it was away for longer than the logs are kept, or if the broker showed it other logs than the
other members. The journal holds every decision with its proof, the pre-prepare and q commits. The core checks each of
them like one from the logs, so it need not trust the journal's writer. It is silent meanwhile, as on every start.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import islice

from db.view import View
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import Decided, JournalAppended, JournalEntry
from workers.kafka.loop import Stop
from workers.kafka.partition import Partition
from workers.replica.seat import Seat

_LOG = logging.getLogger("memquorum.replica")

_TELL_EVERY = 500
# The journal records examined in a turn of the loop.
_A_TURN = 500


def follow(codec: Codec, journal: Partition, seat: Seat, view: View, stop: Stop) -> int:
    """Gives the seat the journal's decisions from its sequence on. Returns the number it took.

    Raises TopicUnreadable if the journal cannot be read.
    """
    taken = 0
    for decided in decisions(codec, journal):
        if stop:
            break
        if decided.seq < seat.core.seq:
            continue
        with view.batch():
            seat.follow(decided)
        taken += 1
        if taken % _TELL_EVERY == 0:
            _LOG.info("shard %d: %d decisions read from the journal so far", seat.shard, taken)
    _LOG.info("shard %d: %d decisions read from the journal, sequence %d is next", seat.shard, taken, seat.core.seq)
    return taken


class Following:
    """Follows the journal while the seat runs: it takes a few records in each turn of the loop."""

    def __init__(self, codec: Codec, journal: Partition, seat: Seat, view: View) -> None:
        self._codec, self._journal, self._seat, self._view = codec, journal, seat, view
        self._records = journal.records(patience_s=0)
        _LOG.warning("shard %d: reading the journal from sequence %d", seat.shard, seat.core.seq)

    def turn(self) -> bool:
        """Gives the seat the journal's decisions from its sequence on. Answers whether there may be more.

        Raises TopicUnreadable.
        """
        records = list(islice(self._records, _A_TURN))
        with self._view.batch():
            for record in records:
                decided = _decided(self._codec, record.data)
                if decided is not None and decided.seq >= self._seat.core.seq:
                    self._seat.follow(decided)
        return len(records) == _A_TURN

    def close(self) -> None:
        """Closes the journal's reader."""
        self._journal.close()


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
