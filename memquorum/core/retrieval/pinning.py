"""What may be asked of a pin: a request checked like a record, and the order that is made of it."""

from __future__ import annotations

from dataclasses import dataclass

from memquorum.core.orders import BadOrder
from memquorum.core.protection import orders
from memquorum.core.records import ProtectionOrdered
from memquorum.core.retrieval.query import BadRequest, read_body, read_memory_id, read_namespace


@dataclass(frozen=True, slots=True)
class PinRequest:
    """The body of a pin, and of its end."""

    memory_id: str
    namespace: str | None = None
    reference: str | None = None


def read_pin(body: bytes, action: str, cluster: bytes, order_id: str) -> ProtectionOrdered:
    """The order that a JSON body asks for; who gives it and when is not said yet. Raises BadRequest."""
    asked = read_body(body, PinRequest)
    order = ProtectionOrdered(
        cluster, order_id, read_namespace(asked.namespace), read_memory_id(asked.memory_id), action, "x", 0,
        asked.reference,
    )  # fmt: skip
    try:
        orders.check(order)
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None
    return order
