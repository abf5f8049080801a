"""Which requests are to be voted on: of those that the journal tells of, those that were not yet, each in its turn."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders import uses
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.turns import in_turn
from memquorum.core.records import (
    Accessed,
    DecayCrossed,
    JournalEntry,
    RestoreFound,
    RestoreOrdered,
    RestoreRequested,
    Standing,
)
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
        its own namespace, which may have to wait for days, and a signed request behind no uses, of which there may be
        as many as were forgotten.
        """
        since = tick.as_of - self._genesis.policy.forget.grace_ms
        # Nobody has asked since what rests sealed now was forgotten.
        if not standing.asked_at or standing.asked_at < since:
            return iter(())
        asked = self._schedule.restores(
            tick.shard, since=since, before=tick.accepted_offset, through=standing.last_epoch
        )
        opened = sorted(self._opened(asked, tick), key=lambda one: one[0].offset)
        return iter(in_turn(opened, self._whose))

    def _whose(self, asked: tuple[RestoreFound, RestoreOrdered]) -> tuple[str, str, bool]:
        found, order = asked
        return order.namespace, order.action, uses.use_of(self._codec, found) is not None

    def _opened(self, asked: Iterable[bytes], tick: DecayCrossed) -> Iterator[tuple[RestoreFound, RestoreOrdered]]:
        for data in asked:
            entry = self._codec.decode_as(JournalEntry, data)
            try:
                found = self._found(entry)
                order = uses.opened(self._codec, self._genesis, found)
                if shard_of(order.namespace, self._genesis.shards) != tick.shard:
                    raise BadOrder("bad_order", "namespace", "of another shard: nobody would vote on it")
            except BadOrder as error:
                if data not in self._complained:
                    self._complained.add(data)
                    log.error("shard %d: request %s cannot be voted on: %s", tick.shard, entry.event_id, error)
                continue
            yield found, order

    def _found(self, entry: JournalEntry) -> RestoreFound:
        if entry.effect == uses.ASKED:
            return uses.of_entry(self._codec, entry, self._codec.decode_as(Accessed, entry.detail))
        detail = self._codec.decode_as(RestoreRequested, entry.detail)
        return RestoreFound(detail.order, detail.accepted_at, entry.source_offset)
