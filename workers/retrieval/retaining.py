"""Orders by the rules of `policy.erase`: memories older than a rule allows are erased without a request.

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
from memquorum.core.accounts.telling import moment
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders import aged
from memquorum.core.orders.envelope import SERVICE
from memquorum.core.orders.erase import AGE, ERASURE
from memquorum.core.policy import retention
from memquorum.core.records import ErasureOrdered
from memquorum.telemetry.health import Health
from workers.retrieval.configurations import Configurations

log = logging.getLogger("memquorum.retrieval")

BY = "rule of retention"
ABOUT = "erased by age"
"""The name of this service in the process's health."""
_KEYLESS = "this service has no key of service:erasure"
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
        self,
        genesis: Genesis,
        codec: Codec,
        seed: bytes | None,
        configurations: Configurations,
        send: Send,
        *,
        health: Health | None = None,
    ) -> None:
        """`seed`: of service:erasure, where this process has it. `send`: see `Service.send`. `health`: is told when it
        looked last, or that it cannot give orders."""
        self._genesis, self._codec, self._seed = genesis, codec, seed
        self._configurations, self._send, self._health = configurations, send, health or Health()
        # By shard: the configuration, and the last turn in which it was looked for what is too old.
        self._looked: dict[int, tuple[int, int]] = {}
        # By shard: its time then, and how many orders were given.
        self._gave: dict[int, tuple[int, int]] = {}
        self._complained = False

    async def look(self, reads: Reads) -> None:
        """Gives the orders that are due, of each shard once in a turn of `erase.every_ms`. Raises StoreUnavailable,
        and what `send` raises: then the next look gives what is left."""
        of = {shard: self._configurations.of(shard) for shard in range(self._genesis.shards)}
        ruled = {shard: genesis for shard, genesis in of.items() if retention(genesis.policy.erase)}
        self._health.alarm(ABOUT, _KEYLESS if ruled and self._seed is None else None)
        if not ruled:
            return
        if self._seed is None:
            if not self._complained:
                self._complained = True
                log.error("nothing is erased by the rule of the policy: %s", _KEYLESS)
            return
        for shard, as_of in (await reads.times(list(ruled))).items():
            genesis = ruled[shard]
            turn = genesis.config, aged.turn(genesis.policy.erase, as_of)
            if self._looked.get(shard) != turn:
                orders = await self._due(reads, shard, genesis, as_of)
                for order in orders:
                    await self._give(order, self._seed)
                self._looked[shard] = turn
                self._gave[shard] = as_of, len(orders)
                self._health.note(ABOUT, self._told())

    def _told(self) -> str:
        """When it looked last, by the shards' time, and what it gave then."""
        last, gave = max(at for at, _ in self._gave.values()), sum(count for _, count in self._gave.values())
        return f"looked last at {moment(last)}; orders at the last look at each shard: {gave}"

    async def _due(self, reads: Reads, shard: int, genesis: Genesis, as_of: int) -> list[ErasureOrdered]:
        """The orders of a shard at its time: of each namespace that holds something that is too old."""
        policy, sight = genesis.policy, EVERYONE.sight(ERASE)
        names = [name for name in await reads.namespaces(sight) if shard_of(name, self._genesis.shards) == shard]
        old = await reads.old(sight, shard, aged.erasable_selections(policy, names, as_of))
        return [
            ordered(genesis, name, named, aged.turn(policy.erase, as_of))
            for name in names
            for named in aged.due(policy, name, as_of)
            if any((name, one) in old for one in named.types)
        ]

    async def _give(self, order: ErasureOrdered, seed: bytes) -> None:
        data = ERASURE.make(self._codec, self._genesis, SERVICE, seed, order)
        await self._send(ERASURE.topic, "Signed", order.order_id, order.namespace, data)
        told = "namespace %r: what is %s goes, by the rule of configuration %d: order %s"
        log.info(told, order.namespace, order.value, order.rule, order.order_id)
