"""Which erasure the members are to attest next: of those that the journal tells of, the first that nobody has yet."""

from __future__ import annotations

import logging

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erasure import open_order
from memquorum.core.records import DecayCrossed, ErasureFound, ErasureOrdered, Standing
from memquorum.core.vote.nomination import rest_until
from memquorum.ports import Schedule

log = logging.getLogger(__name__)


class Erasures:
    """Of all shards. Nothing is remembered here that a restart would lose."""

    def __init__(self, codec: Codec, genesis: Genesis, schedule: Schedule) -> None:
        self._codec, self._genesis, self._schedule = codec, genesis, schedule
        self._complained: set[bytes] = set()

    def due(self, standing: Standing, tick: DecayCrossed) -> tuple[ErasureFound, ErasureOrdered] | None:
        """The erasure to be nominated at a tick, of those that stand before it. `standing`: the shard's at that tick.

        One that members did not attest is nominated again at growing distances: some had not read it, or somebody lies.
        """
        if not standing.unattested:
            return None
        shard = tick.shard
        for erasure in self._schedule.erasures(shard):
            found, tried = erasure.found, erasure.epochs
            resting = tried and standing.last_epoch + 1 < rest_until(tried[-1], len(tried), self._genesis.policy)
            if found.offset >= tick.accepted_offset or resting:
                continue
            try:
                return found, open_order(self._codec, self._genesis, found.order)[1]
            except BadOrder as error:
                if found.order not in self._complained:
                    self._complained.add(found.order)
                    log.error("shard %d: the erasure at offset %d cannot be attested: %s", shard, found.offset, error)
        return None
