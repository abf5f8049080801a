"""Orders by the rules of `policy.erase`: what is older than a rule says is erased without anybody's word.

The rule is the operator's, and the members put it in force; this only says when it is time. At each whole
`erase.every_ms` of a shard's time it asks the store which namespaces hold something that is too old, and gives one
order for each of them and each age. Such an order is like any other: intake lets it in, it is carried out and
journalled, the members attest it, and `verify` holds it against the rule that it names.

Its id follows from what it says. So several processes, and one that is started again, give the same order, signed the
same, and an order applies once.
"""

from __future__ import annotations

import logging
import uuid
from typing import Protocol

from db.reads import Reads
from memquorum.core.access import ERASE, EVERYONE
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders import aged
from memquorum.core.orders.envelope import SERVICE
from memquorum.core.orders.erase import AGE, ERASURE
from memquorum.core.policy import retention
from memquorum.core.records import ErasureOrdered
from workers.retrieval.configurations import Configurations

log = logging.getLogger("memquorum.retrieval")

BY = "rule of retention"
# Fixed for ever: the same rule at the same time is the same order.
_ORDERS = uuid.UUID("1b6f8a02-6f3d-5c47-9f5e-726574656e74")


class Send(Protocol):
    """Publishes an encoded record of an outside topic."""

    async def __call__(self, topic: str, kind: str, event_id: str, namespace: str, data: bytes) -> None:
        """Returns once Kafka has it."""


def ordered(genesis: Genesis, namespace: str, named: aged.Aged, at: int) -> ErasureOrdered:
    """The order of a rule of this configuration, given at a time of the shard."""
    value = aged.written(named.types, named.before)
    order_id = uuid.uuid5(_ORDERS, f"{genesis.cluster.hex()}\0{genesis.config}\0{namespace}\0{value}")
    return ErasureOrdered(
        genesis.cluster, str(order_id), namespace, AGE, value, BY, at, f"configuration {genesis.config}", genesis.config
    )


class Retaining:
    """Gives the orders of all shards. Of one process; what it forgets is only asked for again."""

    def __init__(
        self, genesis: Genesis, codec: Codec, seed: bytes | None, configurations: Configurations, send: Send
    ) -> None:
        """`seed`: of service:erasure, where this process has it. `send`: see `Service.send`."""
        self._genesis, self._codec, self._seed = genesis, codec, seed
        self._configurations, self._send = configurations, send
        # By shard: the configuration, and the last turn in which it was looked for what is too old.
        self._looked: dict[int, tuple[int, int]] = {}
        self._complained = False

    async def look(self, reads: Reads) -> None:
        """Gives the orders that are due, of each shard once in a turn of `erase.every_ms`. Raises StoreUnavailable,
        and what `send` raises: then the next look gives what is left."""
        of = {shard: self._configurations.of(shard) for shard in range(self._genesis.shards)}
        ruled = {shard: genesis for shard, genesis in of.items() if retention(genesis.policy.erase)}
        if not ruled:
            return
        if self._seed is None:
            if not self._complained:
                self._complained = True
                log.error("nothing is erased by the rule of the policy: this service has no key of service:erasure")
            return
        for shard, as_of in (await reads.times(list(ruled))).items():
            genesis = ruled[shard]
            turn = genesis.config, as_of // genesis.policy.erase.every_ms
            if self._looked.get(shard) != turn:
                for order in await self._due(reads, shard, genesis, as_of):
                    await self._give(order, self._seed)
                self._looked[shard] = turn

    async def _due(self, reads: Reads, shard: int, genesis: Genesis, as_of: int) -> list[ErasureOrdered]:
        """The orders of a shard at its time: of each namespace that holds something that is too old."""
        policy = genesis.policy
        at = as_of // policy.erase.every_ms * policy.erase.every_ms
        youngest = min(age for rule in retention(policy.erase) for age in rule.ages.values())
        oldest = await reads.oldest(EVERYONE.sight(ERASE), shard, at - youngest)
        return [
            ordered(genesis, namespace, named, at)
            for namespace in sorted({name for name, _ in oldest})
            for named in aged.due(policy, namespace, at)
            if any(oldest.get((namespace, one), named.before) < named.before for one in named.types)
        ]

    async def _give(self, order: ErasureOrdered, seed: bytes) -> None:
        data = ERASURE.make(self._codec, self._genesis, SERVICE, seed, order)
        await self._send(ERASURE.topic, "Signed", order.order_id, order.namespace, data)
        told = "namespace %r: what is %s goes, by the rule of configuration %d: order %s"
        log.info(told, order.namespace, order.value, order.rule, order.order_id)
