"""Patches of roll-ups, as the consolidator publishes them and as intake accepts them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.patch import SIGNER, memories, ordered
from memquorum.core.records import OrderAccepted, Patch, RollupPatched
from tests.builders import votes
from tests.builders.shard import NAMESPACE

TOPIC = "6f0d1c1e-0000-5c3a-9d2f-0d5c0f6f1a11"


def patch(memory_id: str, op: str = "add", *, replaces: str | None = None, **said: Any) -> Patch:
    """Builds a patch with a memory's first 10 characters, in place of another's where one is named."""
    one = Patch(TOPIC, op, memory_id, 0, 10, 0, 6, "facts", 1_000)
    if replaces is not None:
        one = replace(one, replaces=replaces, replaces_end=10)
    return replace(one, **said)


def wanted(genesis: Genesis, *patches: Patch, namespace: str = NAMESPACE, **said: Any) -> RollupPatched:
    """Builds the record of a namespace's patches. `said`: fields with other values than the consolidator gives them."""
    return replace(ordered(genesis.cluster, namespace, patches), **said)


def accepted(
    codec: Codec, genesis: Genesis, order: RollupPatched, at: int = 1_000, signer: str = SIGNER
) -> OrderAccepted:
    """Returns the patches as intake accepts them."""
    data = votes.signed(codec, genesis, signer, order)
    named = memories(order)
    return OrderAccepted(order.order_id, "patch", order.namespace, named, data, at, topics.PATCHES, 0, 7)
