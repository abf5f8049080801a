"""Chooses the orders to put to the vote next, of those in the journal that are not decided yet.

It keeps no state that a restart would lose.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders import uses
from memquorum.core.orders.envelope import BadOrder, OrderKind
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.restore import REQUEST
from memquorum.core.orders.turns import in_turn
from memquorum.core.policy import Policy
from memquorum.core.records import (
    Accessed,
    DecayCrossed,
    JournalEntry,
    OrderFound,
    RestoreRequested,
    Standing,
)
from memquorum.core.vote.asking import OpenOrder
from memquorum.core.vote.nomination import rest_until
from memquorum.ports import StoredOrders

log = logging.getLogger(__name__)


class OpenOrders:
    """The open orders of all shards."""

    def __init__(self, codec: Codec, genesis: Genesis, stored: StoredOrders) -> None:
        self._codec, self._genesis, self._stored = codec, genesis, stored
        self._complained: set[bytes] = set()

    def due(self, standing: Standing, tick: DecayCrossed, policy: Policy) -> Iterator[OpenOrder]:
        """The orders that may be nominated at a tick, of those that stand before it: what was erased first, then
        requests, each in its turn. `standing`, `policy`: the shard's at that tick."""
        yield from self._erasures(standing, tick, policy)
        yield from self._requests(standing, tick, policy)

    def _erasures(self, standing: Standing, tick: DecayCrossed, policy: Policy) -> Iterator[OpenOrder]:
        """One that members did not attest is nominated again at growing distances: some had not read it, or somebody
        lies."""
        if not standing.unattested:
            return
        for erasure in self._stored.unattested(tick.shard):
            found, tried = erasure.found, erasure.epochs
            resting = tried and standing.last_epoch + 1 < rest_until(tried[-1], len(tried), policy)
            if found.offset < tick.accepted_offset and not resting:
                yield from self._opened(tick, ERASURE, found)

    def _requests(self, standing: Standing, tick: DecayCrossed, policy: Policy) -> Iterator[OpenOrder]:
        """Yields requests; each is voted on once: a refused one may be repeated. A request to restore waits behind no
        request to forget of its own namespace, which may have to wait for days. A signed request waits behind no uses,
        of which there may be as many as were forgotten."""
        since = tick.as_of - policy.forget.grace_ms
        # No request came since the memories that rest sealed now were forgotten.
        if not standing.asked_at or standing.asked_at < since:
            return
        asked = self._stored.requests(tick.shard, since=since, before=tick.accepted_offset, through=standing.last_epoch)
        entries = (self._codec.decode_as(JournalEntry, data) for data in asked)
        opened = [one for entry in entries for one in self._opened(tick, REQUEST, self._found(entry))]
        yield from in_turn(sorted(opened, key=lambda one: one[1].offset), self._whose)

    def _whose(self, asked: OpenOrder) -> tuple[str, str, bool]:
        _, found, order = asked
        return order.namespace, order.action, uses.use_of(self._codec, found) is not None

    def _opened(self, tick: DecayCrossed, kind: OrderKind[Any], found: OrderFound) -> Iterator[OpenOrder]:
        """The order with what it says; none, and a word of it, where nobody would vote on it."""
        try:
            order = uses.opened(self._codec, self._genesis, kind, found)
            if shard_of(order.namespace, self._genesis.shards) != tick.shard:
                raise BadOrder("bad_order", "namespace", "of another shard: nobody would vote on it")
        except BadOrder as error:
            if found.order not in self._complained:
                self._complained.add(found.order)
                log.error("shard %d: the order at offset %d cannot be voted on: %s", tick.shard, found.offset, error)
            return
        yield kind, found, order

    def _found(self, entry: JournalEntry) -> OrderFound:
        if entry.effect == uses.ASKED:
            return uses.of_entry(self._codec, entry, self._codec.decode_as(Accessed, entry.detail))
        detail = self._codec.decode_as(RestoreRequested, entry.detail)
        return OrderFound(detail.order, detail.accepted_at, entry.source_offset)
