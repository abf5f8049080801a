"""Orders to protect in a test cluster, signed by those who may give them, or may not."""

from __future__ import annotations

from typing import Any

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity import messages
from memquorum.core.orders.protect import ENDS
from memquorum.core.records import OrderAccepted, ProtectionOrdered
from tests.builders.genesis import seed_of
from tests.builders.shard import NAMESPACE


def order_id(number: int) -> str:
    return ids.memory_id("orders", f"p{number}")


def wanted(action: str, about: str, number: int = 1, **changes: Any) -> ProtectionOrdered:
    """Builds a protection order; the caller names the `cluster`.

    An order that ends another ends the one with the number before, unless `ends` says which.
    """
    ends = order_id(number - 1) if action in ENDS else None
    said: dict[str, Any] = {
        "order_id": order_id(number), "namespace": NAMESPACE, "memory_id": about,
        "action": action, "ordered_by": "counsel", "ordered_at": 5_000, "reference": "case-3", "ends": ends,
    }  # fmt: skip
    return ProtectionOrdered(**(said | changes))


def signed(codec: Codec, order: ProtectionOrdered, signer: str = "operator", cluster: bytes | None = None) -> bytes:
    """Signs an order whatever it says, for the cluster that it names or another."""
    body = codec.encode(order)
    return codec.encode(messages.sign(cluster or order.cluster, signer, seed_of(signer), body))


def accepted(codec: Codec, action: str, about: str, number: int = 1, **changes: Any) -> OrderAccepted:
    order = wanted(action, about, number, **changes)
    return OrderAccepted(
        order.order_id,
        "protect",
        order.namespace,
        (order.memory_id,),
        signed(codec, order),
        5_000,
        topics.PROTECTIONS,
        0,
        0,
    )
