"""Knows by which configuration a shard votes now: it follows from what was decided of the operator's orders.

The store tells the decisions with their certificates: nothing is remembered here that a restart would lose.
"""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.identity.membership import Genesis
from memquorum.ports import OrderVote, StoredOrders


class Configurations:
    """Members, keys and policy by which each shard votes."""

    def __init__(self, codec: Codec, genesis: Genesis, stored: StoredOrders) -> None:
        """`genesis`: what all shards began with."""
        self._codec, self._genesis, self._stored = codec, genesis, stored
        # shard → the last epoch for which the store was asked, and what it said.
        self._known: dict[int, tuple[int, Genesis, list[OrderVote]]] = {}

    def now(self, shard: int) -> Genesis:
        """The shard's configuration as the store tells it now. Raises StoreUnavailable."""
        self._known.pop(shard, None)
        return self.after(shard, 0)

    def after(self, shard: int, last_epoch: int) -> Genesis:
        """The shard's configuration after `last_epoch`."""
        return self._asked(shard, last_epoch)[0]

    def votes(self, shard: int, last_epoch: int) -> list[OrderVote]:
        """What was decided of orders of another configuration up to `last_epoch`."""
        return self._asked(shard, last_epoch)[1]

    def _asked(self, shard: int, last_epoch: int) -> tuple[Genesis, list[OrderVote]]:
        if self._genesis.operator is None:  # nobody can order another
            return self._genesis, []
        known = self._known.get(shard)
        if known is None or known[0] != last_epoch:
            votes = self._stored.decided(shard)
            decided = [(vote.pre_prepare, vote.commits) for vote in votes if vote.configured]
            known = self._known[shard] = (last_epoch, follow(self._codec, self._genesis, decided), votes)
        return known[1:]
