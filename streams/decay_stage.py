"""The decay stage: every tick in the journal is answered with what has crossed δ (SPEC A, Alg. 2; DESIGN 7).

It reads the journal and not the accepted stream, so when it sees a tick the store holds everything before that tick.
It keeps no state: what is due stands in the store's B-tree, and a redelivered tick is answered again. The answer passes
on where the shard stood at the tick, so it opens the same epoch, or none, however often it comes.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import faust

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.inforce import Configurations
from memquorum.core.decay import crossings, unused_since
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.core.records import DecayCrossed, JournalAppended, JournalEntry, Ticked
from memquorum.ports import Schedule, StoredOrders
from memquorum.telemetry.bundle import Telemetry
from streams import stage
from streams.stage import Arrival, Output

log = logging.getLogger(__name__)

TICKED = "ticked"

# Avro writes strings as they are, so an entry of another effect is told by its bytes and not decoded: of the journal's
# entries few are ticks, and decisions carry whole certificates. A chance hit costs a decoding, nothing else.
_MARK = TICKED.encode()


class Decay:
    """JournalAppended → DecayCrossed, one for every tick, also when nothing has crossed."""

    def __init__(self, codec: Codec, genesis: Genesis, schedule: Schedule, stored: StoredOrders) -> None:
        """It sends at most `epoch.proposals_max` crossings a tick, the longest unused first: what an epoch can
        propose."""
        self._codec = codec
        self._schedule = schedule
        self._configurations = Configurations(codec, genesis, stored)

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        """The answers, in the order of the ticks. ValueError for an entry that is not what the journal holds."""
        return [output for arrival in arrivals if _MARK in arrival.value for output in self._answer(arrival)]

    def poisoned(self, arrival: Arrival, error: Exception) -> list[Output]:
        """Returns nothing: `verify` checks the journal itself, and the next tick asks again."""
        log.error("decay: journal offset %d of shard %d left out: %s", arrival.offset, arrival.partition, error)
        return []

    def assigned(self, partitions: frozenset[int]) -> None:
        """Nothing to forget."""

    def _answer(self, arrival: Arrival) -> list[Output]:
        appended = self._codec.decode_as(JournalAppended, arrival.value)
        tick = self._codec.decode_as(JournalEntry, appended.entry)
        if tick.effect != TICKED:
            return []
        if tick.shard != arrival.partition:
            raise ValueError(f"an entry of shard {tick.shard} in partition {arrival.partition}")
        standing = self._codec.decode_as(Ticked, tick.detail).standing
        policy = self._configurations.after(tick.shard, standing.last_epoch).policy
        due = self._schedule.due(tick.shard, unused_since(tick.as_of, policy), policy.epoch.proposals_max)
        crossed = crossings(due, tick.as_of, policy)
        record = DecayCrossed(
            shard=tick.shard,
            as_of=tick.as_of,
            accepted_offset=tick.source_offset,
            journal_seq=tick.seq,
            crossed=crossed,
            standing=standing,
        )
        output = Output(
            topic=topics.CROSSED,
            partition=tick.shard,
            key=str(tick.shard).encode(),
            value=self._codec.encode(record),
            kind=DecayCrossed.__name__,
            event_id=f"crossed/{tick.shard}/{tick.seq}",
            traceparent=arrival.traceparent,
        )
        return [output]


def attach(
    app: faust.App, processor: Decay, *, stamps: Writer | None = None, telemetry: Telemetry | None = None
) -> None:
    """Hangs the stage on the app."""
    stage.attach(app, processor, name="decay", source=topics.JOURNAL, stamps=stamps, telemetry=telemetry)
