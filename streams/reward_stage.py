"""The reward stage: what entries of the journal gave agents, each published once for all who train or watch them.

It reads the journal, so the store holds what every entry gave (`core.journal.rewards`) when it asks. It keeps no state:
an entry that is delivered again gives the same records again, with the same event ids.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence

import faust

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.stamps import Writer
from memquorum.core.records import JournalAppended, JournalEntry, RewardGiven
from memquorum.ports import Rewarded
from memquorum.telemetry.bundle import Telemetry
from streams import stage
from streams.stage import Arrival, Output

log = logging.getLogger(__name__)

_GIVING = frozenset({"accessed", "asked", "stored", "reinforced", "decided"})


class Rewards:
    """JournalAppended → RewardGiven, for every reward of every entry."""

    def __init__(self, codec: Codec, rewarded: Rewarded) -> None:
        self._codec, self._rewarded = codec, rewarded

    def process(self, arrivals: Sequence[Arrival]) -> list[Output]:
        """The rewards, in the order of the entries. ValueError for an entry that is not what the journal holds."""
        traces = {place: arrival.traceparent for arrival in arrivals if (place := self._giving(arrival)) is not None}
        asked = defaultdict[int, list[int]](list)
        for shard, seq in traces:
            asked[shard].append(seq)
        return [
            self._output(reward, traces[shard, reward.seq])
            for shard, seqs in asked.items()
            for reward in self._rewarded.rewarded(shard, seqs)
        ]

    def poisoned(self, arrival: Arrival, error: Exception) -> list[Output]:
        """Returns nothing: `verify` checks the journal itself."""
        log.error("rewards: journal offset %d of shard %d left out: %s", arrival.offset, arrival.partition, error)
        return []

    def assigned(self, partitions: frozenset[int]) -> None:
        """Nothing to forget."""

    def _giving(self, arrival: Arrival) -> tuple[int, int] | None:
        """The shard and the sequence of an entry that may give something."""
        entry = self._codec.decode_as(JournalEntry, self._codec.decode_as(JournalAppended, arrival.value).entry)
        if entry.shard != arrival.partition:
            raise ValueError(f"an entry of shard {entry.shard} in partition {arrival.partition}")
        return (entry.shard, entry.seq) if entry.effect in _GIVING else None

    def _output(self, reward: RewardGiven, traceparent: str | None) -> Output:
        return Output(
            topic=topics.REWARDS,
            partition=reward.shard,
            key=reward.namespace.encode(),
            value=self._codec.encode(reward),
            kind=RewardGiven.__name__,
            event_id=f"reward/{reward.shard}/{reward.seq}/{reward.memory_id}/{reward.kind}",
            traceparent=traceparent,
        )


def attach(
    app: faust.App, processor: Rewards, *, stamps: Writer | None = None, telemetry: Telemetry | None = None
) -> None:
    """Hangs the stage on the app."""
    stage.attach(app, processor, name="rewards", source=topics.JOURNAL, stamps=stamps, telemetry=telemetry)
