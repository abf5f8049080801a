"""Orders by the profiles of subjects: memories that are older than their subject lets them be are erased.

As for a rule of the policy (`retaining`), each shard is looked at once in a turn of `erase.every_ms` of its time. Each
memory has an order of its own, whose id follows from what it says, so it applies once however often it is given.
"""

from __future__ import annotations

import logging
import uuid

from db.reads import Reads
from memquorum.core.access import ERASE, EVERYONE
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders import aged
from memquorum.core.orders.envelope import SERVICE
from memquorum.core.orders.erase import ERASURE, MEMORY
from memquorum.core.records import ErasureOrdered
from workers.retrieval.configurations import Configurations
from workers.retrieval.retaining import Send

_LOG = logging.getLogger("memquorum.retrieval")
BY = "profile of the subject"
MOST = 200
"""So many orders are given of a shard at a look; the next look gives more."""
LOOKS = 30
"""One of so many looks asks the store although nothing was journaled since the last one that did."""
# Fixed for ever: the same memory at the same turn is the same order.
_ORDERS = uuid.UUID("5f0d3a6e-90a4-5b1c-8d4b-70726f66696c")


class Outliving:
    """Gives the orders of all shards. Of one process; what it forgets is only asked for again."""

    def __init__(
        self, genesis: Genesis, codec: Codec, seed: bytes | None, configurations: Configurations, send: Send
    ) -> None:
        """`seed`: of service:erasure, where this process has it: without it nothing is ordered."""
        self._genesis, self._codec, self._seed = genesis, codec, seed
        self._configurations, self._send = configurations, send
        # By shard: the turn that nothing is left of.
        self._done: dict[int, int] = {}
        self._news, self._quiet = True, 0

    def heard(self) -> None:
        """Something was journaled: a profile, or what moves the time of a shard."""
        self._news = True

    async def look(self, reads: Reads) -> None:
        """Gives the orders that are due. Raises StoreUnavailable, and what `send` raises; then the next look asks
        again."""
        self._quiet += 1
        if self._seed is None or not (self._news or self._quiet >= LOOKS):
            return
        self._news, self._quiet = False, 0
        try:
            await self._give_due(reads, self._seed)
        except BaseException:
            self._news = True
            raise

    async def _give_due(self, reads: Reads, seed: bytes) -> None:
        for shard, as_of in (await reads.times(list(range(self._genesis.shards)))).items():
            at = aged.turn(self._configurations.of(shard).policy.erase, as_of)
            if self._done.get(shard) == at:
                continue
            found = await reads.outlived(EVERYONE.sight(ERASE), shard, at, MOST)
            for namespace, memory_id in found:
                await self._give(namespace, memory_id, at, seed)
            if len(found) < MOST:
                self._done[shard] = at
            else:
                self._news = True

    async def _give(self, namespace: str, memory_id: str, at: int, seed: bytes) -> None:
        named = f"{self._genesis.cluster.hex()}\0{namespace}\0{memory_id}\0{at}"
        order_id = str(uuid.uuid5(_ORDERS, named))
        order = ErasureOrdered(self._genesis.cluster, order_id, namespace, MEMORY, memory_id, BY, at)
        data = ERASURE.make(self._codec, self._genesis, SERVICE, seed, order)
        await self._send(ERASURE.topic, "Signed", order_id, namespace, data)
        told = "namespace %r: memory %s goes, by the profile of its subject: order %s"
        _LOG.info(told, namespace, memory_id, order_id)
