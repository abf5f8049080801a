"""State transfer: who was away longer than the logs reach follows the decisions in the journal (DESIGN 13).

The journal holds every decision with its proof: the pre-prepare as it was, and q commits. So nobody has to be believed:
the core takes them as if they came from the logs, and checks each whole. It says nothing meanwhile, as on every start.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from db.view import View
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import Decided, JournalAppended, JournalEntry
from workers.loop import Stop
from workers.partition import Partition
from workers.seat import Seat

_LOG = logging.getLogger("memquorum.replica")

_TELL_EVERY = 500


def follow(codec: Codec, journal: Partition, seat: Seat, view: View, stop: Stop) -> int:
    """Hands the seat the journal's decisions from its sequence on. Answers how many it took.

    Raises TopicUnreadable where the journal cannot be read.
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


def decisions(codec: Codec, journal: Partition) -> Iterator[Decided]:
    """The decisions that a shard's journal holds, in their order. What cannot be read is passed over."""
    for record in journal.records(patience_s=0):
        try:
            entry = codec.decode_as(JournalEntry, codec.decode_as(JournalAppended, record.data).entry)
            if entry.effect == "decided":
                yield codec.decode_as(Decided, entry.detail)
        except DecodeError:
            continue
