"""Which requests are to be voted on: of those that the journal tells of, those that were not yet, each in its turn."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from memquorum.core.avro import Codec
from memquorum.core.consensus.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders import BadOrder
from memquorum.core.records import (
    DecayCrossed,
    JournalEntry,
    RestoreFound,
    RestoreOrdered,
    RestoreRequested,
    Standing,
)
from memquorum.core.restoring.orders import open_order
from memquorum.core.restoring.turns import in_turn
from memquorum.ports import Schedule

log = logging.getLogger(__name__)


class Restores:
    """Of all shards. Nothing is remembered here that a restart would lose."""

    def __init__(self, codec: Codec, genesis: Genesis, schedule: Schedule) -> None:
        self._codec, self._genesis, self._schedule = codec, genesis, schedule
        self._complained: set[bytes] = set()

    def due(self, standing: Standing, tick: DecayCrossed) -> Iterator[tuple[RestoreFound, RestoreOrdered]]:
        """The requests that may be nominated at a tick, of those that stand before it. `standing`: the shard's then.

        Each is voted on once: who is refused may ask again. What is to come back waits behind no request to forget of
        its own namespace, which may have to wait for days.
        """
        since = tick.as_of - self._genesis.policy.forget.grace_ms
        # Nobody has asked since what rests sealed now was forgotten.
        if not standing.asked_at or standing.asked_at < since:
            return iter(())
        asked = self._schedule.restores(
            tick.shard, since=since, before=tick.accepted_offset, through=standing.last_epoch
        )
        opened = sorted(self._opened(asked, tick), key=lambda one: one[0].offset)
        return iter(in_turn(opened, lambda one: (one[1].namespace, one[1].action)))

    def _opened(self, asked: Iterable[bytes], tick: DecayCrossed) -> Iterator[tuple[RestoreFound, RestoreOrdered]]:
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
            yield RestoreFound(detail.order, detail.accepted_at, entry.source_offset), order
