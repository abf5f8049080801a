"""What keeps an order or a request in the accepted stream from being followed: it does not hold, or is another one."""

from __future__ import annotations

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders import restoring
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.protection import open_protection
from memquorum.core.records import ProtectionAccepted, RestoreAccepted


def unfit_request(codec: Codec, genesis: Genesis, record: RestoreAccepted) -> str | None:
    """What is wrong with a request to restore."""
    try:
        _, order = restoring.open_order(codec, genesis, record.order)
    except BadOrder as error:
        return f"a request to restore that does not hold: {error}"
    said = (record.event_id, record.namespace, record.memory_ids)
    if said != (order.order_id, order.namespace, order.memory_ids):
        return f"a request to restore that is not {record.event_id[:40]!r} in {record.namespace!r}"
    return None


def unfit_protection(codec: Codec, genesis: Genesis, record: ProtectionAccepted) -> str | None:
    """What is wrong with an order to protect."""
    try:
        _, order = open_protection(codec, genesis, record.order)
    except BadOrder as error:
        return f"an order to protect that does not hold: {error}"
    if (record.event_id, record.namespace, record.memory_id) != (order.order_id, order.namespace, order.memory_id):
        return f"an order to protect that is not {record.event_id[:40]!r} in {record.namespace!r}"
    return None
