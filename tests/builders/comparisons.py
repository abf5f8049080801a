"""A model's comparisons of pairs of memories, as the consolidator publishes them and as intake accepts them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.compare import SIGNER, memories, ordered
from memquorum.core.records import Comparison, OrderAccepted, StatementsCompared
from tests.builders import votes
from tests.builders.shard import NAMESPACE

BY = "openai/scripted-1@llm.example.org"


def wanted(
    genesis: Genesis, newer: str, *older: tuple[str, tuple[int, ...]], namespace: str = NAMESPACE, **said: Any
) -> StatementsCompared:
    """Builds the record of a model's comparisons of a memory with older ones.

    `said`: fields with other values than the consolidator gives them.
    """
    order = ordered(genesis.cluster, namespace, newer, [Comparison(*one) for one in older], by=BY, at=1_000)
    return replace(order, **said)


def accepted(codec: Codec, genesis: Genesis, order: StatementsCompared, signer: str = SIGNER) -> OrderAccepted:
    """Returns the same record as intake accepts it."""
    data = votes.signed(codec, genesis, signer, order)
    named = memories(order)
    return OrderAccepted(order.order_id, "compare", order.namespace, named, data, 1_000, topics.COMPARISONS, 0, 7)
