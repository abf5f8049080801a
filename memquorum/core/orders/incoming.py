"""Orders and requests that come in: to erase, to protect, to restore; each signed, and checked by its own rules."""

from __future__ import annotations

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders import erasure, restoring
from memquorum.core.orders.protection import open_protection, protects
from memquorum.core.records import ErasureAccepted, ProtectionAccepted, RestoreAccepted

Ordered = ErasureAccepted | RestoreAccepted | ProtectionAccepted


def let_in(codec: Codec, genesis: Genesis, data: bytes, at: int, origin: tuple[str, int, int]) -> Ordered:
    """What goes into the accepted stream, as of the time `at`. `origin`: topic, partition, offset. Raises BadOrder."""
    if origin[0] == topics.RESTORES:
        _, asked = restoring.open_order(codec, genesis, data)
        return RestoreAccepted(asked.order_id, asked.namespace, asked.memory_ids, data, at, *origin)
    if protects(codec, data):
        _, wanted = open_protection(codec, genesis, data)
        return ProtectionAccepted(wanted.order_id, wanted.namespace, wanted.memory_id, data, at, *origin)
    _, order = erasure.open_order(codec, genesis, data)
    return ErasureAccepted(order.order_id, order.namespace, data, at, *origin)
