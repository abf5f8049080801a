"""Orders to reclassify a memory in a test cluster, and how a shard under test applies one."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids
from memquorum.core.audit.reclassified import Families
from memquorum.core.avro import Codec
from memquorum.core.commit import ordering
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.rows import Change
from memquorum.core.records import OrderAccepted, ReclassificationOrdered
from tests.builders import votes
from tests.builders.shard import NAMESPACE, Shard


def wanted(about: str, number: int = 1, **said: Any) -> ReclassificationOrdered:
    """Builds an order about a memory; the caller names the `cluster`."""
    usual: dict[str, Any] = {
        "cluster": b"", "order_id": ids.memory_id("orders", f"c{number}"), "namespace": NAMESPACE, "memory_id": about,
        "ordered_by": "counsel", "ordered_at": 5_000,
    }  # fmt: skip
    return ReclassificationOrdered(**(usual | {"purposed": "purposes" in said} | said))


def accepted(codec: Codec, genesis: Genesis, order: ReclassificationOrdered, signer: str = "operator") -> OrderAccepted:
    """Returns the order for a cluster as intake accepts it."""
    order = replace(order, cluster=genesis.cluster)
    data = votes.signed(codec, genesis, signer, order)
    return OrderAccepted(
        order.order_id, "reclassify", order.namespace, (order.memory_id,), data, 5_000, topics.RECLASSIFICATIONS, 0, 7
    )


def apply(shard: Shard, record: OrderAccepted) -> Change:
    """Applies an order as the commit worker does: with all that was made of its memory by then."""
    families = Families()
    for change in shard.changes:
        families.absorb(change, shard.rules.codec.decode(change.entry.detail))
    family = families.of(record.memory_ids[0], record.namespace, shard.rows)
    place = shard._place(record)
    return shard._absorb(ordering.apply_reclassification(shard.rules, shard.rows, place, record, family))
