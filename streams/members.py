"""Who votes in a shard now, and which of the operator's orders is to be voted on next.

Both follow from what was decided of orders, which the store tells with its certificates: nothing is remembered here
that a restart would lose.
"""

from __future__ import annotations

import logging

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.identity.messages import BadMessage, open_signed
from memquorum.core.orders.members import apply, order_id
from memquorum.core.records import MembersOrdered
from memquorum.core.vote.nomination import rest_until
from memquorum.ports import Orders, OrderVote, Schedule

log = logging.getLogger(__name__)

Order = tuple[bytes, MembersOrdered, str]
"""As signed, its body, its id."""

# An order that members refuse is voted on so often, at growing distances; then the operator gives another one.
_TRIES = 5


class Members:
    """The members of all shards. `orders`: None where no operator can give any: then the genesis file's configuration
    holds for ever, and nothing is asked. That their topic is empty says nothing of what was decided: it may be a new
    one."""

    def __init__(self, codec: Codec, genesis: Genesis, schedule: Schedule, orders: Orders | None) -> None:
        self._codec, self._genesis, self._schedule, self._orders = codec, genesis, schedule, orders
        # shard → the last epoch for which the store was asked, and what it said.
        self._known: dict[int, tuple[int, Genesis, list[OrderVote]]] = {}
        self._complained: set[bytes] = set()

    def standing(self, shard: int, last_epoch: int) -> tuple[Genesis, Order | None]:
        """The shard's configuration after `last_epoch`, and the order to be voted on next."""
        if self._orders is None:
            return self._genesis, None
        given = self._orders.of(shard)
        known = self._known.get(shard)
        if known is None or known[0] != last_epoch:
            votes = self._schedule.orders(shard)
            decided = [(vote.pre_prepare, vote.commits) for vote in votes if vote.configured]
            known = self._known[shard] = (last_epoch, follow(self._codec, self._genesis, decided), votes)
        _, genesis, votes = known
        return genesis, next(filter(None, (self._due(genesis, shard, last_epoch, d, votes) for d in given)), None)

    def _due(self, genesis: Genesis, shard: int, last_epoch: int, data: bytes, votes: list[OrderVote]) -> Order | None:
        """The order, if the operator signed it for this configuration, it breaks no rule, and it is not resting."""
        try:
            signed, body = open_signed(self._codec, genesis, data, MembersOrdered)
            if body.shard != shard:
                raise BadMessage(f"for shard {body.shard}, in the partition of shard {shard}")
            apply(genesis, body)
        except (BadMessage, GenesisError) as error:
            if data not in self._complained:
                self._complained.add(data)
                log.info("shard %d: an order is not nominated in configuration %d: %s", shard, genesis.config, error)
            return None
        name = order_id(signed.body)
        epochs = [vote.epoch for vote in votes if vote.order_id == name]
        if len(epochs) >= _TRIES:
            return None
        if epochs and last_epoch + 1 < rest_until(epochs[-1], len(epochs), genesis.policy):
            return None
        return data, body, name
