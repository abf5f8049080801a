"""Which request to restore is voted on next: of those that the journal tells of, the first that was not yet."""

from __future__ import annotations

import logging

from memquorum.core.avro import Codec
from memquorum.core.consensus.membership import Genesis
from memquorum.core.erasure.orders import BadOrder
from memquorum.core.ids import shard_of
from memquorum.core.records import (
    DecayCrossed,
    JournalEntry,
    RestoreFound,
    RestoreOrdered,
    RestoreRequested,
    Standing,
)
from memquorum.core.restoring.orders import open_order
from memquorum.ports import Schedule

log = logging.getLogger(__name__)


class Restores:
    """Of all shards. Nothing is remembered here that a restart would lose."""

    def __init__(self, codec: Codec, genesis: Genesis, schedule: Schedule) -> None:
        self._codec, self._genesis, self._schedule = codec, genesis, schedule
        self._complained: set[bytes] = set()

    def due(self, standing: Standing, tick: DecayCrossed) -> tuple[RestoreFound, RestoreOrdered] | None:
        """The request to be nominated at a tick, of those that stand before it. `standing`: the shard's at that tick.

        Each is voted on once: who is refused may ask again.
        """
        since = tick.as_of - self._genesis.policy.forget.grace_ms
        # Nobody has asked since what rests sealed now was forgotten.
        if not standing.asked_at or standing.asked_at < since:
            return None
        asked = self._schedule.restores(
            tick.shard, since=since, before=tick.accepted_offset, through=standing.last_epoch
        )
        for data in asked:
            entry = self._codec.decode_as(JournalEntry, data)
            detail = self._codec.decode_as(RestoreRequested, entry.detail)
            try:
                _, order = open_order(self._codec, self._genesis, detail.order)
                if shard_of(order.namespace, self._genesis.shards) != tick.shard:
                    raise BadOrder("bad_order", "namespace", "of another shard: nobody would vote on it")
            except BadOrder as error:
                if data not in self._complained:
                    self._complained.add(data)
                    log.error("shard %d: request %s cannot be voted on: %s", tick.shard, entry.event_id, error)
                continue
            return RestoreFound(detail.order, detail.accepted_at, entry.source_offset), order
        return None
