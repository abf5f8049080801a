"""Knows which of the operator's orders of another configuration a shard votes on next, and the learned coefficients.

Both follow from what was decided of such orders, which the store tells with its certificates: nothing is remembered
here that a restart would lose.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from memquorum.core.avro import Codec
from memquorum.core.consensus.inforce import Configurations
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.identity.messages import BadMessage, open_signed
from memquorum.core.orders.configuration import apply, order_id
from memquorum.core.policy import LearnedPolicy
from memquorum.core.records import ConfigurationOrdered
from memquorum.core.vote.nomination import rest_until
from memquorum.ports import Orders, Schedule, StoredOrders

log = logging.getLogger(__name__)

Order = tuple[bytes, ConfigurationOrdered, str]
"""As signed, its body, its id."""

# An order that members refuse is voted on so often, at growing distances; then the operator gives another one.
_TRIES = 5


def learned(
    codec: Codec, genesis: Genesis, schedule: Schedule, stored: StoredOrders
) -> Callable[[int], LearnedPolicy] | None:
    """The learned coefficients that are in force in a shard; None where nobody can order others than the policy's."""
    if genesis.operator is None:
        return None
    configurations = Configurations(codec, genesis, stored)
    return lambda shard: configurations.after(shard, schedule.status(shard).last_epoch).policy.learned


class NextOrder:
    """Finds the order of another configuration that each shard votes on next. `orders`: None if no such orders can be
    given."""

    def __init__(self, codec: Codec, configurations: Configurations, orders: Orders | None) -> None:
        self._codec, self._configurations, self._orders = codec, configurations, orders
        self._complained: set[bytes] = set()

    def of(self, shard: int, last_epoch: int) -> Order | None:
        """The order that the shard is to vote on after `last_epoch`, if there is one."""
        given = self._orders.of(shard) if self._orders is not None else ()
        return next(filter(None, (self._due(shard, last_epoch, data) for data in given)), None)

    def _due(self, shard: int, last_epoch: int, data: bytes) -> Order | None:
        """The order, if the operator signed it for this configuration, it breaks no rule, and it is not resting."""
        genesis = self._configurations.after(shard, last_epoch)
        try:
            signed, body = open_signed(self._codec, genesis, data, ConfigurationOrdered)
            if body.shard != shard:
                raise BadMessage(f"for shard {body.shard}, in the partition of shard {shard}")
            apply(genesis, body)
        except (BadMessage, GenesisError) as error:
            if data not in self._complained:
                self._complained.add(data)
                log.info("shard %d: an order is not nominated in configuration %d: %s", shard, genesis.config, error)
            return None
        name = order_id(signed.body)
        epochs = [vote.epoch for vote in self._configurations.votes(shard, last_epoch) if vote.order_id == name]
        if len(epochs) >= _TRIES:
            return None
        if epochs and last_epoch + 1 < rest_until(epochs[-1], len(epochs), genesis.policy):
            return None
        return data, body, name
