"""The configuration by which a shard votes now: it follows from the decisions on the operator's orders.

The store returns the decisions with their certificates, so nothing here would be lost in a restart.
"""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import follow
from memquorum.core.identity.membership import Genesis
from memquorum.ports import OrderVote, StoredOrders


class Configurations:
    """Members, keys and policy by which each shard votes."""

    def __init__(self, codec: Codec, genesis: Genesis, stored: StoredOrders) -> None:
        """`genesis`: the first configuration of all shards."""
        self._codec, self._genesis, self._stored = codec, genesis, stored
        # shard → the epoch of the last query to the store, and its result.
        self._known: dict[int, tuple[int, Genesis, list[OrderVote]]] = {}

    def now(self, shard: int) -> Genesis:
        """Returns the shard's current configuration from the store. Raises StoreUnavailable."""
        self._known.pop(shard, None)
        return self.after(shard, 0)

    def after(self, shard: int, last_epoch: int) -> Genesis:
        """Returns the shard's configuration after `last_epoch`."""
        return self._asked(shard, last_epoch)[0]

    def votes(self, shard: int, last_epoch: int) -> list[OrderVote]:
        """Returns the decisions on orders of another configuration, up to `last_epoch`."""
        return self._asked(shard, last_epoch)[1]

    def _asked(self, shard: int, last_epoch: int) -> tuple[Genesis, list[OrderVote]]:
        if self._genesis.operator is None:  # without an operator there are no such orders
            return self._genesis, []
        known = self._known.get(shard)
        if known is None or known[0] != last_epoch:
            votes = self._stored.decided(shard)
            decided = [(vote.pre_prepare, vote.commits) for vote in votes if vote.configured]
            known = self._known[shard] = (last_epoch, follow(self._codec, self._genesis, decided), votes)
        return known[1:]
